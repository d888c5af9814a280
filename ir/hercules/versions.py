"""Linear chains: which nodes are versions of collections, and which nodes consume or only read each version.

A collection is storage, and every version of it is one state of that storage. A *consumer* takes the storage over: it
may change it in place, so a version has one consumer on any path. A *reader* only reads a version and must come before
its consumer; the value it reads, however large, is a copy.

- Consumers: Write and Atomic of their collection, Phi, Reduce, Collect, ProductNode and Return of what they are
  given, and Call of an argument whose parameter the callee consumes.
- Readers: Read, Match, Write of its value, and other Calls.

The collection that an Atomic gives is taken out by a Read of its field 0, which is no copy but the same version.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import assert_never

from ...base.records import dataclass
from .graph import is_projection, predecessors
from .nodes import (
    Atomic,
    Call,
    Collect,
    ControlNode,
    FieldIndex,
    Fork,
    Function,
    InputNode,
    Join,
    Match,
    Node,
    Parameter,
    Phi,
    PinnedNode,
    ProductNode,
    Read,
    Reduce,
    Region,
    Return,
    ScalarNode,
    ThreadID,
    Type,
    Write,
)
from .types import is_collection

AFTER = FieldIndex(0)


@dataclass(frozen=True, slots=True)
class Use:
    """A use of a version: by a data node, which may float, or, where `control` is given, at the end of that node's
    block.
    """

    user: Node
    control: Node | None = None


def version_of(node: Node) -> Node:
    """The node that made the version: the Atomic for a Read of its collection, else the node itself."""
    while isinstance(node, Read) and node.indices == [AFTER] and isinstance(node.collection, Atomic):
        node = node.collection
    return node


def is_version_projection(node: Node) -> bool:
    """Whether it is the Read that takes the collection out of an Atomic."""
    return version_of(node) is not node


def taken_over(node: Node) -> Iterator[Node]:
    """The versions whose storage a node takes over."""
    match node:
        case Write(collection) | Atomic(_, collection):
            yield version_of(collection)
        case Phi(_, values):
            yield from map(version_of, values)
        case Reduce(_, init, update):
            yield version_of(init)
            yield version_of(update)
        case ThreadID() | Collect() | Read() | Call() | ProductNode() | InputNode() | ScalarNode() | ControlNode():
            return
        case _:
            assert_never(node)


def roots(version: Node) -> tuple[Node, ...]:
    """The nodes that begin the chains of which a version may be, in no order that means anything."""
    found: dict[Node, None] = {}
    seen: set[Node] = set()
    pending = [version_of(version)]
    while pending:
        version = pending.pop()
        if version not in seen:
            seen.add(version)
            before = list(taken_over(version))
            pending += before
            found |= {} if before else {version: None}
    return tuple(found)


def only_root(version: Node) -> Node | None:
    """The node in whose storage a version is, if it is the same on all paths."""
    (root, *others) = roots(version)
    return None if others else root


def first_parameter(version: Node) -> Parameter | None:
    """The parameter whose storage holds a version, if it is the same on all paths."""
    root = only_root(version)
    return root if isinstance(root, Parameter) else None


def consumed(node: Node, types: Mapping[Node, Type], forks: Mapping[Join, Fork]) -> Iterator[tuple[Node, Use]]:
    """The versions that a node consumes."""
    for operand, use in _takes(node, forks):
        if is_collection(types.get(operand)):
            yield version_of(operand), use


def _takes(node: Node, forks: Mapping[Join, Fork]) -> Iterator[tuple[Node, Use]]:
    match node:
        case Write(collection) | Atomic(_, collection):
            yield collection, Use(node)
        case Phi(Region() as region, values):
            yield from ((value, Use(node, at)) for value, at in zip(values, region.predecessors, strict=False))
        case Reduce(Join() as join, init, update):
            if join in forks:
                yield init, Use(node, forks[join].control)
            yield update, Use(node, join.control)
        case Collect(Join() as join, value):
            yield value, Use(node, join.control)
        case ProductNode(fields):
            yield from ((it, Use(node)) for it in fields)
        case Return(control, value):
            yield value, Use(node, control)
        case Call(callee, _, arguments):
            if any(is_collection(it) for it in callee.parameter_types):
                taken = consumed_parameters(callee)
                yield from ((it, Use(node)) for index, it in enumerate(arguments) if index in taken)
        case Read() | InputNode() | ScalarNode() | PinnedNode() | ControlNode():
            return
        case _:
            assert_never(node)


def looked_at(node: Node, types: Mapping[Node, Type]) -> Iterator[tuple[Node, Use]]:
    """The versions that a node reads without consuming them."""
    match node:
        case Read(collection) if not is_projection(node) and not is_version_projection(node):
            if not (isinstance(collection, Atomic) and node.indices[:1] != [AFTER]):
                yield version_of(collection), Use(node)
        case Write(_, value) if is_collection(types.get(value)):
            yield version_of(value), Use(node)
        case Match(control, sum):
            yield version_of(sum), Use(node, control)
        case Call(callee, _, arguments) if any(is_collection(it) for it in callee.parameter_types):
            taken = consumed_parameters(callee)
            for index, argument in enumerate(arguments):
                if index not in taken and is_collection(types.get(argument)):
                    yield version_of(argument), Use(node)
        case Read() | Write() | Atomic() | Call() | ProductNode():
            return
        case InputNode() | ScalarNode() | PinnedNode() | ControlNode():
            return
        case _:
            assert_never(node)


def consumed_parameters(function: Function) -> frozenset[int]:
    """The parameters that the function consumes, so that its caller gives them up. The call graph must have no
    cycles.
    """
    types: dict[Node, Type] = {
        node: function.parameter_types[node.index] for node in function.nodes if isinstance(node, Parameter)
    }
    parameters: set[Node] = {node for node, type in types.items() if is_collection(type)}
    users = [node for node in function.nodes if any(version_of(it) in parameters for it in predecessors(node))]
    taken = {version for node in users for version, _ in consumed(node, types, {})}
    return frozenset(it.index for it in taken & parameters if isinstance(it, Parameter)) | _initial(
        function, parameters
    )


def _initial(function: Function, parameters: set[Node]) -> frozenset[int]:
    """The parameters that some Reduce starts from."""
    starts = {node.init for node in function.nodes if isinstance(node, Reduce)}
    return frozenset(it.index for it in starts & parameters if isinstance(it, Parameter))


def anti_dependences(
    consumers: Mapping[Node, Sequence[Use]], readers: Mapping[Node, Sequence[Use]]
) -> Mapping[Node, tuple[Node, ...]]:
    """For each floating consumer of some versions the floating readers of these, which must run before it.

    `consumers` and `readers` are the uses of each version, as `consumed` and `looked_at` give them.
    """
    before: dict[Node, tuple[Node, ...]] = {}
    for version, uses in consumers.items():
        floating = [it.user for it in readers.get(version, ()) if it.control is None]
        for use in uses:
            if use.control is None and floating:
                others = tuple(it for it in floating if it is not use.user)
                before[use.user] = before.get(use.user, ()) + others
    return before
