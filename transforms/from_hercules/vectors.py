"""Arrays of two to four scalars that are vectors in WGSL, so that one access moves all of their components.

Hercules IR has no vectors: a vector of WGSL is an array whose components are read and written one by one, with constant
indices. Writes of all components, one right after another, are one store. An array whose components are only written in
that way may be a vector: no component is written on its own, which in memory that invocations share would be a race
with writes of the other components (WGSL, "Memory Model").
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ...ir.hercules import nodes as h
from ...ir.hercules.placement import Placement
from ...ir.hercules.types import BOOL, indexed_type, is_scalar

Path = tuple[int | None, ...]
"""Where a part lies in a type: the number of a field, or None for any position of an array, at each level."""

_WIDTHS = (2, 3, 4)


def path_of(indices: Sequence[h.Index]) -> Path:
    """The path that indices lead to."""
    return tuple(it.field if isinstance(it, h.FieldIndex) else None for it in indices)


def component_of(index: h.Index) -> int | None:
    """The position that an index has if it is constant."""
    if isinstance(index, h.PositionIndex) and isinstance(index.position, h.ConstantNode):
        value = index.position.value
        if isinstance(value, h.IntegerConstant):
            return value.value
        return 0 if isinstance(value, h.ZeroConstant) else None
    return None


def key_of(indices: Sequence[h.Index]) -> tuple[object, ...]:
    """Equal for indices that are the same wherever they are computed."""
    parts: list[object] = []
    for it in indices:
        number = component_of(it)
        if isinstance(it, h.FieldIndex):
            parts.append(("field", it.field))
        elif number is not None:
            parts.append(("constant", number))
        else:
            assert isinstance(it, h.PositionIndex)
            parts.append(it.position)
    return tuple(parts)


@dataclass(slots=True)
class VectorWrites:
    """Groups of Writes of all components of one array: `chains` has them by the last, in the order of the
    components.
    """

    placed: Placement
    users: Mapping[h.Node, Sequence[h.Node]]
    chains: dict[h.Node, list[h.Write]] = field(default_factory=dict[h.Node, list[h.Write]])
    members: set[h.Node] = field(default_factory=set[h.Node])

    def __post_init__(self) -> None:
        for nodes in self.placed.blocks.values():
            inside = set(nodes)
            for node in nodes:
                chain = self._chain_to(node, inside) if isinstance(node, h.Write) else None
                if chain is not None:
                    self.chains[node] = chain
                    self.members.update(chain)

    def _chain_to(self, last: h.Write, inside: set[h.Node]) -> list[h.Write] | None:
        """The Writes of all components that end with this one, in the order of the components."""
        whole = indexed_type(self.placed.types[last], last.indices[:-1])
        width = width_of(whole)
        if width is None or component_of(last.indices[-1]) is None:
            return None
        found: dict[int, h.Write] = {}
        node: h.Node = last
        while isinstance(node, h.Write) and node in inside and node not in self.members:
            number = component_of(node.indices[-1])
            same = len(node.indices) == len(last.indices) and key_of(node.indices[:-1]) == key_of(last.indices[:-1])
            if not same or number is None or number in found or number >= width:
                break
            if node is not last and len(self.users[node]) > 1:
                break
            found[number] = node
            node = node.collection
        return [found[it] for it in range(width)] if len(found) == width else None


def width_of(type: h.Type | None) -> int | None:
    """The number of components if an array may be a vector."""
    match type:
        case h.Array(element=element, extent=h.DynamicLiteral(value=count)) if count in _WIDTHS and is_scalar(element):
            return None if element == BOOL else count
        case _:
            return None


def vector_paths(type: h.Type, path: Path = ()) -> Iterator[Path]:
    """The paths of the arrays in a type that may be vectors."""
    if width_of(type) is not None:
        yield path
        return
    match type:
        case h.Array(element=element):
            yield from vector_paths(element, (*path, None))
        case h.Product(fields=fields):
            for number, it in enumerate(fields):
                yield from vector_paths(it, (*path, number))
        case _:
            return
