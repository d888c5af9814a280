"""Lowers a nest with legal decisions to core IR: one entry point, a dispatch of which computes the outputs.

Carried values are variables. All other values are computed where they are used, once for each block and for each point
of the written-out levels. Each size that is not known is an override of its name. An array is a binding in group 0,
in the order of the declarations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby, product
from math import prod
from typing import assert_never

from ...base.interpreter_state import deep_nesting
from ...ir import types as w
from ...ir.core import nodes as c
from ...ir.core.builder import constant, u32
from ...ir.core.values import Value
from ...ir.ops import BinaryOp, UnaryOp
from ...ir.schedule.functions import COPY, scalar_type
from ...ir.schedule.nodes import (
    Compute,
    Constant,
    ElementType,
    Execution,
    Fby,
    Gather,
    Index,
    Last,
    LevelName,
    Load,
    Map,
    Operand,
    Scatter,
    Stage,
    Store,
    Use,
)
from ...ir.schedule.reductions import Reduction
from ...ir.schedule.scope import Value as NestValue
from ...ir.schedule.text import INFIXES, PREFIXES
from .across import across_invocations
from .addresses import Addresses, Indices, conjunction
from .carrying import Carrying
from .decided import AT_ONCE, Decided, kind_of
from .frame import Frame, Outline
from .gathering import gathered
from .keeping import Keeping
from .kept_values import kept_values
from .peeling import Interior, Subscript, interior, subscripts_on, whole_count
from .reciprocals import is_by_reciprocal
from .scattering import Scattering, join_in_memory
from .sharing import groups_of
from .staging import Staging
from .structure import Loop, Node, has_barrier, has_effect, is_inside, leaves_of, structure_of
from .tasks import Carry, Hold, Write
from .tiles import stages_in
from .vectors import (
    by_components,
    called,
    component,
    components,
    converted,
    lanes_from,
    operated,
    splat,
    width_of,
)
from .waits import with_waits
from .written_out import nested_loops, ordered_points


@deep_nesting()
def lower(*stages: Decided) -> c.Module:
    """The module of a verified nest with legal decisions: an entry point for each of its stages."""
    outline = Outline(stages)
    for stage in stages:
        lowering = _Lowering(stage, Frame(stage, outline))
        lowering.whole_nest()
        lowering.frame.finish()
    return outline.finish()


@dataclass(slots=True)
class _Lowering(Addresses):
    """A nest that is being lowered."""

    versions: dict[str, int] = field(default_factory=dict[str, int])
    """How often a carried value has been changed: what was computed of it before may not be used after."""
    waiting: list[tuple[str, Value]] = field(default_factory=list[tuple[str, Value]])
    """Conditions that indices are in their dimensions, which hold for some invocations only, while barriers keep them
    from being tested outside of stores, or for some components of vectors only.
    """
    whole: frozenset[str] = frozenset()
    """Dimensions whose indices are known to be in them."""
    staging: Staging = field(init=False)
    scattering: Scattering = field(init=False)
    keeping: Keeping = field(init=False)
    carrying: Carrying = field(init=False)

    def __post_init__(self) -> None:
        for kind in AT_ONCE:
            axes = self.decided.axes(kind)
            numbers = {axis: self.frame.builtin(kind, axis) for axis in sorted(set(axes.values()))}
            self.at |= {name: numbers[axis] for name, axis in axes.items()}
        self.carrying = Carrying(self)
        self.staging = Staging(self)
        self.scattering = Scattering(self)

    # Structure

    def whole_nest(self) -> None:
        """All of it, in two versions if dimensions that are spread over workgroups are peeled."""
        scope, nodes = self.decided.scope, structure_of(self.decided)
        kept = kept_values(self.decided, nodes)
        groups = groups_of(nodes, kept, self.decided)
        self.keeping, nodes = Keeping(self, kept, groups), with_waits(nodes, kept, groups, self.decided)
        self.scattering.begin()
        self.staging.fill([it for it in self.decided.stages if it.at is None])
        spread = [it for it in scope.dimensions if self.decided.is_spread(it)]
        peeled = [
            it for it in self.decided.decisions.peeled if self.decided.kind(LevelName(it, 0)) is Execution.WORKGROUP
        ]
        subscripts = subscripts_on(self, scope.values, peeled, ())
        self.in_versions(peeled, interior(self, peeled, subscripts), lambda: self.spread(nodes, spread))
        self.scattering.finish()

    def in_versions(self, dimensions: Iterable[str], interior: Interior, build: Callable[[], None]) -> None:
        """A part of the tree without the tests that conditions make needless, and with them where they do not hold."""
        if not interior.conditions:
            build()
            return
        builder = self.frame.builder
        node = builder.enter_if(conjunction(interior.conditions, builder))
        merge = node.merge_target
        assert merge is not None
        for block, is_interior in ((node.true_target, True), (node.false_target, False)):
            builder.block = block
            before = self.whole, self.sure
            if is_interior:
                self.whole, self.sure = self.whole | set(dimensions), self.sure | interior.sure
            with self.block():
                build()
            self.whole, self.sure = before
            builder.branch(merge)
        builder.block = merge

    def nodes(self, nodes: Sequence[Node]) -> None:
        for node in nodes:
            if isinstance(node, Loop):
                self.loop(node)
            elif isinstance(node, Carry):
                self.carry(node)
            elif isinstance(node, Hold):
                self.hold(node)
            elif isinstance(node, Write):
                self.write(node)
            else:
                self.frame.barrier()

    def spread(self, nodes: Sequence[Node], dimensions: Sequence[str]) -> None:
        """A part of the tree, for indices that are in dimensions that have neither loops nor written-out levels."""
        if not dimensions:
            self.nodes(nodes)
            return
        first, *rest = dimensions
        for is_in, group in groupby(nodes, key=lambda node: is_inside(node, first)):
            part = list(group)
            build = partial(self.spread, part, rest)
            if is_in:
                self.tested(first, part, build)
            elif any(first in it.dimensions for it in leaves_of(part)) and self.may_leave(first):
                self.awaited(first, self.in_dimension(first), build)
            else:
                build()

    def loop(self, loop: Loop) -> None:
        for carry in loop.opened:
            self.open(carry)
        match self.decided.kind(loop.level):
            case Execution.UNROLLED | Execution.TREE:
                self.written_out(loop)
            case Execution.LOOP:
                self.sequential(loop)
            case Execution.VECTOR:
                self.inside(loop)
            case _:
                raise AssertionError("workgroups and invocations are in no tree")
        for carry in loop.opened:
            self.close(carry)

    def written_out(self, loop: Loop) -> None:
        """A written-out level, with those inside of it that have no tests of their own."""
        loops = nested_loops(loop, self.decided)
        if any(self.is_tested(it) for it in loops):
            loops = [loop]
        for numbers in ordered_points(loops, self.decided):
            with self.written_as(tuple(zip((it.level for it in loops), numbers, strict=True))):
                self.inside(loops[-1])

    def is_tested(self, loop: Loop) -> bool:
        """Whether the body of a level is only for indices that are in its dimension."""
        return self.is_complete(loop) and self.needs_test(loop.level.dimension, loop.body)

    def needs_test(self, dimension: str, nodes: Sequence[Node]) -> bool:
        """Whether there may be indices past the end of a dimension, for which a part of the tree would do something."""
        return self.may_leave(dimension) and has_effect(nodes, dimension)

    def carry(self, carry: Carry) -> None:
        """Go on to the next iteration of what is carried; the only one, where each iteration is an invocation."""
        if self.decided.carrying(carry):
            self.update(carry)
            return
        self.open(carry)
        self.update(carry)
        self.close(carry)

    def sequential(self, loop: Loop) -> None:
        """A loop; if its dimension is peeled, without tests in its whole iterations."""
        dimension, tasks = loop.level.dimension, list(leaves_of(loop.body))
        stages = stages_in(loop.level, tasks, self.decided)
        self.staging.enter(stages)
        is_peeled = dimension in self.decided.decisions.peeled and not loop.level.level and dimension not in self.whole
        if not is_peeled:
            self.counted(loop, stages, self.count(loop.level), lambda: self.inside(loop))
            return
        loads = {name for task in tasks for name in self.decided.demand_of(task).loads}
        subscripts = subscripts_on(self, loads, [dimension], self.entered())
        if not subscripts and self.decided.is_padded(dimension):
            self.with_remainder(loop, stages)
            return
        build = partial(self.loop_versions, loop, subscripts)
        self.counted(loop, stages, self.count(loop.level), build)

    def entered(self) -> list[str]:
        """The peeled dimensions whose first level is entered."""
        return [it for it in self.decided.decisions.peeled if LevelName(it, 0) in self.at]

    def loop_versions(self, loop: Loop, subscripts: Sequence[Subscript]) -> None:
        dimension = [loop.level.dimension]
        self.in_versions(dimension, interior(self, dimension, subscripts), lambda: self.inside(loop))

    def with_remainder(self, loop: Loop, stages: Sequence[Stage]) -> None:
        """The whole iterations in a loop, and the last one, with tests, after it."""
        dimension, before = loop.level.dimension, self.whole
        count = whole_count(self, dimension)
        self.whole |= {dimension}
        self.counted(loop, stages, count, lambda: self.inside(loop))
        self.whole = before
        inner = u32(self.decided.inner(dimension))
        rest = self.frame.binary(BinaryOp.REMAINDER, self.size(dimension), inner)
        with self.frame.builder.when(self.frame.builder.binary(BinaryOp.GREATER, rest, u32(0))), self.block():
            self.iteration(loop, stages, count, lambda: self.inside(loop))

    def counted(self, loop: Loop, stages: Sequence[Stage], count: Value, build: Callable[[], None]) -> None:
        dimension = loop.level.dimension
        is_alone = len(self.decided.levels[dimension]) == 1
        name = self.frame.name(dimension if is_alone else f"{dimension}_{loop.level.level}")
        with self.frame.builder.counting(u32(0), count, name=name) as number, self.block():
            self.iteration(loop, stages, number, build)

    def iteration(self, loop: Loop, stages: Sequence[Stage], number: Value, build: Callable[[], None]) -> None:
        self.at[loop.level] = number
        self.staging.fill(stages)
        build()
        del self.at[loop.level]

    def count(self, name: LevelName) -> Value:
        """The number of iterations of a level."""
        known = self.decided.count(name)
        if known is not None:
            return u32(known)
        size, inner = self.size(name.dimension), self.decided.inner(name.dimension)
        if inner == 1:
            return size
        rounded = self.frame.binary(BinaryOp.ADD, size, u32(inner - 1))
        return self.frame.binary(BinaryOp.DIVIDE, rounded, u32(inner))

    def inside(self, loop: Loop) -> None:
        """The body of a level, for indices that are in the dimension."""
        with self.carrying.iteration(loop):
            if self.is_complete(loop):
                self.tested(loop.level.dimension, loop.body, lambda: self.nodes(loop.body))
            else:
                self.nodes(loop.body)

    def tested(self, dimension: str, nodes: Sequence[Node], build: Callable[[], None]) -> None:
        """A part of the tree, which `build` makes, where the index is in the dimension."""
        if not self.needs_test(dimension, nodes):
            build()
            return
        condition = self.in_dimension(dimension)
        is_uniform = all(kind_of(it.execution) is not Execution.INVOCATION for it in self.decided.levels[dimension])
        if isinstance(condition.type, w.Vector):
            self.awaited(dimension, condition, build)
        elif is_uniform or not has_barrier(nodes, self.decided):
            with self.frame.builder.when(condition), self.block():
                build()
        else:
            self.awaited(dimension, condition, build)

    def may_leave(self, dimension: str) -> bool:
        """Whether there may be indices past the end of a dimension."""
        return self.decided.is_padded(dimension) and dimension not in self.whole

    def awaited(self, dimension: str, condition: Value, build: Callable[[], None]) -> None:
        """A part of the tree, where each task in the dimension tests that the index is."""
        self.waiting.append((dimension, condition))
        build()
        self.waiting.pop()

    def in_dimension(self, dimension: str) -> Value:
        """Whether the index is in the dimension; of a vector, for each component, where that may differ."""
        index, size = self.index(dimension), self.size(dimension)
        width, known = self.decided.width_in([dimension]), self.decided.size(dimension)
        if width == 1 or (known is not None and known % width == 0):
            return self.frame.binary(BinaryOp.LESS, index, size)
        return self.frame.builder.binary(
            BinaryOp.LESS, lanes_from(self.frame.builder, index, width), splat(self.frame.builder, size, width)
        )

    def is_complete(self, loop: Loop) -> bool:
        """Whether the level is the innermost one of its dimension."""
        names = [it for it in self.decided.order if it.dimension == loop.level.dimension]
        return names[-1] == loop.level

    # Tasks

    def open(self, carry: Carry) -> None:
        """Give what is carried its first values."""
        self.keeping.task = carry
        width = self.carrying.width(carry)
        with self.carrying.each(carry):
            for point in self.carrying.points(carry):
                with self.written_as(point):
                    key = self.carrying.key(carry)
                    for fby in carry.fbys:
                        self.carrying.set(fby, key, self.initial(fby, carry), carry, width)
                    for last in carry.lasts:
                        self.carrying.set(last, key, self.frame.zero(last.type), carry, width)
        self.changed(carry)

    def initial(self, fby: Fby, carry: Carry) -> Value:
        if not self.decided.is_in_parts(carry):
            return self.operand(fby.first, {})
        reduction = self.decided.reductions[fby.name]
        neutral = reduction.neutral
        return self.operand(fby.first if neutral is None else neutral[reduction.fbys.index(fby)], {})

    def changed(self, carry: Carry) -> None:
        for it in carry.values:
            self.versions[it.name] = self.versions.get(it.name, 0) + 1

    def update(self, carry: Carry) -> None:
        """Go on to the next iteration of what is carried."""
        self.keeping.task = carry
        conditions = [condition for dimension, condition in self.waiting if dimension in carry.on]
        masks = [it for it in conditions if isinstance(it.type, w.Vector)]
        with self.guarded([it for it in conditions if it not in masks]):
            values = [self.value(it.next, {}) for it in carry.fbys]
            values += [self.value(it.value, {}) for it in carry.lasts]
            for it, value in zip(carry.values, values, strict=True):
                variable = self.carrying.variable(it.name, self.carrying.key(carry))
                self.store_carried(variable, value, masks, self.carrying.width(carry))
        self.changed(carry)

    def store_carried(self, variable: c.Var, value: Value, masks: Sequence[Value], width: int) -> None:
        """Store a value, in the components only that all masks select."""
        builder = self.frame.builder
        value = splat(builder, value, width)
        for mask in masks:
            value = builder.builtin_call("select", [builder.load(variable), value, mask])
        builder.store(variable, value)

    def close(self, carry: Carry) -> None:
        """Join what was accumulated in parts."""
        self.keeping.task = carry
        self.changed(carry)
        if not self.decided.is_joined(carry):
            return
        parts = [it for it in self.decided.distinct(carry) if it.dimension in carry.on]
        with self.carrying.each(carry):
            for point in self.carrying.points(carry):
                if any(number for name, number in point if name in parts):
                    continue
                with self.written_as(point):
                    self.join(carry, parts)
        self.changed(carry)

    def join(self, carry: Carry, parts: Sequence[LevelName]) -> None:
        """Join the parts of one point: those of written-out levels, then those of invocations."""
        reductions = self.decided.reductions_in(carry)
        totals = [self.across_written(it, carry, parts) for it in reductions]
        totals = across_invocations(self, carry, reductions, totals)
        for reduction, total in zip(reductions, totals, strict=True):
            firsts = [it.first for it in reduction.fbys]
            neutral = reduction.neutral
            if neutral is not None and tuple(firsts) != neutral and not self.decided.is_partial(carry):
                total = self.merged(reduction, [self.operand(it, {}) for it in firsts], total)
            for fby, value in zip(reduction.fbys, total, strict=True):
                self.carrying.set(fby, self.carrying.end_key(carry), value, carry, width_of(value))

    def across_written(self, reduction: Reduction, carry: Carry, parts: Sequence[LevelName]) -> list[Value]:
        """The values of all iterations of written-out levels, joined by a tree."""
        totals: list[list[Value]] = []
        for numbers in product(*(range(self.decided.count(it) or 0) for it in parts)):
            point = {**dict(self.carrying.key(carry)), **dict(zip(parts, numbers, strict=True))}
            key = tuple((it, point[it]) for it in self.decided.distinct(carry))
            pointers = [self.carrying.pointer(it.name, key, carry) for it in reduction.fbys]
            part: list[Value] = [self.frame.builder.load(it) for it in pointers]
            if self.decided.vector_in(carry.on) is None:
                totals.append(part)
            else:
                totals += map(list, zip(*(components(self.frame.builder, it) for it in part), strict=True))
        while len(totals) > 1:
            pairs = zip(totals[::2], totals[1::2], strict=False)
            joined = [self.merged(reduction, lhs, rhs) for lhs, rhs in pairs]
            totals = [*joined, *totals[len(joined) * 2 :]]
        return totals[0]

    def merged(self, reduction: Reduction, left: Sequence[Value], right: Sequence[Value]) -> list[Value]:
        """The values of two parts, joined."""
        join = reduction.join
        if isinstance(join, str):
            return [self.apply(join, [left[0], right[0]])]
        known = dict(zip((*join.left, *join.right), (*left, *right), strict=True))

        def value(operand: Operand) -> Value:
            return known[operand.name] if isinstance(operand, Use) else self.operand(operand, {})

        for it in join.body:
            assert isinstance(it, Compute)
            known[it.name] = self.apply(it.function, [value(operand) for operand in it.operands])
        width = width_of(left[0])
        return [splat(self.frame.builder, value(it), width) for it in join.results]

    def numbered(self, names: Iterable[LevelName]) -> tuple[int, Value]:
        """The number of invocations along axes, and the number of this one among them."""
        levels = list(names)
        return prod(self.decided.count(it) or 0 for it in levels), self.number_of(levels)

    def hold(self, task: Hold) -> None:
        """Compute a value that is kept in memory."""
        self.keeping.task = task
        value = self.decided.scope.values[task.value]
        made = self.keeping.hold(task.value, lambda: self.computed(value, {}))
        if made is not None:
            self.known[-1][self.memo_key(value, {})] = made

    def write(self, task: Write) -> None:
        """A store, by one of the invocations that have the value."""
        self.keeping.task = task
        conditions = [condition for dimension, condition in self.waiting if dimension in task.dimensions]
        for kind in AT_ONCE:
            used = self.decided.axes_of(task, kind) | self.decided.joined_axes(task.store, kind)
            others = {axis: it for it, axis in self.decided.axes(kind).items() if axis not in used}
            for name in others.values():
                if self.decided.count(name) != 1:
                    conditions.append(self.frame.builder.binary(BinaryOp.EQUAL, self.at[name], u32(0)))
        masks = [it for it in conditions if isinstance(it.type, w.Vector)]
        whole = [it for it in conditions if it not in masks]
        if isinstance(task.store, Scatter):
            self.scattering.write(task.store, whole, masks)
            return
        with self.guarded(whole):
            self.store(task.store, masks)

    def store(self, store: Store, masks: Sequence[Value]) -> None:
        value = self.operand(store.value, {})
        level = self.active_vector(store.dimensions)
        atomic = self.decided.atomic_store(store.array)
        if atomic is not None:
            join_in_memory(self, self.element(store, {}), atomic.function, value)
        elif level is None:
            self.frame.builder.store(self.element(store, {}), value)
        else:
            self.write_vector(store, value, level, masks)

    def write_vector(self, store: Store, value: Value, level: LevelName, masks: Sequence[Value]) -> None:
        """A store of a vector, or of those components that all masks select."""
        builder = self.frame.builder
        width = self.decided.count(level) or 1
        is_vector = store.array in self.frame.widths
        place = self.vector_pointer(store, level) if is_vector else None
        if place is not None and not masks:
            builder.store(place, splat(builder, value, width))
            return
        for lane in range(width):
            with (
                self.written_as(((level, lane),)),
                self.guarded([component(builder, it, lane) for it in masks]),
            ):
                element = self.element(store, {}) if place is None else builder.access(place, [u32(lane)])
                builder.store(element, component(builder, value, lane))

    # Values

    def operand(self, operand: Operand, indices: Indices) -> Value:
        if isinstance(operand, Constant):
            return constant(scalar_type(operand.type), operand.value.value)
        return self.value(operand.name, indices)

    def value(self, name: str, indices: Indices) -> Value:
        """A value of the nest at the current iterations, or, by `indices`, at those of other dimensions."""
        value = self.decided.scope.values[name]
        key = self.memo_key(value, indices)
        found = next((it[key] for it in reversed(self.known) if key in it), None)
        if found is None:
            is_far = self.keeping.is_far(name)
            found = self.keeping.loaded(name, indices) if is_far else self.computed(value, indices)
            self.known[-1][key] = found
        return found

    def memo_key(self, value: NestValue, indices: Indices) -> object:
        used = self.decided.demand([value.name])
        dimensions = self.decided.scope.dimensions_of(value.name)
        actual = {it: indices.get(it, it) for it in dimensions}
        written = [(it, number) for it, number in self.written.items() if it.dimension in actual.values()]
        homes = {fby.name for it in used.ends | used.reads for fby in self.members(it)}
        versions = tuple((it, self.versions.get(it, 0)) for it in sorted(homes))
        return value.name, tuple(sorted(actual.items())), frozenset(written), versions

    def members(self, name: str) -> tuple[Fby | Last, ...]:
        return self.decided.homes[name].values

    def computed(self, value: NestValue, indices: Indices) -> Value:
        match value:
            case Load():
                return self.load_or_vector(value, indices)
            case Gather():
                return gathered(self, value, indices)
            case Index():
                used = [indices.get(it.name, it.name) for it in value.value.terms]
                return self.for_each_component(used, partial(self.number, value, indices))
            case Compute(operands=[dividend, divisor]) if is_by_reciprocal(value, self.decided):
                one = constant(scalar_type(value.type), 1.0)
                reciprocal = self.apply("/", [one, self.operand(divisor, indices)])
                return self.apply("*", [self.operand(dividend, indices), reciprocal])
            case Compute(function=function, operands=operands):
                return self.apply(function, [self.operand(it, indices) for it in operands])
            case Fby():
                home = self.decided.homes[value.name]
                return self.frame.builder.load(self.carrying.variable(value.name, self.carrying.key(home)))
            case Last():
                return self.ended(value)
            case Map(value=source, pairs=pairs):
                targets = {it.source: indices.get(it.target, it.target) for it in pairs}
                return self.value(source, {**indices, **targets})
            case _:
                assert_never(value)

    def load_or_vector(self, load: Load, indices: Indices) -> Value:
        if load.name in self.staging.tiles:
            return self.staging.loaded(load)
        if load.array in self.frame.widths:
            level = self.active_vector(load.dimensions)
            assert level is not None, "an array of vectors has no other loads"
            return self.frame.builder.load(self.vector_pointer(load, level))
        used = [indices.get(it.name, it.name) for subscript in load.subscripts for it in subscript.terms]
        return self.for_each_component(used, partial(self.loaded, load, indices))

    def number(self, index: Index, indices: Indices) -> Value:
        number = self.affine(index.value, indices)
        return number if index.type is ElementType.U32 else self.frame.builder.convert(w.I32, number)

    def ended(self, last: Last) -> Value:
        home = self.decided.homes[last.name]
        name = last.name if last in home.lasts else last.value
        return self.frame.builder.load(self.carrying.pointer(name, self.carrying.end_key(home), home))

    def apply(self, function: str, operands: Sequence[Value]) -> Value:
        builder = self.frame.builder
        if function == COPY:
            return operands[0]
        if function in _TYPES:
            return converted(builder, scalar_type(_TYPES[function]), operands[0])
        if function in PREFIXES and len(operands) == 1:
            return builder.unary(UnaryOp(function), operands[0])
        is_infix = function in INFIXES and len(operands) == 2
        if max(map(width_of, operands), default=1) == 1:
            if is_infix:
                return builder.binary(BinaryOp(function), operands[0], operands[1])
            return builder.builtin_call(function, operands)
        made = operated(builder, BinaryOp(function), operands) if is_infix else called(builder, function, operands)
        return by_components(builder, operands, partial(self.apply, function)) if made is None else made


_TYPES = {it.value: it for it in ElementType}
