"""Which decisions are legal: a table of rules. No other decisions are lowered.

Rules come in groups, and a group is checked only if all groups before it hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Final

from ...ir.hints import unknown_name
from ...ir.limits import PROMISED
from ...ir.schedule.extents import array_mistakes
from ...ir.schedule.nodes import Combine, Constant, Execution, Fby, Last, LevelName, Map, Scatter, Store
from ...ir.schedule.scope import used_by
from ...ir.schedule.text import level_name_text, operand_text
from .decided import AT_ONCE, IN_PARTS, WRITTEN_OUT, Decided, kind_of
from .kept_values import keep_mistakes, location_mistakes
from .memory import carried_bytes, workgroup_bytes
from .outputs import can_be_atomic
from .scatters import NO_ATOMICS, not_private, out_of_order, unjoinable
from .stages import is_staged, stages_of, without_parts
from .structure import Loop, Node, Wait, structure_of
from .substitute import are_equal, name_of_plain
from .tasks import Carry
from .tiles import stage_mistakes

MOST_WRITTEN_OUT: Final = 256
"""The most points that written-out levels give: more make code that compiles slowly and spills registers."""
MOST_AT_ONCE: Final = 2**16
"""The largest product of a dimension's factors: indices past the end of a dimension still have 32 bits."""
MOST_INVOCATIONS: Final = PROMISED["maxComputeInvocationsPerWorkgroup"]
MOST_ALONG: Final = tuple(PROMISED[f"maxComputeWorkgroupSize{axis}"] for axis in "XYZ")
MOST_MEMORY: Final = PROMISED["maxComputeWorkgroupStorageSize"]
"""WebGPU's default limits of a workgroup: invocations, invocations along x, y and z, and bytes of memory."""
MOST_CARRIED: Final = 4096
"""The most bytes of arrays for what an invocation carries: half of what WGSL promises for the variables of a function
(WGSL, section "Limits").
"""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule for decisions. `sentence` is what it demands; `check` gives a sentence for each part that breaks it."""

    name: str
    sentence: str
    check: Callable[[Decided], Iterator[str]]


def _dimensions(decided: Decided) -> Iterator[str]:
    listed = [it.dimension for it in decided.decisions.dimensions]
    for name in dict.fromkeys(listed):
        if name not in decided.scope.dimensions:
            yield unknown_name(f"there is no dimension {name!r}", name, decided.scope.dimensions)
        elif listed.count(name) > 1:
            yield f"{name!r} is decided twice"


def _factors(decided: Decided) -> Iterator[str]:
    for name, levels in decided.levels.items():
        if not levels:
            yield f"{name!r} has no level"
        for position, level in enumerate(levels):
            if position == 0 and level.factor is not None:
                yield f"the first level of {name!r} has a factor; it has as many iterations as the size needs"
            if position > 0 and not 1 <= (level.factor or 0) <= MOST_AT_ONCE:
                yield f"level {name}.{position} needs a factor of 1 to {MOST_AT_ONCE}"
        if decided.inner(name) > MOST_AT_ONCE:
            yield f"the factors of {name!r} make {decided.inner(name)}; at most {MOST_AT_ONCE} is allowed"


def _one_grid_level(decided: Decided) -> Iterator[str]:
    for name, levels in decided.levels.items():
        for kind in AT_ONCE:
            if sum(kind_of(it.execution) is kind for it in levels) > 1:
                yield f"{name!r} has several {kind.value} levels"


def _axes(decided: Decided) -> Iterator[str]:
    for kind in AT_ONCE:
        count = len(set(decided.axes(kind).values()))
        if count > 3:
            yield f"dimensions are spread over {count} axes of {kind.value}s, and a grid has three"


def _order(decided: Decided) -> Iterator[str]:
    order = decided.decisions.order
    sequential = [
        LevelName(name, position)
        for name, levels in decided.levels.items()
        for position, level in enumerate(levels)
        if kind_of(level.execution) not in AT_ONCE
    ]
    if not order:
        return
    for name in dict.fromkeys(order):
        if name not in sequential:
            yield f"{level_name_text(name)} is no loop and no written-out level"
        elif order.count(name) > 1:
            yield f"{level_name_text(name)} comes twice in the order"
    for name in sequential:
        if name not in order:
            yield f"{level_name_text(name)} is not in the order"


def _vectors(decided: Decided) -> Iterator[str]:
    for name, levels in decided.levels.items():
        for position, level in enumerate(levels):
            if level.execution is not Execution.VECTOR:
                continue
            if position == 0 or position + 1 < len(levels):
                yield f"level {name}.{position} has vectors: it must be the last level, and not the first"
            elif level.factor not in (2, 3, 4):
                yield f"level {name}.{position} has vectors of {level.factor}; WGSL has those of 2, 3 and 4"
    vectors = {it for it, levels in decided.levels.items() if levels[-1].execution is Execution.VECTOR}
    for statement in decided.nest.body:
        several = sorted(vectors & decided.scope.dimensions_at(statement))
        if len(several) > 1:
            name = statement.array if isinstance(statement, (Store, Scatter)) else statement.name
            yield f"{name!r} is in several dimensions with vectors: {', '.join(several)}"


def _peel(decided: Decided) -> Iterator[str]:
    peeled = decided.decisions.peeled
    for name in dict.fromkeys(peeled):
        if name not in decided.scope.dimensions:
            yield unknown_name(f"there is no dimension {name!r}", name, decided.scope.dimensions)
        elif peeled.count(name) > 1:
            yield f"{name!r} is peeled twice"
        elif decided.kind(LevelName(name, 0)) not in (Execution.LOOP, Execution.WORKGROUP):
            yield f"the first level of {name!r} is no loop and no workgroups: there is nothing to peel off"


def _stages(decided: Decided) -> Iterator[str]:
    yield from stage_mistakes(decided)


def _grid(decided: Decided) -> Iterator[str]:
    grid = decided.decisions.grid
    names = {it.dimension for it in decided.axes(Execution.WORKGROUP)}
    for name in dict.fromkeys(grid):
        if name not in decided.scope.dimensions:
            yield unknown_name(f"there is no dimension {name!r}", name, decided.scope.dimensions)
        elif name not in names:
            yield f"{name!r} has no workgroups"
        elif grid.count(name) > 1:
            yield f"{name!r} comes twice in the grid"
    if grid:
        yield from (f"{it!r} has workgroups, and is not in the grid" for it in sorted(names - set(grid)))


def _known_counts(decided: Decided) -> Iterator[str]:
    for name in decided.order:
        if decided.kind(name) in (Execution.LOOP, Execution.WORKGROUP) or decided.count(name):
            continue
        level = f"{level_name_text(name)} is {decided.execution(name).value}"
        size = "not known" if decided.count(name) is None else "0"
        yield f"{level}, and the size of {name.dimension!r} is {size}"


def _written_out(decided: Decided) -> Iterator[str]:
    points = prod(decided.count(it) or 1 for it in decided.order if decided.execution(it) in WRITTEN_OUT)
    if points > MOST_WRITTEN_OUT:
        yield f"{points} points are written out; at most {MOST_WRITTEN_OUT} are"


def _workgroup_size(decided: Decided) -> Iterator[str]:
    size = decided.workgroup_size()
    if prod(size) > MOST_INVOCATIONS:
        yield f"a workgroup of {prod(size)} invocations; WebGPU allows {MOST_INVOCATIONS}"
    for axis, count, most in zip("xyz", size, MOST_ALONG, strict=True):
        if count > most:
            yield f"{count} invocations along {axis}; WebGPU allows {most}"


def _parts(decided: Decided) -> Iterator[str]:
    for carry in _carries(decided):
        if not decided.is_in_parts(carry):
            continue
        for fby in carry.fbys:
            if fby.name not in decided.reductions:
                yield f"{fby.name!r} is carried from iteration to iteration, and cannot be accumulated in parts"
        for last in carry.lasts:
            yield f"{last.name!r} is of the last iteration, so the iterations must be in order"


def _no_workgroups(decided: Decided) -> Iterator[str]:
    stored = {name for levels in decided.partials.values() for name in levels}
    for carry in _carries(decided):
        for name in decided.joined(carry):
            if decided.execution(name) is Execution.WORKGROUP:
                yield f"{level_name_text(name)} is spread over workgroups, which cannot join what they carry"
            if decided.execution(name) is Execution.PARTIAL and name not in stored:
                yield f"{level_name_text(name)} has parts of parts, which nothing joins"


def _atomics(decided: Decided) -> Iterator[str]:
    for carry in _carries(decided):
        over = {decided.execution(it): it for it in decided.joined(carry) if decided.kind(it) is Execution.WORKGROUP}
        if Execution.ATOMIC not in over:
            continue
        name = level_name_text(over[Execution.ATOMIC])
        if len(over) > 1:
            yield f"{name} joins what another level of workgroups carries, too"
            continue
        for fby in carry.fbys:
            yield from (f"{name} cannot join {fby.name!r}: {it}" for it in _not_atomic(fby, decided))
    yield from unjoinable(decided)


def _not_atomic(fby: Fby, decided: Decided) -> Iterator[str]:
    """Why atomic operations in an output cannot join what is carried."""
    reduction = decided.reductions.get(fby.name)
    if reduction is not None and not (isinstance(reduction.join, str) and can_be_atomic(reduction.join, fby.type)):
        yield NO_ATOMICS
    if not isinstance(fby.first, Constant):
        yield "the output would have to begin with a value that is computed"
        return
    lasts = [it for it in decided.scope.values.values() if isinstance(it, Last) and it.value == fby.name]
    users = [it for it in decided.nest.body if any(last.name in used_by(it) for last in lasts)]
    for it in users:
        if not isinstance(it, Store) or len(users) > 1:
            yield "its last value is used for something else than one store"
            return
        if decided.vector_in(it.dimensions) is not None:
            yield f"{it.array!r} is stored in vectors"
        if fby.first.value.value != 0 and not _is_whole(it, decided):
            yield f"it begins with {operand_text(fby.first)}, and {it.array!r} has elements that are 0"


def _is_whole(store: Store, decided: Decided) -> bool:
    """Whether each subscript of a store is a dimension that is as large as the array."""
    sizes = {it.name: it.size for it in decided.nest.dimensions}
    extents = decided.scope.arrays[store.array].extents
    names = [name_of_plain(it) for it in store.subscripts]
    pairs = zip(names, extents, strict=True)
    return all(name in sizes and are_equal(sizes[name], extent) for name, extent in pairs if name is not None) and (
        None not in names
    )


def _iteration_order(decided: Decided) -> Iterator[str]:
    for carry in _carries(decided):
        reductions = {it.name: decided.reductions.get(it.name) for it in carry.values}
        names = [name for name, it in reductions.items() if it is None or isinstance(it.join, Combine)]
        levels = decided.carrying(carry)
        if None not in reductions.values():  # each part by itself is carried in order
            levels = tuple(it for it in levels if decided.execution(it) not in IN_PARTS)
        wanted = _lexicographic(levels, carry.on)
        if names and list(levels) != wanted:
            yield f"{names[0]!r} needs its iterations in order: {', '.join(map(level_name_text, wanted))}"
    yield from out_of_order(decided)


def _lexicographic(levels: Sequence[LevelName], on: tuple[str, ...]) -> list[LevelName]:
    return sorted(levels, key=lambda it: (on.index(it.dimension), it.level))


def _registers(decided: Decided) -> Iterator[str]:
    total = 0
    for carry in _carries(decided):
        looped, value = decided.looped(carry), carry.values[0].name
        unknown = [it for it in looped if decided.count(it) is None]
        if unknown:
            name = level_name_text(unknown[0])
            yield f"{name} is a loop inside of the one that carries {value!r}: how many iterations it has is not known"
        elif looped:
            total += carried_bytes(carry, decided)
            if total > MOST_CARRIED:
                loops = ", ".join(map(level_name_text, looped))
                yield (
                    f"an invocation carries {total} bytes, with {value!r} for each iteration of {loops}; at most "
                    f"{MOST_CARRIED} are allowed"
                )


def _whole_subgroups(decided: Decided) -> Iterator[str]:
    axes = {name: axis for name, axis in decided.axes(Execution.INVOCATION).items() if decided.count(name) != 1}
    for carry in _carries(decided):
        by = [it for it in decided.joined(carry) if decided.execution(it) is Execution.SUBGROUP]
        others = [it for it in axes if by and axes[it] != axes.get(by[0])]
        if others:
            names = level_name_text(by[0]), level_name_text(others[0])
            yield f"subgroups join {names[0]}, and would have invocations of {names[1]}, too"
        if by and decided.invocations & (decided.invocations - 1):
            yield f"{level_name_text(by[0])} has {decided.invocations} invocations, which is no power of two"


def _maps(decided: Decided) -> Iterator[str]:
    scope = decided.scope
    for value in scope.values.values():
        if not isinstance(value, Map):
            continue
        used = decided.demand(used_by(value))
        sources = {it.source for it in value.pairs}
        kept = [it for it in sorted(used.ends) if not sources.isdisjoint(scope.dimensions_of(it))]
        for name in (*sorted(used.reads), *kept):
            yield f"{value.name!r} needs {name!r} of other iterations, which is not kept in memory"


def _memory(decided: Decided) -> Iterator[str]:
    if decided.sizes.keys() >= set(decided.nest.sizes):
        for array in decided.nest.arrays:
            yield from array_mistakes(array, decided.sizes)
    total = workgroup_bytes(decided)
    if total > MOST_MEMORY:
        yield f"{total} bytes of workgroup memory; WebGPU allows {MOST_MEMORY}"


def _kept(decided: Decided) -> Iterator[str]:
    """Values that are used outside of the loops in which they are computed, or not inside of those that carry them."""
    done: dict[Carry, tuple[Loop, ...]] = {}

    def visit(nodes: Sequence[Node], path: tuple[Loop, ...]) -> Iterator[str]:
        for node in nodes:
            if isinstance(node, Loop):
                yield from visit(node.body, (*path, node))
                done.update(dict.fromkeys(node.opened, _loops(path, decided)))
                continue
            if isinstance(node, Wait):
                continue
            if isinstance(node, Carry) and not decided.carrying(node):
                done[node] = _loops(path, decided)
            used = decided.demand_of(node)
            opened = [node, *(it for loop in path for it in loop.opened)]
            for name in sorted(used.ends):
                home = decided.homes[name]
                if not set(done.get(home, ())) <= set(path):
                    yield f"{name!r} is used outside of the loops that it is computed in"
            for name in sorted(used.reads):
                if decided.homes[name] not in opened:
                    yield f"{name!r} is used outside of the loop that carries it"

    yield from visit(structure_of(decided), ())


def _loops(path: tuple[Loop, ...], decided: Decided) -> tuple[Loop, ...]:
    return tuple(it for it in path if decided.execution(it.level) is Execution.LOOP)


def _carries(decided: Decided) -> list[Carry]:
    return [it for it in decided.tasks if isinstance(it, Carry)]


RULES: Final[tuple[tuple[Rule, ...], ...]] = (
    (
        Rule("dimensions", "each decision is about another dimension of the nest", _dimensions),
        Rule("maps", "a mapped value is kept, or can be computed again", _maps),
        Rule("factors", "each level but the first of a dimension has a factor", _factors),
    ),
    (
        Rule(
            "one-grid-level", "a dimension has at most one level of workgroups, and one of invocations", _one_grid_level
        ),
        Rule("order", "an order has all loops and written-out levels, once each", _order),
    ),
    (Rule("grid", "a grid has all dimensions with workgroups, once each", _grid),),
    (Rule("axes", "at most three dimensions are spread over workgroups, and over invocations", _axes),),
    (
        Rule(
            "known-counts",
            "how many iterations are written out, or are invocations, is known, and not 0",
            _known_counts,
        ),
        Rule("written-out", "written-out levels give a bounded number of points", _written_out),
        Rule("vectors", "vectors are of adjacent indices, in one dimension of a value", _vectors),
        Rule(
            "stages",
            "a copy has the elements that loads need in a loop, and their number is known; "
            "one that slides has rows in common with the next",
            _stages,
        ),
        Rule("peel", "iterations are peeled off the first level of a dimension, a loop or workgroups", _peel),
        Rule("private", "a copy is of an output that values are joined to, of a known size", not_private),
        Rule("keep", "a value has one location, which its maps share", keep_mistakes),
    ),
    (
        Rule("workgroup-size", "a workgroup has at most as many invocations as WebGPU allows", _workgroup_size),
        Rule("parts", "only values that a function accumulates are accumulated in parts", _parts),
        Rule("no-workgroups", "no value is carried along workgroups", _no_workgroups),
        Rule("atomics", "atomic operations join numbers of 32 bits from a constant on, in the output", _atomics),
        Rule(
            "whole-subgroups",
            "subgroups join all invocations of a workgroup, which are on one axis, a power of two",
            _whole_subgroups,
        ),
        Rule("iteration-order", "values that one function does not accumulate are carried in order", _iteration_order),
        Rule("registers", "an invocation carries a known number of values, and not too many", _registers),
        Rule(
            "locations",
            "a kept value has a known number of elements, and is read where it was written",
            location_mistakes,
        ),
        Rule("memory", "workgroup memory is at most what WebGPU allows, and arrays have at most 2 GiB", _memory),
    ),
    (Rule("kept", "a value is used in the loops that it is computed in", _kept),),
)


_OF_WHOLE_NESTS: Final = ("stages", "peel", "private", "grid", "keep", "parts")


def illegal(decided: Decided) -> list[tuple[str, str]]:
    """What is illegal about decisions, as far as the first group of rules that they break: names and sentences.

    Before a nest is split into stages, only those rules are checked that splitting relies on, or that later would be
    about stages that lack what they are about. Then all are checked of each stage.
    """
    if not is_staged(decided):
        return _broken(decided, RULES)
    before = *RULES[:2], [rule for group in RULES[2:] for rule in group if rule.name in _OF_WHOLE_NESTS]
    found = _broken(without_parts(decided), before)
    for stage in () if found else stages_of(decided).stages:
        found = found or _broken(stage, RULES)
    return found


def _broken(decided: Decided, groups: Sequence[Sequence[Rule]]) -> list[tuple[str, str]]:
    for group in groups:
        found = [(rule.name, sentence) for rule in group for sentence in rule.check(decided)]
        if found:
            return found
    return []
