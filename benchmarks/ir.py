"""What the round-trip IR costs: microseconds per instruction, for modules of growing size.

    python -m benchmarks.ir
    python -m benchmarks.ir --sizes 1000,10000,100000 --shape function --format json
    python -m benchmarks.ir --sizes 120,1200,12000,120000 --shape small

Each stage is timed on a fresh module: the front end, building core IR, every pass, and writing back. Where a stage is
linear, the figures of a row are about the same.
"""

from __future__ import annotations

import gc
import json
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

import click
from rich import box
from rich.console import Console
from rich.table import Table

from tinct.backend.wgsl.printer import print_unit
from tinct.base.interpreter_state import paused_collection
from tinct.frontend import load_program
from tinct.ir.core.nodes import Module
from tinct.ir.core.structure import blocks_of
from tinct.ir.core.text import parse, print_module
from tinct.ir.core.verifier import verify
from tinct.ir.source import Source
from tinct.transforms.core.single_entry_point import SingleEntryPoint
from tinct.transforms.core.substitute_overrides import SubstituteOverrides
from tinct.transforms.from_wgsl.build import build
from tinct.transforms.passes import Pass
from tinct.transforms.pipelines import CORE
from tinct.transforms.to_wgsl.unit import to_unit

T = TypeVar("T")

_HEAD = """\
@group(0) @binding(0) var<storage, read_write> data: array<f32>;
@group(0) @binding(1) var<uniform> count: u32;
"""

_PIECE = """\
    var x{0} = data[(id.x + {0}u) % count];
    for (var i{0} = 0u; i{0} < 4u; i{0}++) {{
        if x{0} > f32(i{0}) && x{0} < 100.0 {{
            x{0} += data[i{0}] * 0.5;
        }} else {{
            x{0} = sqrt(abs(x{0}));
        }}
    }}
    data[id.x] = x{0};
"""

_LEAF = """\
fn leaf(x: f32) -> f32 {
    return clamp(x, 0.0, 1.0);
}
"""

_SMALL = """\
var<private> last{0}: f32;
fn small{0}(x: f32) -> f32 {{
    if x > {0}.0 {{
        return last{0};
    }}
    last{0} = leaf(x) * f32(count);
    return x;
}}
"""

_SHAPES = ("functions", "function", "small")
_PIECES_IN_FUNCTION = 8
_OF_ENTRY_POINT: dict[str, Pass[Module]] = {
    "single_entry_point": SingleEntryPoint("main"),
    "substitute_overrides": SubstituteOverrides({}, "main"),
}


def shader(pieces: int, shape: str) -> str:
    """A kernel of `pieces` loops, in one function or in functions of a few; or of `pieces` small functions, each with a
    variable of its own, that all call another.
    """
    if shape == "function":
        return _HEAD + _entry("".join(_PIECE.format(number) for number in range(pieces)))
    if shape == "small":
        return _HEAD + _LEAF + "".join(map(_small, range(pieces))) + _entry("".join(map(_small_call, range(pieces))))
    count = max(1, pieces // _PIECES_IN_FUNCTION)
    body = "".join(_PIECE.format(number) for number in range(_PIECES_IN_FUNCTION))
    functions = "".join(f"fn part{number}(id: vec3u) {{\n{body}}}\n" for number in range(count))
    return _HEAD + functions + _entry("".join(f"    part{number}(id);\n" for number in range(count)))


def _entry(body: str) -> str:
    return f"@compute @workgroup_size(64)\nfn main(@builtin(global_invocation_id) id: vec3u) {{\n{body}}}\n"


def _small(number: int) -> str:
    return _SMALL.format(number)


def _small_call(number: int) -> str:
    return f"    data[{number}] = small{number}(data[{number}]);\n"


def size_of(module: Module) -> int:
    """How many instructions a module has."""
    return sum(len(block.instructions) for function in module.functions for block in blocks_of(function))


def stages(text: str) -> Iterator[tuple[str, float]]:
    """Each stage and the seconds it takes on this shader."""
    source = Source.from_text(text)
    program, seconds = _timed(lambda: load_program(source))
    yield "parse and resolve", seconds
    module, seconds = _timed(lambda: build(program))
    yield "build", seconds
    yield "verify", _timed(lambda: verify(module))[1]
    printed, seconds = _timed(lambda: print_module(module))
    yield "print IR", seconds
    yield "parse IR", _timed(lambda: parse(printed))[1]
    unit, seconds = _timed(lambda: to_unit(module))
    yield "to syntax", seconds
    yield "print WGSL", _timed(lambda: print_unit(unit))[1]
    for name, kind in sorted(CORE.passes.items()):
        step = _OF_ENTRY_POINT[name] if name in _OF_ENTRY_POINT else kind()
        yield name, _seconds_of(step, build(program))


def _seconds_of(step: Pass[Module], module: Module) -> float:
    return _timed(lambda: step.run(module))[1]


def _timed(action: Callable[[], T]) -> tuple[T, float]:
    gc.collect()
    with paused_collection():
        start = time.thread_time()
        result = action()
        return result, time.thread_time() - start


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--sizes", default="1000,10000,100000", show_default=True, help="Instructions, about.")
@click.option(
    "--shape",
    type=click.Choice(_SHAPES),
    default="functions",
    show_default=True,
    help="Functions of eight loops, one large one, or small ones.",
)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def main(sizes: str, shape: str, form: str) -> None:
    """Time the stages of the round-trip IR in µs per instruction."""
    probe = size_of(build(load_program(Source.from_text(shader(64, shape))))) / 64
    columns: dict[int, dict[str, float]] = {}
    for wanted in map(int, sizes.split(",")):
        text = shader(max(1, round(wanted / probe)), shape)
        count = size_of(build(load_program(Source.from_text(text))))
        columns[count] = {name: seconds / count * 1e6 for name, seconds in stages(text)}
    if form == "json":
        click.echo(json.dumps({"shape": shape, "unit": "us per instruction", "instructions": columns}, indent=2))
        return
    table = Table("stage", box=box.SIMPLE_HEAD, title=f"µs per instruction, shape: {shape}")
    for count in columns:
        table.add_column(f"{count:,}", justify="right")
    table.add_column("last / first", justify="right")
    first, *_, last = columns.values() if len(columns) > 1 else [*columns.values()] * 2
    for name in first:
        cells = [f"{column[name]:.2f}" for column in columns.values()]
        table.add_row(name, *cells, f"{last[name] / max(first[name], 1e-9):.1f}")
    Console().print(table)


if __name__ == "__main__":
    main()
