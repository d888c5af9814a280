"""Which memory each collection lives in.

A linear chain (Write, Atomic, Phi, Reduce over one root) is one storage, updated in place: the schedule puts every Read
of a version before the node that overwrites it. Constants and Collects get storage of their own; where a chain begins
with one, or two storages meet in a Phi or Reduce, the value is transferred (`needs_transfer`) where it is consumed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ...ir.hercules import nodes as h
from ...ir.hercules.types import is_collection
from ...ir.hercules.versions import version_of
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

    @property
    def is_binding(self) -> bool:
        """Whether it lives on outside of the function."""
        return self.parameter is not None

    @property
    def is_shared(self) -> bool:
        """Whether other threads of the machine may touch it, so that atomics must be atomic."""
        return self.is_binding and not self.is_privatised

    @property
    def constant_size(self) -> int | None:
        """Its bytes, None if they depend on dynamic constants."""
        return constant_size(self.layout)


def has_own_root(node: h.Node) -> bool:
    """Whether a collection is made anew rather than being a version of a chain."""
    return isinstance(node, (h.ConstantNode, h.Collect, h.Read, h.Select))


class StoragePlan:
    """`of(node)` is the storage of every collection among the live nodes, constants excepted."""

    def __init__(
        self,
        nodes: Iterable[h.Node],
        types: Mapping[h.Node, h.Type],
        bindings: Mapping[int, Layout],
        users: Mapping[h.Node, Sequence[h.Node]],
        fork_of: Mapping[h.Join, h.Fork],
    ) -> None:
        collections = [it for it in nodes if _makes_collection(it, types)]
        self._classes = _Classes()
        for node in collections:
            self._classes.add(node)
        for node in collections:
            self._unite(node)
        self._storages: dict[h.Node, Storage] = {}
        for node in collections:
            if isinstance(node, h.Parameter):
                self._set(node, Storage(f"p{node.index}", types[node], bindings[node.index], parameter=node.index))
        outermost_collects_first = sorted(collections, key=lambda it: _nested_in(it, users) is not None)
        for node in outermost_collects_first:
            if self._classes.find(node) not in self._storages:
                self._set(node, self._own(node, types, users, fork_of))

    def of(self, node: h.Node) -> Storage:
        """The storage that holds a collection."""
        return self._storages[self._classes.find(version_of(node))]

    def needs_transfer(self, source: h.Node, target: h.Node) -> bool:
        """Whether `target`, a version that continues `source`, is held elsewhere."""
        return isinstance(source, h.ConstantNode) or self.of(source) is not self.of(target)

    @property
    def storages(self) -> list[Storage]:
        """All storages."""
        return list(dict.fromkeys(self._storages.values()))

    def privatise(self, parameters: Collection[int]) -> None:
        """Let each worker have memory of its own for these bindings."""
        for storage in self.storages:
            storage.is_privatised = storage.parameter in parameters

    def _set(self, node: h.Node, storage: Storage) -> None:
        root = self._classes.find(node)
        assert root not in self._storages, "two bindings meet in one collection"
        self._storages[root] = storage

    def _own(
        self,
        node: h.Node,
        types: Mapping[h.Node, h.Type],
        users: Mapping[h.Node, Sequence[h.Node]],
        fork_of: Mapping[h.Join, h.Fork],
    ) -> Storage:
        type = _collection_type(node, types)
        outer = _nested_in(node, users)
        if outer is None or not isinstance(outer.join, h.Join):
            return Storage(f"s{len(self._storages)}", type, natural_layout(type))
        parent = self._storages.get(self._classes.find(outer))
        if parent is None:
            parent = self._own(outer, types, users, fork_of)
            self._set(outer, parent)
        return Storage(
            f"s{len(self._storages)}", type, natural_layout(type), parent=parent, parent_fork=fork_of[outer.join]
        )

    def _unite(self, node: h.Node) -> None:
        match node:
            case h.Write(collection=collection) | h.Atomic(collection=collection):
                self._join_chain(node, collection)
            case h.Phi(values=values):
                for value in values:
                    self._join_chain(node, value)
            case h.Reduce(init=init, update=update):
                self._join_chain(node, init)
                self._join_chain(node, update)
            case _:
                pass

    def _join_chain(self, node: h.Node, version: h.Node) -> None:
        version = version_of(version)
        if not has_own_root(version):
            self._classes.unite(node, version)


def _makes_collection(node: h.Node, types: Mapping[h.Node, h.Type]) -> bool:
    if isinstance(node, (h.ConstantNode, h.ProductNode)):
        return False
    return isinstance(node, h.Atomic) or (version_of(node) is node and is_collection(types.get(node)))


def _collection_type(node: h.Node, types: Mapping[h.Node, h.Type]) -> h.Type:
    return types[node.collection] if isinstance(node, h.Atomic) else types[node]


def _nested_in(node: h.Node, users: Mapping[h.Node, Sequence[h.Node]]) -> h.Collect | None:
    """The Collect that alone uses this one: what it gathers may be put straight into place."""
    if isinstance(node, h.Collect) and len(users.get(node, ())) == 1:
        user = users[node][0]
        if isinstance(user, h.Collect):
            return user
    return None


class _Classes:
    """Union-find, except that two versions merged at one place (Phis of a region, Reduces of a join) stay apart."""

    def __init__(self) -> None:
        self._parent: dict[h.Node, h.Node] = {}
        self._places: dict[h.Node, frozenset[h.Node]] = {}

    def add(self, node: h.Node) -> None:
        self._parent[node] = node
        match node:
            case h.Phi(region=place) | h.Reduce(join=place):
                self._places[node] = frozenset((place,))
            case _:
                self._places[node] = frozenset()

    def find(self, node: h.Node) -> h.Node:
        root = node
        while self._parent[root] is not root:
            root = self._parent[root]
        while self._parent[node] is not root:
            self._parent[node], node = root, self._parent[node]
        return root

    def unite(self, left: h.Node, right: h.Node) -> None:
        left, right = self.find(left), self.find(right)
        if left is right or self._places[left] & self._places[right]:
            return
        self._parent[right] = left
        self._places[left] |= self._places[right]
