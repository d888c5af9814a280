"""A schema as read: its definitions, resolved and checked.

`asdl` builds these from text; `generate` writes Python from them. Every name a `SchemaModule` mentions is defined,
and every rule of the dialect holds, once `SchemaModule.check` has returned.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from .runtime import REQUIRED, Category, Count, Required

SCALARS: Final = ("str", "int", "bool", "float", "bytes")

# Names with a meaning of their own in JSON and in the generated classes, and further ones where uses are tracked.
RESERVED_FIELDS: Final = frozenset({"kind", "property", "super", "tuple", "list", *SCALARS})
RESERVED_FOR_USERS: Final = frozenset({"uses", "users", "use_count", "operands"})
RESERVED_CLASSES: Final = frozenset(
    {"Category", "ClassVar", "Count", "Enum", "ExactNode", "FieldInfo", "Iterable", "Schema", "SchemaNode", "TypeAlias"}
    | {"None", "True", "False", "TYPE_CHECKING"}
)


@dataclass(frozen=True, slots=True)
class Place:
    """A position in a schema file, counted from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class SchemaError(Exception):
    """A schema that breaks the dialect; the message begins with the place at fault."""

    def __init__(self, place: Place, message: str) -> None:
        super().__init__(f"{place}: {message}")
        self.place = place
        self.message = message


@dataclass(frozen=True, slots=True)
class EnumDefault:
    """A default that names a constructor of the field's enum."""

    constructor: str


DefaultValue = str | int | float | bool | EnumDefault | tuple[()] | Required | None


@dataclass(frozen=True, slots=True)
class Field:
    r"""A field of a kind: `expression? \value = none` and the like."""

    name: str
    type: str
    count: Count
    hidden: bool
    default: DefaultValue
    place: Place = field(compare=False)

    @property
    def required(self) -> bool:
        """Whether the field must be given: it has no default."""
        return self.default is REQUIRED


@dataclass(frozen=True, slots=True)
class Kind:
    """A node class: a constructor of a sum, or a product (whose `name` is already in CamelCase)."""

    name: str
    fields: tuple[Field, ...]
    identity: bool
    doc: str
    place: Place = field(compare=False)


@dataclass(frozen=True, slots=True)
class Reference:
    """A sum's alternative that names another sum, product or constructor."""

    name: str
    place: Place = field(compare=False)


@dataclass(frozen=True, slots=True)
class Sum:
    """`name = A(…) | B(…) | other`."""

    name: str
    alternatives: tuple[Kind | Reference, ...]
    doc: str
    place: Place = field(compare=False)


@dataclass(frozen=True, slots=True)
class Product:
    """`name = (…)`: a class that is no alternative of a sum by birth."""

    name: str
    kind: Kind
    place: Place = field(compare=False)


@dataclass(frozen=True, slots=True)
class EnumType:
    """`name = A | B`, none of which has fields."""

    name: str
    constructors: tuple[str, ...]
    doc: str
    place: Place = field(compare=False)


@dataclass(frozen=True, slots=True)
class Extern:
    """`extern name = Class in ..module`: an opaque leaf from handwritten Python."""

    name: str
    python_class: str
    module: str
    place: Place = field(compare=False)


Definition = Sum | Product | EnumType


@dataclass(frozen=True, slots=True)
class SchemaModule:
    """A whole schema file. `output` is the Python file to write, relative to the repository's root."""

    name: str
    output: str
    immutable: bool
    tracked: str | None
    externs: tuple[Extern, ...]
    definitions: tuple[Definition, ...]
    doc: str
    place: Place = field(compare=False)

    @property
    def kinds(self) -> Iterator[Kind]:
        """Every node class, in the order of the file."""
        for definition in self.definitions:
            if isinstance(definition, Product):
                yield definition.kind
            elif isinstance(definition, Sum):
                yield from (it for it in definition.alternatives if isinstance(it, Kind))

    @property
    def sums(self) -> Iterator[Sum]:
        """Every sum that is not an enum, in the order of the file."""
        return (it for it in self.definitions if isinstance(it, Sum))

    @property
    def enums(self) -> Iterator[EnumType]:
        """Every enum, in the order of the file."""
        return (it for it in self.definitions if isinstance(it, EnumType))

    def enum(self, name: str) -> EnumType | None:
        """The enum of this name, if there is one."""
        return next((it for it in self.enums if it.name == name), None)

    def members(self, name: str) -> tuple[Kind, ...]:
        """The kinds that a sum, a product or a constructor name stands for, each once; empty for anything else."""
        return tuple(dict.fromkeys(self._members(name)))

    def _members(self, name: str) -> Iterator[Kind]:
        yield from (kind for kind in self.kinds if kind.name == name)
        for definition in self.definitions:
            if isinstance(definition, Sum) and definition.name == name:
                for it in definition.alternatives:
                    yield from (it,) if isinstance(it, Kind) else self._members(it.name)
            elif isinstance(definition, Product) and definition.name == name:
                yield definition.kind

    def category(self, type_name: str) -> Category | None:
        """What a field of this type holds, or None if there is no such type."""
        if type_name in SCALARS:
            return Category.SCALAR
        if any(it.name == type_name for it in self.externs):
            return Category.EXTERN
        if self.enum(type_name) is not None:
            return Category.ENUM
        return Category.NODE if self.members(type_name) else None

    def is_operand(self, kind: Kind, spec: Field) -> bool:
        """Whether the field is a tracked reference to a value."""
        return kind.identity and self.tracked is not None and spec.type == self.tracked

    def is_value(self, kind: Kind) -> bool:
        """Whether the kind is part of the tracked sum."""
        return self.tracked is not None and kind in self.members(self.tracked)

    def in_base(self, kind: Kind, spec: Field) -> bool:
        """Whether the field is an attribute of the handwritten `Value`: all kinds of the tracked sum have it."""
        if self.tracked is None or not self.is_value(kind):
            return False
        declared = (spec.name, spec.type, spec.count)
        return all(
            any((it.name, it.type, it.count) == declared for it in member.fields)
            for member in self.members(self.tracked)
        )

    def derives_from_user(self, kind: Kind) -> bool:
        """Whether the kind's operands are tracked: it has some, or is a value itself."""
        return self.is_value(kind) or any(self.is_operand(kind, spec) for spec in kind.fields)

    def holds_floats(self, kind: Kind) -> bool:
        """Whether comparing the kind by its fields means comparing floats."""
        return not kind.identity and any(spec.type == "float" and not spec.hidden for spec in kind.fields)

    def is_mutable(self, kind: Kind) -> bool:
        """Whether the kind's fields may be assigned to."""
        return kind.identity and not self.immutable


def camel_case(name: str) -> str:
    """`binary_op` as `BinaryOp`; a name that begins with a capital stays as it is."""
    return name if name[:1].isupper() else "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def snake_case(name: str) -> str:
    """`BinaryOp` as `binary_op`; digits stay with the word before them."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
