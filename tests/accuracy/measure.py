"""Measuring one function over its arguments."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import tinct

from .functions import Array, Doubles, Function

CHUNK = 1 << 17
TYPES: dict[str, np.dtype[Any]] = {"f32": np.dtype(np.float32), "f16": np.dtype(np.float16)}
_KERNEL = """{enable}
@group(0) @binding(0) var<storage, read> x: array<{type}>;
@group(0) @binding(1) var<storage, read> y: array<{type}>;
@group(0) @binding(2) var<storage, read_write> results: array<{type}>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {{
    let i = id.x;
    if (i < arrayLength(&results)) {{ {rest} results[i] = {name}({arguments}); }}
}}
"""


@dataclass(frozen=True, slots=True)
class Worst:
    """The worst errors: in units in the last place with the arguments, and how many results break WGSL's rule."""

    count: int
    ulp: float
    arguments: tuple[float, ...]
    violations: int
    first_violation: tuple[float, ...] | None

    def joined(self, other: Worst) -> Worst:
        """Of both."""
        worse = self if self.ulp >= other.ulp else other
        first = self.first_violation if self.first_violation is not None else other.first_violation
        violations = self.violations + other.violations
        return Worst(self.count + other.count, worse.ulp, worse.arguments, violations, first)


@cache
def _kernel(name: str, type: str, arity: int) -> tinct.Kernel:
    enable = "enable f16;" if type == "f16" else ""
    arguments = "x[i], y[i]" if arity == 2 else "x[i]"
    rest = "" if arity == 2 else "_ = y[i];"
    return tinct.load(_KERNEL.format(enable=enable, type=type, name=name, arguments=arguments, rest=rest))["main"]


def results(function: Function, type: str, arguments: tuple[Array, ...], device: str = "cpu") -> Array:
    """The function's values on a device."""
    first, last = arguments[0], arguments[-1]
    run = _kernel(function.name, type, function.arity)
    empty = np.zeros(len(first), TYPES[type])
    return run.run({"x": first, "y": last, "results": empty}, threads=len(first), device=device)["results"]


def unit(want: Doubles, dtype: np.dtype[Any]) -> Doubles:
    """The unit in the last place of a type at these values; below the normal numbers that of the least normal one."""
    limits = np.finfo(dtype)
    bounded = np.clip(np.abs(want), float(limits.smallest_normal), float(limits.max))
    _, exponent = np.frexp(np.where(np.isnan(want), 1.0, bounded))
    return np.ldexp(1.0, exponent - 1 - limits.nmant)


def judge(function: Function, type: str, arguments: tuple[Array, ...], got: Array) -> Worst:
    """Compares results with the exact values. Infinity counts as the power of two beyond the greatest number."""
    dtype = TYPES[type]
    with np.errstate(all="ignore"):
        wide = [it.astype(np.float64) for it in arguments]
        want = function.exact(*wide)
        step = unit(want, dtype)
        beyond = 2.0 ** np.finfo(dtype).maxexp
        error = np.abs(np.clip(got.astype(np.float64), -beyond, beyond) - np.clip(want, -beyond, beyond))
        error[np.isnan(want) & np.isnan(got)] = 0.0
        error[np.isnan(error)] = np.inf
        broken = error > function.rule(dtype).allowed(wide[-1], want, step)
        broken |= np.isinf(error)
        ulps = error / step
    at = int(np.argmax(ulps))
    bad = int(np.argmax(broken))
    place = tuple(float(it[at]) for it in arguments)
    first = tuple(float(it[bad]) for it in arguments) if broken[bad] else None
    return Worst(len(got), float(ulps[at]), place, int(np.count_nonzero(broken)), first)


def measure(function: Function, type: str, *, every: int = 1, device: str = "cpu", samples: int = 1 << 22) -> Worst:
    """The worst over all arguments, or every so-many-th; of functions of two, over random pairs, samples / every."""
    total = Worst(0, 0.0, (), 0, None)
    chunks = _all_values(type, every) if function.arity == 1 else _pairs(function, type, samples // every)
    for arguments in chunks:
        total = total.joined(judge(function, type, arguments, results(function, type, arguments, device)))
    return total


def _all_values(type: str, every: int) -> Iterator[tuple[Array, ...]]:
    """Every so-many-th bit pattern, as values; of f16 always all."""
    if type == "f16":
        yield (np.arange(1 << 16, dtype=np.uint16).view(np.float16),)
        return
    for start in range(0, 1 << 32, CHUNK * every):
        patterns = np.arange(start, min(start + CHUNK * every, 1 << 32), every, np.int64)
        yield (patterns.astype(np.uint32).view(np.float32),)


def _pairs(function: Function, type: str, count: int) -> Iterator[tuple[Array, ...]]:
    """Pairs of random bit patterns, and of numbers from the function's ranges; the same on each call."""
    dtype = TYPES[type]
    source = np.random.default_rng(7)
    for _ in range(max(1, count // (2 * CHUNK))):
        size = 2 * (min(count, CHUNK) // 2)  # a buffer has whole words, so an even number of f16
        words = [source.integers(0, 1 << dtype.itemsize * 8, size, dtype=f"u{dtype.itemsize}") for _ in range(2)]
        yield tuple(it.view(dtype) for it in words)
        yield tuple(source.uniform(low, high, size).astype(dtype) for low, high in function.ranges)
