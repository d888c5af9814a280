"""How values differ between the lanes of a gang (their *shapes*), and which lanes pass which block.

A shape holds for the lanes that pass the block. A loop that lanes leave at different times is *divergent*: a counter is
the same for all lanes that are still in the loop, but varies after it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import partial
from typing import assert_never

from .....base.deadline import check_compile_time
from .....ir.hercules import nodes as h
from .....ir.hercules.analyses import block_leader
from .....ir.hercules.graph import positions_of
from .....ir.hercules.placement import Placement
from .....ir.hercules.types import U32, U64, is_collection
from ...storage import Storage, StoragePlan
from ..gang import Gang
from .alike import alike_conditions
from .body import BlockEdge, Body, Item, Level
from .bounds import constant_value
from .known import KnownValues
from .selects import is_of_positions, likely_truth


class Kind(Enum):
    """How a value differs between lanes."""

    UNIFORM = auto()
    AFFINE = auto()
    """Lane i has the value of lane 0 plus i times `stride`, modulo 2^bits."""
    WIDENED = auto()
    """A u64 cast from an affine u32, which may wrap at 2^32 somewhere in the gang."""
    SPECULATED = auto()
    """AFFINE if a test at run time holds (see `values.speculation`), else VARYING."""
    ROWS = auto()
    """AFFINE within each row of lanes; rows differ. With stride 0, all lanes of a row have one value."""
    WIDENED_ROWS = auto()
    """WIDENED within each row."""
    PERMUTED = auto()
    """Lane i has the value of lane 0 with the bits of i flipped."""
    VARYING = auto()


@dataclass(frozen=True, slots=True)
class Shape:
    """A kind, and the difference between adjacent lanes of kinds that rise evenly."""

    kind: Kind
    stride: int = 0

    @property
    def is_vector(self) -> bool:
        """Whether a vector stands for the value, not only the first lane's scalar."""
        return self.kind not in (Kind.UNIFORM, Kind.AFFINE, Kind.WIDENED)


@dataclass(frozen=True, slots=True)
class Progression:
    """An integer of the forks' threads: `start` in the first one, and `stride` more in each one than in that before."""

    start: int
    stride: int


UNIFORM = Shape(Kind.UNIFORM)
ROW_UNIFORM = Shape(Kind.ROWS)
PERMUTED = Shape(Kind.PERMUTED)
VARYING = Shape(Kind.VARYING)


@dataclass(eq=False, slots=True)
class Key:
    """A set of lanes: the same lanes pass all blocks with the same key."""


class Shapes:
    """The shapes of all values in a body."""

    def __init__(
        self,
        placed: Placement,
        gang: Gang,
        body: Body,
        plan: StoragePlan,
        private: frozenset[Storage],
    ) -> None:
        self._placed = placed
        self.body = body
        self._plan = plan
        self._private = private
        ids = (number for it in gang.forks for number in placed.members.thread_ids.get(it, ()))
        self.thread_ids = tuple(sorted(ids, key=placed.members.number.__getitem__))
        """The thread numbers in the gang's forks."""
        self._thread_ids: dict[h.Node, Shape] = {it: _shape_of_thread_id(gang, it) for it in self.thread_ids}
        self._lanes = gang.lanes
        self._alike = alike_conditions(placed, gang.forks, body)
        rows = (Kind.ROWS,) if gang.has_whole_rows else ()
        self._rising = (Kind.AFFINE, Kind.SPECULATED, *rows)
        """Kinds that rise evenly within a part, some of them if a test holds."""
        self._numbers = KnownValues(placed.types, gang.forks, {})
        self.progressions: dict[h.Node, Progression] = {}
        """The integers that rise evenly through all threads of the forks, of those whose formula does not say so."""
        self._known: dict[h.Node, Shape] = {}
        self.divergent: set[Level] = set()
        """The loops that lanes leave at different times."""
        self.keys: dict[h.Node, Key] = {}
        """The lanes that pass each block."""
        self.edge_keys: dict[BlockEdge, Key] = {}
        self.item_keys: dict[Item, Key] = {}
        self._all = Key()
        """The lanes of the gang."""
        self._branches: dict[Key, h.Node] = {}
        """For keys of lanes that take one way of a branch: the block that ends with the branch."""
        self._solve()

    def at(self, node: h.Node, leader: h.Node) -> Shape:
        """The shape of a value as a block sees it."""
        if self.divergent and self.is_left_behind(node, leader):
            return VARYING
        return self._known.get(node, UNIFORM)

    def is_left_behind(self, node: h.Node, leader: h.Node) -> bool:
        """Whether the value is defined in a divergent loop that the block is outside of."""
        home = self._placed.place.get(node)
        level = None if home is None else self.body.level_of.get(home)
        while level is not None:
            if level in self.divergent and leader not in level.leaders:
                return True
            level = level.parent
        return False

    def is_split(self, edges: Iterable[BlockEdge]) -> bool:
        """Whether different lanes may take different ones of the edges."""
        return len({self.edge_keys[edge] for edge in edges}) > 1

    def _solve(self) -> None:
        nodes = self._placed.members.in_blocks(self.body.level_of)
        nodes += [it for it in self._thread_ids if it not in nodes]
        while True:
            self._find_keys()
            before = dict(self._known)
            loops = len(self.divergent)
            changed = True
            while changed:
                check_compile_time()
                changed = False
                for node in nodes:
                    shape = self._shape(node)
                    if shape is not None and shape != self._known.get(node):
                        is_first = self._known.get(node, UNIFORM) == UNIFORM and shape == ROW_UNIFORM
                        shape = shape if node not in self._known or is_first else VARYING
                        changed = changed or self._known.get(node) != shape
                        self._known[node] = shape
            if before == self._known and loops == len(self.divergent):
                return

    # Lanes of blocks

    def _find_keys(self) -> None:
        again = True
        while again:
            count = len(self.divergent)
            self.keys.clear()
            self.edge_keys.clear()
            self._branches.clear()
            self._find_keys_of_level(self.body.top, self._all)
            again = len(self.divergent) > count

    def _find_keys_of_level(self, level: Level, entry: Key) -> None:
        own: dict[Item, Key] = {}
        for item in level.items:
            key = own[item] = self.item_keys[item] = self._key(item, level, entry, own)
            if item.inner is not None:
                self._find_keys_of_level(item.inner, Key() if item.inner in self.divergent else key)
                continue
            self.keys[item.leader] = key
            is_split = self.splits(item.leader)
            for edge in self.body.outgoing[item.leader]:
                self.edge_keys[edge] = Key() if is_split or self._leaves_divergent(edge) else key
                if is_split and not self._leaves_divergent(edge):
                    self._branches[self.edge_keys[edge]] = item.leader
        if level.is_loop and level not in self.divergent and any(self.edge_keys[it] is not entry for it in level.exits):
            self.divergent.add(level)

    def _key(self, item: Item, level: Level, entry: Key, own: Mapping[Item, Key]) -> Key:
        if item.leader is level.header:
            return entry
        if item.twin is not None:
            return own[item.twin]
        keys = {self.edge_keys[edge] for edge in item.incoming}
        return keys.pop() if len(keys) == 1 else Key()

    def splits(self, leader: h.Node) -> bool:
        """Whether the block ends with a branch that lanes may take differently."""
        exit = self._placed.exits[leader]
        return isinstance(exit, h.If) and self.at(exit.condition, leader) != UNIFORM

    def _leaves_divergent(self, edge: BlockEdge) -> bool:
        return any(it in self.divergent and edge.target not in it.leaders for it in self.body.enclosing(edge.source))

    def are_of_positions(self, key: Key) -> bool:
        """Whether only positions decide which lanes have a key, as where bounds of a problem are tested. Of most gangs
        all lanes have it then, or none.
        """
        while key in self._branches:
            leader = self._branches[key]
            exit = self._placed.exits[leader]
            assert isinstance(exit, h.If)
            if not is_of_positions(exit.condition, partial(self._is_linear_at, leader)):
                return False
            key = self.keys[leader]
        return key is self._all

    # Shapes of values

    def _shape(self, node: h.Node) -> Shape | None:
        """The shape of a node from those of its operands; None while nothing is known of these."""
        if node in self._thread_ids:
            return self._thread_ids[node]
        home = self._placed.place[node]
        match node:
            case h.Phi():
                return self._phi(node)
            case h.Read(collection=h.Atomic()) | h.Atomic():
                return VARYING
            case h.Read(collection=h.Call() as call):
                return UNIFORM if self.is_uniform_call(call) else VARYING
            case h.Read(collection=collection, indices=indices):
                if not isinstance(collection, h.ConstantNode) and self._plan.of(collection) in self._private:
                    return VARYING
                positions = positions_of(indices)
                return self._all_uniform(positions, home)
            case h.ThreadID() | h.ConstantNode() | h.DynamicConstantNode() | h.Parameter():
                return UNIFORM
            case h.Reduce() | h.Collect() | h.Write() | h.ProductNode():
                return UNIFORM
            case h.Binary(lhs=lhs, rhs=rhs) if node in self._alike and self._have_firsts([lhs, rhs], home):
                return UNIFORM
            case h.Binary(op=op, lhs=lhs, rhs=rhs):
                shape = self._binary(op, lhs, rhs, home)
                found = self._progression(node) if shape.kind in _IN_PARTS else None
                return shape if found is None else Shape(Kind.AFFINE, found.stride)
            case h.Cast(type=type, operand=operand):
                return self._cast(self.at(operand, home), self._placed.types[operand], type)
            case h.Bitcast(type=type, operand=operand):
                shape = self.at(operand, home)
                is_linear = shape.kind in (Kind.AFFINE, Kind.SPECULATED, Kind.ROWS) and isinstance(type, h.Integer)
                return shape if shape in (UNIFORM, ROW_UNIFORM) or is_linear else VARYING
            case h.Unary(operand=operand):
                return self._all_uniform([operand], home)
            case h.Select(condition=condition, if_true=if_true, if_false=if_false):
                if self.at(condition, home) != UNIFORM:
                    return self._selected(node, home)
                return _common([self.at(if_true, home), self.at(if_false, home)])
            case h.Intrinsic(function="min" | "max" | "clamp", type=h.Integer(), arguments=arguments):
                return self._limited([self.at(it, home) for it in arguments])
            case h.Intrinsic(arguments=arguments):
                return self._all_uniform(arguments, home)
            case h.Call() | h.ControlNode():
                return VARYING
            case _:
                assert_never(node)

    def _progression(self, node: h.Binary) -> Progression | None:
        """How an integer rises through all threads, as `y * 16 + x` does with rows of 16; None if it does not."""
        if node not in self.progressions:
            values, type = self._numbers.of(node), self._placed.types[node]
            if values is None or len(values) < 2 or not isinstance(type, h.Integer):
                return None
            start, stride = int(values[0]), int(values[1]) - int(values[0])
            if (
                stride == 0
                or abs(stride) >= _MOST_STRIDE
                or any(it != start + stride * n for n, it in enumerate(values))
            ):
                return None
            self.progressions[node] = Progression(start, stride)
        return self.progressions[node]

    def _have_firsts(self, operands: Sequence[h.Node], home: h.Node) -> bool:
        """Whether scalars stand for operands: the values of the gang's first lane."""
        return all(self.at(it, home).kind in (Kind.UNIFORM, Kind.AFFINE) for it in operands)

    def is_uniform_call(self, call: h.Call) -> bool:
        """Whether all lanes pass the same arguments and no result is used after a divergent loop around it."""
        home = self._placed.place[call]
        scalars = [it for it in call.arguments if not is_collection(self._placed.types[it])]
        is_left = any(self.is_left_behind(call, self._placed.place[it]) for it in self._placed.members.results[call])
        return not is_left and all(self.at(it, home) == UNIFORM for it in scalars)

    def _all_uniform(self, operands: Sequence[h.Node], home: h.Node) -> Shape:
        shapes = [UNIFORM, *(self.at(it, home) for it in operands)]
        return _common(shapes)

    def _is_fixed(self, shape: Shape) -> bool:
        """Whether all lanes of a part have one value."""
        return shape == UNIFORM or (shape == ROW_UNIFORM and Kind.ROWS in self._rising)

    def _limited(self, shapes: Sequence[Shape]) -> Shape:
        """The shape of min, max and clamp: speculated to be that of the only argument that differs between lanes."""
        moving = [it for it in shapes[:2] if not self._is_fixed(it)]
        is_one = len(moving) == 1 and all(map(self._is_fixed, shapes[2:]))
        if is_one and moving[0].kind in self._rising and moving[0].stride >= 0:
            return Shape(Kind.SPECULATED, moving[0].stride)
        return _common([UNIFORM, *shapes])

    def _selected(self, node: h.Select, home: h.Node) -> Shape:
        """The shape of a select whose condition differs between lanes: speculated to be that of one arm."""
        common = self._all_uniform([node.condition, node.if_true, node.if_false], home)
        arm = None if common != VARYING else self.likely_arm(node, home)
        shape = VARYING if arm is None else self.at(arm, home)
        is_rising = shape.kind in self._rising and shape.stride >= 0
        return Shape(Kind.SPECULATED, shape.stride) if is_rising and not self._is_fixed(shape) else common

    def likely_arm(self, node: h.Select, home: h.Node) -> h.Node | None:
        """The arm of a select between positions that most gangs take in all lanes; None if neither is likelier."""
        arms = [self.at(it, home) for it in (node.if_true, node.if_false)]
        is_integer = isinstance(self._placed.types[node], h.Integer)
        if not is_integer or not is_of_positions(node.condition, partial(self._is_linear_at, home)):
            return None
        if not all(map(self._is_linear, arms)):
            return None
        truth = likely_truth(node, lambda it: self._is_fixed(self.at(it, home)))
        return None if truth is None else node.if_true if truth else node.if_false

    def _is_linear_at(self, leader: h.Node, node: h.Node) -> bool:
        return self._is_linear(self.at(node, leader))

    def _is_linear(self, shape: Shape) -> bool:
        """Whether a value rises evenly within a part, or likely does."""
        return shape == UNIFORM or shape.kind in self._rising

    def _binary(self, op: h.BinaryOp, lhs: h.Node, rhs: h.Node, home: h.Node) -> Shape:
        left, right = self.at(lhs, home), self.at(rhs, home)
        if left == UNIFORM and right == UNIFORM:
            return UNIFORM
        if left in (UNIFORM, ROW_UNIFORM) and right in (UNIFORM, ROW_UNIFORM):
            return ROW_UNIFORM
        if op is h.BinaryOp.XOR and UNIFORM in (left, right):
            varying, shape = (lhs, left) if right == UNIFORM else (rhs, right)
            if shape == PERMUTED or (shape == Shape(Kind.AFFINE, 1) and self._is_in_block(varying)):
                return PERMUTED
        if op is h.BinaryOp.ADD and {left, right} == {UNIFORM, PERMUTED}:
            return PERMUTED if self._is_multiple(lhs if left == UNIFORM else rhs) else VARYING
        linear = (Kind.UNIFORM, Kind.AFFINE, Kind.SPECULATED, Kind.ROWS)
        if left.kind not in linear or right.kind not in linear:
            return VARYING
        kinds = {left.kind, right.kind}
        match op:
            case h.BinaryOp.ADD:
                return self._linear(left.stride + right.stride, kinds)
            case h.BinaryOp.SUB:
                return self._linear(left.stride - right.stride, kinds)
            case h.BinaryOp.MUL if (factor := constant_value(rhs)) is not None:
                return self._linear(left.stride * factor, kinds)
            case h.BinaryOp.MUL if (factor := constant_value(lhs)) is not None:
                return self._linear(right.stride * factor, kinds)
            case h.BinaryOp.MUL if left.stride == right.stride == 0:
                return self._linear(0, kinds)
            case h.BinaryOp.SHIFT_LEFT if (count := constant_value(rhs)) is not None and 0 <= count < 16:
                return self._linear(left.stride << count, kinds)
            case _:
                return self._speculated(op, left, right, constant_value(rhs))

    def _linear(self, stride: int, kinds: set[Kind]) -> Shape:
        """The shape of a sum or product. Large strides are of no use: VARYING."""
        if abs(stride) >= _MOST_STRIDE or (
            Kind.SPECULATED in kinds and Kind.ROWS in kinds and Kind.ROWS not in self._rising
        ):
            return VARYING
        kind = Kind.SPECULATED if Kind.SPECULATED in kinds else Kind.ROWS if Kind.ROWS in kinds else Kind.AFFINE
        return UNIFORM if kind is Kind.AFFINE and stride == 0 else Shape(kind, stride)

    def _speculated(self, op: h.BinaryOp, left: Shape, right: Shape, constant: int | None) -> Shape:
        """The shape of a division, remainder or bit operation: most gangs do not cross a step. `constant` is the right
        operand if it is one.
        """
        if self._is_fixed(left) and op in _SYMMETRIC:
            left, right = right, left
        if left.kind not in self._rising or not self._is_fixed(right) or left.stride < 0:
            return VARYING
        stride, span = left.stride, left.stride * (self._lanes - 1)
        if constant is not None and not _may_hold(op, constant, span):
            return VARYING
        match op:
            case h.BinaryOp.REM | h.BinaryOp.AND | h.BinaryOp.OR | h.BinaryOp.XOR:
                return Shape(Kind.SPECULATED, stride)
            case h.BinaryOp.DIV | h.BinaryOp.SHIFT_RIGHT:
                return Shape(Kind.SPECULATED)
            case _:
                return VARYING

    def _is_in_block(self, node: h.Node) -> bool:
        """Whether the lanes' values are a multiple of the number of lanes plus the lanes' numbers: the thread number,
        and counters that begin with it and rise by such multiples.
        """
        return _all_reached(node, self._in_block_if)

    def _in_block_if(self, node: h.Node) -> Sequence[h.Node] | None:
        """The values that must be in a block for this one to be; None if it is not."""
        if isinstance(node, h.Phi):
            return node.values
        if isinstance(node, h.Binary) and node.op is h.BinaryOp.ADD:
            pairs = (node.lhs, node.rhs), (node.rhs, node.lhs)
            return next(([other] for one, other in pairs if self._is_multiple(one)), None)
        return _widened(node) or (() if self._thread_ids.get(node) == Shape(Kind.AFFINE, 1) else None)

    def _is_multiple(self, node: h.Node) -> bool:
        """Whether a value is a constant multiple of the number of lanes, or a loop's counter times such a constant.
        Positions with the workgroup's number are in buffers, and better speculated (see `control.versions`).
        """
        return _all_reached(node, self._multiple_if)

    def _multiple_if(self, node: h.Node) -> Sequence[h.Node] | None:
        """The values that must be multiples for this one to be; None if it is none."""
        if isinstance(node, h.Binary) and node.op is h.BinaryOp.MUL:
            pairs = (node.lhs, node.rhs), (node.rhs, node.lhs)
            return next(([other] for one, other in pairs if isinstance(one, h.Phi)), None)
        if isinstance(node, h.Binary) and node.op is h.BinaryOp.ADD:
            return node.lhs, node.rhs
        value = constant_value(node)
        return _widened(node) or (() if value is not None and value % self._lanes == 0 else None)

    @staticmethod
    def _cast(shape: Shape, source: h.Type, target: h.Type) -> Shape:
        if shape in (UNIFORM, ROW_UNIFORM) or (shape == PERMUTED and (source, target) == (U32, U64)):
            return shape
        if shape.kind is Kind.ROWS and isinstance(source, h.Integer) and isinstance(target, h.Integer):
            if (source, target) == (U32, U64):
                return Shape(Kind.WIDENED_ROWS, shape.stride)
            return shape if target.bits <= source.bits else VARYING
        if shape.kind is Kind.AFFINE and isinstance(source, h.Integer) and isinstance(target, h.Integer):
            if target.bits <= source.bits:
                return shape
            if source == U32 and target == U64:
                return Shape(Kind.WIDENED, shape.stride)
        if shape.kind is Kind.SPECULATED and isinstance(source, h.Integer) and isinstance(target, h.Integer):
            return shape if target.bits <= source.bits or (source, target) == (U32, U64) else VARYING
        if shape.kind in (Kind.WIDENED, Kind.WIDENED_ROWS) and isinstance(target, h.Integer) and target.bits == 32:
            return Shape(Kind.AFFINE if shape.kind is Kind.WIDENED else Kind.ROWS, shape.stride)
        return VARYING

    def _phi(self, node: h.Phi) -> Shape | None:
        assert isinstance(node.region, h.Region)
        region = node.region
        shapes: list[Shape] = []
        edges: list[BlockEdge] = []
        values: set[h.Node] = set()
        for value, before in zip(node.values, region.predecessors, strict=True):
            if before not in self._placed.live:
                continue
            source = block_leader(before)
            edges.append(BlockEdge(source, region))
            values.add(value)
            if value in self._known or self._placed.place.get(value) not in self.body.level_of:
                shapes.append(VARYING if self.is_left_behind(value, region) else self.at(value, source))
        level = self.body.level_of[region]
        if level.header is region:
            back = [it for it in edges if it in level.back]
            first = [it for it in edges if it not in level.back]
            is_split = self.is_split(back) or self.is_split(first)
        else:
            is_split = self.is_split(edges)
        if is_split and len(values) > 1:
            return VARYING
        shape = _common(shapes) if shapes else None
        return VARYING if shape is not None and shape.kind is Kind.SPECULATED else shape


def _shape_of_thread_id(gang: Gang, thread_id: h.ThreadID) -> Shape:
    if len(gang.forks) == 1:
        return Shape(Kind.AFFINE, 1)
    return Shape(Kind.ROWS, 1) if thread_id.fork is gang.forks[-1] else ROW_UNIFORM


_IN_PARTS = (Kind.SPECULATED, Kind.ROWS, Kind.WIDENED_ROWS, Kind.VARYING)
"""Kinds of values that are not one scalar for all parts."""
_MOST_STRIDE = 1 << 20
_SYMMETRIC = (h.BinaryOp.AND, h.BinaryOp.OR, h.BinaryOp.XOR)


def _may_hold(op: h.BinaryOp, constant: int, span: int) -> bool:
    """Whether a test could ever hold for lanes whose values span `span`."""
    match op:
        case h.BinaryOp.REM | h.BinaryOp.DIV:
            return constant > span
        case h.BinaryOp.AND:
            return constant >= span and constant & (constant + 1) == 0
        case h.BinaryOp.OR | h.BinaryOp.XOR:
            return constant & ((1 << span.bit_length()) - 1) == 0
        case h.BinaryOp.SHIFT_RIGHT:
            return constant >= 0 and 1 << min(constant, 64) > span
        case _:
            return True


def _common(shapes: Sequence[Shape]) -> Shape:
    if all(it in (UNIFORM, ROW_UNIFORM) for it in shapes) and ROW_UNIFORM in shapes:
        return ROW_UNIFORM
    return shapes[0] if all(it == shapes[0] for it in shapes) else VARYING


def _widened(node: h.Node) -> Sequence[h.Node]:
    """The operand of a cast that changes no number; nothing for other nodes."""
    return [node.operand] if isinstance(node, h.Cast) and node.type in (U32, U64) else ()


def _all_reached(node: h.Node, needed: Callable[[h.Node], Sequence[h.Node] | None]) -> bool:
    """Whether `needed` is not None for a node, nor for any of the nodes that are needed then, and so on."""
    reached, waiting = {node}, [node]
    while waiting:
        found = needed(waiting.pop())
        if found is None:
            return False
        waiting += [it for it in found if it not in reached]
        reached.update(found)
    return True
