"""Builds a tree from events. Every value is checked against the schema; missing values get their defaults."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass, field

from .events import BEGIN_LIST, END, SKIP, Begin, CodecError, Event, Externs, Label, Leaf, Mark, Reference, Sign, Word
from .runtime import REQUIRED, Category, Count, FieldInfo, Schema, SchemaNode, as_many
from .traverse import fits


def decode(events: Iterable[Event], schema: Schema, externs: Externs) -> SchemaNode:
    """The tree that the events describe. Raises `CodecError`, with the field at fault."""
    return _Decoder(schema, externs).tree(events)


@dataclass(slots=True)
class _OpenNode:
    """A node whose fields are being read. A field may hold a `Reference` until all nodes are read."""

    node: SchemaNode
    values: dict[str, object] = field(default_factory=dict[str, object])
    label: str | None = None
    position: int = 0

    def next_field(self) -> FieldInfo:
        """The field that the next value belongs to."""
        fields = self.node.FIELDS
        if self.label is not None:
            found = next((info for info in fields if info.name == self.label), None)
            if found is None:
                raise CodecError(f"{self.name} has no field '{self.label}'")
            self.label = None
            return found
        if self.position >= len(fields):
            raise CodecError(f"{self.name} has {len(fields)} fields only")
        self.position += 1
        return fields[self.position - 1]

    def put(self, info: FieldInfo, value: object) -> None:
        if info.name in self.values:
            raise CodecError(f"{self.name}.{info.name} is given twice")
        self.values[info.name] = value

    @property
    def name(self) -> str:
        return type(self.node).__name__


@dataclass(slots=True)
class _OpenList:
    """A list whose elements are being read."""

    owner: _OpenNode
    info: FieldInfo
    items: list[object] = field(default_factory=list[object])


class _Decoder:
    def __init__(self, schema: Schema, externs: Externs) -> None:
        self._schema = schema
        self._externs = externs
        self._stack: list[_OpenNode | _OpenList] = []
        self._nodes: list[_OpenNode] = []
        self._by_id: dict[int, SchemaNode] = {}

    def tree(self, events: Iterable[Event]) -> SchemaNode:
        for event in events:
            self._take(event)
        if self._stack or not self._nodes:
            raise CodecError("the text ends within a node" if self._stack else "the text holds no node")
        for opened in self._nodes:
            self._complete(opened)
        return self._nodes[0].node

    def _take(self, event: Event) -> None:
        match event:
            case Begin(kind, number):
                self._begin(kind, number)
            case Mark(number):
                self._register(self._open_node(), number)
            case Label(name):
                self._open_node().label = name
            case Leaf() | Reference():
                self._value(event)
            case Sign():
                self._sign(event)

    def _sign(self, sign: Sign) -> None:
        if sign is BEGIN_LIST:
            self._begin_list()
        elif sign is END:
            self._end()
        elif sign is SKIP:
            self._open_node().next_field()

    def _open_node(self) -> _OpenNode:
        top = self._stack[-1] if self._stack else None
        if not isinstance(top, _OpenNode):
            raise CodecError("a field outside of a node")
        return top

    def _begin(self, kind: str, number: int | None) -> None:
        if kind not in self._schema.by_name:
            raise CodecError(f"the schema '{self._schema.name}' has no kind '{kind}'")
        opened = _OpenNode(self._schema.by_name[kind].blank())
        self._nodes.append(opened)
        if number is not None:
            self._register(opened, number)
        if self._stack:
            self._value(opened.node)
        self._stack.append(opened)

    def _register(self, opened: _OpenNode, number: int) -> None:
        if not opened.node.IDENTITY:
            raise CodecError(f"{opened.name} has no identity, so it cannot have an id")
        if number in self._by_id:
            raise CodecError(f"two nodes have the id {number}")
        self._by_id[number] = opened.node

    def _begin_list(self) -> None:
        owner = self._open_node()
        info = owner.next_field()
        if info.count is not Count.MANY:
            raise CodecError(f"{owner.name}.{info.name} is no list")
        self._stack.append(_OpenList(owner, info))

    def _end(self) -> None:
        closed = self._stack.pop()
        if isinstance(closed, _OpenList):
            closed.owner.put(closed.info, tuple(closed.items))

    def _value(self, value: SchemaNode | Leaf | Reference) -> None:
        if not self._stack:
            raise CodecError("the text must begin with a node")
        top = self._stack[-1]
        if isinstance(top, _OpenList):
            top.items.append(self._converted(top.owner, top.info, value))
            return
        info = top.next_field()
        is_none = isinstance(value, Leaf) and value.value is None
        if info.count is Count.MANY:
            raise CodecError(f"{top.name}.{info.name} must be a list")
        top.put(info, None if is_none and info.count is Count.OPTIONAL else self._converted(top, info, value))

    def _converted(self, owner: _OpenNode, info: FieldInfo, value: SchemaNode | Leaf | Reference) -> object:
        """The value of a leaf, by the field's type; nodes and references as they are."""
        if not isinstance(value, Leaf):
            return value
        try:
            return self._leaf(info, value.value)
        except ValueError as error:
            where = f"{owner.name}.{info.name}"
            raise CodecError(f"{where}: expected {info.type}, found {value.value!r} ({error})") from error

    def _leaf(self, info: FieldInfo, value: str | int | float | bool | None) -> object:
        if isinstance(value, str) and info.category is Category.ENUM:
            return _enum_member(self._schema.enums[info.type], str(value))
        if isinstance(value, str) and info.category is Category.EXTERN:
            if info.type not in self._externs:
                raise CodecError(f"no codec for the extern type '{info.type}'")
            return self._externs[info.type].from_text(str(value))
        if info.category is Category.SCALAR:
            return _scalar(info.type, value)
        raise ValueError("not a value of this type")

    def _complete(self, opened: _OpenNode) -> None:
        values: dict[str, object] = {}
        for info in opened.node.FIELDS:
            given = opened.values.get(info.name, info.default)
            if given is REQUIRED:
                raise CodecError(f"{opened.name}.{info.name} is missing")
            items = tuple(self._resolved(item) for item in as_many(info, given))
            for item in items:
                if not fits(item, info, self._schema):
                    found = type(item).__name__
                    raise CodecError(f"{opened.name}.{info.name}: expected {info.type}, found {found}")
            values[info.name] = items if info.count is Count.MANY else next(iter(items), None)
        opened.node.fill(values)

    def _resolved(self, value: object) -> object:
        if not isinstance(value, Reference):
            return value
        if value.id not in self._by_id:
            raise CodecError(f"no node has the id {value.id}")
        return self._by_id[value.id]


def _enum_member(members: type[enum.Enum], value: str) -> enum.Enum:
    return members(value)


def _scalar(type_name: str, value: str | int | float | bool | None) -> object:
    """A scalar of the schema. Booleans are words, and so are the floats that JSON cannot express as numbers."""
    match type_name, value:
        case "float", int() | float() | str() if not isinstance(value, bool):
            return float(value)
        case "bool", "true" | "false" if isinstance(value, Word):
            return value == "true"
        case "bytes", str():
            return bytes.fromhex(value)
        case "str", str() if not isinstance(value, Word):
            return value
        case _ if type(value).__name__ == type_name and type_name in ("bool", "int"):
            return value
        case _:
            raise ValueError("not a value of this type")
