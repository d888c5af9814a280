"""`python -m benchmarks.grid_passes`: what each pass of the pipeline `grid` gains for `.hir` functions on a GPU.

A program is timed on the device after the whole pipeline, after the pipeline without each of its passes, and without
any. `workgroup_trees`, which works on kernels, counts as a pass. Times are those of the run on the device, without
compilation, in interleaved rounds. A ratio is relative to the whole pipeline: above 1, the pass gains. A dash is a pass
without which the program is the same. Before it is timed, a program's result is compared with the whole pipeline's.
"""

from __future__ import annotations

import json
import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import click
import numpy as np
from numpy.typing import NDArray
from rich import box
from rich.console import Console
from rich.table import Table

import tinct
from tinct.backend.gpu import shared_device
from tinct.functions.copies import copied_function
from tinct.functions.extents import dynamic_constants
from tinct.functions.values import as_argument, to_bytes
from tinct.gpu_programs import ProgramOnGpu, trees_for
from tinct.ir.hercules import dynamic
from tinct.ir.hercules.nodes import Module
from tinct.ir.hercules.program_text import print_program
from tinct.ir.hercules.types import substitute
from tinct.transforms.hercules import GRID
from tinct.transforms.hercules.for_machine import with_own_control
from tinct.transforms.hercules.programs import WorkgroupTrees, program_for
from tinct.transforms.passes import apply_passes

from . import machine

ROOT: Final = Path(__file__).parents[1]
PASSES: Final = tuple(dict.fromkeys([*(it.name for it in GRID.passes), WorkgroupTrees.name]))
NONE: Final = "none"
GAIN: Final = 1.5
"""From this ratio on a pass is named."""
_SECONDS: Final = 30.0
"""The time limit of a run: what takes longer is not timed."""


@dataclass(frozen=True, slots=True)
class Workload:
    """A function of a file and the sizes at which it is timed.

    `shapes` has the extents of each argument, and `below` the number below which its integers are.
    """

    file: str
    shapes: dict[str, tuple[int, ...]]
    function: str = ""
    constants: dict[str, int] = field(default_factory=dict[str, int])
    below: int = 2

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.function or Path(self.file).stem

    def arguments(self, function: tinct.HerculesFunction) -> list[NDArray[Any]]:
        """Random numbers of [0, 1), or integers, the same at each call."""
        numbers = np.random.default_rng(1)
        return [self._random(numbers, function.parameters[name], shape) for name, shape in self.shapes.items()]

    def _random(
        self, numbers: np.random.Generator, parameter: tinct.functions.ParameterInfo, shape: tuple[int, ...]
    ) -> NDArray[Any]:
        assert parameter.dtype is not None
        if parameter.dtype.kind == "f":
            return numbers.random(shape).astype(parameter.dtype)
        return numbers.integers(0, self.below, shape).astype(parameter.dtype)


WORKLOADS: Final = (
    Workload("programs/batched_matmul/batched_matmul.hir", {"a": (8, 128, 128), "b": (8, 128, 128)}),
    Workload("programs/convolution/convolution.hir", {"picture": (1024, 1024), "weights": (5, 5)}),
    Workload("programs/dot/dot.hir", {"a": (50_000,), "b": (50_000,)}),
    Workload("programs/floyd_warshall/floyd_warshall.hir", {"distances": (40, 40)}),
    Workload("programs/heat/heat.hir", {"initial": (500_000,), "rate": ()}, constants={"steps": 10}),
    Workload("programs/histogram/histogram.hir", {"keys": (1_000_000,)}, "by_key", {"bins": 256}, below=256),
    Workload("programs/histogram/histogram.hir", {"keys": (20_000,)}, "by_bin", {"bins": 256}, below=256),
    Workload("programs/kmeans/kmeans.hir", {"points": (50_000, 2), "centres": (16, 2)}),
    Workload("programs/matmul/matmul.hir", {"a": (256, 256), "b": (256, 256)}),
    Workload("programs/prefix_sum/prefix_sum.hir", {"values": (50_000,)}),
    Workload("programs/softmax/softmax.hir", {"x": (1024, 512)}),
    Workload("benchmarks/grid_programs/decay.hir", {"initial": (50_000,), "rate": ()}, constants={"steps": 100}),
    Workload("benchmarks/grid_programs/argmax.hir", {"values": (2_000_000,)}),
    Workload("benchmarks/grid_programs/argmax_of_rows.hir", {"x": (2, 2_000_000)}),
    Workload("benchmarks/grid_programs/dot_of_integers.hir", {"a": (1_000_000,), "b": (1_000_000,)}, below=100),
    Workload("benchmarks/grid_programs/greatest.hir", {"values": (1_000_000,)}, below=1 << 30),
    Workload("benchmarks/grid_programs/row_sums.hir", {"x": (2, 4_000_000)}, below=100),
    Workload("benchmarks/grid_programs/running_sum.hir", {"x": (60_000,)}),
    Workload("benchmarks/grid_programs/scaled.hir", {"x": (1_000_000,), "y": (1_000_000,), "a": ()}),
    Workload("benchmarks/grid_programs/two_steps.hir", {"x": (1024, 1024)}),
)


@dataclass(slots=True)
class Variant:
    """A workload's program after some of the passes, and the seconds of its runs; `problem` says why it has none."""

    text: str
    program: ProgramOnGpu
    arguments: Sequence[bytes | bytearray]
    seconds: list[float] = field(default_factory=list[float])
    problem: str = ""

    def run(self) -> tuple[bytearray, ...]:
        """The bytes of the result, of a run that is timed."""
        outcome = self.program.run(self.arguments, timeout=_SECONDS)
        self.seconds.append(outcome.run_seconds)
        return outcome.results

    @property
    def median(self) -> float:
        """The median of the runs in seconds."""
        return statistics.median(self.seconds)


def variants_of(workload: Workload) -> dict[str, Variant]:
    """The program after the whole pipeline (the name is empty), without each pass of it, and without all, where that
    makes it another one.
    """
    function = tinct.load_hercules(ROOT / workload.file)[workload.name]
    given = workload.arguments(function)
    constants = dynamic_constants(function.function, given, workload.constants)
    literals = [dynamic.literal(it) for it in constants]
    types = [substitute(it, literals) for it in function.function.parameter_types]
    triples = zip(types, given, function.parameters, strict=True)
    data = [to_bytes(type, as_argument(type, value, name)) for type, value, name in triples]

    trees = trees_for(shared_device("").adapter())

    def variant(without: str) -> Variant:
        changed = copied_function(function.function)
        with_own_control(changed)
        passes = [it for it in GRID.passes if without not in (it.name, NONE)]
        apply_passes(Module([changed]), passes)
        known = None if without in (WorkgroupTrees.name, NONE) else trees
        program = program_for(changed, constants, known)
        return Variant(print_program(program), ProgramOnGpu(program), data)

    all_of_them = {name: variant(name) for name in ("", *PASSES, NONE)}
    return {name: it for name, it in all_of_them.items() if not name or it.text != all_of_them[""].text}


def measure(variants: dict[str, Variant], rounds: int) -> None:
    """Time the variants in interleaved rounds, after a run each that is checked against the whole pipeline's."""
    expected = variants[""].run()
    for variant in variants.values():
        try:
            variant.problem = "" if variant.run() == expected else "another result"
        except (tinct.DeviceError, tinct.ShaderError) as error:
            variant.problem = str(error).partition("\n")[0]
        variant.seconds.clear()
    timed = [it for it in variants.values() if not it.problem]
    for _ in range(rounds):
        for variant in random.sample(timed, len(timed)):
            variant.run()


def ratio(variants: dict[str, Variant], name: str) -> float | None:
    """How many times longer the program takes without a pass; None if it does not run so, or is the same."""
    if name not in variants or variants[name].problem:
        return None
    return variants[name].median / variants[""].median


def _cell(variants: dict[str, Variant], name: str) -> str:
    value = ratio(variants, name)
    if value is None:
        return "fails" if name in variants else "–"
    return f"[bold]{value:.2f}[/bold]" if value >= GAIN else f"{value:.2f}"


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("programs", nargs=-1)
@click.option("--rounds", type=click.IntRange(1), default=5, show_default=True, help="Runs of each variant.")
@click.option("--json", "json_path", type=click.Path(dir_okay=False, path_type=Path), help="Write all numbers there.")
def main(programs: tuple[str, ...], rounds: int, json_path: Path | None) -> None:
    """Measure the PROGRAMS named, or all, without each pass of the pipeline `grid`."""
    console, about = Console(width=200), machine.describe()
    about["adapter"] = shared_device("").adapter().description
    console.print(f"{about['processor']}, {about['threads']} threads; {about['adapter']}", highlight=False)
    table = Table("program", "ms", *PASSES, NONE, box=box.SIMPLE)
    found: dict[str, dict[str, object]] = {}
    for workload in WORKLOADS:
        if programs and workload.name not in programs:
            continue
        variants = variants_of(workload)
        try:
            measure(variants, rounds)
        except tinct.DeviceError as error:
            console.print(f"{workload.name}: {error}", highlight=False)
            continue
        console.print(f"{workload.name} is measured", highlight=False)
        columns = (*PASSES, NONE)
        ratios = {name: ratio(variants, name) for name in columns}
        problems = {name: it.problem for name, it in variants.items() if it.problem}
        found[workload.name] = {"seconds": variants[""].median, "ratios": ratios, "problems": problems}
        table.add_row(workload.name, f"{variants[''].median * 1e3:.1f}", *(_cell(variants, it) for it in columns))
        for name, problem in problems.items():
            console.print(f"{workload.name} without {name}: {problem}")
    console.print(table)
    if json_path is not None:
        json_path.write_text(json.dumps({"machine": about, "programs": found}, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
