"""How a nest is tuned."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class TuneOptions:
    """What `LoopNest.tune` was given, checked."""

    device: str
    seconds: float
    reassociate: bool
    contract: bool
    seed: int
    renew: bool
