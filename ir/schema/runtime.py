"""The base classes of generated node classes.

A generated module holds classes derived from `SchemaNode`, each with its `FIELDS`, and one `SCHEMA` that names them
all. Traversals (`traverse`) and codecs (`codec`) are written once, against this metadata, and serve every stage.
"""

from __future__ import annotations

import enum
import math
import struct
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import ClassVar, Final, Self, cast

from ...base.records import dataclass, field

REPR_DEPTH: Final = 8


class Count(enum.Enum):
    """How many values a field holds."""

    ONE = ""
    OPTIONAL = "?"
    MANY = "*"


class Category(enum.Enum):
    """The kind of a field's values."""

    NODE = "node"
    ENUM = "enum"
    EXTERN = "extern"
    SCALAR = "scalar"


class Required(enum.Enum):
    """The default of a field that has none."""

    REQUIRED = "required"


REQUIRED: Final = Required.REQUIRED

Default = str | int | float | bool | bytes | enum.Enum | tuple[()] | None


@dataclass(frozen=True, slots=True)
class FieldInfo:
    """One field as the schema declares it.

    `type` is the schema's name for the field's type. A `hidden` field is no child and does not take part in
    comparisons. An `operand` is a tracked reference to a value: it is compared, but another node owns the value. A node
    field that is neither `owns` its nodes, which are the children. In an operation, a `note` is information for people
    that does not affect the result, and the value of the field with `is_word` is the operation's word in the text form.
    """

    name: str
    type: str
    category: Category
    count: Count = Count.ONE
    hidden: bool = False
    operand: bool = False
    default: Default = REQUIRED
    note: bool = False
    is_word: bool = False

    @property
    def owns(self) -> bool:
        """Whether the field's nodes are children."""
        return self.category is Category.NODE and not self.hidden and not self.operand


class SchemaNode:
    """Base of every generated class.

    `IDENTITY` says whether nodes of the kind are compared as objects (`@` in the schema) or by their fields, `MUTABLE`
    whether fields may be assigned to, in which case lists are `list`, else `tuple`.
    """

    __slots__ = ()

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = ()
    IDENTITY: ClassVar[bool] = False
    MUTABLE: ClassVar[bool] = False

    @classmethod
    def blank(cls) -> Self:
        """An object whose fields are not set yet, so that cycles can be built; `fill` must follow."""
        return cls.__new__(cls)

    @classmethod
    def of(cls, values: Mapping[str, object]) -> Self:
        """A node with these values, lists as tuples, and its defaults for the fields that are missing."""
        node = cls.blank()
        node.fill({info.name: values.get(info.name, info.default) for info in cls.FIELDS})
        return node

    def fill(self, values: Mapping[str, object]) -> None:
        """Set every field of a blank node. `values` has all fields, lists as tuples."""
        for info in self.FIELDS:
            if info.name in values:
                is_list = info.count is Count.MANY and self.MUTABLE
                value = list(as_many(info, values[info.name])) if is_list else values[info.name]
                object.__setattr__(self, info.name, value)

    def __repr__(self) -> str:
        return show(self)


class Operation(SchemaNode):
    """Base of the kinds that are operations, and of their groups.

    `WORD` is the operation's word in the text form; it is empty if the word is the value of a field. Every kind has
    `copy`, which shares no list with the original.
    """

    __slots__ = ()

    WORD: ClassVar[str] = ""

    @property
    def is_commutative(self) -> bool:
        """Whether the operands may be exchanged."""
        return False

    def attributes(self) -> tuple[Hashable, ...]:
        """The attributes that, with the operands, determine what the operation computes; notes are left out."""
        raise NotImplementedError


def value_key(operation: Operation, operands: Sequence[Hashable]) -> tuple[object, ...]:
    """A key that is equal for operations of one kind with equal attributes and operands; the order of the operands does
    not matter if the operation is commutative.

    `operands` has a representative for each operand of the operation. Pure operations with equal keys have equal
    values.
    """
    ordered = sorted(operands, key=hash) if operation.is_commutative else operands
    return type(operation), *operation.attributes(), *ordered


class ExactNode(SchemaNode):
    """Base of the kinds that are compared by their fields and hold floats.

    Floats are the same if their bits are: 0.0 and -0.0 differ, and a NaN equals itself.
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ExactNode) and type(other) is type(self) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[object, ...]:
        return tuple(exact(getattr(self, info.name)) for info in self.FIELDS if not info.hidden)


def exact(value: object) -> object:
    """The value, with each float (also in tuples) replaced by its bits, so that 0.0 and -0.0 differ.

    All NaNs are equal.
    """
    if isinstance(value, float):
        return "nan" if math.isnan(value) else struct.pack("<d", value)
    if type(value) is tuple:
        return tuple(exact(item) for item in cast("tuple[object, ...]", value))
    return value


@dataclass(frozen=True, slots=True)
class Schema:
    """The kinds, enums and sums of one generated module, by their schema names."""

    name: str
    kinds: tuple[type[SchemaNode], ...]
    enums: Mapping[str, type[enum.Enum]]
    sums: Mapping[str, tuple[type[SchemaNode], ...]]
    externs: tuple[str, ...]
    by_name: Mapping[str, type[SchemaNode]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "by_name", {kind.__name__: kind for kind in self.kinds})

    def members(self, type_name: str) -> tuple[type[SchemaNode], ...]:
        """The kinds that a field of this node type may hold: the members of a sum, or the one kind with that name."""
        found = self.sums.get(type_name)
        return found if found is not None else (self.by_name[type_name],)


def values_of(node: SchemaNode, info: FieldInfo) -> tuple[object, ...]:
    """The values in a field: none or one for an optional field, each of a list, else the one."""
    return as_many(info, getattr(node, info.name))


def as_many(info: FieldInfo, value: object) -> tuple[object, ...]:
    """What a field holds, as a tuple."""
    if info.count is Count.MANY:
        return tuple(cast("Iterable[object]", value))
    return () if value is None and info.count is Count.OPTIONAL else (value,)


def show(node: SchemaNode, depth: int = REPR_DEPTH) -> str:
    """The `repr` of a node: its visible fields, where a nested node with identity is shown as `<Kind>` or `<Kind
    name>`.

    Every cycle contains a node with identity, so the text is finite; subtrees deeper than `depth` are shown as `...`.
    """
    parts = [_show_field(node, info, depth) for info in node.FIELDS if not info.hidden]
    return f"{type(node).__name__}({', '.join(parts)})"


def _show_field(node: SchemaNode, info: FieldInfo, depth: int) -> str:
    shown = [_show_value(value, depth - 1) for value in values_of(node, info)]
    if info.count is Count.MANY:
        return f"[{', '.join(shown)}]"
    return shown[0] if shown else "None"


def _show_value(value: object, depth: int) -> str:
    if isinstance(value, enum.Enum):
        return f"{type(value).__name__}.{value.name}"
    if not isinstance(value, SchemaNode):
        return repr(value)
    if value.IDENTITY:
        name: object = getattr(value, "name", None)
        return f"<{type(value).__name__} {name}>" if isinstance(name, str) else f"<{type(value).__name__}>"
    return show(value, depth) if depth > 0 else "..."
