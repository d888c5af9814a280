"""The copies of collections that storage needs: where a version goes on in another storage than it lies in.

A chain of versions from one source is one storage, changed in place (see `sharing`). Data is copied where a chain
continues in another storage, since both live at once; where a part of a collection is taken out or put in as a whole;
and where a result is not a version of one parameter. Values of constants are filled in, which is no copy.

`copies(function)` has them all, in the order of the nodes, for any verified function. Calls count as calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from ..diagnostics import Diagnostic, Severity
from ..source import Span
from . import nodes as h
from .graph import def_use, is_control, is_projection, predecessors
from .loop_collects import collects_in_place
from .placement import Placement, place_nodes
from .sharing import Sharing, has_own_root, makes_version, nested_in
from .text import node_names, type_text
from .types import is_collection
from .versions import consumed, is_version_projection, roots, version_of


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy of `source`, of a type, that `node` needs; `reason` is a sentence."""

    node: h.Node
    source: h.Node
    type: h.Type
    reason: str

    @property
    def span(self) -> Span | None:
        """The place of the node, else of what is copied, else of the nearest node from which that is made."""
        known: dict[h.Node, None] = {self.node: None, self.source: None}
        for node in (pending := list(known)):
            if node.span is not None:
                return node.span
            new = [it for it in predecessors(node) if it not in known and not is_control(it)]
            known |= dict.fromkeys(new)
            pending += new
        return None


def copies(function: h.Function) -> tuple[Copy, ...]:
    """The copies that a verified function needs."""
    placed = place_nodes(function)
    finder = _Finder(placed, def_use(function), node_names(function))
    return tuple(it for node in function.nodes if node in placed.live for it in finder.at(node))


def remarks(function: h.Function) -> tuple[Diagnostic, ...]:
    """The copies as messages for people, with the types of what is copied."""
    return tuple(
        Diagnostic(
            Severity.INFO,
            "copy",
            f"{function.name}: {it.reason} ({type_text(it.type, function.dynamic_constants)})",
            it.span,
        )
        for it in copies(function)
    )


class _Finder:
    def __init__(
        self, placed: Placement, users: Mapping[h.Node, Sequence[h.Node]], names: Mapping[h.Node, str]
    ) -> None:
        self._placed = placed
        self._types = placed.types
        self._users = users
        self._names = names
        self._in_place = collects_in_place(placed, users)
        self._sharing = Sharing(
            it for it in placed.function.nodes if it in placed.live and makes_version(it, self._types)
        )

    def at(self, node: h.Node) -> Iterator[Copy]:
        """The copies that a node needs."""
        match node:
            case h.Phi() | h.Reduce() if is_collection(self._types.get(node)):
                taken = consumed(node, self._types, self._placed.nest.forks)
                yield from self._continued(node, dict.fromkeys(version for version, _ in taken))
            case h.Atomic(collection=collection):
                yield from self._continued(node, [version_of(collection)])
            case h.Write(collection=collection, value=value):
                yield from self._continued(node, [version_of(collection)])
                if is_collection(self._types.get(value)):
                    yield from self._copy(node, value, f"is stored as a whole by {self._name(node)}")
            case h.Read(collection=collection) if self._is_part(node):
                yield from self._copy(node, node, f"is a whole part of {self._name(collection)}, which lives on")
            case h.Collect(value=value) if is_collection(self._types.get(value)) and not self._is_in_place(value):
                yield from self._copy(node, value, f"is stored by each thread as its element of {self._name(node)}")
            case h.Return(value=value):
                yield from self._returned(node, value)
            case h.FloatingNode() | h.PinnedNode() | h.ControlNode():
                return
            case _:
                assert_never(node)

    def _copy(self, node: h.Node, source: h.Node, reason: str) -> Iterator[Copy]:
        if not isinstance(source, h.ConstantNode):
            yield Copy(node, source, self._types[source], f"{self._name(source)} is copied: it {reason}")

    def _continued(self, node: h.Node, sources: Iterable[h.Node]) -> Iterator[Copy]:
        """The copies of versions that a node takes over, but cannot change where they lie."""
        for source in sources:
            if isinstance(source, h.Collect) and self._in_place.get(source) is node:
                continue
            if has_own_root(source):
                yield from self._copy(node, source, f"has storage of its own, and {self._name(node)} continues it")
            elif self._sharing.root(source) is not self._sharing.root(node):
                yield from self._copy(node, source, f"is one of several arrays that {self._name(node)} may continue")

    def _is_part(self, node: h.Read) -> bool:
        is_copy = not is_projection(node) and not is_version_projection(node)
        return is_copy and is_collection(self._types.get(node)) and not isinstance(node.collection, h.Atomic)

    def _is_in_place(self, value: h.Node) -> bool:
        return nested_in(value, self._users) is not None

    def _returned(self, node: h.Return, value: h.Node) -> Iterator[Copy]:
        for part in value.fields if isinstance(value, h.ProductNode) else [value]:
            if not is_collection(self._types.get(part)):
                continue
            starts = roots(part)
            if len(starts) == 1 and isinstance(starts[0], (h.Parameter, h.ConstantNode, h.Collect)):
                continue
            yield from self._copy(node, part, "is a result that no parameter holds on all paths")

    def _name(self, node: h.Node) -> str:
        return f"`{self._names[node]}`"
