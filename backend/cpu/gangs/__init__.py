"""Forks as gangs of lanes: one instruction stream for several threads of a fork, each a lane of a vector.

`widen` puts workgroups with short rows side by side. `body` finds the structure of a fork's body, `shapes` what
differs between lanes, `emit` writes the body with masks for what only some lanes do, `memory` and `atomics` its
accesses. `places` are where indices lead to, `runs` places at even distances, `records` accesses made at once,
`interleave`, `rows`, `columns` and `moves` how vectors come and go. `spans` are bounds of all lanes' values, from which
`whole` makes one test for a version of a block without masks. `segments` and `walks` are lanes that each go through a
piece of an array. `ahead` and `past_caches` know how memory is best asked for, and written.
"""

from .choice.choose import GangChoice, choose_gangs
from .choice.sizing import NotGanged
from .choice.widen import widened
from .emit import GangEmitter

__all__ = ["GangChoice", "GangEmitter", "NotGanged", "choose_gangs", "widened"]
