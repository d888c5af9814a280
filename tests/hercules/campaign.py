"""Checking one random function on several devices.

Results must be equal, on a GPU up to the accuracy that WGSL demands of divisions. Where they differ because WGSL leaves
open what becomes of NaNs, infinities and subnormal numbers, that is no problem, but is counted.
"""

from __future__ import annotations

import random
import re
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from tests.machines import machine

from tinct.compare import Tolerance, compare
from tinct.functions import HerculesFunction
from tinct.functions.function import Arrays
from tinct.ir.diagnostics import ShaderError
from tinct.ir.hercules import nodes as h
from tinct.ir.hercules.storage import Value
from tinct.ir.hercules.text import print_module

from . import generate_integers, generate_sums
from .floats import tolerance_of
from .generate import generate
from .generate_forks import generate_forks
from .support import same_value

COUNTS = (4, 1, 3, 0, 4)
"""Values of the dynamic constant, by seed."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A generator: its modules, which function of each to run, and arguments for it."""

    generate: Callable[[int], h.Module]
    arguments: Callable[[h.Function, int, int], list[Value]]
    entry: int = 0


def _scalars(_: h.Function, n: int, seed: int) -> list[Value]:
    source = random.Random(seed)
    return [[source.randint(-5, 5) for _ in range(n)], source.randint(0, 9)]


KINDS: Mapping[str, Kind] = {
    "scalars": Kind(generate, _scalars),
    "forks": Kind(generate_forks, _scalars),
    "sums": Kind(generate_sums.generate_sums, generate_sums.arguments, -1),
    "integers": Kind(generate_integers.generate_integers, generate_integers.arguments),
}


@dataclass(frozen=True, slots=True)
class Checked:
    """What became of one function: `problem` is a difference or a fault, `refused` what a device does not support.

    `is_open`: a GPU's results differ where WGSL leaves them open. `kinds` has the kinds of nodes of the function and of
    all that it calls.
    """

    kind: str
    seed: int
    problem: str | None = None
    refused: str | None = None
    is_open: bool = False
    kinds: frozenset[str] = field(default_factory=frozenset[str])
    text: str = ""


def check_seed(case: tuple[str, int], devices: Sequence[str]) -> Checked:
    """Run the function of a generator, by its name, and a seed on the devices, the CPU being that of a machine of the
    seed, and compare the results.
    """
    name, seed = case
    kind = KINDS[name]
    module = kind.generate(seed)
    text = print_module(module)
    function = module.functions[kind.entry]
    count = COUNTS[seed % len(COUNTS)]
    kinds = frozenset(type(node).__name__ for it in module.functions for node in it.nodes)
    values = kind.arguments(function, count, seed)
    try:
        with machine(seed):
            problem = difference(function, count, values, devices)
        if problem is not None and problem.device == "gpu":
            tolerance = tolerance_of(function, [count], values)
            if tolerance is None:
                return Checked(name, seed, is_open=True, kinds=kinds, text=text)
            if problem.agrees(tolerance):
                problem = None
    except ShaderError as error:
        return Checked(name, seed, refused=reason(error), kinds=kinds, text=text)
    except Exception:  # a campaign goes on whatever a stage raises
        return Checked(name, seed, problem=traceback.format_exc(limit=-4), kinds=kinds, text=text)
    return Checked(name, seed, problem=None if problem is None else str(problem), kinds=kinds, text=text)


def reason(error: ShaderError) -> str:
    """A message without the names in it."""
    return re.sub(r"'[^']*'|\d+", "…", str(error).splitlines()[0])


@dataclass(frozen=True, slots=True)
class Difference:
    """Results of the first device and of another one, which are not the same bit for bit."""

    device: str
    count: int
    expected: Arrays
    actual: Arrays

    def agrees(self, tolerance: Tolerance) -> bool:
        """Whether the results are within a tolerance."""
        return all(compare(it, self.actual[name], tolerance).agrees for name, it in self.expected.items())

    def __str__(self) -> str:
        pairs = [(name, it.tolist(), self.actual[name].tolist()) for name, it in self.expected.items()]
        shown = [f"{name} is {one}, not {other}" for name, one, other in pairs if repr(one) != repr(other)]
        return f"with n = {self.count} on {self.device}: {'; '.join(shown)}"


def difference(function: h.Function, count: int, values: Sequence[Value], devices: Sequence[str]) -> Difference | None:
    """Results of a device that are not those of the first; all NaNs are equal."""
    compiled = HerculesFunction(function)
    first, *others = devices
    expected = run_on(compiled, count, values, first)
    for device in others:
        actual = run_on(compiled, count, values, device)
        if not same_value(compiled.value_of(expected), compiled.value_of(actual)):
            return Difference(device, count, expected, actual)
    return None


def run_on(compiled: HerculesFunction, count: int, values: Sequence[Value], device: str) -> Arrays:
    """The results of a function on a device."""
    arguments = dict(zip(compiled.parameters, values, strict=True))
    constants = dict.fromkeys(compiled.function.dynamic_constants, count)
    return compiled.run(arguments, constants=constants, device=device)
