"""`tinct hercules`: functions of Hercules IR in files of their own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, assert_never, cast

import click

from ..base.errors import InputError
from .graphviz import picture
from .options import file_argument, print_text, read_source
from .passes import list_option

if TYPE_CHECKING:
    from ..ir.hercules.nodes import Function, Module, Type
    from ..transforms.passes import Stage


def _stage() -> Stage[Module]:
    from ..transforms.hercules import HERCULES

    return HERCULES


@click.command(
    name="hercules",
    epilog="""\b
Examples:
  tinct hercules dot.hir
  tinct hercules dot.hir --passes ccp,gvn,dce
  tinct hercules matmul.hir --format program --set m=2 --set k=3 --set n=4
  tinct hercules dot.hir --run --args '[[1, 2, 3], [4, 5, 6]]'
  tinct hercules saxpy.hir --run --args '[2.0, [1, 2], [3, 4]]' --set wg_x=1 --device cpu
  tinct hercules shapes.hir --run --args '[{"variant": 1, "value": [0.5, 2]}]'

\b
Dynamic constants that are the extents of arguments need not be set.
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
@click.option("--run", "is_run", is_flag=True, help="Run a function and print what it returns, as JSON.")
@click.option("--fn", "name", default="", help="The function to run or draw.  [default: the last one]")
@click.option("--args", "arguments", default="[]", metavar="JSON", help="The list of its arguments.")
@click.option("--set", "settings", multiple=True, metavar="NAME=NUMBER", help="A dynamic constant; may be repeated.")
@click.option(
    "--device", type=click.Choice(["interp", "cpu"]), default="interp", show_default=True, help="What to run it on."
)
def command(
    file: str,
    pipeline: str,
    format: str,
    is_run: bool,
    name: str,
    arguments: str,
    settings: tuple[str, ...],
    device: str,
) -> None:
    """Check a file of Hercules IR, run passes on it, and print or run it."""
    from ..ir.hercules.text import TextError, parse
    from ..ir.hercules.verify import VerifyError, check
    from ..transforms.hercules import HERCULES
    from ..transforms.passes import parse_pipeline, run_passes

    passes = parse_pipeline(pipeline, HERCULES)
    try:
        module = parse(read_source(file).data.decode("utf-8", "replace"))
        check(module)
    except (TextError, VerifyError) as error:
        raise InputError(f"{file}: {error}") from None
    run_passes(module, passes, HERCULES)
    if not is_run and format != "program":
        _print(module, format, name)
        return
    function = _function(module, name)
    if not is_run:
        _print_program(function, settings)
        return
    values = _arguments(arguments)
    constants = dynamic_constants(function, values, settings)
    fitted = [_fitted(*pair) for pair in zip(function.parameter_types, values, strict=False)]
    values = fitted + values[len(fitted) :]
    click.echo(json.dumps(run(function, constants, values, device), default=_sum_as_json))


def _function(module: Module, name: str) -> Function:
    function = next((it for it in reversed(module.functions) if name in ("", it.name)), None)
    if function is None:
        raise InputError(f"no function {name!r}; there are: {', '.join(it.name for it in module.functions)}")
    return function


def _print(module: Module, format: str, name: str) -> None:
    from ..ir.hercules.dot import draw
    from ..ir.hercules.text import print_module

    if format == "text":
        print_text(print_module(module))
    elif format == "dot":
        print_text(draw(_function(module, name)))
    else:
        print_text(picture(draw(_function(module, name))))


def _print_program(function: Function, settings: tuple[str, ...]) -> None:
    """Print the program of a function, which may be changed."""
    from ..ir.hercules.program_text import print_program
    from ..transforms.hercules.programs import program_for

    print_text(print_program(program_for(function, dynamic_constants(function, [], settings))))


def run(function: Function, constants: list[int], values: list[object], device: str) -> object:
    """The result of a function on `interp` or `cpu`, in Python's own types. The function may be changed.

    Raises InputError.
    """
    from ..ir.hercules.interp import InterpreterError
    from ..ir.hercules.interp import run as interpret

    try:
        if device == "interp":
            return interpret(function, constants, values)
    except InterpreterError as error:
        raise InputError(str(error)) from None
    from .hercules_values import run_values

    return run_values(function, constants, values)


def _fitted(type: Type, value: object) -> object:
    """A value of JSON with its numbers rounded to floats where the type says so, and sums as such."""
    from ..ir.hercules.arithmetic import nearest
    from ..ir.hercules.nodes import Array, Bool, Control, Float, Integer, Product, Summation
    from ..ir.hercules.storage import Value, Variant

    match type:
        case Float() if isinstance(value, (int, float)) and not isinstance(value, bool):
            return nearest(type, value)
        case Array(element=element) if isinstance(value, list):
            return [_fitted(element, it) for it in cast("list[object]", value)]
        case Product(fields=fields) if isinstance(value, list):
            parts = cast("list[object]", value)
            if len(fields) != len(parts):
                return _plain(parts)
            return [_fitted(*pair) for pair in zip(fields, parts, strict=True)]
        case Summation(variants=variants) if isinstance(value, dict):
            given = cast("dict[str, object]", value)
            index = given.get("variant")
            if given.keys() != {"variant", "value"} or not isinstance(index, int) or not 0 <= index < len(variants):
                raise InputError(
                    f'a sum is {{"variant": 0 to {len(variants) - 1}, "value": …}}, not {json.dumps(value)}'
                )
            return Variant(index, cast("Value", _fitted(variants[index], given["value"])))
        case Bool() | Integer() | Float() | Array() | Product() | Summation() | Control():
            return _plain(value)
        case _:
            assert_never(type)


def _plain(value: object) -> object:
    """Numbers, truth values and lists of them; other JSON values belong to no type."""
    if isinstance(value, list):
        return [_plain(it) for it in cast("list[object]", value)]
    if not isinstance(value, (bool, int, float)):
        raise InputError(f"{json.dumps(value)} is no value of Hercules IR")
    return value


def _sum_as_json(value: object) -> object:
    from ..ir.hercules.storage import Variant

    assert isinstance(value, Variant)
    return {"variant": value.index, "value": value.value}


def _arguments(text: str) -> list[object]:
    try:
        values: object = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"--args is not JSON: {error}") from None
    if not isinstance(values, list):
        raise InputError("--args is a list of arguments, such as '[[1, 2, 3], 4]'")
    return cast("list[object]", values)


def dynamic_constants(function: Function, values: list[object], settings: tuple[str, ...]) -> list[int]:
    """The dynamic constants: as set, else the lengths of arguments whose extents they are. Raises InputError."""
    from ..ir.hercules.nodes import Array, DynamicParameter

    known: dict[str, int] = {}
    for type, value in zip(function.parameter_types, values, strict=False):
        if isinstance(type, Array) and isinstance(type.extent, DynamicParameter) and isinstance(value, list):
            known.setdefault(function.dynamic_constants[type.extent.index], len(cast("list[object]", value)))
    for setting in settings:
        name, equals, number = setting.partition("=")
        if name not in function.dynamic_constants or not equals or not number.isdecimal():
            names = ", ".join(function.dynamic_constants) or "none"
            raise InputError(f"--set {setting}: expected NAME=NUMBER with one of the dynamic constants: {names}")
        known[name] = int(number)
    missing = [name for name in function.dynamic_constants if name not in known]
    if missing:
        raise InputError(f"the dynamic constant {missing[0]!r} is not known: --set {missing[0]}=…")
    return [known[name] for name in function.dynamic_constants]
