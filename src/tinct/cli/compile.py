"""`tinct compile`: any stage, printed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import click

from ..base.errors import InputError
from ..compilation import Compilation
from ..header import with_header
from ..ir.source import Source
from ..origins import CoreOrigin, Origin, ProgramOrigin
from ..pipeline import ORDER_OF_STEPS, Job
from ..shader import Shader, choose_entry
from .files import write_text
from .graphviz import picture
from .options import constants_option, file_argument, parse_constants, print_text, read_shader
from .remarks import remarks_text
from .trees import TREES


def _ast(compilation: Compilation) -> str:
    from ..backend.wgsl.printer import print_unit
    from ..transforms.to_wgsl.unit import to_unit

    origin = compilation.job.origin
    if not isinstance(origin, ProgramOrigin):
        return print_unit(to_unit(compilation.core))
    return with_header(print_unit(origin.program.unit), origin.program.unit, origin.source)


def _core(compilation: Compilation) -> str:
    from ..ir.core.text import print_module

    return print_module(compilation.core)


def _wgsl(compilation: Compilation) -> str:
    origin = compilation.job.origin
    if not isinstance(origin, ProgramOrigin):
        return compilation.wgsl
    return with_header(compilation.wgsl, origin.program.unit, origin.source)


def _hercules(compilation: Compilation) -> str:
    from ..ir.hercules.text import print_module

    return print_module(compilation.hercules.module)


def _drawn(compilation: Compilation, form: str) -> str:
    from ..ir.hercules.dot import draw

    graph = draw(compilation.hercules.function)
    return graph if form == "dot" else picture(graph)


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
MADE: dict[str, Callable[[Compilation], object]] = {**STAGES, "llvm": lambda it: it.cpu, "asm": lambda it: it.cpu}
"""What --timings makes. Printing LLVM IR or assembly compiles once more, which no run does."""
_WHOLE_MODULE = ("ast", "core")


@click.command(
    name="compile",
    epilog="""\b
Stages:
  ast       the syntax tree, written as WGSL again
  core      the round-trip IR, of the whole shader
  wgsl      the text for a GPU: overrides substituted, indices clamped, workgroup memory zeroed
  hercules  the fork/join graph that the CPU's code is made from
  llvm      LLVM IR, optimised
  asm       machine code for this CPU

\b
Examples:
  tinct compile kernel.wgsl --emit core
  tinct compile kernel.wgsl --emit wgsl --entry main --set TILE=32
  tinct compile kernel.wgsl --emit wgsl --via hercules
  tinct compile kernel.wgsl --emit asm -o kernel.s
  tinct compile kernel.wgsl --emit asm --timings
  tinct compile kernel.wgsl --remarks
  tinct compile kernel.wgsl --emit hercules --format svg -o kernel.svg
  tinct compile kernel.wgsl --emit core | tinct compile - --from core --emit ast

\b
Via Hercules IR, a texture becomes a storage buffer: its size, the places of its levels, and its texels.

\b
JSON: {"stage": …, "text": …}, for ast, core and hercules with "tree", which is as the schema (ir/schema) has it; or,
with --timings, an object of seconds by stage. ATerms: that tree as a term.

\b
--timings of a kernel that was compiled before has the time of loading it from the cache; TINCT_CACHE=off compiles it.
""",
)
@file_argument
@click.option("--emit", type=click.Choice(list(STAGES)), default="core", show_default=True, help="The stage to print.")
@click.option(
    "--from", "start", type=click.Choice(["wgsl", "core"]), default="wgsl", show_default=True, help="What FILE holds."
)
@click.option(
    "--via", type=click.Choice(["hercules"]), help="With --emit wgsl: written from Hercules IR, after its passes."
)
@click.option("--entry", help="The entry point; needed when the shader has several.")
@constants_option
@click.option("--timings", is_flag=True, help="Print the time of each stage instead of the text.")
@click.option(
    "--remarks", is_flag=True, help="Print which collections of the kernel are copied, and why, instead of the text."
)
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="A file instead of the terminal.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "aterm", "dot", "svg"]),
    default="text",
    show_default=True,
    help="For people or for programs; dot and svg draw hercules as a graph.",
)
def command(
    file: str,
    emit: str,
    start: str,
    via: str | None,
    entry: str | None,
    constants: tuple[str, ...],
    timings: bool,
    remarks: bool,
    output: Path | None,
    form: str,
) -> None:
    """Print a stage of the compilation: syntax tree, core IR, WGSL, Hercules IR, LLVM IR or assembly."""
    job = _Job(read_shader(file), entry, parse_constants(constants), is_whole=emit in _WHOLE_MODULE and not remarks)
    seconds, compilation = job.from_core() if start == "core" else job.from_wgsl()
    compilation.via_hercules = via is not None
    if via is not None and emit != "wgsl":
        raise InputError(f"--via {via} is for --emit wgsl, not {emit}")
    if form == "aterm" and emit not in TREES:
        raise InputError(f"only {', '.join(TREES)} can be written as a term")
    if form in ("dot", "svg") and emit != "hercules":
        raise InputError(f"only hercules is drawn as a graph, not {emit}")
    if timings and form not in ("text", "json"):
        raise InputError(f"--timings are printed as text or json, not as {form}")
    if remarks and (timings or form != "text"):
        raise InputError("--remarks are printed as text, without --timings")
    if remarks:
        text = remarks_text([compilation.hercules.function], compilation.job.origin.source)
    elif timings:
        MADE[emit](compilation)
        text = _timings({**seconds, **compilation.seconds}, form)
    else:
        text = _text(compilation, emit, form)
    if output is not None:
        write_text(output, text)
    elif text or not remarks:
        print_text(text)


@dataclass(frozen=True, slots=True)
class _Job:
    """What to compile. A stage of the whole module needs no entry point."""

    source: Source
    entry: str | None
    constants: dict[str, float]
    is_whole: bool

    def from_wgsl(self) -> tuple[dict[str, float], Compilation]:
        shader = Shader(self.source)
        if self.is_whole:
            return shader.seconds, self._whole(ProgramOrigin(shader.program))
        return shader.seconds, shader.compilation(shader.kernel(self.entry).info.name, self.constants)

    def from_core(self) -> tuple[dict[str, float], Compilation]:
        origin = CoreOrigin(self.source)
        names = origin.entry_points()
        if self.is_whole:
            return {}, self._whole(origin)
        return {}, Compilation(Job(origin, choose_entry(names, self.entry), self.constants))

    def _whole(self, origin: Origin) -> Compilation:
        if self.entry is not None or self.constants:
            raise InputError("this stage is of the whole shader: leave --entry and --set out")
        return Compilation(Job(origin, "", {}))


def _text(compilation: Compilation, emit: str, form: str) -> str:
    match form:
        case "aterm":
            return TREES[emit](compilation).aterm()
        case "dot" | "svg":
            return _drawn(compilation, form)
        case "json":
            tree = {"tree": json.loads(TREES[emit](compilation).json())} if emit in TREES else {}
            return json.dumps({"stage": emit, "text": STAGES[emit](compilation), **tree}, indent=2)
        case _:
            return STAGES[emit](compilation)


def _timings(seconds: Mapping[str, float], form: str) -> str:
    ordered = {stage: seconds[stage] for stage in ORDER_OF_STEPS if seconds.get(stage)}
    if form == "json":
        return json.dumps(ordered, indent=2)
    width = max(map(len, (*ordered, "all")))
    rows = [*ordered.items(), ("all", sum(ordered.values()))]
    return "".join(f"{stage:<{width}} {time * 1e3:9.2f} ms\n" for stage, time in rows)
