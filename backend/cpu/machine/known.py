"""The costs of known processors, for machines that are not measured.

Each was measured by `measure` on the processor itself: `tinct cpu --json` prints the numbers of another one.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from ..target import Target
from .caches import cache_sizes
from .model import AccessCosts, Cache, MachineCosts
from .processor import processor_name

_ZEN_4 = {
    64: AccessCosts(
        gather=6.4,
        loads=3.7,
        scatter=6.8,
        stores=4.4,
        shuffle=0.28,
        masked_store=0.58,
        conflicts=0.55,
        counters=5.2,
        stored_counters=6.9,
        atomic=1.9,
    ),
    32: AccessCosts(
        gather=2.9,
        loads=1.7,
        scatter=3.3,
        stores=2.2,
        shuffle=0.28,
        masked_store=3.4,
        conflicts=None,
        counters=2.5,
        stored_counters=5.0,
        atomic=1.9,
    ),
    16: AccessCosts(
        gather=1.7,
        loads=1.2,
        scatter=1.9,
        stores=1.5,
        shuffle=0.5,
        masked_store=2.1,
        conflicts=None,
        counters=1.6,
        stored_counters=2.6,
        atomic=1.9,
    ),
}
"""By the bytes of a vector: the targets znver4, x86-64-v3 and x86-64-v2 on an AMD EPYC 9004 (family 25, model 17)."""
_ZEN_3 = {
    32: AccessCosts(
        gather=3.6,
        loads=2.3,
        scatter=5.3,
        stores=2.7,
        shuffle=0.43,
        masked_store=4.2,
        conflicts=None,
        counters=2.7,
        stored_counters=4.4,
        atomic=2.2,
    ),
}
"""The target znver3 on an AMD EPYC 7003 (family 25, model 1)."""
_BANDWIDTHS = {1: 200.0, 2: 110.0, 3: 60.0}
_BANDWIDTH = 28.0
_WAKE_UP = 1e-4
_KNOWN = {"znver4": _ZEN_4, "znver3": _ZEN_3}
"""By LLVM's name for the processor."""


@lru_cache(maxsize=8)
def known_costs(target: Target) -> MachineCosts:
    """The costs in the table, or for a processor that is not in it those of Zen 4 for vectors of the same size."""
    table = _KNOWN.get(target.processor, _ZEN_4)
    conflicts = table[target.vector_bytes].conflicts if target.has_avx512 else None
    return MachineCosts(
        processor=target.triple or processor_name(),
        target=target.processor,
        source="table" if target.processor in _KNOWN else "assumed",
        access=replace(table[target.vector_bytes], conflicts=conflicts),
        caches=tuple(Cache(level, size, _BANDWIDTHS.get(level, 60.0)) for level, size in cache_sizes().items()),
        bandwidth=_BANDWIDTH,
        wake_up=_WAKE_UP,
    )
