"""Lowers a nest with legal decisions to core IR: one entry point, a dispatch of which computes the outputs.

Carried values are variables. All other values are computed where they are used, once for each block and for each point
of the written-out levels. Each size that is not known is an override of its name. An array is a binding in group 0,
in the order of the declarations.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial, reduce
from itertools import groupby, product
from typing import TypeAlias, assert_never

from ...base.interpreter_state import deep_nesting
from ...ir import types as w
from ...ir.core import nodes as c
from ...ir.core.builder import constant, u32
from ...ir.core.values import Value
from ...ir.ops import BinaryOp, UnaryOp
from ...ir.schedule.functions import COPY, scalar_type
from ...ir.schedule.nodes import (
    Affine,
    Boundary,
    Compute,
    Constant,
    ElementType,
    Execution,
    Fby,
    Index,
    Last,
    LevelName,
    Load,
    Map,
    Operand,
    Store,
    Use,
)
from ...ir.schedule.reductions import Reduction
from ...ir.schedule.scope import Value as NestValue
from ...ir.schedule.text import INFIXES, PREFIXES
from .across import across_invocations
from .decided import AT_ONCE, WRITTEN_OUT, Decided, kind_of
from .frame import Frame
from .structure import Loop, Node, has_barrier, has_effect, is_inside, structure_of
from .tasks import Carry, Write, demand

Point: TypeAlias = tuple[tuple[LevelName, int], ...]
"""Iterations of written-out levels."""
Indices: TypeAlias = dict[str, str]
"""Dimensions whose indices stand for those of others, by way of `map`."""


@deep_nesting()
def lower(decided: Decided) -> c.Module:
    """The module of a verified nest with legal decisions."""
    lowering = _Lowering(decided, Frame(decided))
    spread = [it for it in decided.scope.dimensions if decided.is_spread(it)]
    lowering.spread(structure_of(decided), spread)
    return lowering.frame.finish()


@dataclass(slots=True)
class _Lowering:
    decided: Decided
    frame: Frame
    at: dict[LevelName, Value] = field(default_factory=dict[LevelName, Value])
    """The iteration of each level that is entered, and of all levels that are executed at once."""
    written: dict[LevelName, int] = field(default_factory=dict[LevelName, int])
    """The iteration of each written-out level that is entered."""
    variables: dict[tuple[str, Point], c.Var] = field(default_factory=dict[tuple[str, Point], c.Var])
    versions: dict[str, int] = field(default_factory=dict[str, int])
    """How often a carried value has been changed: what was computed of it before may not be used after."""
    known: list[dict[object, Value]] = field(default_factory=lambda: [{}])
    """The values that are computed, in the blocks around the current one."""
    waiting: list[tuple[str, Value]] = field(default_factory=list[tuple[str, Value]])
    """Conditions that indices are in their dimensions, which barriers keep from being tested outside of stores."""

    def __post_init__(self) -> None:
        for kind in AT_ONCE:
            axes = self.decided.axes(kind)
            numbers = {axis: self.frame.builtin(kind, axis) for axis in sorted(set(axes.values()))}
            self.at |= {name: numbers[axis] for name, axis in axes.items()}

    # Structure

    def nodes(self, nodes: Sequence[Node]) -> None:
        for node in nodes:
            if isinstance(node, Loop):
                self.loop(node)
            elif isinstance(node, Carry):
                self.carry(node)
            else:
                self.write(node)

    def spread(self, nodes: Sequence[Node], dimensions: Sequence[str]) -> None:
        """A part of the tree, for indices that are in dimensions that have neither loops nor written-out levels."""
        if not dimensions:
            self.nodes(nodes)
            return
        first, *rest = dimensions
        for is_in, group in groupby(nodes, key=lambda node: is_inside(node, first)):
            part = list(group)
            if is_in:
                self.tested(first, part, partial(self.spread, part, rest))
            else:
                self.spread(part, rest)

    def loop(self, loop: Loop) -> None:
        for carry in loop.opened:
            self.open(carry)
        match self.decided.kind(loop.level):
            case Execution.UNROLLED | Execution.TREE:
                for number in range(self.decided.count(loop.level) or 0):
                    self.written[loop.level], self.at[loop.level] = number, u32(number)
                    self.inside(loop)
                del self.written[loop.level], self.at[loop.level]
            case Execution.LOOP:
                self.counted(loop)
            case _:
                raise AssertionError("workgroups and invocations are in no tree")
        for carry in loop.opened:
            self.close(carry)

    def carry(self, carry: Carry) -> None:
        """Go on to the next iteration of what is carried; the only one, where each iteration is an invocation."""
        if self.decided.carrying(carry):
            self.update(carry)
            return
        self.open(carry)
        self.update(carry)
        self.close(carry)

    def counted(self, loop: Loop) -> None:
        dimension = loop.level.dimension
        is_alone = len(self.decided.levels[dimension]) == 1
        name = self.frame.name(dimension if is_alone else f"{dimension}_{loop.level.level}")
        with self.frame.builder.counting(u32(0), self.count(loop.level), name=name) as number, self.block():
            self.at[loop.level] = number
            self.inside(loop)
            del self.at[loop.level]

    @contextmanager
    def block(self) -> Generator[None]:
        """What is computed inside of the `with` is known only there."""
        self.known.append({})
        yield
        self.known.pop()

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

    def size(self, dimension: str) -> Value:
        return self.affine(self.decided.scope.dimensions[dimension].size, {})

    def inside(self, loop: Loop) -> None:
        """The body of a level, for indices that are in the dimension."""
        if self.is_complete(loop):
            self.tested(loop.level.dimension, loop.body, lambda: self.nodes(loop.body))
        else:
            self.nodes(loop.body)

    def tested(self, dimension: str, nodes: Sequence[Node], build: Callable[[], None]) -> None:
        """A part of the tree, which `build` makes, where the index is in the dimension."""
        if not self.decided.is_padded(dimension) or not has_effect(nodes, dimension):
            build()
            return
        condition = self.frame.binary(BinaryOp.LESS, self.index(dimension), self.size(dimension))
        is_uniform = all(kind_of(it.execution) is not Execution.INVOCATION for it in self.decided.levels[dimension])
        if is_uniform or not has_barrier(nodes, self.decided):
            with self.frame.builder.when(condition), self.block():
                build()
        else:
            self.waiting.append((dimension, condition))
            build()
            self.waiting.pop()

    def is_complete(self, loop: Loop) -> bool:
        """Whether the level is the innermost one of its dimension."""
        names = [it for it in self.decided.order if it.dimension == loop.level.dimension]
        return names[-1] == loop.level

    # Tasks

    def open(self, carry: Carry) -> None:
        """Give what is carried its first values."""
        for point in self.points(carry):
            with self.written_as(point):
                for fby in carry.fbys:
                    self.assign(fby.name, fby.type, self.key(carry), self.initial(fby, carry))
                for last in carry.lasts:
                    self.assign(last.name, last.type, self.key(carry), self.frame.zero(last.type))
        self.changed(carry)

    def initial(self, fby: Fby, carry: Carry) -> Value:
        if not self.decided.is_in_parts(carry):
            return self.operand(fby.first, {})
        reduction = self.decided.reductions[fby.name]
        neutral = reduction.neutral
        return self.operand(fby.first if neutral is None else neutral[reduction.fbys.index(fby)], {})

    def points(self, carry: Carry) -> Iterator[Point]:
        """All combinations of iterations that have variables of their own, at the entry to the carrying levels."""
        names = [it for it in self.distinct(carry) if it not in self.written]
        counts = [range(self.decided.count(it) or 0) for it in names]
        return (tuple(zip(names, numbers, strict=True)) for numbers in product(*counts))

    def distinct(self, carry: Carry) -> list[LevelName]:
        """The levels whose iterations have variables of their own."""
        kind = self.decided.execution
        return [
            it
            for it in self.decided.path(carry)
            if kind(it) is Execution.TREE or (kind(it) in WRITTEN_OUT and it.dimension not in carry.on)
        ]

    @contextmanager
    def written_as(self, point: Point) -> Generator[None]:
        """Inside of the `with`, written-out levels are at these iterations."""
        self.written.update(point)
        self.at.update((name, u32(number)) for name, number in point)
        yield
        for name, _ in point:
            del self.written[name], self.at[name]

    def key(self, carry: Carry) -> Point:
        return tuple((it, self.written[it]) for it in self.distinct(carry))

    def end_key(self, carry: Carry) -> Point:
        """The key of what is known at the end: parts have been joined in the variable of the first one."""
        return tuple((it, 0 if it.dimension in carry.on else self.written[it]) for it in self.distinct(carry))

    def assign(self, name: str, type: ElementType, key: Point, value: Value) -> None:
        if (name, key) in self.variables:
            self.frame.builder.store(self.variables[name, key], value)
        else:
            self.variables[name, key] = self.frame.variable(name, scalar_type(type), value)

    def changed(self, carry: Carry) -> None:
        for it in carry.values:
            self.versions[it.name] = self.versions.get(it.name, 0) + 1

    def update(self, carry: Carry) -> None:
        """Go on to the next iteration of what is carried."""
        with self.guarded([condition for dimension, condition in self.waiting if dimension in carry.on]):
            values = [self.value(it.next, {}) for it in carry.fbys]
            values += [self.value(it.value, {}) for it in carry.lasts]
            for it, value in zip(carry.values, values, strict=True):
                self.frame.builder.store(self.variables[it.name, self.key(carry)], value)
        self.changed(carry)

    @contextmanager
    def guarded(self, conditions: Sequence[Value]) -> Generator[None]:
        with ExitStack() as stack:
            if conditions:
                both = reduce(lambda lhs, rhs: self.frame.builder.binary(BinaryOp.AND, lhs, rhs), conditions)
                stack.enter_context(self.frame.builder.when(both))
                stack.enter_context(self.block())
            yield

    def close(self, carry: Carry) -> None:
        """Join what was accumulated in parts."""
        self.changed(carry)
        if not self.decided.is_in_parts(carry):
            return
        parts = [it for it in self.distinct(carry) if it.dimension in carry.on]
        for point in self.points(carry):
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
            if neutral is not None and tuple(firsts) != neutral:
                total = self.merged(reduction, [self.operand(it, {}) for it in firsts], total)
            for fby, value in zip(reduction.fbys, total, strict=True):
                self.frame.builder.store(self.variables[fby.name, self.end_key(carry)], value)

    def across_written(self, reduction: Reduction, carry: Carry, parts: Sequence[LevelName]) -> list[Value]:
        """The values of all iterations of written-out levels, joined by a tree."""
        totals: list[list[Value]] = []
        for numbers in product(*(range(self.decided.count(it) or 0) for it in parts)):
            point = {**dict(self.key(carry)), **dict(zip(parts, numbers, strict=True))}
            key = tuple((it, point[it]) for it in self.distinct(carry))
            totals.append([self.frame.builder.load(self.variables[it.name, key]) for it in reduction.fbys])
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
        return [value(it) for it in join.results]

    def numbered(self, names: Iterable[LevelName]) -> tuple[int, Value]:
        """The number of invocations along axes, and the number of this one among them."""
        count = 1
        number: Value = u32(0)
        for name in names:
            here = self.decided.count(name) or 0
            scaled = self.frame.binary(BinaryOp.MULTIPLY, number, u32(here))
            number = self.frame.binary(BinaryOp.ADD, scaled, self.at[name])
            count *= here
        return count, number

    def write(self, task: Write) -> None:
        """A store, by one of the invocations that have the value."""
        conditions = [condition for _, condition in self.waiting]
        for kind in AT_ONCE:
            used = self.decided.axes_of(task, kind)
            others = {axis: it for it, axis in self.decided.axes(kind).items() if axis not in used}
            for name in others.values():
                if self.decided.count(name) != 1:
                    conditions.append(self.frame.builder.binary(BinaryOp.EQUAL, self.at[name], u32(0)))
        with self.guarded(conditions):
            value = self.operand(task.store.value, {})
            self.frame.builder.store(self.element(task.store, {}), value)

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
            found = self.computed(value, indices)
            self.known[-1][key] = found
        return found

    def memo_key(self, value: NestValue, indices: Indices) -> object:
        used = demand([value.name], self.decided.scope)
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
                return self.loaded(value, indices)
            case Index(value=affine, type=type):
                number = self.affine(affine, indices)
                return number if type is ElementType.U32 else self.frame.builder.convert(w.I32, number)
            case Compute(function=function, operands=operands):
                return self.apply(function, [self.operand(it, indices) for it in operands])
            case Fby():
                home = self.decided.homes[value.name]
                return self.frame.builder.load(self.variables[value.name, self.key(home)])
            case Last():
                return self.ended(value)
            case Map(value=source, pairs=pairs):
                targets = {it.source: indices.get(it.target, it.target) for it in pairs}
                return self.value(source, {**indices, **targets})
            case _:
                assert_never(value)

    def ended(self, last: Last) -> Value:
        home = self.decided.homes[last.name]
        name = last.name if last in home.lasts else last.value
        return self.frame.builder.load(self.variables[name, self.end_key(home)])

    def apply(self, function: str, operands: Sequence[Value]) -> Value:
        builder = self.frame.builder
        if function == COPY:
            return operands[0]
        if function in INFIXES and len(operands) == 2:
            return builder.binary(BinaryOp(function), operands[0], operands[1])
        if function in PREFIXES:
            return builder.unary(UnaryOp(function), operands[0])
        if function in _TYPES:
            target = scalar_type(_TYPES[function])
            return operands[0] if operands[0].type is target else builder.convert(target, operands[0])
        return builder.builtin_call(function, operands)

    def index(self, dimension: str) -> Value:
        """The index in a dimension, of the iterations of all its levels."""
        names = [LevelName(dimension, it) for it in range(len(self.decided.levels[dimension]))]
        key = "index", dimension, tuple(self.written.get(it, -1) for it in names)
        found = next((it[key] for it in reversed(self.known) if key in it), None)
        if found is None:
            found = self.combined(names)
            if isinstance(found, c.Binary) and found.name is None:
                found.name = self.frame.name(dimension)
            self.known[-1][key] = found
        return found

    def combined(self, names: Sequence[LevelName]) -> Value:
        """The index that the iterations of levels stand for: what is known of it is added last."""
        total: Value = u32(0)
        known, stride = 0, self.decided.inner(names[0].dimension)
        for name in names:
            stride //= self.decided.count(name) or 1 if name.level else 1
            if name in self.written:
                known += self.written[name] * stride
            else:
                scaled = self.frame.binary(BinaryOp.MULTIPLY, self.at[name], u32(stride))
                total = self.frame.binary(BinaryOp.ADD, total, scaled)
        return self.frame.binary(BinaryOp.ADD, total, u32(known))

    def affine(self, affine: Affine, indices: Indices) -> Value:
        """A sum, modulo 2^32; terms that are added come first."""
        total: Value = u32(0)
        for term in sorted(affine.terms, key=lambda it: it.coefficient < 0):
            name = indices.get(term.name, term.name)
            factor = self.frame.sizes[name] if name in self.frame.sizes else self.index(name)
            scaled = self.frame.binary(BinaryOp.MULTIPLY, u32(abs(term.coefficient)), factor)
            op = BinaryOp.SUBTRACT if term.coefficient < 0 else BinaryOp.ADD
            total = self.frame.binary(op, total, scaled)
        op = BinaryOp.SUBTRACT if affine.constant < 0 else BinaryOp.ADD
        return self.frame.binary(op, total, u32(abs(affine.constant)))

    def element(self, access: Load | Store, indices: Indices) -> Value:
        """The pointer to the element that a load or a store names."""
        subscripts = [self.affine(it, indices) for it in access.subscripts]
        return self.pointer(access, subscripts, indices)

    def pointer(self, access: Load | Store, subscripts: Sequence[Value], indices: Indices) -> Value:
        offset: Value = u32(0)
        for subscript, extent in zip(subscripts, self.decided.scope.arrays[access.array].extents, strict=True):
            scaled = self.frame.binary(BinaryOp.MULTIPLY, offset, self.affine(extent, indices))
            offset = self.frame.binary(BinaryOp.ADD, scaled, subscript)
        return self.frame.builder.access(self.frame.arrays[access.array], [offset])

    def loaded(self, load: Load, indices: Indices) -> Value:
        builder = self.frame.builder
        if load.boundary is Boundary.INSIDE:
            return builder.load(self.element(load, indices))
        subscripts = [self.affine(it, indices) for it in load.subscripts]
        extents = [self.affine(it, {}) for it in self.decided.scope.arrays[load.array].extents]
        if load.boundary is Boundary.CLAMP:
            clamped = [self.clamped(it, extent) for it, extent in zip(subscripts, extents, strict=True)]
            return builder.load(self.pointer(load, clamped, indices))
        tests = [builder.binary(BinaryOp.LESS, it, extent) for it, extent in zip(subscripts, extents, strict=True)]
        is_inside = reduce(lambda lhs, rhs: builder.binary(BinaryOp.AND, lhs, rhs), tests)
        value = builder.load(self.pointer(load, subscripts, indices))
        return builder.builtin_call("select", [self.frame.zero(load.type), value, is_inside])

    def clamped(self, subscript: Value, extent: Value) -> Value:
        """The nearest number from 0 to `extent` - 1."""
        builder = self.frame.builder
        last = builder.convert(w.I32, self.frame.binary(BinaryOp.SUBTRACT, extent, u32(1)))
        signed = builder.convert(w.I32, subscript)
        return builder.convert(w.U32, builder.builtin_call("clamp", [signed, constant(w.I32, 0), last]))


_TYPES = {it.value: it for it in ElementType}
