"""The memory of each collection of a kernel.

Versions that share storage (`ir.hercules.sharing`) are one variable: a binding, workgroup memory, or a variable of each
invocation. What the invocations of a workgroup share lies in workgroup memory, unless each of them only uses the
element of its own number: then it is a variable of each invocation, and the indices of the invocation are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from ...ir import types as w
from ...ir.core.values import Value
from ...ir.hercules import nodes as h
from ...ir.hercules.graph import def_use
from ...ir.hercules.placement import Placement
from ...ir.hercules.sharing import Sharing
from ...ir.hercules.types import is_collection
from ...ir.hercules.versions import version_of
from .levels import Levels
from .types import Structs, is_empty, scalar_type
from .vectors import Path, VectorWrites, path_of, vector_paths


@dataclass(eq=False, slots=True)
class Place:
    """A variable. `type` is its WGSL type, `skipped` the number of first indices that it leaves out.

    `extent` is the number of elements of an array whose buffer may have room for more, so that WGSL's `arrayLength`
    does not tell. `is_shared`: the invocations of a workgroup, or of the dispatch, may share it. `variable` is set when
    it is declared.
    """

    name: str
    type: w.Type
    space: w.AddressSpace
    skipped: int = 0
    is_written: bool = True
    variable: Value | None = None
    extent: h.DynamicConstant | None = None

    @property
    def is_shared(self) -> bool:
        """Whether other invocations may see what one writes."""
        return self.space is not w.AddressSpace.FUNCTION


@dataclass(slots=True)
class Places:
    """`of(node)` is the place of a collection among the live nodes, constants and the result excepted."""

    levels: Levels
    structs: Structs
    parameter: Callable[[int, set[Path]], Place]
    """Declares the place of a parameter, whose scalars at some paths are atomic."""
    one_invocation: bool
    """Whether a workgroup is one invocation, so that all of its memory can be workgroup memory."""
    users: dict[h.Node, tuple[h.Node, ...]] = field(init=False)
    vectors: VectorWrites = field(init=False)
    _sharing: Sharing = field(init=False)
    _members: dict[h.Node, list[h.Node]] = field(default_factory=dict[h.Node, list[h.Node]])
    _by_root: dict[h.Node, Place] = field(default_factory=dict[h.Node, Place])

    @property
    def placed(self) -> Placement:
        """The function, with its nodes in blocks."""
        return self.levels.placed

    def __post_init__(self) -> None:
        types = self.placed.types
        self.users = def_use(self.placed.function)
        self.vectors = VectorWrites(self.placed, self.users)
        made = [it for it in self.placed.function.nodes if it in self.placed.live and _makes_collection(it, types)]
        self._sharing = Sharing(made)
        for node in made:
            self._members.setdefault(self._sharing.root(node), []).append(node)
        chained = self._chained_collects()
        own = self._own_element(chained)
        vectors = self._vector_paths(chained)
        for root, members in self._members.items():
            if root not in chained:
                self._by_root[root] = self._place(members, vectors.get(root, set()), is_own=root in own)

    def of(self, node: h.Node) -> Place:
        """The place that holds a collection."""
        return self._by_root[self._sharing.root(version_of(node))]

    def has(self, node: h.Node) -> bool:
        """Whether a node is a collection with a place of its own: no constant, and no array that is part of another."""
        root = self._root_of(node)
        return root is not None and root in self._by_root

    def all(self) -> Iterable[Place]:
        """All places."""
        return dict.fromkeys(self._by_root.values())

    def chain(self, collect: h.Collect) -> tuple[h.Collect, h.Node]:
        """The outermost of Collects over the joins of one nest of local forks, and the value that they collect.

        `collect` is the innermost.
        """
        outer: h.Node = collect
        while (following := self._outer.get(outer)) is not None:
            outer = following
        assert isinstance(outer, h.Collect)
        return outer, collect.value

    _outer: dict[h.Node, h.Collect] = field(default_factory=dict[h.Node, h.Collect])

    def _chained_collects(self) -> set[h.Node]:
        """The Collects over local joins whose arrays another Collect over the next join gathers."""
        for node in self.placed.function.nodes:
            if not isinstance(node, h.Collect) or node not in self.placed.live or not self.is_local_join(node.join):
                continue
            if isinstance(node.value, h.Collect) and self.is_local_join(node.value.join):
                self._outer[node.value] = node
        return set(self._outer)

    def is_local_join(self, join: h.Node) -> bool:
        """Whether a join ends a local fork."""
        return isinstance(join, h.Join) and self.levels.is_local(self.placed.nest.forks[join])

    # Which invocations use what

    def _own_element(self, chained: set[h.Node]) -> set[h.Node]:
        """The classes of which each invocation only uses the element of its own number."""
        shared = {root for root, them in self._members.items() if root not in chained and self._is_of_workgroup(them)}
        if not self.levels.local:
            return set()
        wrong = {root for root in shared if not all(map(self._is_own, self._indices_of(root)))}
        wrong |= {it for it in shared if any(isinstance(node, h.Parameter) for node in self._members[it])}
        links = [(one, other) for one, other in self._copies() if one in shared and other in shared]
        while True:
            more = {it for one, other in links if (one in wrong) != (other in wrong) for it in (one, other)} - wrong
            if not more:
                return shared - wrong
            wrong |= more

    def _is_of_workgroup(self, members: Sequence[h.Node]) -> bool:
        """Whether a collection is alive outside of local forks."""
        return any(not self.levels.is_lane(self._block(node)) for node in members)

    def _block(self, node: h.Node) -> h.Node:
        if isinstance(node, h.Reduce) and isinstance(node.join, h.Join):
            return node.join
        return self.placed.place[node]

    def _indices_of(self, root: h.Node) -> Iterator[Sequence[h.Index]]:
        for node in self.placed.function.nodes:
            match node:
                case h.Read(collection, indices) | h.Write(collection, _, indices) | h.Atomic(_, collection, indices):
                    if node in self.placed.live and self._root_of(collection) is root and version_of(node) is node:
                        yield indices
                case h.Call() | h.ProductNode() | h.InputNode() | h.ScalarNode() | h.PinnedNode() | h.ControlNode():
                    pass
                case _:
                    assert_never(node)

    def _root_of(self, node: h.Node) -> h.Node | None:
        version = version_of(node)
        if isinstance(version, h.ConstantNode) or not _makes_collection(version, self.placed.types):
            return None
        return self._sharing.root(version)

    def _is_own(self, indices: Sequence[h.Index]) -> bool:
        """Whether indices begin with the numbers of the invocation in its workgroup."""
        first = indices[: self.levels.local]
        return len(first) == self.levels.local and all(
            isinstance(it, h.PositionIndex)
            and isinstance(it.position, h.ThreadID)
            and isinstance(it.position.fork, h.Fork)
            and self.levels.is_local(it.position.fork)
            and self.levels.axis(it.position.fork) == axis
            for axis, it in enumerate(first)
        )

    def _copies(self) -> Iterator[tuple[h.Node, h.Node]]:
        """Pairs of classes of which one is copied to the other."""
        for node in self.placed.function.nodes:
            if node not in self.placed.live or not is_collection(self.placed.types.get(node)):
                continue
            match node:
                case h.Phi(values=sources):
                    before = list(sources)
                case h.Reduce(init=init, update=update):
                    before = [init, update]
                case h.Write(collection=collection):
                    before = [collection]
                case h.FloatingNode() | h.PinnedNode() | h.ControlNode():
                    continue
                case _:
                    assert_never(node)
            target = self._root_of(node)
            for source in before:
                root = self._root_of(source)
                if root is not None and target is not None and root is not target:
                    yield root, target

    # Vectors

    def _vector_paths(self, chained: set[h.Node]) -> dict[h.Node, set[Path]]:
        """The arrays of each class that are vectors; the same in classes of which one is copied to the other."""
        found = {
            root: set(vector_paths(_collection_type(members[0], self.placed.types)))
            for root, members in self._members.items()
            if root not in chained and not any(isinstance(it, h.Parameter) for it in members)
        }
        for root, path in self._written_apart():
            found.get(root, set()).discard(path)
        links = list(self._copies())
        changed = True
        while changed:
            changed = False
            for one, other in links:
                left, right = found.get(one, set()), found.get(other, set())
                changed |= left != right
                left &= right
                right &= left
        return found

    def _written_apart(self) -> Iterator[tuple[h.Node, Path]]:
        """The arrays, each a class and a path, of which a component is written alone, or that are part of a copy."""
        for node in self.placed.function.nodes:
            if node not in self.placed.live:
                continue
            match node:
                case h.Write(value=value, indices=indices):
                    root = self._root_of(node)
                    if root is not None and node not in self.vectors.members:
                        yield root, path_of(indices[:-1])
                    if is_collection(self.placed.types.get(value)):
                        yield from self._all_of(node)
                        yield from self._all_of(value)
                case h.Read(collection) if is_collection(self.placed.types.get(node)) and version_of(node) is node:
                    yield from self._all_of(node)
                    yield from self._all_of(collection)
                case h.Collect(value=value):
                    yield from self._all_of(node)
                    yield from self._all_of(value)
                case h.Atomic(indices=indices):
                    root = self._root_of(node)
                    if root is not None:
                        yield root, path_of(indices[:-1])
                case h.FloatingNode() | h.PinnedNode() | h.ControlNode():
                    pass
                case _:
                    assert_never(node)

    def _all_of(self, node: h.Node) -> Iterator[tuple[h.Node, Path]]:
        root = self._root_of(node) if is_collection(self.placed.types.get(node)) else None
        if root is not None:
            yield from ((root, path) for path in vector_paths(_collection_type(root, self.placed.types)))

    # Variables

    def _place(self, members: Sequence[h.Node], vectors: set[Path], *, is_own: bool) -> Place:
        parameter = next((it for it in members if isinstance(it, h.Parameter)), None)
        if parameter is not None:
            return self.parameter(parameter.index, set(self._atomic_paths(members)))
        type = _collection_type(members[0], self.placed.types)
        name = next((it.label for it in members if it.label), "") or "memory"
        is_shared = self._is_of_workgroup(members) and not is_own and self.levels.local > 0
        skipped = self.levels.local if is_own else 0
        for _ in range(skipped):
            assert isinstance(type, h.Array)
            type = type.element
        is_workgroup = is_shared or self.one_invocation  # there is more room than for variables of a function
        space = w.AddressSpace.WORKGROUP if is_workgroup else w.AddressSpace.FUNCTION
        atomics = set(self._atomic_paths(members)) if is_shared else set[Path]()
        return Place(name, store_type(self.structs, type, atomics, (None,) * skipped, vectors), space, skipped)

    def _atomic_paths(self, members: Sequence[h.Node]) -> Iterator[Path]:
        for node in members:
            if isinstance(node, h.Atomic):
                yield path_of(node.indices)


def store_type(
    structs: Structs, type: h.Type, atomics: Collection[Path], path: Path, vectors: Collection[Path] = ()
) -> w.Type:
    """The WGSL type of a part of a variable at a path.

    The scalars at the paths `atomics` are atomic, the arrays at the paths `vectors` are vectors.
    """
    match type:
        case h.Array(element=element, extent=h.DynamicLiteral(value=count)) if path in vectors:
            return w.vector(count, scalar_type(element))
        case h.Array(element=element, extent=h.DynamicLiteral(value=count)):
            return w.array(store_type(structs, element, atomics, (*path, None), vectors), max(count, 1))
        case h.Product(fields=fields):
            return structs.of(
                None if is_empty(it) else store_type(structs, it, atomics, (*path, number), vectors)
                for number, it in enumerate(fields)
            )
        case h.Integer() if path in atomics:
            return w.atomic(scalar_type(type))
        case h.Bool() | h.Integer() | h.Float() | h.Array() | h.Summation() | h.Control():
            return structs.store_type(type)
        case _:
            assert_never(type)


def _makes_collection(node: h.Node, types: Mapping[h.Node, h.Type]) -> bool:
    if isinstance(node, (h.ConstantNode, h.ProductNode, h.Call, h.ControlNode)):
        return False
    return isinstance(node, h.Atomic) or (version_of(node) is node and is_collection(types.get(node)))


def _collection_type(node: h.Node, types: Mapping[h.Node, h.Type]) -> h.Type:
    return types[node.collection] if isinstance(node, h.Atomic) else types[node]
