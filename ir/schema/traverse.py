"""Functions for any tree: its children, walking, rewriting, comparing and checking it.

Everything here needs constant stack space, however deep the tree is. A node's children are the nodes that it owns:
fields that are hidden, or operands (references to values that other nodes own), do not lead to children.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from .runtime import Category, Count, FieldInfo, Schema, SchemaNode, exact, values_of

N = TypeVar("N", bound=SchemaNode)


def children(node: SchemaNode) -> Iterator[SchemaNode]:
    """The nodes that `node` owns, in the order of its fields."""
    for info in node.FIELDS:
        if info.owns:
            for value in values_of(node, info):
                if isinstance(value, SchemaNode):
                    yield value


def walk(root: SchemaNode) -> Iterator[SchemaNode]:
    """`root` and everything below it, parents before children, in the order of the fields.

    A node with identity comes once, however many paths lead to it, so the walk of a cyclic graph ends too.
    """
    seen: set[int] = set()
    stack = [root]
    while stack:
        node = stack.pop()
        if node.IDENTITY:
            if id(node) in seen:
                continue
            seen.add(id(node))
        yield node
        stack.extend(reversed(tuple(children(node))))


def map_children(node: N, function: Callable[[SchemaNode], SchemaNode]) -> N:
    """A copy of an immutable node with `function` applied to each child, or `node` itself if no child changed."""
    if node.MUTABLE:
        raise TypeError(f"{type(node).__name__} is mutable: change it in place")
    changed: dict[str, object] = {}
    for info in (it for it in node.FIELDS if it.owns):
        old = values_of(node, info)
        new = tuple(function(value) if isinstance(value, SchemaNode) else value for value in old)
        if any(before is not after for before, after in zip(old, new, strict=True)):
            changed[info.name] = new if info.count is Count.MANY else new[0]
    if not changed:
        return node
    copy = type(node).blank()
    copy.fill({info.name: changed.get(info.name, getattr(node, info.name)) for info in node.FIELDS})
    return copy


def rewrite(root: SchemaNode, function: Callable[[SchemaNode], SchemaNode]) -> SchemaNode:
    """The tree with `function` applied to every node, children first; unchanged parts are shared with `root`.

    For immutable trees without cycles. A node that occurs twice is rewritten once.
    """
    done: dict[int, SchemaNode] = {}
    stack = [(root, False)]
    while stack:
        node, children_done = stack.pop()
        if id(node) in done:
            continue
        if children_done:
            done[id(node)] = function(map_children(node, lambda child: done[id(child)]))
        else:
            stack.append((node, True))
            stack.extend((child, False) for child in children(node))
    return done[id(root)]


def same(left: SchemaNode, right: SchemaNode) -> bool:
    """Whether two trees or graphs have the same shape and the same leaves.

    Hidden fields do not count. Nodes with identity must correspond one to one: where the left graph returns to a node,
    the right one must return to its counterpart. Floats are the same if their bits are, or both are NaN, externs if
    they are equal.
    """
    pairs = _Pairs()
    stack: list[tuple[object, object]] = [(left, right)]
    while stack:
        a, b = stack.pop()
        if type(a) is not type(b):
            return False
        if not (isinstance(a, SchemaNode) and isinstance(b, SchemaNode)):
            if exact(a) != exact(b):
                return False
        elif not pairs.fit(a, b):
            return False
        elif pairs.add(a, b):
            for info in (it for it in a.FIELDS if not it.hidden):
                in_a, in_b = values_of(a, info), values_of(b, info)
                if len(in_a) != len(in_b):
                    return False
                stack.extend(zip(in_a, in_b, strict=True))
    return True


class _Pairs:
    """The correspondence that `same` has assumed so far."""

    def __init__(self) -> None:
        self._to_right: dict[int, int] = {}
        self._to_left: dict[int, int] = {}
        self._seen: set[tuple[int, int]] = set()

    def fit(self, left: SchemaNode, right: SchemaNode) -> bool:
        """Whether the two may correspond: a node with identity corresponds to one node of the other graph only."""
        if not left.IDENTITY:
            return True
        paired = self._to_right.setdefault(id(left), id(right)) == id(right)
        return paired and self._to_left.setdefault(id(right), id(left)) == id(left)

    def add(self, left: SchemaNode, right: SchemaNode) -> bool:
        """Record a pair; returns whether it is new, so that its fields still have to be compared."""
        key = id(left), id(right)
        is_new = key not in self._seen
        self._seen.add(key)
        return is_new


def mistakes(root: SchemaNode, schema: Schema) -> list[str]:
    """The violations of the schema at or below `root`: one line for each wrong value. Externs are not checked."""
    return [
        f"{type(node).__name__}.{info.name}: expected {info.type}{info.count.value}, found {_described(value)}"
        for node in walk(root)
        for info in node.FIELDS
        for value in _misfits(node, info, schema)
    ]


def _misfits(node: SchemaNode, info: FieldInfo, schema: Schema) -> Iterable[object]:
    held: object = getattr(node, info.name)
    container = list if node.MUTABLE and not info.operand else tuple
    if info.count is Count.MANY and not isinstance(held, container):
        return [held]
    return [value for value in values_of(node, info) if not fits(value, info, schema)]


def fits(value: object, info: FieldInfo, schema: Schema) -> bool:
    """Whether the field may hold the value, as its one value or as an element. Externs are not checked."""
    match info.category:
        case Category.NODE:
            return isinstance(value, schema.members(info.type))
        case Category.ENUM:
            return isinstance(value, schema.enums[info.type])
        case Category.SCALAR:
            return type(value).__name__ == info.type
        case Category.EXTERN:
            return True


def _described(value: object) -> str:
    return type(value).__name__ if isinstance(value, SchemaNode) else repr(value)
