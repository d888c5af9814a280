"""The memory of a workgroup and of an invocation: what takes how much, and what shares it.

What invocations carry is joined in memory that all joins of values of one type share: each begins with a barrier, and
ends with the results in variables.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from math import prod

from ...ir.schedule.nodes import ElementType
from .decided import Decided
from .kept_values import kept_values
from .scatters import private_bytes
from .sharing import group_length, groups_of
from .structure import structure_of
from .tasks import Carry
from .tiles import Tile, tile_of


def workgroup_bytes(decided: Decided) -> int:
    """The bytes of workgroup memory that a nest takes."""
    tiles = sum(_tile_bytes(tile_of(it, decided)) for it in decided.stages)
    return tiles + private_bytes(decided) + _kept_bytes(decided) + _joining_bytes(decided)


def _joining_bytes(decided: Decided) -> int:
    rooms: dict[tuple[ElementType, int], int] = {}
    for carry in decided.tasks:
        if isinstance(carry, Carry) and decided.waits(carry):
            types, room = [it.type for it in carry.fbys], _room(carry.dimensions - set(carry.on), decided)
            for type in types:
                rooms[type, room] = max(rooms.get((type, room), 0), types.count(type))
    return decided.invocations * sum(count * room * _bytes(type) for (type, room), count in rooms.items())


def carried_bytes(carry: Carry, decided: Decided) -> int:
    """The bytes of an invocation's arrays of what it carries in loops; how many iterations these have is known."""
    if not decided.looped(carry):
        return 0
    points = prod(decided.count(it) or 0 for it in decided.distinct(carry))
    elements = (decided.turns_apart(carry) or 0) * points * _room(carry.dimensions, decided)
    return elements * sum(_bytes(it.type) for it in carry.values)


def _room(dimensions: AbstractSet[str], decided: Decided) -> int:
    """The components that a value takes in an array; there, vectors of 3 are as far apart as those of 4."""
    width = decided.width_in(dimensions)
    return 4 if width == 3 else width


def _kept_bytes(decided: Decided) -> int:
    if not decided.kept:
        return 0
    nodes = structure_of(decided)
    kept = kept_values(decided, nodes)
    groups = groups_of(nodes, kept, decided)
    return sum(group_length(it, kept, decided) * _bytes(decided.scope.values[it[0].value].type) for it in groups)


def _tile_bytes(tile: Tile) -> int:
    return tile.length * tile.places * _bytes(tile.loads[0].type)


def _bytes(type: ElementType) -> int:
    return 2 if type is ElementType.F16 else 4
