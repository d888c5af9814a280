"""The caller's options for machine code for the CPU."""

from __future__ import annotations

import os
from typing import Literal

from ...base.errors import InputError
from ...base.records import dataclass

Tier = Literal["gang", "lane", "baseline"]
"""Several threads of a fork at once, in the lanes of vectors; or one after another; or one after another in code which
takes LLVM little time.
"""


@dataclass(frozen=True, slots=True)
class CpuOptions:
    """How machine code is made.

    `tier`: how the invocations of a workgroup run; what gangs cannot run falls back to the lane tier. `contract`: a
    product and the sum it goes into may be fused into one rounding, as WGSL allows ("Floating Point Evaluation").
    `private_copies`: workers may be given memory of their own for bindings that all of them update (see `privatise`);
    the baseline tier has no such copies.
    """

    tier: Tier = "gang"
    contract: bool = False
    private_copies: bool = True


def tier_asked_for() -> Tier | None:
    """The tier that TINCT_CPU_TIER names; None if it names none. Raises InputError."""
    name = os.environ.get("TINCT_CPU_TIER", "auto")
    match name:
        case "gang" | "lane" | "baseline":
            return name
        case "auto":
            return None
        case _:
            raise InputError(f"TINCT_CPU_TIER must be 'auto', 'gang', 'lane' or 'baseline', not {name!r}")


def default_options(*, contract: bool = False) -> CpuOptions:
    """The options of the fastest code, on the tier that TINCT_CPU_TIER asks for. Raises InputError."""
    return CpuOptions(tier_asked_for() or "gang", contract)
