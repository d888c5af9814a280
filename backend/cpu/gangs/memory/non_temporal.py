"""Non-temporal stores, which bypass the caches, for data that is not read again soon.

An ordinary store to a line that is not in the caches reads the line first. If a dispatch works on more data than the
caches hold, lines that are written once, as a whole, and never read should go straight to memory. That saves a third to
a half of the traffic, and cache conflicts between lines at distances of powers of two: transposing 2048² numbers takes
half as long.

The processor collects stores to a line in one of a few buffers, until the line is whole. Where each store is only a
part of a line, and more lines than buffers are begun, it has to write lines in parts, which takes several times as
long as ordinary stores: with 9 arrays of f32 and vectors of 32 bytes, a kernel took twice as long; with rows of a
workgroup that are half a line, three times.

An atomic operation that other threads may see waits until the buffers are written, so that a body with such operations
has no such stores: where particles count themselves into cells, they took twice as long as ordinary ones.
"""

from __future__ import annotations

from collections.abc import Sequence

from .....ir.hercules import nodes as h
from ...layout import ScalarLayout
from ..context import GangContext
from ..values.vectors import LaneVectors
from .vector_memory import VectorMemory, memory_type

_LINE = 64
_MOST_BEGUN = 4
"""Cache lines that may be begun at the same time. Processors have 8 to 12 buffers, for all their threads together."""


def non_temporal_constant(function: h.Function) -> h.DynamicConstant:
    """The dynamic constant that says whether to store so, after the function's own ones: 0 if a dispatch works on more
    data than the caches hold, else NEVER.
    """
    return h.DynamicParameter(len(function.dynamic_constants))


class NonTemporalStores:
    """Writes non-temporal stores, with a test whether they are wanted and aligned."""

    def __init__(self, context: GangContext, vectors: LaneVectors, vector_memory: VectorMemory) -> None:
        self._vectors = vectors
        self._vector_memory = vector_memory
        self._memory = context.nodes.memory
        self._wanted = non_temporal_constant(context.placed.function)
        self._gang = context.gang
        plan = context.plan
        nodes = [it for leader in context.body.level_of for it in context.placed.blocks[leader]]
        self._stores = sum(isinstance(it, h.Write) and plan.of(it).is_only_written for it in nodes)
        self._waits = any(isinstance(it, h.Atomic) and plan.of(it).is_shared for it in nodes)

    def fill_lines(self, step: int) -> bool:
        """Whether stores that are `step` bytes apart from thread to thread fill cache lines soon, and nothing waits."""
        are_rows_whole = step * self._gang.factors[-1] >= _LINE
        is_soon = step * self._gang.lanes >= _LINE or (are_rows_whole and self._stores <= _MOST_BEGUN)
        return is_soon and not self._waits

    def store(self, rows: Sequence[tuple[str, str]], leaf: ScalarLayout) -> None:
        """Store consecutive vectors, each given with its pointer."""
        out, one = self._vectors.out, self._vectors.one
        size = self._vectors.lanes * leaf.size
        address = out.value(f"ptrtoint ptr {rows[0][1]} to i64")
        off = one.binary("and", "i64", address, str(size - 1))
        test = one.binary("icmp eq", "i64", off, self._memory.dynamic(self._wanted))
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
