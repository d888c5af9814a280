"""Converts a tree to events.

Every node with identity is written once. A node that `root` owns directly or indirectly is written inside its owner,
although operands and back edges may refer to it earlier; any other node is written at its first occurrence. All other
occurrences are references, including forward ones. Fields that have their default value are left out.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from .events import BEGIN_LIST, END, Begin, CodecError, Event, Externs, Label, Leaf, Reference, Word
from .runtime import Category, Count, FieldInfo, SchemaNode, exact, values_of
from .traverse import children


def encode(root: SchemaNode, externs: Externs) -> list[Event]:
    """The events of the tree. Raises `CodecError` if an extern type has no codec."""
    return _renumbered(_Encoder(externs).events(root))


class _Visit(NamedTuple):
    """A pending visit of the encoder: a node, and whether it was reached as an owned child."""

    node: SchemaNode
    owning: bool


class _Encoder:
    def __init__(self, externs: Externs) -> None:
        self._externs = externs
        self._numbers: dict[int, int] = {}
        self._written: set[int] = set()
        self._claimed: set[int] = set()

    def events(self, root: SchemaNode) -> list[Event]:
        events: list[Event] = []
        stack: list[Iterator[Event | _Visit]] = [iter([_Visit(root, owning=True)])]
        while stack:
            item = next(stack[-1], None)
            if item is None:
                stack.pop()
            elif not isinstance(item, _Visit):
                events.append(item)
            elif self._is_elsewhere(item):
                events.append(Reference(self._number(item.node)))
            else:
                self._claim(item.node)
                self._written.add(id(item.node))
                stack.append(self._node(item.node))
        return events

    def _is_elsewhere(self, visit: _Visit) -> bool:
        """Whether the node is already written, or will be written by its owner."""
        if not visit.node.IDENTITY:
            return False
        return id(visit.node) in self._written or (not visit.owning and id(visit.node) in self._claimed)

    def _claim(self, node: SchemaNode) -> None:
        """Mark everything that `node` owns as to be written by its owner."""
        stack = [node]
        while stack:
            current = stack.pop()
            if id(current) not in self._claimed:
                self._claimed.add(id(current))
                stack.extend(children(current))

    def _number(self, node: SchemaNode) -> int:
        return self._numbers.setdefault(id(node), len(self._numbers) + 1)

    def _node(self, node: SchemaNode) -> Iterator[Event | _Visit]:
        yield Begin(type(node).__name__, self._number(node) if node.IDENTITY else None)
        for position, info in enumerate(node.FIELDS):
            if not _is_default(node, info):
                yield Label(info.name, position)
                yield from self._field(node, info)
        yield END

    def _field(self, node: SchemaNode, info: FieldInfo) -> Iterator[Event | _Visit]:
        values = values_of(node, info)
        if info.count is Count.MANY:
            yield BEGIN_LIST
            yield from (self._value(value, info) for value in values)
            yield END
        elif values:
            yield self._value(values[0], info)
        else:
            yield Leaf(None)

    def _value(self, value: object, info: FieldInfo) -> Event | _Visit:
        if isinstance(value, SchemaNode):
            return _Visit(value, info.owns)
        if info.category is Category.EXTERN:
            return Leaf(self._extern_text(value, info.type))
        if isinstance(value, enum.Enum):
            return Leaf(Word(value.value))
        if isinstance(value, bytes):
            return Leaf(value.hex())
        if isinstance(value, (str, int, float, bool)):
            return Leaf(value)
        raise CodecError(f"the field '{info.name}' holds {value!r}, which is no {info.type}")

    def _extern_text(self, value: object, name: str) -> str:
        codec = self._externs.get(name)
        if codec is None:
            raise CodecError(f"no codec for the extern type '{name}'")
        return codec.to_text(value)


def _is_default(node: SchemaNode, info: FieldInfo) -> bool:
    value: object = getattr(node, info.name)
    if info.count is Count.MANY:
        return info.default == () and not values_of(node, info)
    return type(value) is type(info.default) and exact(value) == exact(info.default)


def _renumbered(events: list[Event]) -> list[Event]:
    """The events with ids only for nodes that have references, counted from 1 in the order of the text."""
    needed = {event.id for event in events if isinstance(event, Reference)}
    begun = (event.id for event in events if isinstance(event, Begin))
    numbers = {old: new for new, old in enumerate((number for number in begun if number in needed), 1)}
    return [_with_number(event, numbers) for event in events]


def _with_number(event: Event, numbers: Mapping[int, int]) -> Event:
    match event:
        case Begin(kind, int(number)):
            return Begin(kind, numbers.get(number))
        case Reference(number):
            return Reference(numbers[number])
        case _:
            return event
