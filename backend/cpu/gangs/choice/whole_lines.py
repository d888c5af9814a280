"""Parts of gangs that store whole cache lines together, where a vector is less than a line: of 32 bytes with AVX2.

The second half of a line may be stored long after the first one, or after loads that take the processor's buffers for
lines. Non-temporal stores of halves are then written to memory one by one (see `memory.non_temporal`). With AVX2, a
3×3 stencil takes 0.76 of the time with gangs of two parts, a 5-point stencil 0.96 (AMD EPYC, Zen 4).
"""

from __future__ import annotations

from collections.abc import Sequence

from .....ir.hercules import nodes as h
from .....ir.hercules.placement import Placement
from ...memory import CACHE_LINE
from ...storage import StoragePlan
from .. import budgets
from ..analysis.stored_records import stored_records
from ..memory.addresses import array_steps
from .transposing import coefficient


def parts_for_lines(placed: Placement, plan: StoragePlan, fork: h.Fork, inside: Sequence[h.Node], lanes: int) -> int:
    """The number of parts for a body without loops; 1 if it does not store consecutive numbers to one array.

    Stores to several arrays, or to several rows of one, gain nothing that is sure.
    """
    stores = [*stored_records(inside, plan).values()]
    step = _stride(plan, stores[0], fork) if len(stores) == 1 else 0
    parts = max(1, CACHE_LINE // (step * lanes)) if step else 1
    return parts if parts * len(inside) <= budgets.PARTS else 1


def _stride(plan: StoragePlan, store: h.Write, fork: h.Fork) -> int:
    """The bytes of an element, if a fork's adjacent threads store to adjacent elements of an array, else 0."""
    steps = [(coefficient(it, fork), stride) for it, _, stride in array_steps(plan.of(store).layout, store.indices)]
    moving = [(times, stride) for times, stride in steps if times != 0]
    return moving[0][1] if len(moving) == 1 and moving[0][0] == 1 else 0
