"""`tinct compile`: any stage, printed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from ..compilation import Compilation
from ..shader import Shader
from .check import read
from .options import constants_option, parse_constants


def _ast(compilation: Compilation) -> str:
    from ..backend.wgsl.printer import print_unit

    return print_unit(compilation.program.unit)


def _core(compilation: Compilation) -> str:
    from ..ir.core.text import print_module

    return print_module(compilation.core)


def _wgsl(compilation: Compilation) -> str:
    return compilation.wgsl


def _hercules(compilation: Compilation) -> str:
    from ..ir.hercules.text import print_module

    return print_module(compilation.hercules.module)


def _llvm(compilation: Compilation) -> str:
    return compilation.cpu.llvm()


def _asm(compilation: Compilation) -> str:
    return compilation.cpu.assembly()


STAGES: dict[str, Callable[[Compilation], str]] = {
    "ast": _ast,
    "core": _core,
    "wgsl": _wgsl,
    "hercules": _hercules,
    "llvm": _llvm,
    "asm": _asm,
}
_WHOLE_MODULE = ("ast", "core")


@click.command(
    name="compile",
    epilog="""\b
Stages:
  ast       the syntax tree, written as WGSL again
  core      the round-trip IR
  wgsl      what a GPU is given: overrides in place, indices clamped, workgroup memory zeroed
  hercules  the fork/join graph that the CPU's code is made from
  llvm      LLVM IR, optimised
  asm       machine code for this CPU

\b
Examples:
  tinct compile kernel.wgsl --emit core
  tinct compile kernel.wgsl --emit wgsl --entry main --set TILE=32
  tinct compile kernel.wgsl --emit asm -o kernel.s
""",
)
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.option("--emit", type=click.Choice(list(STAGES)), default="core", show_default=True, help="The stage to print.")
@click.option("--entry", help="The entry point; needed when the shader has several.")
@constants_option
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="A file instead of the terminal.")
def command(file: str, emit: str, entry: str | None, constants: tuple[str, ...], output: Path | None) -> None:
    """Print a stage of the compilation: syntax tree, core IR, WGSL, Hercules IR, LLVM IR or assembly."""
    shader = Shader(read(file))
    if emit in _WHOLE_MODULE:
        compilation = Compilation(shader.program, "", {})
    else:
        compilation = shader.compilation(shader.kernel(entry).info.name, parse_constants(constants))
    text = STAGES[emit](compilation)
    if output is not None:
        output.write_text(text, encoding="utf-8")
    else:
        click.echo(text, nl=not text.endswith("\n"))
