"""What the code generator makes of a function: the text of a module, and how to run it."""

from __future__ import annotations

from ...base.records import dataclass
from .extents import Extent
from .options import Tier
from .passes import Passes

NEVER = 64
"""A value that no address modulo the size of a vector equals: it turns non-temporal stores off."""


@dataclass(frozen=True, slots=True)
class Private:
    """A binding that workers may have copies of, of `size` bytes, combined word by word: `kind` is one of
    `_pool.Pool.run`.
    """

    parameter: int
    kind: str
    size: Extent


@dataclass(frozen=True, slots=True)
class Interface:
    """How to run a module. `parallel`: the factors whose product is the number of threads that workers share.

    `privates`: the bindings for which every worker but one must be given memory of its own, cleared at first and
    merged in the end; the other may be given the binding itself. `footprint`: the bytes of all bindings. A function
    that `is_quicker_alone` has other code for a worker beside which no other works. `tier` is how forks over literal
    factors run; `tier_reason` says why not as gangs.
    """

    parallel: tuple[Extent, ...]
    scratch_size: Extent
    privates: tuple[Private, ...]
    footprint: Extent
    is_quicker_alone: bool
    tier: Tier
    tier_reason: str


@dataclass(frozen=True, slots=True)
class Emitted:
    """A module's text, the LLVM passes for it, and how to run it."""

    text: str
    passes: Passes
    interface: Interface
