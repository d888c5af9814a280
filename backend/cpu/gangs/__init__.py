"""Forks as gangs of lanes: one instruction stream for several threads of a fork, each a lane of a vector.

`choice` says which forks become gangs, `analysis` how values differ between lanes and which blocks lanes pass,
`legality` whether gangs can run them. `emit` then writes the body, with a `context` that all emitters share: `control`
writes blocks under masks, `values` what stands for each node, `memory` accesses. See docs/gangs.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....base.lazy_names import lazy_names

if TYPE_CHECKING:
    from .analysis.analyse import GangAnalysis, analyse_gang
    from .choice.choose import choose_gangs
    from .choice.gathering import gang_time
    from .choice.grouped import WorkgroupsOfOne, grouped, workgroups_of_one
    from .choice.row_order import in_row_order
    from .choice.widen import widened
    from .emit import GangEmitter
    from .legality import obstacle

__all__ = [
    "GangAnalysis",
    "GangEmitter",
    "WorkgroupsOfOne",
    "analyse_gang",
    "choose_gangs",
    "gang_time",
    "grouped",
    "in_row_order",
    "obstacle",
    "widened",
    "workgroups_of_one",
]

__getattr__ = lazy_names(
    __name__,
    {
        "GangAnalysis": "analysis.analyse",
        "GangEmitter": "emit",
        "WorkgroupsOfOne": "choice.grouped",
        "analyse_gang": "analysis.analyse",
        "choose_gangs": "choice.choose",
        "gang_time": "choice.gathering",
        "grouped": "choice.grouped",
        "in_row_order": "choice.row_order",
        "obstacle": "legality",
        "widened": "choice.widen",
        "workgroups_of_one": "choice.grouped",
    },
)
