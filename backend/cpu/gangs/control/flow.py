"""The control flow of a gang: blocks, loops and inner forks in the order of the levels (see `analysis.body`).

Code that not every lane is sure to pass has a jump around it for when none does. A loop runs while any lane is left in
it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import nullcontext

from .....ir.hercules import nodes as h
from .....ir.hercules.schedule import Schedule
from ...llvm import FunctionText
from ...nodes import NodeEmitter
from ..analysis.body import Item, Level
from ..analysis.costs import SMALL, block_cost, is_short
from ..analysis.shapes import Shapes
from ..choice.sizing import NotGanged
from ..site import Proved, Site
from ..values.values import GangValues
from .counted_loops import CountedLoops
from .masks import Masks
from .merges import Merges
from .segment_prefetch import SegmentPrefetch
from .versions import BlockVersions, DeferredBranch, FastVersion

_MANY = 4
"""Of so many parts, what is done if not all lanes are in range is done lane by lane."""


class Flow:
    """Writes levels; `emit_block` writes what is in a block, but for some nodes, and `emit_nodes` some of a block."""

    def __init__(
        self,
        placed: Schedule,
        shapes: Shapes,
        nodes: NodeEmitter,
        values: GangValues,
        masks: Masks,
        merges: Merges,
        versions: BlockVersions,
        segment_prefetch: SegmentPrefetch,
        counted: CountedLoops,
        site: Site,
        emit_block: Callable[[h.Node, Collection[h.Node]], None],
        emit_nodes: Callable[[h.Node, Sequence[h.Node]], None],
    ) -> None:
        self._placed = placed
        self._shapes = shapes
        self._nodes = nodes
        self._out: FunctionText = values.out
        self._one, self._vec, self._slots = values.one, values.vec, values.slots
        self._masks = masks
        self._merges = merges
        self._versions = versions
        self._segment_prefetch = segment_prefetch
        self._counted = counted
        self._site = site
        self._emit_block = emit_block
        self._emit_nodes = emit_nodes
        self._before: DeferredBranch | None = None
        """A block that is written but for who goes where from its end."""
        self._deferred: dict[Item, DeferredBranch] = {}
        self._loop_versions: dict[Item, FastVersion] = {}
        """What is tested before a loop for its blocks."""
        self._waiting: set[h.Node] = set()
        self._acts: dict[Item, bool] = {}
        self._is_exact: dict[Item, bool] = {}

    def emit_level(self, level: Level) -> None:
        """All items of a level."""
        self._deferred.update(self._versions.deferred_branches(level))
        self._waiting.update(node for it in self._deferred.values() for node in it.nodes)
        with self._slots.level():
            for item in level.items:
                self._emit_item(item, level)

    def _emit_item(self, item: Item, level: Level) -> None:
        version = None if self._merges.has_copies(item.leader) else self._versions.find(item)
        before, self._before = self._before, None
        if version is not None:
            self._emit_versions(item, level, version, before)
            return
        if before is not None:
            self._emit_branch(before)
        act = self._enter(item, level)
        if item in self._deferred:
            self._emit_block(item.leader, self._waiting)
            self._before = self._deferred[item]
        else:
            self._emit_guarded(item, act)

    def _emit_branch(self, deferred: DeferredBranch) -> None:
        """What was left out at the end of a block: who goes where."""
        self._emit_nodes(deferred.leader, deferred.nodes)
        self._masks.take_edges(deferred.leader)

    def _emit_versions(self, item: Item, level: Level, version: FastVersion, before: DeferredBranch | None) -> None:
        """A block twice, once for when all lanes are known to pass it."""
        out, slots = self._out, self._slots
        act = None if before is not None else self._enter(item, level)
        if version.test == "true":
            self._emit_fast(item, version)
            return
        start, (all, some, after) = out.current, map(out.fresh_block, ("whole", "partly", "done"))
        out.do(f"br i1 {version.test}, label %{all}, label %{some}, !prof !1")
        out.open_arm(all, start)
        with slots.guarded():
            if before is not None:
                self._masks.take_only(item.incoming[0])
                slots.define(item, "true", "i1")
            self._emit_fast(item, version)
        out.do(f"br label %{after}")
        out.open_arm(some, start)
        with slots.guarded():
            if before is not None:
                self._emit_branch(before)
                act = self._enter(item, level)
            self._site.is_rare = self._site.count >= _MANY
            self._emit_guarded(item, act)
            self._site.is_rare = False
        out.do(f"br label %{after}")
        out.open_merge(after, start)

    def _emit_fast(self, item: Item, version: FastVersion) -> None:
        """The version for when all lanes pass."""
        site = self._site
        with self._masks.assume_full(self._shapes.item_keys[item]):
            act, site.act, site.proved = site.act, "true", version.proved
            self._emit_inside(item)
            site.act, site.proved = act, Proved()

    def _emit_guarded(self, item: Item, act: str | None) -> None:
        """An item with a jump around it, if there is something that says when."""
        if act is None:
            self._emit_inside(item)
            return
        out = self._out
        before, inside, after = out.current, out.fresh_block("some"), out.fresh_block("after")
        out.do(f"br i1 {act}, label %{inside}, label %{after}")
        out.open_arm(inside, before)
        with self._slots.guarded():
            self._emit_inside(item)
        out.do(f"br label %{after}")
        out.open_merge(after, before)

    def _enter(self, item: Item, level: Level) -> str | None:
        """Whether any lane passes an item; None if that is sure, or the item needs no jump around it."""
        key = self._shapes.item_keys[item]
        if item.leader is level.header:
            self._acts[item], self._is_exact[item], self._site.act = True, False, "true"
            return None
        if item.twin is not None:
            self._acts[item], self._is_exact[item] = self._acts[item.twin], self._is_exact[item.twin]
            if self._acts[item]:
                self._site.act = "true"
                return None
            act = self._slots.use(item.twin)
        else:
            is_new = not self._masks.is_known(key)
            self._is_exact[item] = is_new or self._masks.is_own(item)
            if is_new:
                self._masks.set(key, self._masks.taken(item.incoming))
            self._acts[item] = False
            act = self._masks.act(item.incoming)
        self._slots.define(item, act, "i1")
        is_small = item.inner is None and self._is_exact[item] and self._cost(item.leader) <= SMALL
        self._site.act = act if is_small else "true"
        return None if is_small else act

    def _cost(self, leader: h.Node) -> float:
        return float("inf") if self._merges.has_copies(leader) else block_cost(self._placed, leader)

    def _emit_inside(self, item: Item) -> None:
        if item.inner is None:
            self._emit_turn(item)
        elif item.inner.is_loop:
            self._emit_loop(item, item.inner)
        else:
            self._emit_inner_fork(item.inner)

    def _emit_turn(self, item: Item) -> None:
        """A block; in a loop maybe twice, once for when its positions are known to be in range in all turns."""
        version = self._loop_versions.get(item)
        if version is None:
            self._emit_block(item.leader, self._waiting)
            self._masks.take_edges(item.leader)
            return
        out, site, act = self._out, self._site, self._site.act
        self._counted.begin_turn(item)
        before, fast, slow, after = out.current, *(out.fresh_block(it) for it in ("in.range", "tested", "turned"))
        out.do(f"br i1 {version.test}, label %{fast}, label %{slow}, !prof !1")
        for label, proved, hidden in (
            (fast, version.proved, nullcontext()),
            (slow, Proved(), self._counted.tested(item)),
        ):
            out.open_arm(label, before)
            with self._slots.guarded(), hidden:
                site.act, site.proved = act, proved
                self._emit_block(item.leader, self._waiting)
                self._masks.take_edges(item.leader)
                site.proved = Proved()
            out.do(f"br label %{after}")
        out.open_merge(after, before)

    def _emit_loop(self, item: Item, level: Level) -> None:
        self._loop_versions.update(self._counted.find(level))
        out, slots, masks = self._out, self._slots, self._vec.type("i1")
        live: list[str] = []
        if level in self._shapes.divergent:
            live = [slots.make(masks) for _ in range(self._site.count)]
            self._put(live, self._masks.texts(self._shapes.item_keys[item]))
        turns = self._segment_prefetch.begin(level) if live else None
        before, head, done = out.current, out.fresh_block("loop"), out.fresh_block("left")
        out.do(f"br label %{head}")
        out.open_arm(head, before)
        if live:
            self._masks.set(self._shapes.keys[level.header], [slots.load(masks, it) for it in live])
        self._merges.begin(level.header)
        if turns is not None:
            self._segment_prefetch.turn(level, turns)
        self.emit_level(level)
        act = self._masks.act(level.back)
        if live:
            self._put(live, self._masks.taken(level.back))
        out.do(f"br i1 {act}, label %{head}, label %{done}{self._unrolled(level)}")
        out.open_merge(done, before)

    def _put(self, slots: list[str], masks: list[str]) -> None:
        for slot, mask in zip(slots, masks, strict=True):
            self._slots.store(self._vec.type("i1"), mask, slot)

    def _unrolled(self, level: Level) -> str:
        """What tells LLVM to unroll a short loop."""
        if not is_short(self._placed, self._shapes, level, self._site.count):
            return ""
        self._out.module.has_short_nests |= any(it.inner is not None and it.inner.is_loop for it in level.items)
        return self._out.module.unrolled_loop()

    def _emit_inner_fork(self, level: Level) -> None:
        fork = level.container
        assert isinstance(fork, h.Fork)
        if not isinstance(fork.factor, h.DynamicLiteral) or fork.factor.value == 0:
            raise NotGanged("a fork inside whose factor is not known")
        out = self._out
        before, head, done = out.current, out.fresh_block("fork"), out.fresh_block("joined")
        out.do(f"br label %{head}")
        out.open_arm(head, before)
        ways = [("0", before)]
        index = self._nodes.indices[fork] = out.phi("i64", lambda: ways)
        self.emit_level(level)
        following = out.value(f"add nuw i64 {index}, 1")
        ways.append((following, out.current))
        going = self._one.binary("icmp ult", "i64", following, str(fork.factor.value))
        out.do(f"br i1 {going}, label %{head}, label %{done}")
        out.open_merge(done, before)
