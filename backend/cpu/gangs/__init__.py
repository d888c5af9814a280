"""Forks as gangs of lanes: one instruction stream for several threads of a fork, each a lane of a vector.

`choice` says which forks become gangs, `analysis` how values differ between lanes and which blocks lanes pass, and
`emit` writes the body with a `context` that all emitters share: `control` its blocks under masks, `values` what stands
for each node, `memory` its accesses. See docs/gangs.md.
"""

from .analysis.analyse import analyse_gang
from .choice.choose import GangChoice, choose_gangs
from .choice.sizing import NotGanged
from .choice.widen import widened
from .emit import GangEmitter

__all__ = ["GangChoice", "GangEmitter", "NotGanged", "analyse_gang", "choose_gangs", "widened"]
