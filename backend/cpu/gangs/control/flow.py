"""The control flow of a gang: blocks, loops and inner forks in the order of the levels (see `analysis.body`).

Code that some gangs skip has a jump around it. A loop runs while any lane is left in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass

from .....ir.hercules import nodes as h
from .....ir.hercules.analyses import Loop
from ...trip_counts import max_trip_count
from .. import budgets
from ..analysis.alike import Turn, turns
from ..analysis.body import Item, Level
from ..analysis.costs import is_short
from ..analysis.live import Knowledge, Truth
from ..context import GangContext
from ..values.vectors import mask_text
from .blocks import BlockEmitter
from .counted_loops import CountedLoops
from .guards import Guards
from .turn_prefetches import SegmentPrefetch, TilePrefetch
from .versions import BlockVersions, DeferredBranch, FastVersion, is_access
from .whole_forks import WholeVersion

_MANY = 4
"""The fewest parts whose general versions are rarely run, short code: gathers and scatters without tests for runs."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """`active`, an i1, says whether any lane passes an item. A `guarded` item has a jump around it."""

    active: str
    guarded: bool


_SURE = _Entry("true", guarded=False)


class Flow:
    """Writes the levels of a body; `blocks` writes the nodes of a block."""

    def __init__(self, context: GangContext, blocks: BlockEmitter, whole: WholeVersion | None = None) -> None:
        """With a `whole` version, the body is written for when it applies."""
        self._whole = whole
        self._placed, self._shapes = context.placed, context.shapes
        self._nodes = context.nodes
        self._site, self._gang, self._plan = context.site, context.gang, context.plan
        self._out, self._one, self._vec, self._slots = context.out, context.one, context.vec, context.slots
        self._blocks, self._masks, self._merges = blocks, blocks.masks, blocks.merges
        self._versions = BlockVersions(context, blocks.values, blocks.masks, blocks.emit_early)
        self._counted = CountedLoops(context, blocks.values)
        self._guards = Guards(context, blocks.values.common_counters)
        self._segment_prefetch = SegmentPrefetch(context, blocks.values)
        self._tile_prefetch = TilePrefetch(context, blocks.values)
        self._knows_ways = self._writes_all_turns(context)
        """Whether it is known of each block which lanes pass it, as far as branches are known."""
        self._before: DeferredBranch | None = None
        """The block before, if its branch is not written yet."""
        self._deferred: dict[Item, DeferredBranch] = {}
        self._is_tested = False
        """Whether the tested copy of a loop is being written."""
        self._waiting: set[h.Node] = set()
        self._is_sure: dict[Item, bool] = {}
        """Whether some lane is sure to pass an item."""
        self._is_exact: dict[Item, bool] = {}

    def emit_level(self, level: Level) -> None:
        """All items of a level."""
        if self._whole is None:
            self._defer(self._versions.deferred_branches(level))
        with self._slots.level(level):
            for item in level.items:
                self._emit_item(item, level)

    def _defer(self, branches: Mapping[Item, DeferredBranch]) -> None:
        self._deferred.update(branches)
        for it in branches.values():
            self._waiting.update(it.nodes)
            self._blocks.values.defer(it.nodes, it.leader)

    def _emit_item(self, item: Item, level: Level) -> None:
        if self._whole is not None and item in self._whole.dead:
            return
        if self._whole is not None and item in self._whole.passed:
            self._emit_passed(item, self._whole)
            return
        version = None if self._merges.has_copies(item.leader) else self._versions.find(item)
        before, self._before = self._before, None
        if self._is_dead(item):
            if before is not None:
                self._emit_branch(before)
            self._masks.take_none(item)
            return
        if version is not None:
            self._emit_versions(item, level, version, before)
            return
        if before is not None:
            self._emit_branch(before)
        entry = self._enter(item, level)
        if item in self._deferred:
            with self._site.at(item.leader):
                self._blocks.emit(item.leader, self._waiting)
            self._before = self._deferred[item]
        elif self._gains_from_all_lanes(item):
            self._emit_for_all_lanes(item, entry)
        else:
            self._emit_guarded(item, entry)

    def _gains_from_all_lanes(self, item: Item) -> bool:
        """Whether a block that some lanes may not pass has another version for gangs of which all do."""
        if self._site.is_rare or item.inner is not None or self._merges.has_copies(item.leader):
            return False
        is_partial = self._masks.is_partial(self._shapes.item_keys[item])
        return is_partial and self._blocks.chains.gain_from_all_lanes(item.leader)

    def _emit_for_all_lanes(self, item: Item, entry: _Entry) -> None:
        """Two versions of a block: one for gangs of which all lanes pass, and one for others."""
        out, slots, key = self._out, self._slots, self._shapes.item_keys[item]
        test = self._masks.are_full(key)
        before, (all, some, after) = out.current, map(out.fresh_block, ("whole", "partly", "done"))
        out.do(f"br i1 {test}, label %{all}, label %{some}, !prof !1")
        out.open_arm(all, before)
        with slots.guarded(), self._masks.assume_full(key):
            self._emit_inside(item)
        out.do(f"br label %{after}")
        out.open_arm(some, before)
        with slots.guarded():
            self._emit_guarded(item, entry)
        out.do(f"br label %{after}")
        out.open_merge(after, before)

    @staticmethod
    def _writes_all_turns(context: GangContext) -> bool:
        """Whether all levels inside are loops that are written turn after turn."""
        gang, inner = context.gang, context.body.levels[1:]
        is_of_loops = all(it.is_loop for it in inner)
        return bool(gang.states) and not gang.is_straight and is_of_loops

    def _is_dead(self, item: Item) -> bool:
        """Whether it is known that no lane passes an item."""
        known = self._site.known
        if known is None or not self._knows_ways:
            return False
        first = int(self._site.base)
        return all(it is False for it in known.of(item)[first : first + self._gang.threads])

    def _emit_passed(self, item: Item, whole: WholeVersion) -> None:
        """An item that all lanes pass if a whole version applies: in a loop, in all turns but the last one, in which it
        is left.
        """
        is_first = item.leader is item.level.header
        is_always = is_first or item.level.parent is None
        active = "true" if is_always else self._masks.any_takes(item.incoming)
        self._is_sure[item], self._is_exact[item] = is_always, False
        self._slots.define(item, active, "i1")
        self._masks.set(self._shapes.item_keys[item], [None] * self._site.count)
        is_once = item.level.parent is None and item.inner is None
        with self._site.proving(whole.proved if is_once else whole.proved_in_loops):
            self._emit_guarded(item, _Entry(active, guarded=not is_always))

    def _emit_branch(self, deferred: DeferredBranch) -> None:
        """The nodes and the branch that were left out at the end of a block."""
        with self._site.at(deferred.leader):
            self._blocks.emit_some(deferred.nodes)
            self._masks.take_edges(deferred.leader)

    def _emit_versions(self, item: Item, level: Level, version: FastVersion, before: DeferredBranch | None) -> None:
        """Two versions of a block: a fast one for full gangs, and a general one."""
        out, slots = self._out, self._slots
        entry = None if before is not None else self._enter(item, level)
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
            with self._site.rarely() if self._site.count >= _MANY else nullcontext():
                self._emit_guarded(item, entry or self._enter(item, level))
        out.do(f"br label %{after}")
        out.open_merge(after, start)

    def _emit_fast(self, item: Item, version: FastVersion) -> None:
        """The version that all lanes pass."""
        with self._masks.assume_full(self._shapes.item_keys[item]), self._site.proving(version.proved):
            self._emit_inside(item)

    def _emit_guarded(self, item: Item, entry: _Entry) -> None:
        """An item, with a jump around it if it is guarded."""
        if not entry.guarded:
            with self._site.active_if(entry.active):
                self._emit_inside(item)
            return
        out = self._out
        before, inside, after = out.current, out.fresh_block("some"), out.fresh_block("after")
        out.do(f"br i1 {entry.active}, label %{inside}, label %{after}")
        out.open_arm(inside, before)
        with self._slots.guarded():
            self._emit_inside(item)
        out.do(f"br label %{after}")
        out.open_merge(after, before)

    def _enter(self, item: Item, level: Level) -> _Entry:
        """Set the masks of an item, and say whether any lane passes it."""
        key = self._shapes.item_keys[item]
        if item.leader is level.header:
            self._is_sure[item], self._is_exact[item] = True, False
            return _SURE
        if item.twin is not None:
            self._is_sure[item], self._is_exact[item] = self._is_sure[item.twin], self._is_exact[item.twin]
            if self._is_sure[item]:
                return _SURE
            active = self._slots.use(item.twin)
        else:
            is_new = not self._masks.is_known(key)
            self._is_exact[item] = is_new or self._masks.is_own(item)
            if is_new:
                self._masks.set(key, self._masks.taken(item.incoming))
            self._is_sure[item] = False
            active = self._masks.any_takes(item.incoming)
        self._slots.define(item, active, "i1")
        is_small = item.inner is None and self._is_exact[item] and self._is_small(item, level)
        return _Entry(active, guarded=not is_small)

    def _is_small(self, item: Item, level: Level) -> bool:
        return not self._merges.has_copies(item.leader) and self._guards.is_small(item, level)

    def _emit_inside(self, item: Item) -> None:
        if item.inner is None:
            with self._site.at(item.leader):
                self._emit_block(item)
        elif item.inner.is_loop:
            self._emit_loop(item, item.inner)
        else:
            self._emit_inner_fork(item.inner)

    def _emit_block(self, item: Item) -> None:
        self._blocks.emit(item.leader, self._waiting)
        way = None if self._whole is None else self._whole.ways.get(item.leader)
        if way is None:
            self._masks.take_edges(item.leader)
        else:
            self._masks.take_all(way)

    def _emit_loop(self, item: Item, level: Level) -> None:
        """A loop; maybe turn after turn, or in two copies, one of which has no range tests."""
        known = self._site.known
        if known is not None:
            found = self._turns(level, known)
            if found is not None:
                self._emit_turns(item, level, known, found)
                return
        with self._site.at(item.leader):
            version = self._counted.find(level, is_tested=self._is_tested)
        if version is None:
            self._emit_one_loop(item, level)
            return
        out = self._out
        before, fast, slow, after = out.current, *(out.fresh_block(it) for it in ("in.range", "tested", "done"))
        out.do(f"br i1 {version.test}, label %{fast}, label %{slow}, !prof !1")
        out.open_arm(fast, before)
        with self._slots.guarded(), self._masks.copied(), self._site.proving(version.proved):
            self._emit_one_loop(item, level)
        out.do(f"br label %{after}")
        out.open_arm(slow, before)
        was_tested, self._is_tested = self._is_tested, True
        with self._slots.guarded():
            self._emit_one_loop(item, level)
        self._is_tested = was_tested
        out.do(f"br label %{after}")
        out.open_merge(after, before)

    def _turns(self, level: Level, known: Knowledge) -> Sequence[Turn] | None:
        """The turns of a loop that is written turn after turn."""
        is_left_apart = level in self._shapes.divergent and not self._knows_ways
        if is_left_apart or (self._gang.is_straight and not self._accesses_registers(level)):
            return None
        return turns(self._placed, self._gang.forks, level, known.values.counters)

    def _accesses_registers(self, level: Level) -> bool:
        """Whether a loop accesses workgroup memory that is in registers."""
        nodes = (node for leader in level.leaders for node in self._placed.blocks[leader])
        collections = (it.collection if isinstance(it, h.Read) else it for it in nodes if is_access(it))
        return any(not isinstance(it, h.ConstantNode) and self._plan.of(it).is_in_registers for it in collections)

    def _emit_turns(self, item: Item, level: Level, known: Knowledge, turns: Sequence[Turn]) -> None:
        """A loop that all lanes have left after the last of these turns.

        The first one is written even if it is known that no lane enters the loop: code after it names its values.
        """
        first, entering = int(self._site.base), self._masks.texts(self._shapes.item_keys[item])
        for turn in turns:
            in_turn = known.in_turn(level, turn)
            live = in_turn.live(level.header)[first : first + self._gang.threads]
            if turn is not turns[0] and all(it is False for it in live):
                break
            self._blocks.begin_turn()
            self._merges.begin_turn(level)
            is_last = turn is turns[-1]
            with nullcontext() if is_last else self._masks.copied(), self._site.knowing(in_turn):
                if level in self._shapes.divergent:
                    self._masks.set(self._shapes.keys[level.header], self._staying(entering, live))
                self._merges.begin(level.header)
                if not is_last:
                    self.emit_level(level)
                else:
                    with self._slots.level(level):
                        self._emit_item(level.items[0], level)
            if level in self._shapes.divergent:
                entering = self._masks.taken(level.back)

    def _staying(self, entering: Sequence[str], live: Sequence[Truth]) -> list[str | None]:
        """The masks of a turn's header: constants as far as it is known which lanes are `live` there."""
        masks = list[str | None]()
        for part, mask in enumerate(entering):
            lanes = live[part * self._gang.lanes :][: self._gang.lanes]
            known = [it for it in lanes if it is not None]
            masks.append(mask if len(known) < len(lanes) else None if all(known) else mask_text(known))
        return masks

    def _emit_one_loop(self, item: Item, level: Level) -> None:
        if level in self._shapes.divergent:
            self._emit_divergent_loop(item, level)
        else:
            with self._blocks.kept_rows.of(level) if self._is_entered_by_all(level) else nullcontext():
                self._emit_loop_left_together(level)
        self._blocks.values.memory.leave(level)

    def _is_entered_by_all(self, level: Level) -> bool:
        """Whether all lanes enter a loop, which copies no collections."""
        if self._site.is_rare or any(map(self._merges.has_copies, level.leaders)):
            return False
        with self._site.at(level.header):
            return all(it is None for it in self._masks.all_here())

    def _emit_loop_left_together(self, level: Level) -> None:
        out, began = self._out, self._out.size
        before, head, done = out.current, out.fresh_block("loop"), out.fresh_block("left")
        out.do(f"br label %{head}")
        out.open_arm(head, before)
        self._merges.begin(level.header)
        self._blocks.kept_rows.begin_turn(level)
        self._tile_prefetch.begin_turn(level)
        self.emit_level(level)
        active = self._masks.any_takes(level.back)
        out.do(f"br i1 {active}, label %{head}, label %{done}{self._unrolled(level, began)}")
        out.open_merge(done, before)

    def _emit_divergent_loop(self, item: Item, level: Level) -> None:
        """A loop that runs while any lane is left in it."""
        out, slots, type = self._out, self._slots, self._vec.type("i1")
        masks = self._masks.texts(self._shapes.item_keys[item])
        live = [slots.make(type) for _ in masks]
        self._put(live, masks)
        iterations = self._segment_prefetch.begin(level)
        head, done = out.fresh_block("loop"), out.fresh_block("left")
        with self._blocks.values.common_counters.loop(level, head, masks, self._merges.start_of) as entry:
            out.open_arm(head, entry)
            self._masks.set(self._shapes.keys[level.header], [slots.load(type, it) for it in live])
            self._merges.begin(level.header)
            if iterations is not None:
                self._segment_prefetch.prefetch_next(level, iterations)
            self.emit_level(level)
            active = self._masks.any_takes(level.back)
            self._put(live, self._masks.taken(level.back))
        out.do(f"br i1 {active}, label %{head}, label %{done}")
        out.open_merge(done, entry)

    def _put(self, slots: list[str], masks: list[str]) -> None:
        for slot, mask in zip(slots, masks, strict=True):
            self._slots.store(self._vec.type("i1"), mask, slot)

    def _unrolled(self, level: Level, began: float) -> str:
        """The metadata that tells LLVM to unroll a short loop, before which the function had the size `began`."""
        if not is_short(self._placed, self._shapes, level, self._site.count):
            return ""
        assert isinstance(level.container, Loop)
        found = self._out.unrolled_loop(began, max_trip_count(self._placed, level.container), budgets.UNROLLED)
        self._out.module.has_short_nests |= bool(found) and any(it.inner is not None for it in level.items)
        return found

    def _emit_inner_fork(self, level: Level) -> None:
        fork = level.container
        assert isinstance(fork, h.Fork)
        assert isinstance(fork.factor, h.DynamicLiteral)
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
