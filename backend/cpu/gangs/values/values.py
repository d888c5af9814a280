"""The values of a gang's nodes as LLVM IR, for the current part (see `site`).

A value that is uniform or affine over all lanes is one scalar for the gang. If parts are in one row each, a value that
is uniform or affine within rows is one scalar for each part. Any other value is one vector for each part.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import TypeGuard, assert_never

from .....ir.hercules import nodes as h
from .....ir.hercules.analyses import Loop, block_leader
from .....ir.hercules.graph import positions_of, predecessors
from ... import data
from ...nodes import compute
from ...storage import Storage
from .. import budgets
from ..analysis.bounds import constant_value, greatest, never_wraps
from ..analysis.forms import advance
from ..analysis.known import scalar_text
from ..analysis.shapes import UNIFORM, Kind, Shape
from ..analysis.spans import Stepless
from ..context import GangContext
from ..memory.addresses import VaryingIndex
from ..memory.embedded_broadcasts import EmbeddedBroadcasts
from ..memory.gang_memory import GangMemory
from .common_counters import Common, CommonCounters
from .divisions import ShortDivision, divide_by_scalar, divide_shortly, short_division
from .speculation import SpeculationEmitter
from .thread_numbers import ThreadNumbers

_WIDENED = {h.BinaryOp.ADD: "add", h.BinaryOp.SUB: "sub", h.BinaryOp.MUL: "mul"}
_WITHIN_A_ROW = {Kind.ROWS: Kind.AFFINE, Kind.WIDENED_ROWS: Kind.WIDENED}


class GangValues:
    """Definitions and uses of values. Implements `addresses.ValueQueries`."""

    def __init__(self, context: GangContext) -> None:
        self._placed, self._gang, self._shapes = context.placed, context.gang, context.shapes
        self._nodes = context.nodes
        self._users = context.users
        self._site = context.site
        self._types = context.types
        self.out, self.one, self.vec, self.slots = context.out, context.one, context.vec, context.slots
        self._out_slots: dict[tuple[h.Node, int], str] = {}
        self._again: dict[tuple[h.Node, int, str], str] = {}
        """Vectors of speculated values, by part and by the LLVM block that needed them."""
        self._part_steps: dict[h.Node, int | None] = {}
        self._used_in: dict[h.Node, frozenset[h.Node]] = {}
        self._deferred_to: dict[h.Node, h.Node] = {}
        """The blocks at whose end nodes are written that belong to earlier ones."""
        self.memory = GangMemory(context, self)
        self.common_counters = CommonCounters(context, self.memory, self.scalar, self.is_usable)
        self.broadcasts = EmbeddedBroadcasts(context)
        self._speculation = SpeculationEmitter(context, self, self.memory)
        self.threads = ThreadNumbers(context, self.memory)

    # Shapes

    def shape(self, node: h.Node) -> Shape:
        """The shape of a value in the current block, within one part."""
        return self._within_a_part(self._shapes.at(node, self._site.here))

    def _within_a_part(self, shape: Shape) -> Shape:
        if not self._gang.has_whole_rows or shape.kind not in _WITHIN_A_ROW:
            return shape
        return Shape(_WITHIN_A_ROW[shape.kind], shape.stride) if shape.stride else UNIFORM

    def likely_arm(self, node: h.Select) -> h.Node | None:
        """See `addresses.ValueQueries`."""
        return self._shapes.likely_arm(node, self._site.here)

    def is_common_at(self, node: h.Node, leader: h.Node) -> bool:
        """Whether one scalar stands for all parts in a block."""
        return self._shapes.at(node, leader).kind in (Kind.UNIFORM, Kind.AFFINE, Kind.WIDENED)

    def is_vector_at(self, node: h.Node, leader: h.Node) -> bool:
        """Whether a vector stands for a value in each part in a block."""
        return self._within_a_part(self._shapes.at(node, leader)).is_vector

    def is_uniform(self, node: h.Node) -> bool:
        """Whether all lanes of all parts have one value."""
        return self._shapes.at(node, self._site.here) == UNIFORM

    def is_uniform_in_part(self, node: h.Node) -> bool:
        """Whether all lanes of each part have one value."""
        return self.shape(node) == UNIFORM

    def parts_of(self, node: h.Node) -> Iterator[None]:
        """Iterates over the parts and sets `site.part`; once if one scalar serves all parts."""
        for _ in [0] if self.is_common_at(node, self._site.here) else self._site.parts():
            yield

    def type_of(self, node: h.Node, leader: h.Node) -> str:
        """The LLVM type of a value in a block: a scalar's or a vector's."""
        scalar = data.llvm_type(self._types[node])
        return self.vec.type(scalar) if self.is_vector_at(node, leader) else scalar

    def distance(self, node: h.Node) -> int | None:
        """The difference between a value's adjacent lanes, if it rises evenly within a part; it may wrap."""
        shape = self.shape(node)
        return shape.stride if shape.kind in (Kind.AFFINE, Kind.WIDENED) else None

    def is_almost_affine(self, node: h.Node, depth: int = 10) -> bool:
        """See `addresses.ValueQueries`."""
        shape = self._shapes.at(node, self._placed.place.get(node, self._gang.forks[0]))
        if shape.kind not in (Kind.UNIFORM, Kind.VARYING):
            return shape.stride == 1
        if shape == UNIFORM or depth == 0:
            return False
        match node:
            case h.Cast(operand=operand) | h.Bitcast(operand=operand):
                return self.is_almost_affine(operand, depth - 1)
            case h.Binary(op=h.BinaryOp.ADD, lhs=lhs, rhs=rhs):
                ways = ((lhs, rhs), (rhs, lhs))
                return any(self.is_almost_affine(it, depth - 1) and not self._is_own_data(by) for it, by in ways)
            case h.Binary(op=h.BinaryOp.SUB | h.BinaryOp.REM, lhs=lhs):
                return self.is_almost_affine(lhs, depth - 1)
            case h.Intrinsic(function="clamp" | "min" | "max", arguments=arguments):
                return any(self.is_almost_affine(it, depth - 1) for it in arguments)
            case h.Select(if_true=if_true, if_false=if_false):
                return self.is_almost_affine(if_true, depth - 1) and self.is_almost_affine(if_false, depth - 1)
            case h.Phi(values=values):
                return any(self.is_almost_affine(it, depth - 5) for it in values if depth > 5)
            case h.FloatingNode() | h.PinnedNode() | h.ControlNode():
                return False
            case _:
                assert_never(node)

    def _is_own_data(self, node: h.Node, depth: int = 8) -> bool:
        """Whether a value is computed from an element that each lane has for itself, so that it likely differs between
        lanes.
        """
        match node:
            case h.Read(indices=indices):
                at = self._placed.place.get(node, self._gang.forks[0])
                shapes = [self._shapes.at(it, at) for it in positions_of(indices)]
                return any(it.kind in (Kind.AFFINE, Kind.WIDENED) and it.stride != 0 for it in shapes)
            case h.Binary() | h.Unary() | h.Cast() | h.Bitcast() | h.Intrinsic() if depth > 0:
                return any(self._is_own_data(it, depth - 1) for it in predecessors(node))
            case h.FloatingNode() | h.PinnedNode() | h.ControlNode():
                return False
            case _:
                assert_never(node)

    # Values that are known before the kernel runs

    def known(self, node: h.Node) -> Sequence[int] | None:
        """See `addresses.ValueQueries`."""
        found = self._site.known_lanes(node)
        return None if found is None else [int(it) for it in found]

    def live(self) -> Sequence[bool | None] | None:
        """See `addresses.ValueQueries`."""
        return self._site.live_lanes()

    def is_known(self, node: h.Node) -> bool:
        """Whether the value is known."""
        return self._site.known_lanes(node) is not None

    def _known_text(self, node: h.Node) -> str | None:
        """The vector of a known value."""
        found, scalar = self._site.known_lanes(node), data.llvm_type(self._types[node])
        if found is None:
            return None
        texts = [scalar_text(self._types[node], it) for it in found]
        if len(set(texts)) == 1:
            return self.memory.splat(self._grown(node, texts[0]), scalar)
        vector = f"<{', '.join(f'{scalar} {it}' for it in texts)}>"
        growth = self._grown(node, "0")
        return vector if growth == "0" else self.vec.binary("add", scalar, self.memory.splat(growth, scalar), vector)

    def _grown(self, node: h.Node, first: str) -> str:
        """A known scalar, in the current one of gangs that have one code."""
        growth, repeat = self._site.growth(node), self._site.repeat
        if growth == 0 or repeat is None:
            return first
        scalar = data.llvm_type(self._types[node])
        number = repeat.number if scalar == "i64" else self.one.convert("trunc", "i64", repeat.number, scalar)
        return self.one.binary("add", scalar, self.one.binary("mul", scalar, number, str(growth)), first)

    def grown_by(self, positions: Sequence[tuple[h.Node, int]]) -> str:
        """See `addresses.ValueQueries`."""
        growth, repeat = sum(self._site.growth(it) * stride for it, stride in positions), self._site.repeat
        return "0" if growth == 0 or repeat is None else self.one.binary("mul", "i64", repeat.number, str(growth))

    # Differences between parts

    def part_step(self, node: h.Node) -> int | None:
        """The constant difference between a value in a part and in the part before, if nothing wraps; None if there is
        none.
        """
        if node not in self._part_steps:
            self._part_steps[node] = self._find_part_step(node)
        return self._part_steps[node]

    def _find_part_step(self, node: h.Node) -> int | None:
        shape = self._shapes.at(node, self._site.here)
        if shape.kind in (Kind.UNIFORM, Kind.AFFINE, Kind.WIDENED):
            return shape.stride * self.vec.lanes
        match node:
            case h.ThreadID():
                return self._thread_step(node)
            case h.Read() | h.Atomic() | h.Phi():
                return None
            case h.FloatingNode() | h.PinnedNode() | h.ControlNode():
                steps = [self.part_step(it) for it in predecessors(node)]
                return 0 if all(it == 0 for it in steps) else self._linear_step(node, steps)
            case _:
                assert_never(node)

    def _linear_step(self, node: h.Node, steps: Sequence[int | None]) -> int | None:
        first = steps[0]
        match node:
            case h.Cast() | h.Bitcast():
                return first
            case h.Binary(op=h.BinaryOp.ADD) if first is not None and steps[1] is not None:
                return first + steps[1]
            case h.Binary(op=h.BinaryOp.SUB) if first is not None and steps[1] is not None:
                return first - steps[1]
            case h.Binary(op=h.BinaryOp.MUL, rhs=rhs) if first is not None and (factor := constant_value(rhs)):
                return first * factor
            case h.FloatingNode() | h.PinnedNode() | h.ControlNode():
                return None
            case _:
                assert_never(node)

    def _thread_step(self, node: h.ThreadID) -> int | None:
        if node.fork not in self._gang.forks:
            return None
        factor, inner, is_outermost = self._gang.steps(node.fork)
        lanes, period = self.vec.lanes, factor * inner
        if lanes % period == 0:
            return 0
        is_rising = is_outermost or period % self._gang.threads == 0
        return lanes // inner if lanes % inner == 0 and is_rising else None

    # Definitions

    def _name(self, node: h.Node) -> tuple[h.Node, int]:
        return node, self._site.part

    def define(self, node: h.Node, text: str) -> None:
        """Define the scalar or vector of a node in the current part."""
        blocks = self.use_blocks(node)
        site = self._site
        self.slots.define(self._name(node), text, self.type_of(node, site.here), is_local=blocks <= {site.here})

    def define_speculated(self, node: h.Node) -> None:
        """Define a speculated node in the current part: the first lane's value, and whether the node is affine."""
        proved = self._site.proved
        if node in proved.linear and node in proved.stepless:
            first, holds = self._speculation.without_steps(node, proved.stepless[node]), "true"
        else:
            first, holds = self._speculation.emit(node, is_proved=node in proved.linear, same=proved.same.get(node))
        is_local = self.use_blocks(node) <= {self._site.here}
        self.slots.define((node, self._site.part, "first"), first, data.llvm_type(self._types[node]), is_local=is_local)
        self.slots.define((node, self._site.part, "holds"), holds, "i1", is_local=is_local)

    def is_needed(self, node: h.Node) -> bool:
        """Whether the vector of a speculated value is needed for anything but addresses."""
        return not all(self._leads_to_place(node, it) for it in self._users[node] if it in self._placed.live)

    def _leads_to_place(self, node: h.Node, user: h.Node) -> bool:
        home = self._placed.place.get(user)
        if home is None or self._shapes.is_left_behind(node, home):
            return False
        match user:
            case h.Read():
                return True
            case h.Write(value=value):
                return value is not node
            case _:
                return self._shapes.at(user, home).kind is Kind.SPECULATED

    def keep_if_left_behind(self, node: h.Node, mask: Callable[[], str | None]) -> None:
        """If a value just defined is used after a divergent loop, keep the last value of each lane."""
        if self.is_left_behind(node):
            for _ in self._site.parts():
                self.keep(node, self.vector(node), mask())

    def keep(self, node: h.Node, lanes: str, mask: str | None) -> None:
        """Store the values of a mask's lanes for uses after a divergent loop."""
        scalar = data.llvm_type(self._out_type(node))
        type, name = self.vec.type(scalar), self._name(node)
        if name not in self._out_slots:
            self._out_slots[name] = self.slots.make(type)
        slot = self._out_slots[name]
        if mask is not None:
            lanes = self.vec.select(mask, scalar, lanes, self.slots.load(type, slot))
        self.slots.store(type, lanes, slot)

    def keep_in(self, node: h.Node, slot: str) -> None:
        """Let uses after a divergent loop read a slot that keeps the values of lanes which have left the loop."""
        self._out_slots[self._name(node)] = slot

    def _out_type(self, node: h.Node) -> h.Type:
        type = self._types[node]
        if not isinstance(node, h.Atomic):
            return type
        assert isinstance(type, h.Product)
        return type.fields[1]

    def defer(self, nodes: Iterable[h.Node], leader: h.Node) -> None:
        """Say that nodes of earlier blocks are written at the end of a later one, before anything is written."""
        self._deferred_to.update(dict.fromkeys(nodes, leader))

    def use_blocks(self, node: h.Node) -> frozenset[h.Node]:
        """The blocks that use a value, including blocks that compute vectors of speculated values from it."""
        if node not in self._used_in:
            self._used_in[node] = frozenset(self._find_use_blocks(node))
        return self._used_in[node]

    def _find_use_blocks(self, node: h.Node) -> Iterator[h.Node]:
        for user in self._users[node]:
            if user not in self._placed.live:
                continue
            match user:
                case h.Phi(region=h.Region() as region, values=values):
                    for value, at in zip(values, region.predecessors, strict=True):
                        if value is node and at in self._placed.live:
                            yield block_leader(at)
                case h.Collect(join=h.Join() as join):
                    yield block_leader(join.control)
                case h.If(control=control) | h.Return(control=control):
                    yield block_leader(control)
                case h.FloatingNode() | h.PinnedNode() | h.ControlNode():
                    home = self._placed.place[user]
                    yield self._deferred_to.get(user, home)
                    if self._shapes.at(user, home).kind is Kind.SPECULATED:
                        yield from self.use_blocks(user)
                case _:
                    assert_never(user)

    # Uses

    def is_usable(self, node: h.Node) -> bool:
        """See `addresses.ValueQueries`."""
        name = (node, 0)
        if self._shapes.is_left_behind(node, self._site.here):
            return name in self._out_slots
        if self.shape(node).kind is Kind.SPECULATED and name not in self.slots:
            return all(self.is_usable(it) for it in predecessors(node))
        return self.slots.is_usable(name)

    def is_named(self, node: h.Node) -> bool:
        """Whether a uniform value is available here."""
        name = (node, 0)
        return self.slots.is_usable(name) if name in self.slots else self._is_outside(node)

    def _is_outside(self, node: h.Node) -> bool:
        return self._placed.place.get(node) not in self._shapes.body.level_of

    def is_rare(self) -> bool:
        """See `addresses.ValueQueries`."""
        return self._site.is_rare

    def is_brief(self) -> bool:
        """See `addresses.ValueQueries`."""
        return self._site.is_rare or self.out.size > budgets.RICH

    def are_lanes_of_positions(self) -> bool:
        """See `addresses.ValueQueries`."""
        return self._shapes.are_of_positions(self._site.key)

    def moves_on(self, varying: Sequence[VaryingIndex], size: int) -> bool:
        """See `addresses.ValueQueries`."""
        *inner, _ = self._shapes.body.enclosing(self._site.here)
        loops = [*(it.container for it in inner), *self._placed.loops.around[self._gang.forks[0]]]
        return all(
            isinstance(loop, Loop)
            and any(advance(it.position, loop, self._placed) * it.stride >= size for it in varying)
            for loop in loops
        )

    def is_in_divergent_loop(self) -> bool:
        """See `addresses.ValueQueries`."""
        return any(it in self._shapes.divergent for it in self._shapes.body.enclosing(self._site.here))

    def common(self, position: h.Node) -> Common | None:
        """See `addresses.ValueQueries`."""
        return self.common_counters.of(position)

    def is_streaming(self) -> bool:
        """See `addresses.ValueQueries`."""
        return self._site.proved.streaming

    def has_short_rows(self) -> bool:
        """See `addresses.ValueQueries`."""
        return self._site.has_short_rows

    def is_proved(self, position: h.Node, extent: h.DynamicConstant) -> bool:
        """See `addresses.ValueQueries`."""
        return (position, extent) in self._site.proved.in_range

    def base(self, storage: Storage) -> str:
        """The pointer to a binding."""
        return self._nodes.memory.address(storage).pointer

    def dynamic(self, constant: h.DynamicConstant) -> str:
        """The value of a dynamic constant, an i64."""
        return self._nodes.memory.dynamic(constant)

    def scalar(self, node: h.Node) -> str:
        """The scalar of a value in the current part. For affine and speculated values, the first lane's."""
        shape, known = self.shape(node), self._site.known_lanes(node)
        if known is not None:
            return self._grown(node, scalar_text(self._types[node], known[0]))
        if shape.kind is Kind.SPECULATED:
            return self.slots.use((node, self._site.part, "first"))
        assert not shape.is_vector, f"{node} varies"
        if not self.is_common_at(node, self._site.here):
            return self.slots.use(self._name(node))
        value = self.slots.use((node, 0)) if (node, 0) in self.slots else self._nodes.value(node)
        offset = shape.stride * self._site.first
        return value if offset == 0 else self._moved(value, data.llvm_type(self._types[node]), shape, offset)

    def shared_scalar(self, node: h.Node) -> str | None:
        """See `addresses.ValueQueries`."""
        is_shared = self.is_uniform_in_part(node) and not isinstance(node, h.ProductNode)
        return self.scalar(node) if is_shared and self.is_usable(node) else None

    def _moved(self, value: str, scalar: str, shape: Shape, offset: int) -> str:
        if value == "0" and offset > 0 and shape.kind is Kind.AFFINE:
            return str(offset)
        if shape.kind is Kind.AFFINE:
            return self.one.binary("add", scalar, value, str(offset))
        narrow = self.one.convert("trunc", "i64", value, "i32")
        return self.one.convert("zext", "i32", self.one.binary("add", "i32", narrow, str(offset)), "i64")

    def wide(self, node: h.Node) -> str:
        """The scalar of a u32 as an i64. Operations that do not wrap are computed in i64: LLVM then recognises
        addresses that advance by a constant in each iteration. Operands need not be known wherever the node is: then
        the node itself is extended.
        """
        if self.is_exact(node) and self._can_be_wide(node.lhs) and self._can_be_wide(node.rhs):
            return self.one.binary(_WIDENED[node.op], "i64", self.wide(node.lhs), self.wide(node.rhs))
        return self.one.convert("zext", "i32", self.scalar(node), "i64")

    def is_exact(self, node: h.Node) -> TypeGuard[h.Binary]:
        """Whether a sum or product of u32 does not wrap, and is computed from its operands."""
        if not isinstance(node, h.Binary) or node in self._shapes.progressions or node.op not in _WIDENED:
            return False
        return node in self._site.proved.exact or never_wraps(node, self._types)

    def _can_be_wide(self, node: h.Node) -> bool:
        """Whether the scalar of a node, or those that it is computed from, are known here."""
        if self._is_at_hand(node):
            return True
        return self.is_exact(node) and self._can_be_wide(node.lhs) and self._can_be_wide(node.rhs)

    def _is_at_hand(self, node: h.Node) -> bool:
        """Whether `scalar` has the value here."""
        if self.shape(node).kind is Kind.SPECULATED:
            return self._is_in_slot((node, self._site.part, "first"))
        if not self.is_common_at(node, self._site.here):
            return self._is_in_slot(self._name(node))
        return self.slots.is_usable((node, 0))

    def _is_in_slot(self, key: Hashable) -> bool:
        return key in self.slots and self.slots.is_usable(key)

    def vector(self, node: h.Node) -> str:
        """The value in all lanes of the part."""
        known = self._known_text(node)
        if known is not None:
            return known
        shape, scalar = self.shape(node), data.llvm_type(self._types[node])
        if self._shapes.is_left_behind(node, self._site.here):
            return self._kept(node, scalar)
        if shape.kind is Kind.SPECULATED and self._name(node) not in self.slots:
            return self._vector_of_speculated(node)
        if shape.is_vector:
            return self.slots.use(self._name(node))
        if shape == UNIFORM:
            return self.memory.splat(self.scalar(node), scalar)
        if shape.kind is Kind.WIDENED:
            first = self.one.convert("trunc", "i64", self.scalar(node), "i32")
            return self.vec.convert("zext", "i32", self._affine(first, "i32", shape.stride), "i64")
        return self._affine(self.scalar(node), scalar, shape.stride)

    def _vector_of_speculated(self, node: h.Node) -> str:
        """Computed where it is needed, since that is rare."""
        at = node, self._site.part, self.out.current
        if at not in self._again:
            self._again[at] = self._computed(node, self._apart)
        return self._again[at]

    def computed(self, node: h.Node) -> str:
        """The vector of an operation without effects in the current part."""
        return self._computed(node, self.vector)

    def _computed(self, node: h.Node, vector: Callable[[h.Node], str]) -> str:
        type, stepless = self._types[node], self._site.proved.stepless.get(node)
        match node:
            case h.Binary() if stepless is not None:
                return self._without_steps(stepless, data.llvm_type(type), vector)
            case h.Binary(op=h.BinaryOp.DIV | h.BinaryOp.REM as op, lhs=lhs, rhs=rhs) if self._is_variable(rhs):
                if isinstance(type, h.Integer) and type.bits == 32:
                    return divide_by_scalar(self.memory, op, type, vector(lhs), self.scalar(rhs))
            case h.Binary(op=h.BinaryOp.DIV | h.BinaryOp.REM as op, lhs=lhs) if type == h.Integer(32, signed=False):
                division = self._short_division(node)
                if division is not None:
                    return divide_shortly(self.vec, op, vector(lhs), division)
            case h.Binary(op=h.BinaryOp.MUL):
                return compute(self.vec, node, self._types, lambda it: self._factor(it) or vector(it))
            case _:
                pass
        return compute(self.vec, node, self._types, vector)

    def _factor(self, node: h.Node) -> str | None:
        """The vector of a number that was loaded for one product alone."""
        own = self.broadcasts.factor(node)
        return None if own is None else self.memory.splat(own, data.llvm_type(self._types[node]))

    def _without_steps(self, found: Stepless, scalar: str, vector: Callable[[h.Node], str]) -> str:
        """The vector of a remainder or quotient that no lane crosses a step of."""
        operand = self.memory.splat("0", scalar) if found.operand is None else vector(found.operand)
        offset = self.memory.splat(self._speculation.offset_of(found, scalar), scalar)
        return self.vec.binary("sub", scalar, operand, offset)

    def scalar_without_steps(self, node: h.Node, found: Stepless) -> str:
        """A remainder or quotient that no lane crosses a step of, where it has no vector."""
        return self._speculation.without_steps(node, found)

    def _short_division(self, node: h.Binary) -> ShortDivision | None:
        divisor, most = constant_value(node.rhs), greatest(node.lhs, self._types)
        return None if divisor is None or most is None else short_division(most, divisor)

    def _is_variable(self, node: h.Node) -> bool:
        """Whether all lanes have one value that is not known before the kernel runs."""
        is_constant = isinstance(node, h.ConstantNode) or self._known_text(node) is not None
        return self.shape(node) == UNIFORM and not is_constant

    def _apart(self, node: h.Node) -> str:
        """A vector that LLVM does not hoist."""
        shape, scalar = self.shape(node), data.llvm_type(self._types[node])
        if shape.kind is not Kind.AFFINE:
            return self.vector(node)
        return self._affine(self.memory.hidden(self.scalar(node), scalar), scalar, shape.stride)

    def holds(self, node: h.Node) -> str:
        """See `addresses.ValueQueries`."""
        known, step = self._site.known_lanes(node), self.shape(node).stride
        if known is not None:
            return "true" if all(it == known[0] + step * lane for lane, it in enumerate(known)) else "false"
        return self.slots.use((node, self._site.part, "holds"))

    def old_value(self, atomic: h.Atomic) -> str:
        """The vector of old values of an atomic operation."""
        if not self._shapes.is_left_behind(atomic, self._site.here):
            return self.slots.use(self._name(atomic))
        return self._kept(atomic, data.llvm_type(self._out_type(atomic)))

    def define_old_value(self, atomic: h.Atomic, text: str) -> None:
        """Define the vector of old values of an atomic operation."""
        self.slots.define(self._name(atomic), text, self.vec.type(data.llvm_type(self._out_type(atomic))))

    def is_left_behind(self, node: h.Node) -> bool:
        """Whether the value is used after a divergent loop in which it is defined."""
        return any(self._shapes.is_left_behind(node, it) for it in self.use_blocks(node))

    def _kept(self, node: h.Node, scalar: str) -> str:
        return self.slots.load(self.vec.type(scalar), self._out_slots[self._name(node)])

    def _affine(self, first: str, scalar: str, stride: int) -> str:
        numbers = self.memory.lane_numbers(scalar, stride)
        return numbers if first == "0" else self.vec.binary("add", scalar, self.memory.splat(first, scalar), numbers)
