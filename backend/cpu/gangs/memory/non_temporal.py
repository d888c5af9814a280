"""Non-temporal stores, which bypass the caches, for data that is not read again soon.

An ordinary store to a line that is not in the caches reads the line first. If a dispatch works on more data than the
caches hold, lines that are written once, as a whole, and never read should go straight to memory. That saves a third to
a half of the traffic, and cache conflicts between lines at distances of powers of two: transposing 2048² numbers takes
half as long.

The processor collects stores to a line in one of a few buffers, until the line is whole. Loads may need the buffers,
too. Where each store is only a part of a line, and the rest does not follow soon, lines are written in parts, which
takes several times as long as ordinary stores. With vectors of 32 bytes that is so if a gang stores to two arrays, or
to one in a loop, before the next gang stores the rest of the lines: 3×3 stencils took eight times as long (AMD EPYC,
Zen 3); one store for each gang is faster than ordinary ones.

Where lines that are stored one after another are far apart, as in a transposed matrix, processors do not know early
which line is next, and wait until it is read. There such stores gain from where the caches of one processor end, as the
machine's costs say (`cached_bytes_apart`).

An atomic operation that other threads may see waits until the buffers are written, so that a body with such operations
has no such stores: where particles count themselves into cells, they took twice as long as ordinary ones.
"""

from __future__ import annotations

from collections.abc import Sequence

from .....ir.hercules import nodes as h
from ...memory import CACHE_LINE
from ..analysis.forms import computed_from, form_of
from ..analysis.stored_records import stored_records
from ..context import GangContext
from ..values.vectors import LaneVectors
from .addresses import LaneAddress
from .runs import Run, Runs, moved_on
from .vector_memory import VectorMemory, memory_type

_FAR = 2048
"""The least number of bytes between lines that are far apart: hardware prefetchers look ahead less far."""
_SPARSE = 4
"""How many times as far as the bytes it stores a workgroup is from the next one, at least, if they store far apart."""


def non_temporal_constants(function: h.Function) -> tuple[h.DynamicConstant, h.DynamicConstant]:
    """The dynamic constants that say whether to store so, in order and far apart, after the function's own ones: 0 if a
    dispatch works on more data than the caches help with, else NEVER.
    """
    first = len(function.dynamic_constants)
    return h.DynamicParameter(first), h.DynamicParameter(first + 1)


class NonTemporalStores:
    """Writes non-temporal stores, with a test whether they are wanted and aligned."""

    def __init__(self, context: GangContext, vectors: LaneVectors, vector_memory: VectorMemory, runs: Runs) -> None:
        self._vectors = vectors
        self._runs = runs
        self._vector_memory = vector_memory
        self._memory = context.nodes.memory
        self._wanted, self._wanted_apart = non_temporal_constants(context.placed.function)
        self._context, self._gang = context, context.gang
        plan = context.plan
        nodes = [it for leader in context.body.level_of for it in context.placed.blocks[leader]]
        self._stores = len(stored_records(nodes, plan))
        self._waits = any(isinstance(it, h.Atomic) and plan.of(it).is_shared for it in nodes)

    def fill_lines(self, run: Run) -> bool:
        """Whether the stores of a gang fill cache lines, or those of the next gang do without others between them; and
        nothing waits for them.
        """
        row = self._gang.factors[-1]
        is_soon = run.step * min(row, self._gang.threads) >= CACHE_LINE
        is_next = run.step * row >= CACHE_LINE and self._stores == 1 and not self._is_repeated_elsewhere(run)
        return (is_soon or is_next) and not self._waits

    def _is_repeated_elsewhere(self, run: Run) -> bool:
        """Whether the innermost loop in which a gang stores moves on to other lines."""
        placed = self._context.placed
        inside = {it.header for it in placed.members.loops.get(self._gang.forks[-1], ())}
        around = [it for it in placed.loops.around[self._context.site.here] if it.header in inside]
        if not around:
            return False
        moved = moved_on(run.varying, around[-1], placed)
        return moved is None or bool(moved[1]) or abs(moved[0]) != run.step * self._gang.threads

    def _are_apart(self, run: Run) -> bool:
        """Whether a gang's run is a line that is far from those stored just before and just after.

        It is in no loop that moves on to what follows in memory, and the next workgroup stores elsewhere, too. Of two
        lines side by side processors read the second one early.
        """
        context, placed = self._context, self._context.placed
        moves = (moved_on(run.varying, it, placed) for it in placed.loops.around[context.site.here])
        goes_on = any(it is not None and not it[1] and abs(it[0]) < _FAR for it in moves)
        if goes_on or run.step * self._gang.factors[-1] > CACHE_LINE:
            return False
        distance = 0
        for index in run.varying:
            for term, factor in form_of(index.position).terms.items():
                is_product = isinstance(term, h.Binary) and term.op is h.BinaryOp.MUL
                if is_product and any(map(context.is_workgroup, computed_from(term))):
                    return True
                distance += factor * index.stride if context.is_workgroup(term) else 0
        return abs(distance) >= max(_FAR, _SPARSE * self._stores * run.step * context.threads_of_workgroup)

    def store(self, rows: Sequence[tuple[str, str]], first: LaneAddress, run: Run) -> None:
        """Store consecutive vectors, each given with its pointer, of a run whose first address is given."""
        out, leaf = self._vectors.out, first.leaf
        size = self._vectors.lanes * leaf.size
        off = self._runs.rest(first.pointer, run, size)
        wanted = self._memory.dynamic(self._wanted_apart if self._are_apart(run) else self._wanted)
        test = self._vectors.one.binary("icmp eq", "i64", off, wanted)
        past, normal, done = (out.fresh_block(name) for name in ("past.caches", "to.caches", "stored"))
        before = out.current
        out.do(f"br i1 {test}, label %{past}, label %{normal}")
        for block, is_past in ((past, True), (normal, False)):
            out.open_arm(block, before)
            for data, pointer in rows:
                if is_past:
                    type = self._vectors.vec.type(memory_type(leaf))
                    out.do(f"store {type} {data}, ptr {pointer}, align {size}, !nontemporal !3")
                else:
                    self._vector_memory.store(data, pointer, leaf, None)
            out.do(f"br label %{done}")
        out.open_merge(done, before)
