"""The storage of each collection.

A linear chain (Write, Atomic, Phi, Reduce over one root) is one storage (see `sharing`), updated in place: the
schedule puts every Read of a version before the node that overwrites it. Constants and Collects get storage of their
own, except for some Collects that a loop carries (see `loop_collects`); where a chain begins with one, or a Phi or
Reduce merges two storages, the value is transferred (`needs_transfer`) where it is consumed. Constants of which nothing
is read are not (see `unread_zeros`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from ...base.cached import cached_property
from ...base.records import dataclass
from ...ir.hercules import nodes as h
from ...ir.hercules.sharing import Sharing, makes_version, nested_in
from ...ir.hercules.types import is_collection
from ...ir.hercules.versions import consumed, looked_at, version_of
from .layout import Layout, constant_size, natural_layout


@dataclass(eq=False, slots=True)
class Storage:
    """One piece of memory: a binding (`parameter`), part of another's elements (`parent`), or our own."""

    name: str
    type: h.Type
    layout: Layout
    parameter: int | None = None
    parent: Storage | None = None
    parent_fork: h.Fork | None = None
    """For a part: the element of the parent at this fork's thread index."""

    is_privatised: bool = False
    """For a binding: whether each worker has memory of its own for it (see `privatise`)."""

    is_only_written: bool = False
    """For a binding: whether it is never read."""

    is_in_registers: bool = False
    """Whether gangs access whole vectors at constant places, so that LLVM keeps the words in registers (see
    `gangs.choice.straight`).
    """

    @property
    def is_binding(self) -> bool:
        """Whether the storage is a binding, which outlives the function."""
        return self.parameter is not None

    @property
    def is_shared(self) -> bool:
        """Whether other threads of the machine may access it, so that atomics must be atomic."""
        return self.is_binding and not self.is_privatised

    @property
    def constant_size(self) -> int | None:
        """Its bytes, None if they depend on dynamic constants."""
        return constant_size(self.layout)


class StoragePlan:
    """`of(node)` is the storage of every collection among the live nodes, constants excepted.

    `in_place` are Collects whose elements are put into the storage of a Phi (see `loop_collects`). `unread` are Phis
    and Reduces that need no constants in their storage (see `unread_zeros`).
    """

    def __init__(
        self,
        nodes: Iterable[h.Node],
        types: Mapping[h.Node, h.Type],
        bindings: Mapping[int, Layout],
        users: Mapping[h.Node, Sequence[h.Node]],
        fork_of: Mapping[h.Join, h.Fork],
        in_place: Mapping[h.Collect, h.Phi] | None = None,
        unread: Collection[h.Node] = (),
    ) -> None:
        self._unread = unread
        collections = [it for it in nodes if makes_version(it, types)]
        self._sharing = Sharing(collections)
        self._collections = collections
        self._storages: dict[h.Node, Storage] = {}
        for node in collections:
            if isinstance(node, h.Parameter):
                self._set(node, Storage(f"p{node.index}", types[node], bindings[node.index], parameter=node.index))
        for collect, phi in (in_place or {}).items():
            if self._sharing.root(phi) not in self._storages:
                self._set(phi, self._own(phi, types, users, fork_of))
            self._set(collect, self.of(phi))
        outermost_collects_first = sorted(collections, key=lambda it: nested_in(it, users) is not None)
        for node in outermost_collects_first:
            if self._sharing.root(node) not in self._storages:
                self._set(node, self._own(node, types, users, fork_of))

    def of(self, node: h.Node) -> Storage:
        """The storage that holds a collection."""
        return self._storages[self._sharing.root(version_of(node))]

    def needs_transfer(self, source: h.Node, target: h.Node) -> bool:
        """Whether `target`, a version that continues `source`, is held elsewhere and needs its elements."""
        if isinstance(source, h.ConstantNode):
            return target not in self._unread
        return self.of(source) is not self.of(target)

    @property
    def storages(self) -> list[Storage]:
        """All storages."""
        return list(dict.fromkeys(self._storages.values()))

    @cached_property
    def versions(self) -> Mapping[Storage, Sequence[h.Node]]:
        """The versions that each storage holds, one after another."""
        found: dict[Storage, list[h.Node]] = {}
        for node in self._collections:
            found.setdefault(self.of(node), []).append(node)
        return found

    def privatise(self, parameters: Collection[int]) -> None:
        """Give each worker memory of its own for these bindings."""
        for storage in self.storages:
            storage.is_privatised = storage.parameter in parameters

    def copied(self, node: h.Node, types: Mapping[h.Node, h.Type], fork_of: Mapping[h.Join, h.Fork]) -> list[h.Node]:
        """The operands of a Phi or Reduce that must be copied, since they are in another storage."""
        if not isinstance(node, (h.Phi, h.Reduce)) or not is_collection(types[node]):
            return []
        return [it for it, _ in consumed(node, types, fork_of) if self.needs_transfer(it, node)]

    def mark_only_written(
        self, live: Iterable[h.Node], types: Mapping[h.Node, h.Type], fork_of: Mapping[h.Join, h.Fork]
    ) -> None:
        """Find the bindings that are never read."""
        read: set[Storage] = set()
        for node in live:
            versions = [it for it, _ in looked_at(node, types)] + self.copied(node, types, fork_of)
            if isinstance(node, (h.Atomic, h.Collect)):
                versions += [it for it, _ in consumed(node, types, fork_of)]
            read.update(self.of(it) for it in versions if not isinstance(it, h.ConstantNode))
        for storage in self.storages:
            storage.is_only_written = storage.is_binding and storage not in read

    def _set(self, node: h.Node, storage: Storage) -> None:
        root = self._sharing.root(node)
        assert root not in self._storages, "a collection merges two bindings"
        self._storages[root] = storage

    def _own(
        self,
        node: h.Node,
        types: Mapping[h.Node, h.Type],
        users: Mapping[h.Node, Sequence[h.Node]],
        fork_of: Mapping[h.Join, h.Fork],
    ) -> Storage:
        type = _collection_type(node, types)
        outer = nested_in(node, users)
        if outer is None or not isinstance(outer.join, h.Join):
            return Storage(f"s{len(self._storages)}", type, natural_layout(type))
        parent = self._storages.get(self._sharing.root(outer))
        if parent is None:
            parent = self._own(outer, types, users, fork_of)
            self._set(outer, parent)
        return Storage(
            f"s{len(self._storages)}", type, natural_layout(type), parent=parent, parent_fork=fork_of[outer.join]
        )


def _collection_type(node: h.Node, types: Mapping[h.Node, h.Type]) -> h.Type:
    return types[node.collection] if isinstance(node, h.Atomic) else types[node]
