"""Random nests, and random decisions for them, most of which are legal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

from tinct import Nest
from tinct.ir.schedule.nodes import Load, Map, Scatter, Store
from tinct.nests import Dim, Value
from tinct.nests.values import SumLike, ValueLike, sum_of

OPERATORS = {"i32": ("+", "-", "*", "min", "max", "^", "&"), "f32": ("+", "-", "*", "min", "max")}
FUNCTIONS = ("abs", "asin", "atan", "cos", "exp", "floor", "fract", "sin", "sign", "tanh", "trunc")
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
WORKGROUPS = ("workgroup", "partial", "atomic")
REDUCTIONS = {"i32": ("+", "*", "min", "max", "&", "|", "^"), "f32": ("+", "*", "min", "max")}


@dataclass(frozen=True, slots=True)
class Sample:
    """A nest with inputs, sizes and dimensions."""

    nest: Nest
    arrays: dict[str, npt.NDArray[Any]]
    sizes: dict[str, int]
    dimensions: tuple[Dim, ...]


def random_sample(seed: int, type: str = "i32") -> Sample:
    """Loads with all boundaries, operations, reductions and recurrences along one or two of three dimensions, and at
    times another loop over one of them. Whole numbers are small, floats from -1 to 1.
    """
    random = Random(seed)
    nest = Nest("sample")
    sizes = {name: random.randint(1, 6) for name in ("n", "m", "p")}
    i, j, k = (nest.dim(name, letter) for name, letter in zip(sizes, "ijk", strict=True))
    values = [
        it for name, on in (("a", [i, j]), ("b", [j, k]), ("c", [i])) for it in _loads(nest, random, name, on, type)
    ]
    values.append(_index(nest, 2 * i - j + random.randint(-2, 2), type))
    values += [_combined(nest, random, values, type) for _ in range(random.randint(0, 2))]
    inner = _combined(nest, random, values, type)
    outputs = _carried(nest, random, nest.call("+", values[0], inner), random.choice(([j], [j, k])))
    for number, (value, on) in enumerate(outputs):
        nest.store(f"y{number}", value, on)
    if random.random() < 0.5:
        _again(nest, random, [*values, inner], outputs[0])
    if random.random() < 0.3:
        _gathered(nest, random, values, type)
    if random.random() < 0.3:
        function, place = random.choice(REDUCTIONS[type]), nest.call("i32", random.choice(values))
        subscripts = [place] if random.random() < 0.5 else [i, place]
        extents = [4] if len(subscripts) == 1 else ["n", 3]
        nest.scatter("joined", inner, subscripts, extents=extents, function=function)
    rng = np.random.default_rng(seed)
    shapes = {"a": (sizes["n"], sizes["m"]), "b": (sizes["m"], sizes["p"]), "c": (sizes["n"],)}
    used = [it.name for it in nest.ir.arrays]
    arrays = {name: _numbers(rng, shape, type) for name, shape in shapes.items() if name in used}
    return Sample(nest, arrays, sizes, nest.dimensions)


def _numbers(rng: np.random.Generator, shape: tuple[int, ...], type: str) -> npt.NDArray[Any]:
    if type == "f32":
        return (2 * rng.random(shape) - 1).astype(np.float32)
    return rng.integers(-9, 9, shape).astype(np.int32)


def _index(nest: Nest, number: SumLike, type: str) -> Value:
    made = nest.index(number, "i32")
    return made if type == "i32" else nest.call(type, made)


def _loads(nest: Nest, random: Random, name: str, on: list[Dim], type: str) -> list[Value]:
    """One load of an array, or several at different distances."""
    boundary = random.choice(("inside", "clamp", "zero"))
    if boundary == "inside":
        return [nest.load(name, type, on)]
    extents, count = [it.size for it in on], random.choice((1, 1, 3))
    places = [[it + random.randint(-2, 2) for it in on] for _ in range(count)]
    return [nest.load(name, type, place, boundary=boundary, extents=extents) for place in places]


def _gathered(nest: Nest, random: Random, values: list[Value], type: str) -> None:
    """An output of elements at a value as a subscript, or at an index and a value, most of which are inside."""
    i, j, _ = nest.dimensions[:3]
    place = nest.call("i32", random.choice(values))
    name, subscripts, extents = random.choice((("c", [place], [i]), ("a", [i, place], [i, j])))
    sizes = [it.size for it in extents]
    found = nest.gather(name, type, subscripts, extents=sizes, boundary=random.choice(("clamp", "zero")))
    nest.store("found", found, [it for it in nest.dimensions if it.name in nest.dimensions_of(found)])


def _combined(nest: Nest, random: Random, values: list[Value], type: str) -> Value:
    first, second = random.choice(values), random.choice((*values, random.randint(-3, 3)))
    if type == "f32" and random.random() < 0.4:
        return _of_function(nest, random, first, second)
    return nest.call(random.choice(OPERATORS[type]), first, second)


def _of_function(nest: Nest, random: Random, first: Value, second: ValueLike) -> Value:
    """A function of floats, a quotient, or what a comparison chooses."""
    kind = random.random()
    if kind < 0.5:
        return nest.call(random.choice(FUNCTIONS), first)
    if kind < 0.75:
        return nest.call("/", second, nest.call("abs", first) + 0.25)
    return nest.call("select", first, second, nest.call(random.choice(COMPARISONS), first, second))


def _carried(nest: Nest, random: Random, value: Value, on: list[Dim]) -> list[tuple[Value, list[Dim]]]:
    """Values to store, with their dimensions: what is carried along `on`, or computed of that, and sometimes a scan.

    The value is on i and j at least; where k is in `on`, another operand brings it.
    """
    i, j, k = nest.dimensions[:3]
    type = nest.type_of(value)
    full = nest.call("+", value, _index(nest, sum_of(k if len(on) == 2 else j), type))
    wide = k.name in nest.dimensions_of(full) and len(on) == 1
    kept = [i, k] if wide else [i]
    if random.random() < 0.2:
        return [(it, kept) for it in nest.argmax(full, on[0])] if len(on) == 1 else _spread(nest, full, on, kept)
    if random.random() < 0.6:
        total = nest.reduce(random.choice(REDUCTIONS[type]), full, on)
        again = nest.call("-", nest.load("c", type, [i]), total) if random.random() < 0.5 else total
        return [(again, kept)]
    first = random.randint(-3, 3)
    carried, other = nest.fby(first, on, type), nest.fby(1, on, type)
    carried.next = carried * 3 + full
    other.next = other + carried
    results = [(nest.last(carried, on), kept), (nest.last(other, on), kept)]
    return [*results, (carried, [*kept, *on])] if random.random() < 0.5 else results


def _again(nest: Nest, random: Random, values: list[Value], result: tuple[Value, list[Dim]]) -> None:
    """A second loop over j that has values of the first one, and sometimes a third one; the first ends before it."""
    _, j, k = nest.dimensions
    end, on = result
    found = [it for it in values if k in on or k.name not in nest.dimensions_of(it)]
    value = nest.call("+", random.choice(found), values[0])
    if j in on:
        return
    second = nest.dim(j.size, "l")
    mapped = nest.map(value, [(j, second)])
    later = nest.call(random.choice(OPERATORS[nest.type_of(value)]), mapped, nest.call(nest.type_of(value), end))
    kept = [it for it in nest.dimensions if it.name in nest.dimensions_of(later)]
    if random.random() < 0.5:
        nest.store("z", later, kept)
        return
    total = nest.reduce(random.choice(REDUCTIONS[nest.type_of(value)]), later, on=[second])
    third = nest.dim(j.size, "o")
    last = nest.call("-", nest.map(later, [(second, third)]), total)
    nest.store("z", last, [third if it == second else it for it in kept])


def _spread(nest: Nest, value: Value, on: list[Dim], kept: list[Dim]) -> list[tuple[Value, list[Dim]]]:
    """The sum of all elements, and the difference of the greatest and the least one."""

    def join(left: Sequence[Value], right: Sequence[Value]) -> list[Value]:
        greatest, least = nest.call("max", left[0], right[0]), nest.call("min", left[1], right[1])
        return [greatest, least, left[2] + right[2]]

    most = 1e30 if nest.type_of(value) == "f32" else 2**31 - 1
    greatest, least, total = nest.reduce(join, [value, value, value], on, [-most, most, 0])
    return [(greatest - least, kept), (total, kept)]


def random_decisions(sample: Sample, random: Random) -> str:
    """Decisions as text: levels for some dimensions, and at times an order."""
    lines: list[str] = []
    sequential: list[str] = []
    parts: list[str] = []
    every = {it.name: _random_levels(random) for it in sample.dimensions}
    for name in ("l", "o"):
        if name in every and random.random() < 0.7:
            every[name] = every["j"]
    dimensions = list(sample.dimensions)
    random.shuffle(dimensions)
    for dimension in dimensions:
        levels = every[dimension.name]
        lines.append(f"{dimension.name}: {' * '.join(levels)}")
        if any(it.startswith("partial") for it in levels) and random.random() < 0.5:
            parts.append(f"{dimension.name}_part: loop * {random.choice(('tree', 'invocation', 'subgroup'))}(2)")
        sequential += [
            f"{dimension.name}.{number}"
            for number, level in enumerate(levels)
            if not level.startswith(("invocation", "subgroup", *WORKGROUPS))
        ]
    lines += parts
    if sequential and random.random() < 0.7:
        random.shuffle(sequential)
        lines.append(f"order: {', '.join(sequential)}")
    lines += random_stages(sample, sequential, random)
    peeled = random.sample([it.name for it in sample.dimensions], random.randint(0, 2))
    if peeled:
        lines.append(f"peel {', '.join(peeled)}")
    is_scattered = any(isinstance(it, Scatter) for it in sample.nest.ir.body)
    private = ["private joined"] if is_scattered and random.random() < 0.4 else []
    grid = [it.partition(":")[0] for it in lines if ": workgroup" in it]
    if grid and random.random() < 0.3:
        lines.append(f"grid {', '.join(random.sample(grid, len(grid)))}")
    return "\n".join([*lines, *private, *random_kept(sample, random)])


def random_kept(sample: Sample, random: Random) -> list[str]:
    """Locations for some values; most often for those that another loop needs."""
    body = sample.nest.ir.body
    mapped = [it.value for it in body if isinstance(it, Map)]
    values = [it.name for it in body if not isinstance(it, (Store, Scatter, Map))]
    some = random.sample(values, random.randint(0, min(len(values), 2))) if random.random() < 0.4 else []
    names = dict.fromkeys([*some, *(it for it in mapped if random.random() < 0.6)])
    return [f"keep {it} in {random.choice(('registers', 'workgroup', 'subgroup', 'storage'))}" for it in names]


def _random_levels(random: Random) -> list[str]:
    levels = [random.choice(("loop", "loop", "loop", "workgroup", "partial", "atomic"))]
    kinds = ["unrolled", "tree", random.choice(("invocation", "subgroup")), "loop", "vector"]
    for _ in range(random.randint(0, 2)):
        kind = kinds.pop(random.randrange(len(kinds)))
        least = 2 if kind == "vector" else 1
        factor = random.choice((2, 4)) if kind == "subgroup" else random.randint(least, 4)
        levels.append(f"{kind}({factor})")
    if random.random() < 0.3:
        levels.append(f"{levels.pop(0)}({random.randint(1, 3)})" if len(levels) > 1 else "unrolled(2)")
        levels[0] = levels[0].partition("(")[0] if levels[0].startswith(("loop", *WORKGROUPS)) else "loop"
    return levels


def random_stages(sample: Sample, levels: list[str], random: Random) -> list[str]:
    """Copies in workgroup memory for the loads of some arrays."""
    loads: dict[str, list[str]] = {}
    for it in sample.nest.ir.body:
        if isinstance(it, Load):
            loads.setdefault(it.array, []).append(it.name)
    lines: list[str] = []
    for names in loads.values():
        if random.random() < 0.7:
            continue
        some = random.sample(names, random.randint(1, len(names)))
        place = f" at {random.choice(levels)}" if levels and random.random() < 0.8 else ""
        options = random.choice(("", " pad(1)", " double", " sliding"))
        lines.append(f"stage {', '.join(some)}{place}{options}")
    return lines
