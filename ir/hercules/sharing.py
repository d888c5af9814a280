"""Which versions of collections share one storage.

A version that takes over another's storage changes it in place. That is right if no two versions of one storage are
alive at once. This holds if all of them come from one *source*: a node that defines the storage's contents (a
Parameter, or a node that takes over a version from another storage on at least one path). All versions are then
states of one token that is used linearly. When the source runs again, no use of its earlier results is left: it
dominates them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from . import nodes as h
from .types import is_collection
from .versions import taken_over, version_of


def has_own_root(node: h.Node) -> bool:
    """Whether a collection starts a chain of versions, rather than being a later version of one."""
    return isinstance(node, (h.ConstantNode, h.Collect, h.Read, h.Select, h.Call))


def makes_version(node: h.Node, types: Mapping[h.Node, h.Type]) -> bool:
    """Whether a node makes a version of a collection that has storage; an Atomic does, though its type is a product."""
    if isinstance(node, (h.ConstantNode, h.ProductNode)):
        return False
    return isinstance(node, h.Atomic) or (version_of(node) is node and is_collection(types.get(node)))


def nested_in(node: h.Node, users: Mapping[h.Node, Sequence[h.Node]]) -> h.Collect | None:
    """The Collect that is the only user of a Collect, which can make its elements in the storage of that one."""
    if isinstance(node, h.Collect) and len(users.get(node, ())) == 1:
        user = users[node][0]
        if isinstance(user, h.Collect):
            return user
    return None


class Sharing:
    """Classes of versions; `root` names that of a version."""

    def __init__(self, versions: Iterable[h.Node]) -> None:
        self._versions = list(versions)
        self._members = set(self._versions)
        self._classes = _Classes(self._versions)
        for node in self._versions:
            for version in self._shareable(node):
                self._classes.unite(node, version)
        for members in self._by_root():
            if self._sources(members) > 1:
                self._separate(members)

    def root(self, version: h.Node) -> h.Node:
        """The version that represents all that share its storage."""
        return self._classes.find(version)

    def _shareable(self, node: h.Node) -> Iterator[h.Node]:
        """Versions whose storage the node may take over, excluding values that only come from dead control."""
        return (it for it in taken_over(node) if it in self._members and not has_own_root(it))

    def _by_root(self) -> list[list[h.Node]]:
        classes: dict[h.Node, list[h.Node]] = defaultdict(list)
        for node in self._versions:
            classes[self.root(node)].append(node)
        return list(classes.values())

    def _sources(self, members: Iterable[h.Node]) -> int:
        """The number of nodes of a class that take a value from outside of it."""
        return sum(map(self._is_source, members))

    def _is_source(self, node: h.Node) -> bool:
        root, before = self.root(node), list(taken_over(node))
        return not before or any(
            isinstance(it, h.ConstantNode) or (it in self._members and self.root(it) is not root) for it in before
        )

    def _separate(self, members: list[h.Node]) -> None:
        """Take a class apart, and share only where one source remains.

        Writes and Atomics never merge with another version of what they change. Merges follow in rounds, since one may
        need another; each round makes one class fewer.
        """
        self._classes.dissolve(members)
        merges = [(node, it) for node in members for it in self._shareable(node)]
        for node, version in merges:
            if isinstance(node, (h.Write, h.Atomic)):
                self._classes.unite(node, version)
        while sum(self._share(node, version, members) for node, version in merges):
            pass

    def _share(self, node: h.Node, version: h.Node, members: list[h.Node]) -> bool:
        if self.root(node) is self.root(version):
            return False
        before = self._classes.copy()
        if self._classes.unite(node, version):
            root = self.root(node)
            if self._sources(it for it in members if self.root(it) is root) <= 1:
                return True
        self._classes = before
        return False


class _Classes:
    """Union-find, except that two versions merged at one place (Phis of a region, Reduces of a join) stay apart."""

    def __init__(self, nodes: Iterable[h.Node]) -> None:
        self._parent: dict[h.Node, h.Node] = {}
        self._places: dict[h.Node, frozenset[h.Node]] = {}
        self.dissolve(nodes)

    def dissolve(self, nodes: Iterable[h.Node]) -> None:
        """Put each node into a class of its own."""
        for node in nodes:
            self._parent[node] = node
            match node:
                case h.Phi(region=place) | h.Reduce(join=place):
                    self._places[node] = frozenset((place,))
                case _:
                    self._places[node] = frozenset()

    def copy(self) -> _Classes:
        """A copy of the classes."""
        copy = _Classes(())
        copy._parent, copy._places = dict(self._parent), dict(self._places)
        return copy

    def find(self, node: h.Node) -> h.Node:
        """The representative of the class."""
        root = node
        while self._parent[root] is not root:
            root = self._parent[root]
        while self._parent[node] is not root:
            self._parent[node], node = root, self._parent[node]
        return root

    def unite(self, left: h.Node, right: h.Node) -> bool:
        """Unite two classes if that is allowed. Returns whether two classes became one."""
        left, right = self.find(left), self.find(right)
        if left is right or self._places[left] & self._places[right]:
            return False
        self._parent[right] = left
        self._places[left] |= self._places[right]
        return True
