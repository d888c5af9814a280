"""The lanes that pass a block and the lanes that take an edge: a mask for each part of a gang.

A mask is a vector of i1. Masks, and whether any lane takes an edge, are kept in slots, which LLVM turns into registers.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from functools import reduce

from .....ir.hercules import nodes as h
from ... import data
from ...llvm import Ops
from ..analysis.body import BlockEdge, Item
from ..analysis.bounds import greatest
from ..analysis.shapes import Key, Kind, Shape
from ..context import GangContext
from ..values.values import GangValues

_ALL = "splat (i1 true)"


class Masks:
    """The masks of keys (see `shapes.Key`) and edges."""

    def __init__(self, context: GangContext, values: GangValues) -> None:
        self._placed, self._body, self._shapes = context.placed, context.body, context.shapes
        self._site = context.site
        self._vec, self._one, self._slots = context.vec, context.one, context.slots
        self._values = values
        self._type = self._vec.type("i1")
        self._is_all: dict[tuple[Key, int], bool] = {}
        self._full_tests: dict[Key, tuple[str, ...] | None] = {}
        self._edges: dict[BlockEdge, tuple[str, list[str]]] = {}

    def set(self, key: Key, masks: Sequence[str | None]) -> None:
        """Define the masks of a key's parts; None stands for all lanes."""
        for part, mask in enumerate(masks):
            self._is_all[key, part] = mask is None
            if mask is not None:
                self._slots.define((key, part), mask, self._type)

    def set_full_tests(self, key: Key, tests: tuple[str, ...] | None) -> None:
        """Define tests that imply that the masks of a key have all lanes; None if there are no such tests."""
        self._full_tests[key] = tests

    def full_tests(self, key: Key) -> tuple[str, ...] | None:
        """The tests that imply that the masks of a key have all lanes, if any are known."""
        return self._full_tests.get(key)

    def is_partial(self, key: Key) -> bool:
        """Whether some mask of a key may lack a lane."""
        return any(not self._is_all.get((key, part), False) for part in range(self._site.count))

    def are_full(self, key: Key) -> str:
        """An i1: whether the masks of a key have all lanes."""
        vec = self._values.vec
        common = reduce(lambda one, other: vec.binary("and", "i1", one, other), self.texts(key))
        return self._values.memory.is_full(common)

    @contextmanager
    def assume_full(self, key: Key) -> Generator[None]:
        """Write code that runs only if the masks of a key have all lanes."""
        names = [(key, part) for part in range(self._site.count)]
        before = {name: self._is_all[name] for name in names}
        self._is_all.update(dict.fromkeys(names, True))
        yield
        self._is_all.update(before)

    @contextmanager
    def copied(self) -> Generator[None]:
        """Write code that is written again afterwards: what it defines is not known then."""
        before = dict(self._is_all)
        yield
        self._is_all = before

    def is_known(self, key: Key) -> bool:
        """Whether the masks of a key are defined."""
        return (key, 0) in self._is_all

    def here(self) -> str | None:
        """The mask of the current block and part; None for all lanes."""
        return self._of(self._site.key)

    def all_here(self) -> list[str | None]:
        """The masks of the current block of all parts; None for all lanes."""
        return [self.here() for _ in self._site.parts()]

    def _of(self, key: Key) -> str | None:
        name = key, self._site.part
        return None if self._is_all[name] else self._slots.use(name)

    def texts(self, key: Key) -> list[str]:
        """The masks of all parts."""
        return [self._of(key) or _ALL for _ in self._site.parts()]

    def text(self) -> str:
        """The mask of the current block and part."""
        return self.here() or _ALL

    def any(self, masks: Sequence[str]) -> str:
        """Whether some lane is in one of the masks."""
        return self._values.memory.any(self.either(self._vec, masks))

    @contextmanager
    def if_any_lane(self) -> Generator[None]:
        """Write code that runs only if a lane of the current part passes the block. Of several parts, some may have
        none.
        """
        mask = self.here()
        if self._site.count == 1 or mask is None:
            yield
            return
        out = self._values.out
        before = out.current
        some, none = out.fresh_block("part"), out.fresh_block("part.done")
        out.do(f"br i1 {self._values.memory.any(mask)}, label %{some}, label %{none}")
        out.open_arm(some, before)
        with self._slots.guarded():
            yield
        out.do(f"br label %{none}")
        out.open_merge(none, before)

    @staticmethod
    def either(ops: Ops, values: Sequence[str]) -> str:
        """The union of masks."""
        result, *others = values
        for other in others:
            result = ops.binary("or", "i1", result, other)
        return result

    # Edges

    def _depth(self, edge: BlockEdge) -> int:
        """The depth of the level in which the masks of an edge are used."""
        level = self._body.level_of[edge.target]
        if edge.target is level.header and edge not in level.back:
            assert level.parent is not None
            level = level.parent
        return len(self._body.enclosing(level.header)) - 1

    def _slots_of(self, edge: BlockEdge) -> tuple[str, list[str]]:
        """The slots of an edge that lanes take at different times: whether any lane takes it, and the mask of each
        part.
        """
        if edge not in self._edges:
            depth = self._depth(edge)
            masks = [self._slots.make(self._type, depth) for _ in range(self._site.count)]
            self._edges[edge] = self._slots.make("i1", depth), masks
        return self._edges[edge]

    def any_takes(self, edges: Sequence[BlockEdge]) -> str:
        """Whether any lane takes one of the edges."""
        return self.either(self._one, [self._any_takes(it) for it in edges])

    def _any_takes(self, edge: BlockEdge) -> str:
        if self.leaves_divergent(edge):
            return self._slots.load("i1", self._slots_of(edge)[0])
        return self._slots.use((edge, "active")) if (edge, "active") in self._slots else "false"

    def taken(self, edges: Sequence[BlockEdge]) -> list[str]:
        """Which lanes of each part take one of the edges."""
        return [self.either(self._vec, [self._taken(it, part) for it in edges]) for part in range(self._site.count)]

    def taken_here(self, edge: BlockEdge) -> str:
        """Which lanes of the current part take an edge."""
        return self._taken(edge, self._site.part)

    def _taken(self, edge: BlockEdge, part: int) -> str:
        if self.leaves_divergent(edge):
            return self._slots.load(self._type, self._slots_of(edge)[1][part])
        return self._slots.use((edge, part)) if (edge, part) in self._slots else "zeroinitializer"

    def take_edges(self, leader: h.Node) -> None:
        """Define the masks of the edges from the end of a block."""
        masks, exit = self.texts(self._site.key), self._placed.exits[leader]
        for edge in self._body.outgoing[leader]:
            if edge.target not in self._body.level_of:
                continue
            active, taken = self._site.active, masks
            leaves = self.leaves_divergent(edge)
            if isinstance(exit, h.If):
                active, taken = self._branch(exit, edge, masks)
                if self._shapes.edge_keys[edge] is not self._site.key and not leaves:
                    self.set(self._shapes.edge_keys[edge], taken)
            self._take(edge, active, taken)

    def take_only(self, edge: BlockEdge) -> None:
        """Define the masks for when all lanes take one edge from a branch."""
        for other in self._body.outgoing[edge.source]:
            if other.target in self._body.level_of:
                active, mask = ("true", _ALL) if other == edge else ("false", "zeroinitializer")
                taken = [mask] * self._site.count
                self.set(self._shapes.edge_keys[other], taken)
                self._take(other, active, taken)

    def take_none(self, item: Item) -> None:
        """Define the masks of the edges from an item that no lane passes: in another turn of a loop some may have."""
        edges = self._body.outgoing[item.leader] if item.inner is None else item.inner.exits
        for edge in edges:
            if edge.target in self._body.level_of and not self.leaves_divergent(edge):
                self._put(edge, "false", ["zeroinitializer"] * self._site.count)

    def take_all(self, edge: BlockEdge) -> None:
        """Define the masks of the edges from the end of a block of which all lanes take one."""
        own = self._shapes.keys[edge.source]
        for other in self._body.outgoing[edge.source]:
            if other.target in self._body.level_of:
                is_taken, key = other == edge, self._shapes.edge_keys[other]
                if key is not own:
                    self.set(key, [None if is_taken else "zeroinitializer"] * self._site.count)
                active, mask = ("true", _ALL) if is_taken else ("false", "zeroinitializer")
                self._take(other, active, [mask] * self._site.count)

    def _take(self, edge: BlockEdge, active: str, taken: Sequence[str]) -> None:
        if self.leaves_divergent(edge):
            self._add(edge, active, taken)
        else:
            self._put(edge, active, taken)

    def _put(self, edge: BlockEdge, active: str, taken: Sequence[str]) -> None:
        depth = self._depth(edge)
        self._slots.define((edge, "active"), active, "i1", depth=depth)
        for part, mask in enumerate(taken):
            self._slots.define((edge, part), mask, self._type, depth=depth)

    def _add(self, edge: BlockEdge, active: str, taken: Sequence[str]) -> None:
        """Add lanes to those that have left a divergent loop by an edge."""
        slots, load = self._slots, self._slots.load
        active_slot, mask_slots = self._slots_of(edge)
        slots.store("i1", self._one.binary("or", "i1", active, load("i1", active_slot)), active_slot)
        for mask, slot in zip(taken, mask_slots, strict=True):
            slots.store(self._type, self._vec.binary("or", "i1", mask, load(self._type, slot)), slot)

    def _branch(self, branch: h.If, edge: BlockEdge, masks: Sequence[str]) -> tuple[str, list[str]]:
        """Whether any lane takes an edge from a branch, and the masks of those that do."""
        is_true = isinstance(edge.target, h.Read) and edge.target.indices == [h.ControlIndex(1)]
        if self._values.is_uniform(branch.condition):
            active, type = self._values.scalar(branch.condition), self._type
            if not is_true:
                active = self._one.binary("xor", "i1", active, "true")
            out = self._values.out
            taken = [out.pure(f"select i1 {active}, {type} {mask}, {type} zeroinitializer") for mask in masks]
            return active if self._site.active == "true" else self._one.binary(
                "and", "i1", active, self._site.active
            ), taken
        taken = [self._wanted(branch.condition, masks[part], is_true=is_true) for part in self._site.parts()]
        is_rising = is_true and all(it == _ALL for it in masks)
        first = self._first_is_below(branch.condition) if is_rising else None
        return first or self.any(taken), taken

    def _wanted(self, condition: h.Node, mask: str, *, is_true: bool) -> str:
        wanted = self._values.vector(condition)
        if not is_true:
            wanted = self._vec.binary("xor", "i1", wanted, _ALL)
        return wanted if mask == _ALL else self._values.memory.both(mask, wanted)

    def _first_is_below(self, condition: h.Node) -> str | None:
        """Whether any lane's value is below a limit, if values rise and only the first lane's need be compared."""
        match condition:
            case h.Binary(op=h.BinaryOp.LESS, lhs=lhs, rhs=rhs) if self._values.is_uniform(rhs):
                type, bound = self._placed.types[lhs], greatest(lhs, self._placed.types)
                shape = self._shapes.at(lhs, self._site.here)
                is_rising = shape == Shape(Kind.AFFINE, 1) and bound is not None and bound < 1 << 31
                if not is_rising or not self._values.is_usable(lhs) or not self._values.is_usable(rhs):
                    return None
                lowest, limit = self._values.scalar(lhs), self._values.scalar(rhs)
                return self._one.binary("icmp ult", data.llvm_type(type), lowest, limit)
            case _:
                return None

    def leaves_divergent(self, edge: BlockEdge) -> bool:
        """Whether the edge leaves a divergent loop."""
        levels = self._body.enclosing(edge.source)
        return any(it in self._shapes.divergent and edge.target not in it.leaders for it in levels)

    def is_own(self, item: Item) -> bool:
        """Whether the mask of an item comes from a single branch, right before it."""
        return len(item.incoming) == 1 and self._shapes.splits(item.incoming[0].source)
