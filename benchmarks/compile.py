"""`python -m benchmarks.compile`: what compiling for the CPU costs, stage by stage.

The rows are the entry points of `shaders/`, and generated kernels of up to thousands of lines, in one function or in
many. Times are milliseconds by the clock, the least of some rounds, each of which starts from the text.
The growth at the end is how much longer a line of the largest generated kernel takes than one of the smallest: 1 is
linear.
"""

from __future__ import annotations

import gc
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeVar

import click
from rich import box
from rich.console import Console
from rich.table import Table

from tinct import pipeline
from tinct.backend.cpu import CpuOptions
from tinct.base.interpreter_state import paused_collection
from tinct.frontend import parse, resolve
from tinct.ir.diagnostics import ShaderError
from tinct.ir.hercules.placement import place_nodes
from tinct.ir.source import Source
from tinct.origins import ProgramOrigin
from tinct.steps import Steps

T = TypeVar("T")
SHADERS = Path(__file__).parents[1] / "shaders"
SIZES = (100, 500, 1000, 5000)
_STEPS = {
    "core": (pipeline.CHECK, pipeline.BUILD, pipeline.CHECK_RESOURCES),
    "specialise": (pipeline.SPECIALISE, pipeline.CHECK_RUNNABLE),
    "lower": (pipeline.LOWER_SAMPLERS, pipeline.EXPAND),
    "translate": (pipeline.TRANSLATE,),
    "optimise": (pipeline.OPTIMISE,),
    "emit": (pipeline.EMIT,),
    "LLVM": (pipeline.COMPILE,),
}
"""The steps of the pipeline for the CPU that are a stage here."""
STAGES = ("parse", "resolve", "core", "specialise", "lower", "translate", "optimise", "schedule", "emit", "LLVM")
SHAPES = ("function", "functions")

_HEAD = """\
struct Item { weight: f32, kind: u32 }
@group(0) @binding(0) var<storage, read> items: array<Item>;
@group(0) @binding(1) var<storage, read_write> results: array<f32>;
@group(0) @binding(2) var<uniform> count: u32;
var<workgroup> shared_parts: array<f32, 64>;
"""
_PIECE = """\
    let item{0} = items[(index + {0}u) % count];
    for (var i = 0u; i < item{0}.kind; i++) {{
        if x > f32(i) && x < 100.0 {{
            x += results[i] * item{0}.weight;
        }} else {{
            x = sqrt(abs(x)) + f32({0});
        }}
    }}
    shared_parts[index % 64u] = x;
    results[index] = x;
"""
_LINES = _PIECE.count("\n")
_PIECES_IN_FUNCTION = 8


def kernel(lines: int, shape: str) -> str:
    """A compute shader of about `lines` lines: one function, or one that calls others of a few dozen lines."""
    count = max(1, lines // _LINES)
    if shape == "function":
        return _HEAD + _entry("".join(map(_PIECE.format, range(count))))
    parts = [range(start, min(start + _PIECES_IN_FUNCTION, count)) for start in range(0, count, _PIECES_IN_FUNCTION)]
    bodies = ["".join(map(_PIECE.format, part)) for part in parts]
    functions = [
        f"fn part{number}(index: u32, start: f32) -> f32 {{\n    var x = start;\n{body}    return x;\n}}\n"
        for number, body in enumerate(bodies)
    ]
    calls = "".join(f"    x = part{number}(index, x);\n" for number in range(len(bodies)))
    return _HEAD + "".join(functions) + _entry(calls)


def _entry(body: str) -> str:
    head = "@compute @workgroup_size(64)\nfn main(@builtin(global_invocation_id) id: vec3u) {\n"
    return f"{head}    let index = id.x;\n    var x = 0.0;\n{body}}}\n"


@dataclass(slots=True)
class Row:
    """An entry point and the least milliseconds of each of its stages."""

    name: str
    lines: int
    milliseconds: dict[str, float] = field(default_factory=dict[str, float])

    @property
    def total(self) -> float:
        """All stages but the schedule, which emitting makes for itself."""
        return sum(value for stage, value in self.milliseconds.items() if stage != "schedule")

    def round(self, text: str, entry: str, stages: Sequence[str]) -> None:
        """Run all stages once."""
        for stage, seconds in _stages(text, entry, stages):
            self.milliseconds[stage] = min(seconds * 1e3, self.milliseconds.get(stage, float("inf")))


def _stages(text: str, entry: str, stages: Sequence[str]) -> Iterator[tuple[str, float]]:
    source = Source.from_text(text)
    unit, seconds = _timed(lambda: parse(source).unit)
    yield "parse", seconds
    resolved, seconds = _timed(lambda: resolve(source, unit))
    yield "resolve", seconds
    program = resolved.program
    if program is None:
        raise ShaderError(resolved.diagnostics, source)
    job = pipeline.Job(ProgramOrigin(program), entry, {})
    steps, compile_for_cpu = Steps(source), partial(pipeline.compile_for_cpu, job, CpuOptions())
    steps.result(pipeline.OPTIMISE, compile_for_cpu)
    graph = steps.result(pipeline.TRANSLATE, compile_for_cpu)
    schedule = _timed(lambda: place_nodes(graph.function))[1]  # which no step makes alone
    steps.result(pipeline.EMIT, compile_for_cpu)
    if "LLVM" in stages:
        steps.result(pipeline.COMPILE, compile_for_cpu)
    for stage in stages[2:]:
        yield stage, schedule if stage == "schedule" else sum(steps.seconds[it.name] for it in _STEPS[stage])


def _timed(action: Callable[[], T]) -> tuple[T, float]:
    gc.collect()
    with paused_collection():
        start = time.perf_counter()
        result = action()
        return result, time.perf_counter() - start


def shader_entries() -> Iterator[tuple[str, str, str]]:
    """The name, text and entry point of each kernel of the repository."""
    for path in sorted(SHADERS.rglob("*.wgsl")):
        text = path.read_text(encoding="utf-8")
        program = resolve(source := Source.from_text(text), parse(source).unit).program
        assert program is not None
        names = [it.name for it in program.entry_points]
        yield from ((path.stem if len(names) == 1 else f"{path.stem} {name}", text, name) for name in names)


def growth(small: Row, large: Row, stage: str) -> float:
    """Milliseconds a line of the large kernel, relative to the small."""
    return large.milliseconds[stage] / large.lines / max(small.milliseconds[stage] / small.lines, 1e-9)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--sizes", default=",".join(map(str, SIZES)), show_default=True, help="Lines of the generated kernels.")
@click.option("--shape", type=click.Choice(SHAPES), default="function", show_default=True, help="One function or many.")
@click.option("--rounds", type=click.IntRange(1), default=3, show_default=True)
@click.option("--no-llvm", is_flag=True, help="Stop at LLVM IR.")
@click.option("--no-shaders", is_flag=True, help="Generated kernels only.")
@click.option("--json", "json_path", type=click.Path(dir_okay=False, path_type=Path), help="Write all numbers there.")
def main(*, sizes: str, shape: str, rounds: int, no_llvm: bool, no_shaders: bool, json_path: Path | None) -> None:
    """Time each stage from the text to machine code."""
    os.environ["TINCT_CACHE"] = "off"
    stages = [it for it in STAGES if not (no_llvm and it == "LLVM")]
    shaders = [] if no_shaders else list(shader_entries())
    _measure("warm-up", kernel(100, shape), "main", stages, 1)
    ours = [_measure(name, text, entry, stages, rounds) for name, text, entry in shaders]
    texts = [kernel(int(size), shape) for size in sizes.split(",")]
    made = [_measure(f"generated, {shape}", text, "main", stages, rounds) for text in texts]
    console = Console(width=None if Console().is_terminal else 160)
    _print(console, [*ours, *made], stages)
    if len(made) > 1:
        shown = ", ".join(f"{stage} {growth(made[0], made[-1], stage):.2f}" for stage in stages)
        console.print(f"growth a line from {made[0].lines} to {made[-1].lines} lines: {shown}", highlight=False)
    if json_path is not None:
        rows = [{"name": row.name, "lines": row.lines, "ms": row.milliseconds} for row in [*ours, *made]]
        json_path.write_text(json.dumps(rows, indent=1) + "\n")


def _measure(name: str, text: str, entry: str, stages: Sequence[str], rounds: int) -> Row:
    row = Row(name, text.count("\n"))
    for _ in range(rounds):
        row.round(text, entry, stages)
    return row


def _print(console: Console, rows: Sequence[Row], stages: Sequence[str]) -> None:
    table = Table("kernel", box=box.SIMPLE_HEAD, title="ms, the least of the rounds", title_justify="left")
    for column in ("lines", *stages, "all"):
        table.add_column(column, justify="right")
    for row in rows:
        cells = [f"{row.milliseconds[stage]:.2f}" for stage in stages]
        table.add_row(row.name, str(row.lines), *cells, f"{row.total:.1f}")
    console.print(table)


if __name__ == "__main__":
    main()
