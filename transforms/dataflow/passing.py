"""Values instead of reads: what one body writes to its own element, a later one gets without memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field

from ...ir.hercules import nodes as h
from ...ir.hercules.graph import is_control, replace_all
from .accesses import Part
from .forms import constant_path


@dataclass(slots=True)
class PassedValues:
    """The values of elements in versions of passed storage. `nodes` are those of the function that is made. In the
    versions `unwritten`, no body has written the invocation's element.
    """

    nodes: list[h.Node]
    unwritten: set[h.Node] = field(default_factory=set["h.Node"])
    _values: dict[tuple[h.Node, Part], h.Node] = field(default_factory=dict["tuple[h.Node, Part]", h.Node])

    def replace_reads(
        self, body: Collection[h.Node], versions: Iterable[h.Node], types: Mapping[h.Node, h.Type]
    ) -> None:
        """Replace the reads in a body of versions, and of what the body makes of these, by the values written there."""
        passed = _later_versions(body, set(versions))
        replaced: dict[h.Node, h.Node] = {}
        for node in body:
            if isinstance(node, h.Read) and node.collection in passed and not is_control(node):
                path = constant_path(node.indices[1:])
                assert path is not None
                replaced[node] = self._value(node.collection, path, types[node])
        replace_all(h.Function("", [], [], [], h.Product(()), self.nodes), replaced)
        for (version, path), value in list(self._values.items()):
            self._values[version, path] = followed(replaced)(value)

    def _value(self, version: h.Node, path: Part, type: h.Type) -> h.Node:
        """The part of an invocation's own element in a version."""
        key = version, path
        if key in self._values:
            return self._values[key]
        match version:
            case h.Write(collection, value, indices):
                found = value if constant_path(indices[1:]) == path else self._value(collection, path, type)
            case h.Phi(region, versions) if version not in self.unwritten:
                phi = h.Phi(region, [])
                self._values[key] = phi
                self.nodes.append(phi)
                phi.values = [self._value(it, path, type) for it in versions]
                found = phi
            case _:
                found = h.ConstantNode(h.ZeroConstant(type))
                self.nodes.append(found)
        self._values[key] = found
        return found


def _later_versions(body: Collection[h.Node], versions: set[h.Node]) -> set[h.Node]:
    """The versions, and those that the body makes of them."""
    found, size = set(versions), -1
    while len(found) != size:
        size = len(found)
        found |= {it for it in body if any(source in found for source in _sources(it))}
    return found


def _sources(node: h.Node) -> list[h.Node]:
    """The versions that a node makes its own of."""
    match node:
        case h.Write(collection):
            return [collection]
        case h.Phi(_, values):
            return values
        case _:
            return []


def followed(replaced: Mapping[h.Node, h.Node]) -> Callable[[h.Node], h.Node]:
    """The last replacement of a node."""

    def final(node: h.Node) -> h.Node:
        while (following := replaced.get(node)) is not None:
            node = following
        return node

    return final
