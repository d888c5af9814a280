"""`python -m benchmarks.functions`: calls of WGSL functions on 10^6 elements, beside kernels written by hand.

The kernel works on the same arrays: vectors of three are arrays of three numbers there, as in numpy. Both go through
the public API, with new arrays for their results. A time is the processor time of this process, the least of
interleaved rounds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import click
import numpy as np
import numpy.typing as npt
from rich import box
from rich.console import Console
from rich.table import Table

import tinct

from . import machine
from .report import geometric_mean

COUNT = 1_000_000
Numbers = npt.NDArray[np.float32] | npt.NDArray[np.uint32]


@dataclass(frozen=True)
class Example:
    """A function `f`, the types of its parameters and of its result in memory, and how the kernel calls it."""

    function: str
    parameters: tuple[str, ...]
    result: str
    statement: str


THREE = "array<f32, 3>"
EXAMPLES: Mapping[str, Example] = {
    "half": Example("fn f(a: f32) -> f32 { return a * 0.5; }", ("f32",), "f32", "out[i] = f(a[i]);"),
    "wave": Example("fn f(a: f32) -> f32 { return sin(a) * exp(-a * a); }", ("f32",), "f32", "out[i] = f(a[i]);"),
    "complex": Example(
        "fn f(a: vec2f, b: vec2f) -> vec2f { return vec2f(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }",
        ("vec2f", "vec2f"),
        "vec2f",
        "out[i] = f(a[i], b[i]);",
    ),
    "cross": Example(
        "fn f(a: vec3f, b: vec3f) -> vec3f { return cross(a, b); }",
        (THREE, THREE),
        THREE,
        "let c = f(vec3f(a[i][0], a[i][1], a[i][2]), vec3f(b[i][0], b[i][1], b[i][2])); out[i] = array(c.x, c.y, c.z);",
    ),
    "hash": Example(
        "fn f(a: u32) -> u32 {"
        " var x = a; for (var k = 0; k < 8; k++) { x = (x ^ (x >> 16u)) * 0x45d9f3bu; } return x; }",
        ("u32",),
        "u32",
        "out[i] = f(a[i]);",
    ),
    "transform": Example(
        "fn f(a: mat4x4f, b: vec4f) -> vec4f { return a * b; }",
        ("mat4x4f", "vec4f"),
        "vec4f",
        "out[i] = f(a[i], b[i]);",
    ),
}
_SHAPES = {"f32": (), "u32": (), "vec2f": (2,), THREE: (3,), "vec4f": (4,), "mat4x4f": (4, 4)}


def kernel_of(example: Example) -> tinct.Kernel:
    """The kernel that a user would write."""
    names = "ab"[: len(example.parameters)]
    bindings = [f"var<storage> {name}: array<{it}>;" for name, it in zip(names, example.parameters, strict=True)]
    bindings.append(f"var<storage, read_write> out: array<{example.result}>;")
    declared = "\n".join(f"@group(0) @binding({number}) {it}" for number, it in enumerate(bindings))
    return tinct.load(f"""{declared}
{example.function}
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {{
    let i = id.x;
    if i >= arrayLength(&out) {{ return; }}
    {example.statement}
}}""")["main"]


def arguments_of(example: Example) -> list[Numbers]:
    """Random arguments."""
    random = np.random.default_rng(1)
    made = (random.random((COUNT, *_SHAPES[it]), np.float32) for it in example.parameters)
    return [
        (it * 1e6).astype(np.uint32) if type == "u32" else it for type, it in zip(example.parameters, made, strict=True)
    ]


def least_seconds(calls: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """The least processor seconds of each call."""
    found = dict.fromkeys(calls, float("inf"))
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.process_time()
            call()
            found[name] = min(found[name], time.process_time() - start)
    return found


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--rounds", type=click.IntRange(1), default=20, show_default=True)
def main(rounds: int) -> None:
    """Measure calls of functions beside kernels."""
    console, about = Console(), machine.describe()
    console.print(f"{about['processor']}, {about['threads']} threads; {COUNT} elements", highlight=False)
    table = Table("function", "kernel ms", "call ms", "ratio", box=box.SIMPLE)
    ratios: list[float] = []
    for name, example in EXAMPLES.items():
        function, kernel = tinct.load(example.function).functions["f"], kernel_of(example)
        given = arguments_of(example)
        values = {**dict(zip("ab", given, strict=False)), "out": (None, COUNT)}
        np.testing.assert_array_equal(function(*given), kernel.run(values, threads=COUNT)["out"])
        took = least_seconds(
            {"call": partial(function, *given), "kernel": partial(kernel.run, values, threads=COUNT)}, rounds
        )
        ratios.append(took["call"] / took["kernel"])
        table.add_row(name, f"{took['kernel'] * 1e3:.2f}", f"{took['call'] * 1e3:.2f}", f"{ratios[-1]:.2f}")
    console.print(table)
    console.print(f"geometric mean: {geometric_mean(ratios):.3f}")


if __name__ == "__main__":
    main()
