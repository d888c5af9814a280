"""Which versions of collections share one storage.

A version that takes over another's storage changes it in place. That is right if no two versions of one storage are
alive at once. It is so where all of them come from one *source*: a node that makes the storage's contents anew
(a Parameter, or what takes over a version from elsewhere, on one way at least). All versions are then states of one
token, handed on linearly, and when the source runs again, no use of its earlier results is left: it dominates them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from ...ir.hercules import nodes as h
from ...ir.hercules.versions import taken_over


def has_own_root(node: h.Node) -> bool:
    """Whether a collection is made anew rather than being a version of a chain."""
    return isinstance(node, (h.ConstantNode, h.Collect, h.Read, h.Select, h.Call))


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
        """A version that stands for all that share its storage."""
        return self._classes.find(version)

    def _shareable(self, node: h.Node) -> Iterator[h.Node]:
        """Versions whose storage the node may take over; what only dead control hands it is none."""
        return (it for it in taken_over(node) if it in self._members and not has_own_root(it))

    def _by_root(self) -> list[list[h.Node]]:
        classes: dict[h.Node, list[h.Node]] = defaultdict(list)
        for node in self._versions:
            classes[self.root(node)].append(node)
        return list(classes.values())

    def _sources(self, members: Iterable[h.Node]) -> int:
        """How many nodes bring something into a class from elsewhere."""
        return sum(map(self._is_source, members))

    def _is_source(self, node: h.Node) -> bool:
        root, before = self.root(node), list(taken_over(node))
        return not before or any(
            isinstance(it, h.ConstantNode) or (it in self._members and self.root(it) is not root) for it in before
        )

    def _separate(self, members: list[h.Node]) -> None:
        """Take a class apart, and share only where one source remains.

        Writes and Atomics never meet another version of what they change. Merges follow in rounds, since one may need
        another; each round makes one class fewer.
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
        """Make each node a class of its own."""
        for node in nodes:
            self._parent[node] = node
            match node:
                case h.Phi(region=place) | h.Reduce(join=place):
                    self._places[node] = frozenset((place,))
                case _:
                    self._places[node] = frozenset()

    def copy(self) -> _Classes:
        """The same classes, of their own."""
        copy = _Classes(())
        copy._parent, copy._places = dict(self._parent), dict(self._places)
        return copy

    def find(self, node: h.Node) -> h.Node:
        """The node that stands for the class."""
        root = node
        while self._parent[root] is not root:
            root = self._parent[root]
        while self._parent[node] is not root:
            self._parent[node], node = root, self._parent[node]
        return root

    def unite(self, left: h.Node, right: h.Node) -> bool:
        """Make one class of two, if they may be; whether they were two and are one."""
        left, right = self.find(left), self.find(right)
        if left is right or self._places[left] & self._places[right]:
            return False
        self._parent[right] = left
        self._places[left] |= self._places[right]
        return True
