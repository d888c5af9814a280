"""`tinct hercules`: functions of Hercules IR in files of their own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

import click

from ..base.errors import InputError
from ..ir.hints import unknown_name
from ..pipeline import WORKGROUP_SIZE
from .device_names import ADAPTER_HELP, FUNCTION_DEVICE, function_device_name
from .graphviz import picture
from .options import file_argument, for_json, parse_constants, print_text, read_source
from .passes import list_option
from .remarks import print_remarks

if TYPE_CHECKING:
    from ..functions import HerculesFunction
    from ..ir.hercules.nodes import Function, Module
    from ..ir.hercules.storage import Value
    from ..transforms.passes import Stage


_MOST_INVOCATIONS = 65535
"""More than the invocations of a workgroup that any adapter allows."""


def _stage() -> Stage[Module]:
    from ..transforms.hercules import HERCULES

    return HERCULES


@click.command(
    name="hercules",
    epilog=f"""\b
Arguments are given by --args, a JSON list of all or an object by name, or by --arg, one for each parameter:
  NAME=FILE.npy               an array saved by numpy
  NAME=zeros:64x32            zeros; a shape has the extents at all levels, but may leave out inner ones that are fixed
  NAME=arange:8               0, 1, 2, …
  NAME=uniform:1024           random numbers of [0, 1), seeded by --seed; uniform:1024:-1:1 of [-1, 1)
  NAME=integers:1024:0:100    random whole numbers of [0, 100)
  NAME='[[1, 2], [3, 4]]'     JSON: numbers, lists for arrays and products, and for sums {{"variant": 1, "value": …}}

\b
Examples:
  tinct hercules dot.hir
  tinct hercules dot.hir --passes ccp,gvn,dce
  tinct hercules matmul.hir --format program --set m=2 --set k=3 --set n=4
  tinct hercules matmul.hir --emit wgsl --set m=2 --set k=3 --set n=4 --workgroup-size 128
  tinct hercules dot.hir --run --args '[[1, 2, 3], [4, 5, 6]]'
  tinct hercules matmul.hir --run --arg a=uniform:3x4 --arg b=uniform:4x5 --device cpu
  tinct hercules saxpy.hir --run --args '[2.0, [1, 2], [3, 4]]' --set wg_x=1
  tinct hercules shapes.hir --run --args '[[{{"variant": 1, "value": [0.5, 2]}}]]'

\b
Dynamic constants that follow from the shapes of arguments need not be set. The result is printed as JSON, with the
words "NaN", "Infinity" and "-Infinity" for what JSON lacks.

{ADAPTER_HELP}
""",
)
@file_argument
@click.option("--passes", "pipeline", default="", help="The passes to run first, in order.")
@list_option(_stage)
@click.option(
    "--format",
    type=click.Choice(["text", "dot", "svg", "program"]),
    default="text",
    show_default=True,
    help="How to print: as text, or one function as a graph for Graphviz, as the picture that Graphviz draws, or as a "
    "program of kernels over buffers.",
)
@click.option("--emit", type=click.Choice(["wgsl"]), help="Print the kernels of a function's program, each as WGSL.")
@click.option("--remarks", is_flag=True, help="Print which collections are copied, and why, instead of the text.")
@click.option("--run", "is_run", is_flag=True, help="Run a function and print what it returns, as JSON.")
@click.option("--fn", "name", default="", help="The function to run or draw.  [default: the last one]")
@click.option("--args", "arguments", metavar="JSON", help="Its arguments.")
@click.option("--arg", "specs", multiple=True, metavar="NAME=SPEC", help="One of its arguments; see below.")
@click.option("--set", "settings", multiple=True, metavar="NAME=NUMBER", help="A dynamic constant; may be repeated.")
@click.option(
    "--device",
    type=function_device_name,
    metavar=FUNCTION_DEVICE,
    default="interp",
    show_default=True,
    help="Where to run.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    help="Stop compiling, or a run, that takes longer.",
)
@click.option(
    "--workgroup-size",
    type=click.IntRange(1, _MOST_INVOCATIONS),
    metavar="NUMBER",
    help=f"For a GPU: the threads of a workgroup.  [default: {WORKGROUP_SIZE}]",
)
@click.option("--reassociate", is_flag=True, help="For a GPU: floats may be added and multiplied in another order.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="For random arguments.")
def command(
    file: str,
    pipeline: str,
    format: str,
    emit: str | None,
    remarks: bool,
    is_run: bool,
    name: str,
    arguments: str | None,
    specs: tuple[str, ...],
    settings: tuple[str, ...],
    device: str,
    timeout: float | None,
    workgroup_size: int | None,
    reassociate: bool,
    seed: int,
) -> None:
    """Check a file of Hercules IR, run passes on it, and print or run it."""
    from ..functions import HerculesFunction, verified
    from ..transforms.hercules import HERCULES
    from ..transforms.passes import parse_pipeline, run_passes

    passes = parse_pipeline(pipeline, HERCULES)
    source = read_source(file)
    module = verified(source)
    run_passes(module, passes, HERCULES)
    if remarks:
        print_remarks(module.functions, source)
        return
    if is_run and emit is not None:
        raise InputError("--run prints the result, not what --emit names")
    shows_program = emit is not None or format == "program"
    if workgroup_size is not None and not is_run and not shows_program:
        raise InputError("--workgroup-size is for --run, --format program and --emit wgsl")
    if reassociate and not is_run and not shows_program:
        raise InputError("--reassociate is for --run, --format program and --emit wgsl")
    if not is_run and not shows_program:
        _print(module, format, name)
        return
    function = _function(module, name)
    if not is_run:
        size = WORKGROUP_SIZE if workgroup_size is None else workgroup_size
        _print_program(function, settings, size, as_wgsl=emit is not None, reassociate=reassociate)
        return
    runnable = HerculesFunction(function)
    given = _arguments(runnable, arguments, specs, seed)
    constants = parse_constants(settings)
    outputs = runnable.run(
        given,
        constants=constants,
        device=device,
        timeout=timeout,
        workgroup_size=workgroup_size,
        reassociate=reassociate,
    )
    click.echo(json.dumps(for_json(_as_json(runnable.value_of(outputs)))))


def _function(module: Module, name: str) -> Function:
    known = {it.name: it for it in module.functions}
    if not known:
        raise InputError("the file has no function")
    if name and name not in known:
        raise InputError(unknown_name(f"no function is named {name!r}", name, known))
    return known[name] if name else module.functions[-1]


def _print(module: Module, format: str, name: str) -> None:
    from ..ir.hercules.dot import draw
    from ..ir.hercules.text import print_module

    if format == "text":
        print_text(print_module(module))
    elif format == "dot":
        print_text(draw(_function(module, name)))
    else:
        print_text(picture(draw(_function(module, name))))


def _print_program(
    function: Function, settings: tuple[str, ...], workgroup_size: int, *, as_wgsl: bool, reassociate: bool
) -> None:
    """Print the program that a GPU runs, or its kernels as WGSL. The function may be changed."""
    from ..functions.extents import given_constants
    from ..pipeline import program_of
    from ..program_listing import list_program, list_wgsl
    from ..transforms.hercules.programs import WorkgroupTrees

    constants = given_constants(function.dynamic_constants, parse_constants(settings))
    trees = WorkgroupTrees(reassociate=reassociate)
    program = program_of(function, constants, trees)
    print_text(list_wgsl(program, workgroup_size) if as_wgsl else list_program(program, workgroup_size, trees))


def _arguments(function: HerculesFunction, text: str | None, specs: tuple[str, ...], seed: int) -> dict[str, object]:
    """The arguments that --args and --arg give."""
    from .buffer_specs import make_arguments, parse_literal

    made = make_arguments(function, specs, seed)
    if text is None:
        return made
    names, values = list(function.parameters), parse_literal("--args", text)
    if isinstance(values, list):
        items = cast("list[object]", values)
        if len(items) != len(names):
            raise InputError(f"{function.name} takes {len(names)} arguments, {', '.join(names)}, not {len(items)}")
        values = dict(zip(names, items, strict=True))
    if not isinstance(values, dict):
        raise InputError("--args is a list of arguments, such as '[[1, 2, 3], 4]', or an object of them")
    given = cast("dict[str, object]", values)
    twice = [it for it in given if it in made]
    if twice:
        raise InputError(f"{twice[0]} is given by --args and by --arg")
    return {**given, **made}


def _as_json(value: Value) -> object:
    from ..ir.hercules.storage import Variant

    if isinstance(value, list):
        return [_as_json(it) for it in value]
    if isinstance(value, Variant):
        return {"variant": value.index, "value": _as_json(value.value)}
    return value
