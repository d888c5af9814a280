"""Forks as gangs of lanes: one instruction stream for several threads of a fork, each a lane of a vector.

`widen` puts workgroups with short rows side by side. `control` finds the structure of a fork's body, `shapes` what
differs between lanes, `emit` writes the body with masks for what only some lanes do, `memory` and `atomics` its
accesses. `places` are where indices lead to, `runs` places at even distances, `records` accesses made at once,
`interleave`, `rows` and `moves` how vectors come and go.
"""

from .choose import Gang, NotGanged, choose_gangs
from .emit import GangEmitter
from .unrolling import unrolled_loops
from .widen import widened

__all__ = ["Gang", "GangEmitter", "NotGanged", "choose_gangs", "unrolled_loops", "widened"]
