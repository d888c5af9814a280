"""A schema in memory: its definitions, resolved and checked.

`asdl` builds these from text; `generate` writes Python from them. In a `SchemaModule` that `check` has accepted, every
name is defined and every rule of the dialect holds.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from .runtime import REQUIRED, Category, Count, Required

SCALARS: Final = ("str", "int", "bool", "float", "bytes")

# Names that are reserved in JSON and in the generated classes, and further ones where uses are tracked.
RESERVED_FIELDS: Final = frozenset({"kind", "property", "super", "tuple", "list", *SCALARS})
RESERVED_FOR_USERS: Final = frozenset({"uses", "users", "use_count", "operands"})
RESERVED_FOR_OPERATIONS: Final = frozenset(
    {"inputs", "map_inputs", "control_inputs", "pinned_to", "attributes", "is_commutative", "copy", "word"}
)
RESERVED_CLASSES: Final = frozenset(
    {"Category", "ClassVar", "Count", "Enum", "ExactNode", "FieldInfo", "Iterable", "Schema", "SchemaNode", "TypeAlias"}
    | {"Callable", "Hashable", "Mapping", "Operation", "OperationBuilder", "TypeVar"}
    | {"None", "True", "False", "TYPE_CHECKING"}
)


class Role(enum.Enum):
    """The role of a field of an operation."""

    DATA = "data"
    """An operand that is a value, or an attribute that determines what the operation computes."""
    CONTROL = "control"
    """An operand that control comes from."""
    PINNED = "pinned"
    """The control node that the operation belongs to: the operation itself is not part of the control flow."""
    NOTE = "note"
    """Information for people, such as a name or a source place, that does not affect the operation's result."""


class Flag(enum.Enum):
    """A property of every operation of a kind."""

    CONTROL = "control"
    """A node of the control flow."""
    INPUT = "input"
    """Has no operands: a parameter or a constant."""
    SCALAR = "scalar"
    """Computes a scalar from scalars; has rows in the tables of typing rules, evaluators and code."""
    PURE = "pure"
    """The result depends on attributes and operands alone: two operations with equal ones give the same value."""
    READS = "reads"
    """The result depends on memory."""
    WRITES = "writes"
    """Changes memory, or gives a new version of a collection."""
    EXITS = "exits"
    """May end the invocation."""
    COMMUTATIVE = "commutative"
    """The operands may be exchanged."""
    COMPOSED = "composed"
    """The builder's method is handwritten, since it does more than construct."""


GROUPS: Final[Mapping[Flag | Role, tuple[str, str]]] = {
    Flag.CONTROL: ("Control", "Where control passes."),
    Role.PINNED: ("Pinned", "What belongs to one control node and has no other place."),
    Flag.INPUT: ("Input", "What has no operands: parameters and constants."),
    Flag.SCALAR: ("Scalar", "What computes a scalar from scalars alone."),
    Flag.PURE: ("Pure", "What gives the same value whenever attributes and operands are the same."),
    Flag.READS: ("Reading", "What depends on memory."),
    Flag.WRITES: ("Writing", "What changes memory, or makes a new version of storage."),
    Flag.EXITS: ("Exiting", "What may end the invocation."),
}
"""The class of all operations with a flag, or with a field of a role: the prefix of its name, which ends in the sum's
name, and its docstring.
"""


@dataclass(frozen=True, slots=True)
class SchemaPosition:
    """A position in a schema file, counted from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class SchemaError(Exception):
    """A schema breaks a rule of the dialect; the message begins with the place at fault."""

    def __init__(self, place: SchemaPosition, message: str) -> None:
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
    place: SchemaPosition = field(compare=False)
    role: Role = Role.DATA

    @property
    def required(self) -> bool:
        """Whether the field must be given: it has no default."""
        return self.default is REQUIRED


@dataclass(frozen=True, slots=True)
class Annotation:
    """One entry of `["word", flag]`; `is_text` if it is in quotes."""

    text: str
    is_text: bool
    place: SchemaPosition = field(compare=False)


@dataclass(frozen=True, slots=True)
class Kind:
    """A node class: a constructor of a sum, or a product (whose `name` is already in CamelCase)."""

    name: str
    fields: tuple[Field, ...]
    identity: bool
    doc: str
    place: SchemaPosition = field(compare=False)
    annotations: tuple[Annotation, ...] = ()

    @property
    def flags(self) -> frozenset[Flag]:
        """The flags among the annotations."""
        names = {it.text for it in self.annotations if not it.is_text}
        return frozenset(flag for flag in Flag if flag.value in names)

    @property
    def word(self) -> str:
        """The operation's word in the text form; empty if the word is the value of a field."""
        return next((it.text for it in self.annotations if it.is_text), "")

    def is_word(self, spec: Field) -> bool:
        """Whether the field's value is the operation's word in the text form."""
        named = (it.text for it in self.annotations if not it.is_text)
        return spec.name in named and spec.name not in {flag.value for flag in Flag}

    def has(self, mark: Flag | Role) -> bool:
        """Whether the kind has the flag, or a field of the role."""
        return mark in self.flags if isinstance(mark, Flag) else any(spec.role is mark for spec in self.fields)


@dataclass(frozen=True, slots=True)
class Reference:
    """A sum's alternative that names another sum, product or constructor."""

    name: str
    place: SchemaPosition = field(compare=False)


@dataclass(frozen=True, slots=True)
class Sum:
    """`name = A(…) | B(…) | other`."""

    name: str
    alternatives: tuple[Kind | Reference, ...]
    doc: str
    place: SchemaPosition = field(compare=False)


@dataclass(frozen=True, slots=True)
class Product:
    """`name = (…)`: a class that is not declared as an alternative of a sum."""

    name: str
    kind: Kind
    place: SchemaPosition = field(compare=False)


@dataclass(frozen=True, slots=True)
class EnumType:
    """`name = A | B`, none of which has fields. The operators `commutative` may have their operands exchanged."""

    name: str
    constructors: tuple[str, ...]
    doc: str
    place: SchemaPosition = field(compare=False)
    commutative: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Extern:
    """`extern name = Class in ..module`: a handwritten Python class, which the schema treats as a leaf."""

    name: str
    python_class: str
    module: str
    place: SchemaPosition = field(compare=False)


@dataclass(frozen=True, slots=True)
class TextForm:
    """`text name = function in ..module`: the Python function that prints nodes of the kind, which `str` calls."""

    name: str
    function: str
    module: str
    place: SchemaPosition = field(compare=False)


Definition = Sum | Product | EnumType


@dataclass(frozen=True, slots=True)
class Group:
    """All operations with one flag, or with a field of one role."""

    name: str
    doc: str
    kinds: tuple[Kind, ...]


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
    place: SchemaPosition = field(compare=False)
    operations: str | None = None
    texts: tuple[TextForm, ...] = ()

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
        """The kinds that the name of a sum, a product or a constructor denotes, each once; empty for any other name."""
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

    def text_form(self, kind: Kind) -> TextForm | None:
        """How nodes of the kind are printed, if it is declared."""
        return next((it for it in self.texts if camel_case(it.name) == kind.name), None)

    def is_operand(self, kind: Kind, spec: Field) -> bool:
        """Whether the field is a tracked reference to a value."""
        return kind.identity and self.tracked is not None and spec.type == self.tracked

    def is_operation(self, kind: Kind) -> bool:
        """Whether the kind is part of the sum of operations."""
        return self.operations is not None and kind in self.members(self.operations)

    def words(self, kind: Kind) -> list[str]:
        """The words that an operation of the kind may have in the text form; the words of an extern are unknown."""
        enums = (self.enum(spec.type) for spec in kind.fields if kind.is_word(spec))
        return [kind.word] if kind.word else [snake_case(it) for enum in enums if enum for it in enum.constructors]

    @property
    def groups(self) -> Iterator[Group]:
        """The groups of operations that have members."""
        if self.operations is None:
            return
        suffix = camel_case(self.operations)
        operations = self.members(self.operations)
        for mark, (name, doc) in GROUPS.items():
            kinds = tuple(it for it in operations if it.has(mark))
            if kinds:
                yield Group(name + suffix, doc, kinds)
        if any(it.has(Flag.CONTROL) for it in operations):
            floating = tuple(it for it in operations if not it.has(Flag.CONTROL) and not it.has(Role.PINNED))
            yield Group(f"Floating{suffix}", "What runs wherever its operands are known.", floating)

    def groups_of(self, kind: Kind) -> list[Group]:
        """The groups that the kind belongs to."""
        return [it for it in self.groups if kind in it.kinds]

    def is_edge(self, spec: Field) -> bool:
        """Whether the field holds other operations as untracked operands; a hidden field never does."""
        return self.tracked is None and self.operations is not None and not spec.hidden and spec.type == self.operations

    def is_used(self, kind: Kind, spec: Field) -> bool:
        """Whether the field is an operand, tracked or not."""
        return self.is_operand(kind, spec) or self.is_edge(spec)

    def holds_edges(self, kind: Kind) -> bool:
        """Whether the kind is a part of operations, is compared by its fields, and has edges among them."""
        return not kind.identity and any(self.is_edge(spec) for spec in kind.fields)

    def leads_to_edges(self, spec: Field) -> bool:
        """Whether the values of the field hold edges."""
        return any(self.holds_edges(kind) for kind in self.members(spec.type))

    def is_holder(self, kind: Kind) -> bool:
        """Whether a field that leads to edges may hold the kind."""
        sums = (it for it in self.sums if kind in it.alternatives)
        return any(self.holds_edges(it) for sum_ in sums for it in self.members(sum_.name))

    def is_value(self, kind: Kind) -> bool:
        """Whether the kind is part of the tracked sum."""
        return self.tracked is not None and kind in self.members(self.tracked)

    def in_base(self, kind: Kind, spec: Field) -> bool:
        """Whether the handwritten `Value` has the field as an attribute, since all kinds of the tracked sum have the
        field.
        """
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
