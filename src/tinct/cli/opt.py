"""`tinct opt`: passes on core IR."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..header import with_header
from ..ir.core.nodes import Module
from ..ir.source import Source
from ..ir.wgsl import ast
from ..origins import CoreOrigin
from ..transforms.from_wgsl.build import build
from .options import file_argument, is_core, print_text, read_shader
from .passes import list_option

if TYPE_CHECKING:
    from ..transforms.passes import Stage


def _stage() -> Stage[Module]:
    from ..transforms.pipelines import CORE

    return CORE


@click.command(
    name="opt",
    epilog="""\b
A pipeline is a list of passes, some with options: "inline,mem2reg,unroll{limit=8},dce". --list names them all, and the
pipelines that have a name.

\b
Examples:
  tinct opt kernel.wgsl --passes portable
  tinct opt kernel.wgsl --passes mem2reg,cse,dce
  tinct opt kernel.core --passes robustness --emit core --verify-each
  tinct opt kernel.wgsl --passes inline,mem2reg,dce --dump-after mem2reg
  tinct opt kernel.wgsl --plugin my_pass.py --passes my_pass,dce

\b
Dumps go to standard error, the result to standard output.
""",
)
@file_argument
@click.option("--passes", "pipeline", default="", help="The passes to run, in order.")
@click.option(
    "--plugin",
    "plugins",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A Python file with passes of your own, which runs (see docs/passes-of-your-own.md); may be repeated.",
)
@click.option(
    "--from", "start", type=click.Choice(["wgsl", "core"]), help="What FILE holds; core if its name ends so, else wgsl."
)
@click.option("--emit", type=click.Choice(["wgsl", "core"]), default="wgsl", show_default=True, help="What to print.")
@click.option("--dump-each", is_flag=True, help="Print the IR after each pass.")
@click.option("--dump-after", multiple=True, metavar="PASS", help="Print the IR after this pass; may be repeated.")
@click.option("--verify-each", is_flag=True, help="Verify the module before the first and after each pass.")
@list_option(_stage)
def command(
    file: str,
    pipeline: str,
    plugins: tuple[Path, ...],
    start: str | None,
    emit: str,
    dump_each: bool,
    dump_after: tuple[str, ...],
    verify_each: bool,
) -> None:
    """Run passes on a shader's core IR and print the result, as WGSL or as IR."""
    from ..passes import files_of, wgsl_of
    from ..transforms.passes import Pass, parse_pipeline, run_passes

    stage = files_of(plugins)
    passes = parse_pipeline(pipeline, stage)
    check_names(dump_after, stage)
    source = read_shader(file)
    module, unit = read_module(source, start)

    def dump(step: Pass[Module], module: Module) -> None:
        if dump_each or step.name in dump_after:
            click.echo(f"// after {step.name}\n{stage.text(module)}", err=True)

    run_passes(module, passes, stage, verify_each=verify_each, after_each=dump)
    text = stage.text(module) if emit == "core" else wgsl_of(module)
    print_text(text if emit == "core" or unit is None else with_header(text, unit, source))


def read_module(source: Source, start: str | None) -> tuple[Module, ast.TranslationUnit | None]:
    """The module of a WGSL file, with its syntax tree, or of a text of core IR. Raises ShaderError."""
    if is_core(source, start):
        return CoreOrigin(source).core(), None
    from ..frontend import load_program

    program = load_program(source)
    return build(program), program.unit


def check_names(names: tuple[str, ...], stage: Stage[Module] | None = None) -> None:
    """Raise InputError for a name that no pass of a stage has: of core IR's without one."""
    from ..base.errors import InputError
    from ..ir.hints import unknown_name

    known = (stage or _stage()).passes
    for name in names:
        if name not in known:
            raise InputError(unknown_name(f"no pass is named {name!r}", name, known))
