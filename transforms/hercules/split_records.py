"""Splits arrays of structures that all threads share into an array for each member."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias, assert_never

from ...base.records import dataclass
from ...ir.hercules.graph import def_use, predecessors
from ...ir.hercules.inference import infer_types
from ...ir.hercules.nodes import (
    Array,
    Collect,
    Constant,
    ConstantNode,
    DynamicConstantNode,
    DynamicLiteral,
    FieldIndex,
    Function,
    Index,
    IntegerConstant,
    Module,
    Node,
    Parameter,
    Phi,
    PositionIndex,
    Product,
    Read,
    Reduce,
    ScalarNode,
    ThreadID,
    Type,
    Write,
    ZeroConstant,
)
from ...ir.hercules.types import is_collection

LONGEST_RECORD_ARRAY = 8
"""The most elements of an array that counts as members of an element, if all accesses select one by a constant."""
MOST_MEMBERS = 16
"""The most arrays that one becomes."""


@dataclass(frozen=True)
class SplitRecords:
    """Replaces an array whose elements are structures, vectors or matrices by an array of scalars for each member.

    An access then moves whole vectors of one member, which lie side by side, instead of parts of interleaved elements.
    The array must begin with zeros, and its scalars must be accessed one by one; its threads pass it on by a Reduce, so
    that it is memory of a workgroup. Where a position is loaded from memory, elements stay together: members at
    scattered positions are then found in one cache line, and loaded at once.
    """

    name = "split_records"

    def run(self, module: Module) -> bool:
        """Change the module; whether anything changed."""
        changed = False
        for function in module.functions:
            changed |= _split(function)
        return changed


_Version: TypeAlias = "Write | Phi | Reduce"
_Path: TypeAlias = "tuple[int | None, ...]"
"""A level each: the number of a member, None for a position in an array that is kept."""


@dataclass(frozen=True, slots=True)
class _Member:
    """The scalars that a path leads to, and the type of the array of them."""

    path: _Path
    type: Type


@dataclass(frozen=True, slots=True)
class _Storage:
    """All versions of an array, and the Reads of its scalars."""

    versions: tuple[_Version, ...]
    reads: tuple[Read, ...]
    type: Type

    @property
    def indices(self) -> list[Sequence[Index]]:
        """Those of all accesses."""
        return [it.indices for it in (*self.reads, *self.versions) if isinstance(it, (Read, Write))]


def _split(function: Function) -> bool:
    types = infer_types(function)
    replaced: dict[Node, list[Node]] = {}
    for storage in _storages(function, types):
        members = _members(storage)
        if members and not any(_depends_on_memory(it, types) for it in _positions(storage, members)):
            replaced |= _replace(storage, members)
    function.nodes = [new for node in function.nodes for new in replaced.get(node, (node,))]
    return bool(replaced)


def _storages(function: Function, types: Mapping[Node, Type]) -> Iterator[_Storage]:
    """The arrays that might be split."""
    users: Mapping[Node, Sequence[Node]] | None = None
    seen: set[Node] = set()
    for node in function.nodes:
        if isinstance(node, Reduce) and node not in seen and _has_records(types[node]):
            users = def_use(function) if users is None else users
            found = _connected(node, types, users)
            seen.add(node)
            if found is not None:
                seen.update(found.versions)
                yield found


def _has_records(type: Type) -> bool:
    """Whether a type is an array with levels inside, or a product with such an array."""
    match type:
        case Array(element=element):
            return is_collection(element)
        case Product(fields=fields):
            return any(map(_has_records, fields))
        case _:
            return False


def _connected(start: Reduce, types: Mapping[Node, Type], users: Mapping[Node, Sequence[Node]]) -> _Storage | None:
    """All versions of the storage of one of them; None if it has other users or sources."""
    versions, reads, waiting = dict[_Version, None](), dict[Read, None](), list[Node]([start])
    while waiting:
        node = waiting.pop()
        if isinstance(node, Read) and not is_collection(types.get(node)):
            reads[node] = None
        elif (
            isinstance(node, (Write, Phi, Reduce))
            and types.get(node) == types[start]
            and not _stores_collection(node, types)
        ):
            if node not in versions:
                versions[node] = None
                waiting += [*_taken(node), *users[node]]
        elif not (isinstance(node, ConstantNode) and isinstance(node.value, ZeroConstant)):
            return None
    return _Storage(tuple(versions), tuple(reads), types[start])


def _stores_collection(node: _Version, types: Mapping[Node, Type]) -> bool:
    return isinstance(node, Write) and is_collection(types[node.value])


def _taken(node: _Version) -> Sequence[Node]:
    """The versions before a version."""
    match node:
        case Write(collection=collection):
            return [collection]
        case Phi(values=values):
            return values
        case Reduce(init=init, update=update):
            return [init, update]
        case _:
            assert_never(node)


def _members(storage: _Storage) -> Sequence[_Member]:
    """The members that the elements of a storage have; none if they cannot be split."""
    found = [_whole(it) for it in _inside(storage.type, storage.indices, is_element=False)]
    is_split = any(map(_is_in_element, found))
    return found if is_split and len(found) <= MOST_MEMBERS else ()


def _is_in_element(member: _Member) -> bool:
    """Whether a path selects a member of an element of an array."""
    path = member.path
    return None in path and any(it is not None for it in path[path.index(None) :])


def _whole(member: _Member) -> _Member:
    """A member whose type is a collection, even if it is one scalar."""
    return member if is_collection(member.type) else _Member(member.path, Product((member.type,)))


def _inside(type: Type, indices: Sequence[Sequence[Index]], *, is_element: bool) -> list[_Member]:
    """The members of a value that is accessed by these indices, and which may be an element of an array."""
    match type:
        case Product(fields=fields):
            return [
                _Member((number, *it.path), it.type)
                for number, field in enumerate(fields)
                for it in _inside(field, _behind(indices, number), is_element=is_element)
            ]
        case Array(element=element, extent=DynamicLiteral(value=count)) if is_element and _are_constant(indices, count):
            return [
                _Member((number, *it.path), it.type)
                for number in range(count)
                for it in _inside(element, _behind(indices, number), is_element=True)
            ]
        case Array(element=element, extent=extent):
            inner = _inside(element, [it[1:] for it in indices], is_element=True)
            return [_Member((None, *it.path), Array(it.type, extent)) for it in inner]
        case _:
            return [_Member((), type)]


def _behind(indices: Sequence[Sequence[Index]], number: int) -> list[Sequence[Index]]:
    """The rest of the indices that begin with a number."""
    return [it[1:] for it in indices if _number(it[0]) == number]


def _are_constant(indices: Sequence[Sequence[Index]], count: int) -> bool:
    """Whether indices begin with numbers of elements of a short array."""
    numbers = [_number(it[0]) for it in indices]
    return count <= LONGEST_RECORD_ARRAY and all(it is not None and it < count for it in numbers)


def _number(index: Index) -> int | None:
    match index:
        case FieldIndex(field=field):
            return field
        case PositionIndex(position=ConstantNode(value=value)):
            return _integer(value)
        case _:
            return None


def _integer(constant: Constant) -> int | None:
    match constant:
        case IntegerConstant(value=value):
            return value
        case ZeroConstant():
            return 0
        case _:
            return None


def _selected(members: Sequence[_Member], indices: Sequence[Index]) -> tuple[int, list[Index]]:
    """The number of the member that indices select, and the indices into its array."""
    numbers = list(map(_number, indices))
    for at, member in enumerate(members):
        if all(wanted is None or wanted == it for wanted, it in zip(member.path, numbers, strict=True)):
            kept = [it for it, wanted in zip(indices, member.path, strict=True) if wanted is None]
            return at, kept or [FieldIndex(0)]
    raise AssertionError(f"no member is selected by {indices}")


# Positions


def _positions(storage: _Storage, members: Sequence[_Member]) -> list[Node]:
    """The positions in arrays that are kept."""
    kept = (it for indices in storage.indices for it in _selected(members, indices)[1])
    return list(dict.fromkeys(it.position for it in kept if isinstance(it, PositionIndex)))


def _depends_on_memory(value: Node, types: Mapping[Node, Type]) -> bool:
    """Whether a value is computed from what was loaded from memory, and may differ between threads."""
    waiting, seen = [value], set[Node]()
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        before = _computed_from(node, types)
        if before is None:
            return True
        waiting += before
    return False


def _computed_from(node: Node, types: Mapping[Node, Type]) -> Sequence[Node] | None:
    """What a value, or an array with a value of each thread, is computed from; None for other memory."""
    if isinstance(node, (ConstantNode, DynamicConstantNode, ThreadID)):
        return ()
    if isinstance(node, ScalarNode):
        return predecessors(node)
    if isinstance(node, Phi):
        return node.values
    if isinstance(node, Collect):
        return [node.value]
    if isinstance(node, Reduce) and not is_collection(types.get(node)):
        return [node.init, node.update]
    if isinstance(node, Read) and isinstance(node.collection, (Phi, Collect)):
        return [node.collection, *(it.position for it in node.indices if isinstance(it, PositionIndex))]
    if isinstance(node, Read) and isinstance(node.collection, Parameter):
        return () if all(_number(it) is not None for it in node.indices) else None
    return None


# Replacement


def _replace(storage: _Storage, members: Sequence[_Member]) -> dict[Node, list[Node]]:
    """What takes the place of the storage's versions. Its Reads are changed to read from that."""
    zeros: list[Node] = [ConstantNode(ZeroConstant(it.type)) for it in members]
    versions: dict[Node, list[Node]] = {}
    made: dict[Node, list[Node]] = {}
    merges = [it for it in storage.versions if not isinstance(it, Write)]
    for node in merges:
        versions[node] = made[node] = [_copy_of(node, number) for number in range(len(members))]
    for it in storage.versions:
        _write_apart(it, members, zeros, versions, made)

    def version(node: Node, number: int) -> Node:
        return zeros[number] if isinstance(node, ConstantNode) else versions[node][number]

    for node in merges:
        for number, copy in enumerate(versions[node]):
            if isinstance(copy, Phi):
                copy.values = [version(it, number) for it in _taken(node)]
            elif isinstance(copy, Reduce):
                copy.init, copy.update = (version(it, number) for it in _taken(node))
    for read in storage.reads:
        number, indices = _selected(members, read.indices)
        read.collection, read.indices = version(read.collection, number), indices
    made[merges[0]] = [*zeros, *made[merges[0]]]
    return made


def _copy_of(node: Phi | Reduce, number: int) -> Node:
    """The version of a member, whose operands are still those of the whole."""
    copy = node.copy()
    assert isinstance(copy, (Phi, Reduce))
    copy.label = f"{node.label}_{number}" if node.label else ""
    return copy


def _write_apart(
    node: _Version,
    members: Sequence[_Member],
    zeros: Sequence[Node],
    versions: dict[Node, list[Node]],
    made: dict[Node, list[Node]],
) -> None:
    """The members' versions after a Write, and after those before it."""
    chain: list[Write] = []
    before: Node = node
    while before not in versions and isinstance(before, Write):
        chain.append(before)
        before = before.collection
    current = list(zeros) if isinstance(before, ConstantNode) else versions[before]
    for write in reversed(chain):
        number, indices = _selected(members, write.indices)
        new = Write(current[number], write.value, indices, span=write.span)
        current = [new if at == number else it for at, it in enumerate(current)]
        versions[write], made[write] = current, [new]
