# Written by `python -m tinct.ir.schema.generate` from ir/schema/hercules.asdl: change the schema, not this file.
# ruff: noqa: D102  (the schema documents the operands; methods are as in ir/schema/asdl.py)

"""Hercules IR: a sea of nodes with fork/join parallelism, after the Hercules IR document.

A node has its shape in parentheses and its meaning in brackets; `ir/schema/asdl.py` describes the notation. A field is
a control predecessor (`control`), the control node that the node belongs to (`pinned`), information for people
(`note`), or data. `pure` nodes with equal data have equal values. A node that `writes` gives a new version of a
collection. A node that is `scalar` needs a row in `ir/hercules/operations.py` and one in `backend/cpu/nodes.py`.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, ClassVar, TypeAlias, TypeVar

from ...base.records import dataclass, field
from ..schema.runtime import Category, Count, ExactNode, FieldInfo, Operation, Schema, SchemaNode

if TYPE_CHECKING:
    from ..source import Span


class DynamicOp(enum.Enum):
    """`dynamic_op` of the schema."""

    ADD = "add"
    SUB = "sub"
    MUL = "mul"
    DIV = "div"
    REM = "rem"
    MIN = "min"
    MAX = "max"


class UnaryOp(enum.Enum):
    """The operations of Unary and Binary nodes have WGSL's meaning, which is total: integers wrap, x / 0 is x and x % 0
    is 0, INT_MIN / -1 is INT_MIN and INT_MIN % -1 is 0, shift counts are taken modulo the width, != is true on NaN
    and the other comparisons false.
    """

    NEGATE = "negate"
    NOT = "not"


class BinaryOp(enum.Enum):
    """`binary_op` of the schema."""

    ADD = "add"
    SUB = "sub"
    MUL = "mul"
    DIV = "div"
    REM = "rem"
    LESS = "less"
    LESS_EQUAL = "less_equal"
    GREATER = "greater"
    GREATER_EQUAL = "greater_equal"
    EQUAL = "equal"
    NOT_EQUAL = "not_equal"
    AND = "and"
    OR = "or"
    XOR = "xor"
    SHIFT_LEFT = "shift_left"
    SHIFT_RIGHT = "shift_right"

    @property
    def is_commutative(self) -> bool:
        """Whether the operands may be exchanged."""
        return self in (
            BinaryOp.ADD,
            BinaryOp.MUL,
            BinaryOp.EQUAL,
            BinaryOp.NOT_EQUAL,
            BinaryOp.AND,
            BinaryOp.OR,
            BinaryOp.XOR,
        )


class AtomicOp(enum.Enum):
    """`atomic_op` of the schema."""

    LOAD = "load"
    STORE = "store"
    ADD = "add"
    SUB = "sub"
    MAX = "max"
    MIN = "min"
    AND = "and"
    OR = "or"
    XOR = "xor"
    EXCHANGE = "exchange"
    COMPARE_EXCHANGE = "compare_exchange"


class ControlNode(Operation):
    """Where control passes. A base, for tests and patterns."""

    __slots__ = ()


class PinnedNode(Operation):
    """What belongs to one control node and has no other place. A base, for tests and patterns."""

    __slots__ = ()


class InputNode(Operation):
    """What has no operands: parameters and constants. A base, for tests and patterns."""

    __slots__ = ()


class ScalarNode(Operation):
    """What computes a scalar from scalars alone. A base, for tests and patterns."""

    __slots__ = ()


class PureNode(Operation):
    """What gives the same value whenever attributes and operands are the same. A base, for tests and patterns."""

    __slots__ = ()


class ReadingNode(Operation):
    """What depends on memory. A base, for tests and patterns."""

    __slots__ = ()


class WritingNode(Operation):
    """What changes memory, or makes a new version of storage. A base, for tests and patterns."""

    __slots__ = ()


class FloatingNode(Operation):
    """What runs wherever its operands are known. A base, for tests and patterns."""

    __slots__ = ()


@dataclass(slots=True, eq=False, repr=False)
class Module(SchemaNode):
    """A program: functions that may call each other."""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (FieldInfo("functions", "function", Category.NODE, Count.MANY),)
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    functions: list[Function]

    def __str__(self) -> str:
        from .text import print_module

        return print_module(self)


@dataclass(slots=True, eq=False, repr=False)
class Function(SchemaNode):
    """`dynamic_constants` has the names of the u64 parameters whose values are known when the program starts;
    `nodes[0]` is the Start node. Parameters are identified by index; their names are only for people.
    """

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("name", "str", Category.SCALAR),
        FieldInfo("dynamic_constants", "str", Category.SCALAR, Count.MANY),
        FieldInfo("parameter_types", "type", Category.NODE, Count.MANY),
        FieldInfo("parameter_names", "str", Category.SCALAR, Count.MANY),
        FieldInfo("return_type", "type", Category.NODE),
        FieldInfo("nodes", "node", Category.NODE, Count.MANY),
    )
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    name: str
    dynamic_constants: list[str]
    parameter_types: list[Type]
    parameter_names: list[str]
    return_type: Type
    nodes: list[Node]

    def __str__(self) -> str:
        from .text import print_function

        return print_function(self)


@dataclass(frozen=True, slots=True, repr=False)
class Control(SchemaNode):
    """`Control(dynamic_constant* factors)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (FieldInfo("factors", "dynamic_constant", Category.NODE, Count.MANY),)

    factors: tuple[DynamicConstant, ...]


@dataclass(frozen=True, slots=True, repr=False)
class Bool(SchemaNode):
    """`Bool`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = ()


@dataclass(frozen=True, slots=True, repr=False)
class Integer(SchemaNode):
    """`Integer(int bits, bool signed)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("bits", "int", Category.SCALAR),
        FieldInfo("signed", "bool", Category.SCALAR),
    )

    bits: int
    signed: bool


@dataclass(frozen=True, slots=True, repr=False)
class Float(SchemaNode):
    """`Float(int bits)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (FieldInfo("bits", "int", Category.SCALAR),)

    bits: int


@dataclass(frozen=True, slots=True, repr=False)
class Product(SchemaNode):
    """`Product(type* fields)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (FieldInfo("fields", "type", Category.NODE, Count.MANY),)

    fields: tuple[Type, ...]


@dataclass(frozen=True, slots=True, repr=False)
class Summation(SchemaNode):
    """`Summation(type* variants)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (FieldInfo("variants", "type", Category.NODE, Count.MANY),)

    variants: tuple[Type, ...]


@dataclass(frozen=True, slots=True, repr=False)
class Array(SchemaNode):
    """`Array(type element, dynamic_constant extent)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("element", "type", Category.NODE),
        FieldInfo("extent", "dynamic_constant", Category.NODE),
    )

    element: Type
    extent: DynamicConstant


@dataclass(frozen=True, slots=True, repr=False)
class DynamicLiteral(SchemaNode):
    """`DynamicLiteral(int value)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (FieldInfo("value", "int", Category.SCALAR),)

    value: int


@dataclass(frozen=True, slots=True, repr=False)
class DynamicParameter(SchemaNode):
    """`DynamicParameter(int index)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (FieldInfo("index", "int", Category.SCALAR),)

    index: int


@dataclass(frozen=True, slots=True, repr=False)
class DynamicBinary(SchemaNode):
    """`DynamicBinary(dynamic_op op, dynamic_constant lhs, dynamic_constant rhs)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("op", "dynamic_op", Category.ENUM),
        FieldInfo("lhs", "dynamic_constant", Category.NODE),
        FieldInfo("rhs", "dynamic_constant", Category.NODE),
    )

    op: DynamicOp
    lhs: DynamicConstant
    rhs: DynamicConstant


@dataclass(frozen=True, slots=True, repr=False)
class BoolConstant(SchemaNode):
    """`BoolConstant(bool value)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (FieldInfo("value", "bool", Category.SCALAR),)

    value: bool


@dataclass(frozen=True, slots=True, repr=False)
class IntegerConstant(SchemaNode):
    """`IntegerConstant(type type, int value)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("type", "type", Category.NODE),
        FieldInfo("value", "int", Category.SCALAR),
    )

    type: Type
    value: int


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FloatConstant(ExactNode):
    """`FloatConstant(type type, float value)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("type", "type", Category.NODE),
        FieldInfo("value", "float", Category.SCALAR),
    )

    type: Type
    value: float


@dataclass(frozen=True, slots=True, repr=False)
class ProductConstant(SchemaNode):
    """`ProductConstant(type type, constant* fields)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("type", "type", Category.NODE),
        FieldInfo("fields", "constant", Category.NODE, Count.MANY),
    )

    type: Type
    fields: tuple[Constant, ...]


@dataclass(frozen=True, slots=True, repr=False)
class SummationConstant(SchemaNode):
    """`SummationConstant(type type, int variant, constant value)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("type", "type", Category.NODE),
        FieldInfo("variant", "int", Category.SCALAR),
        FieldInfo("value", "constant", Category.NODE),
    )

    type: Type
    variant: int
    value: Constant


@dataclass(frozen=True, slots=True, repr=False)
class ArrayConstant(SchemaNode):
    """`ArrayConstant(type type, constant* elements)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("type", "type", Category.NODE),
        FieldInfo("elements", "constant", Category.NODE, Count.MANY),
    )

    type: Type
    elements: tuple[Constant, ...]


@dataclass(frozen=True, slots=True, repr=False)
class ZeroConstant(SchemaNode):
    """`ZeroConstant(type type)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (FieldInfo("type", "type", Category.NODE),)

    type: Type


@dataclass(frozen=True, slots=True, repr=False)
class FieldIndex(SchemaNode):
    """`FieldIndex(int field)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (FieldInfo("field", "int", Category.SCALAR),)

    field: int

    def inputs(self) -> tuple[Node, ...]:
        return ()

    def mapped(self, change: Callable[[Node], Node]) -> FieldIndex:
        return self

    def attributes(self) -> tuple[Hashable, ...]:
        return (FieldIndex, self.field)


@dataclass(frozen=True, slots=True, repr=False)
class VariantIndex(SchemaNode):
    """`VariantIndex(int variant)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (FieldInfo("variant", "int", Category.SCALAR),)

    variant: int

    def inputs(self) -> tuple[Node, ...]:
        return ()

    def mapped(self, change: Callable[[Node], Node]) -> VariantIndex:
        return self

    def attributes(self) -> tuple[Hashable, ...]:
        return (VariantIndex, self.variant)


@dataclass(frozen=True, slots=True, repr=False)
class PositionIndex(SchemaNode):
    """`PositionIndex(node position)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (FieldInfo("position", "node", Category.NODE),)

    position: Node

    def inputs(self) -> tuple[Node, ...]:
        return (self.position,)

    def mapped(self, change: Callable[[Node], Node]) -> PositionIndex:
        return PositionIndex(change(self.position))

    def attributes(self) -> tuple[Hashable, ...]:
        return (PositionIndex,)


@dataclass(frozen=True, slots=True, repr=False)
class ControlIndex(SchemaNode):
    """`ControlIndex(int output)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (FieldInfo("output", "int", Category.SCALAR),)

    output: int

    def inputs(self) -> tuple[Node, ...]:
        return ()

    def mapped(self, change: Callable[[Node], Node]) -> ControlIndex:
        return self

    def attributes(self) -> tuple[Hashable, ...]:
        return (ControlIndex, self.output)


@dataclass(slots=True, eq=False, repr=False)
class Start(ControlNode):
    """`Start`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("label", "str", Category.SCALAR, hidden=True, default="", note=True),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None, note=True),
    )
    WORD: ClassVar[str] = "start"
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    label: str = field(default="", kw_only=True)
    span: Span | None = field(default=None, kw_only=True)

    def inputs(self) -> tuple[Node, ...]:
        return ()

    def map_inputs(self, change: Callable[[Node], Node]) -> None:
        pass

    def control_inputs(self) -> tuple[Node, ...]:
        return ()

    def attributes(self) -> tuple[Hashable, ...]:
        return ()

    def copy(self) -> Start:
        return Start(label=self.label, span=self.span)


@dataclass(slots=True, eq=False, repr=False)
class Region(ControlNode):
    """`Region(node* predecessors)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("predecessors", "node", Category.NODE, Count.MANY),
        FieldInfo("label", "str", Category.SCALAR, hidden=True, default="", note=True),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None, note=True),
    )
    WORD: ClassVar[str] = "region"
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    predecessors: list[Node]
    label: str = field(default="", kw_only=True)
    span: Span | None = field(default=None, kw_only=True)

    def inputs(self) -> tuple[Node, ...]:
        return tuple(self.predecessors)

    def map_inputs(self, change: Callable[[Node], Node]) -> None:
        self.predecessors = [change(it) for it in self.predecessors]

    def control_inputs(self) -> tuple[Node, ...]:
        return tuple(self.predecessors)

    def attributes(self) -> tuple[Hashable, ...]:
        return ()

    def copy(self) -> Region:
        return Region(list(self.predecessors), label=self.label, span=self.span)


@dataclass(slots=True, eq=False, repr=False)
class If(ControlNode):
    """`If(node control, node condition)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("control", "node", Category.NODE),
        FieldInfo("condition", "node", Category.NODE),
        FieldInfo("label", "str", Category.SCALAR, hidden=True, default="", note=True),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None, note=True),
    )
    WORD: ClassVar[str] = "if"
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    control: Node
    condition: Node
    label: str = field(default="", kw_only=True)
    span: Span | None = field(default=None, kw_only=True)

    def inputs(self) -> tuple[Node, ...]:
        return (self.control, self.condition)

    def map_inputs(self, change: Callable[[Node], Node]) -> None:
        self.control = change(self.control)
        self.condition = change(self.condition)

    def control_inputs(self) -> tuple[Node, ...]:
        return (self.control,)

    def attributes(self) -> tuple[Hashable, ...]:
        return ()

    def copy(self) -> If:
        return If(self.control, self.condition, label=self.label, span=self.span)


@dataclass(slots=True, eq=False, repr=False)
class Match(ControlNode):
    """`Match(node control, node sum)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("control", "node", Category.NODE),
        FieldInfo("sum", "node", Category.NODE),
        FieldInfo("label", "str", Category.SCALAR, hidden=True, default="", note=True),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None, note=True),
    )
    WORD: ClassVar[str] = "match"
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    control: Node
    sum: Node
    label: str = field(default="", kw_only=True)
    span: Span | None = field(default=None, kw_only=True)

    def inputs(self) -> tuple[Node, ...]:
        return (self.control, self.sum)

    def map_inputs(self, change: Callable[[Node], Node]) -> None:
        self.control = change(self.control)
        self.sum = change(self.sum)

    def control_inputs(self) -> tuple[Node, ...]:
        return (self.control,)

    def attributes(self) -> tuple[Hashable, ...]:
        return ()

    def copy(self) -> Match:
        return Match(self.control, self.sum, label=self.label, span=self.span)


@dataclass(slots=True, eq=False, repr=False)
class Fork(ControlNode):
    """`Fork(node control, dynamic_constant factor)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("control", "node", Category.NODE),
        FieldInfo("factor", "dynamic_constant", Category.NODE),
        FieldInfo("label", "str", Category.SCALAR, hidden=True, default="", note=True),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None, note=True),
    )
    WORD: ClassVar[str] = "fork"
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    control: Node
    factor: DynamicConstant
    label: str = field(default="", kw_only=True)
    span: Span | None = field(default=None, kw_only=True)

    def inputs(self) -> tuple[Node, ...]:
        return (self.control,)

    def map_inputs(self, change: Callable[[Node], Node]) -> None:
        self.control = change(self.control)

    def control_inputs(self) -> tuple[Node, ...]:
        return (self.control,)

    def attributes(self) -> tuple[Hashable, ...]:
        return (self.factor,)

    def copy(self) -> Fork:
        return Fork(self.control, self.factor, label=self.label, span=self.span)


@dataclass(slots=True, eq=False, repr=False)
class Join(ControlNode):
    """`Join(node control)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("control", "node", Category.NODE),
        FieldInfo("label", "str", Category.SCALAR, hidden=True, default="", note=True),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None, note=True),
    )
    WORD: ClassVar[str] = "join"
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    control: Node
    label: str = field(default="", kw_only=True)
    span: Span | None = field(default=None, kw_only=True)

    def inputs(self) -> tuple[Node, ...]:
        return (self.control,)

    def map_inputs(self, change: Callable[[Node], Node]) -> None:
        self.control = change(self.control)

    def control_inputs(self) -> tuple[Node, ...]:
        return (self.control,)

    def attributes(self) -> tuple[Hashable, ...]:
        return ()

    def copy(self) -> Join:
        return Join(self.control, label=self.label, span=self.span)


@dataclass(slots=True, eq=False, repr=False)
class Return(ControlNode):
    """`Return(node control, node value)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("control", "node", Category.NODE),
        FieldInfo("value", "node", Category.NODE),
        FieldInfo("label", "str", Category.SCALAR, hidden=True, default="", note=True),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None, note=True),
    )
    WORD: ClassVar[str] = "return"
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    control: Node
    value: Node
    label: str = field(default="", kw_only=True)
    span: Span | None = field(default=None, kw_only=True)

    def inputs(self) -> tuple[Node, ...]:
        return (self.control, self.value)

    def map_inputs(self, change: Callable[[Node], Node]) -> None:
        self.control = change(self.control)
        self.value = change(self.value)

    def control_inputs(self) -> tuple[Node, ...]:
        return (self.control,)

    def attributes(self) -> tuple[Hashable, ...]:
        return ()

    def copy(self) -> Return:
        return Return(self.control, self.value, label=self.label, span=self.span)


@dataclass(slots=True, eq=False, repr=False)
class Phi(PinnedNode, PureNode):
    """`Phi(node region, node* values)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("region", "node", Category.NODE),
        FieldInfo("values", "node", Category.NODE, Count.MANY),
        FieldInfo("label", "str", Category.SCALAR, hidden=True, default="", note=True),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None, note=True),
    )
    WORD: ClassVar[str] = "phi"
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    region: Node
    values: list[Node]
    label: str = field(default="", kw_only=True)
    span: Span | None = field(default=None, kw_only=True)

    def inputs(self) -> tuple[Node, ...]:
        return (self.region, *self.values)

    def map_inputs(self, change: Callable[[Node], Node]) -> None:
        self.region = change(self.region)
        self.values = [change(it) for it in self.values]

    def pinned_to(self) -> Node:
        return self.region

    def attributes(self) -> tuple[Hashable, ...]:
        return ()

    def copy(self) -> Phi:
        return Phi(self.region, list(self.values), label=self.label, span=self.span)


@dataclass(slots=True, eq=False, repr=False)
class ThreadID(PinnedNode, PureNode):
    """`ThreadID(node fork)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("fork", "node", Category.NODE),
        FieldInfo("label", "str", Category.SCALAR, hidden=True, default="", note=True),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None, note=True),
    )
    WORD: ClassVar[str] = "thread_id"
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    fork: Node
    label: str = field(default="", kw_only=True)
    span: Span | None = field(default=None, kw_only=True)

    def inputs(self) -> tuple[Node, ...]:
        return (self.fork,)

    def map_inputs(self, change: Callable[[Node], Node]) -> None:
        self.fork = change(self.fork)

    def pinned_to(self) -> Node:
        return self.fork

    def attributes(self) -> tuple[Hashable, ...]:
        return ()

    def copy(self) -> ThreadID:
        return ThreadID(self.fork, label=self.label, span=self.span)


@dataclass(slots=True, eq=False, repr=False)
class Reduce(PinnedNode):
    """`Reduce(node join, node init, node update)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("join", "node", Category.NODE),
        FieldInfo("init", "node", Category.NODE),
        FieldInfo("update", "node", Category.NODE),
        FieldInfo("label", "str", Category.SCALAR, hidden=True, default="", note=True),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None, note=True),
    )
    WORD: ClassVar[str] = "reduce"
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    join: Node
    init: Node
    update: Node
    label: str = field(default="", kw_only=True)
    span: Span | None = field(default=None, kw_only=True)

    def inputs(self) -> tuple[Node, ...]:
        return (self.join, self.init, self.update)

    def map_inputs(self, change: Callable[[Node], Node]) -> None:
        self.join = change(self.join)
        self.init = change(self.init)
        self.update = change(self.update)

    def pinned_to(self) -> Node:
        return self.join

    def attributes(self) -> tuple[Hashable, ...]:
        return ()

    def copy(self) -> Reduce:
        return Reduce(self.join, self.init, self.update, label=self.label, span=self.span)


@dataclass(slots=True, eq=False, repr=False)
class Collect(PinnedNode):
    """`Collect(node join, node value)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("join", "node", Category.NODE),
        FieldInfo("value", "node", Category.NODE),
        FieldInfo("label", "str", Category.SCALAR, hidden=True, default="", note=True),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None, note=True),
    )
    WORD: ClassVar[str] = "collect"
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    join: Node
    value: Node
    label: str = field(default="", kw_only=True)
    span: Span | None = field(default=None, kw_only=True)

    def inputs(self) -> tuple[Node, ...]:
        return (self.join, self.value)

    def map_inputs(self, change: Callable[[Node], Node]) -> None:
        self.join = change(self.join)
        self.value = change(self.value)

    def pinned_to(self) -> Node:
        return self.join

    def attributes(self) -> tuple[Hashable, ...]:
        return ()

    def copy(self) -> Collect:
        return Collect(self.join, self.value, label=self.label, span=self.span)


@dataclass(slots=True, eq=False, repr=False)
class Parameter(InputNode, PureNode, FloatingNode):
    """`Parameter(int index)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("index", "int", Category.SCALAR),
        FieldInfo("label", "str", Category.SCALAR, hidden=True, default="", note=True),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None, note=True),
    )
    WORD: ClassVar[str] = "parameter"
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    index: int
    label: str = field(default="", kw_only=True)
    span: Span | None = field(default=None, kw_only=True)

    def inputs(self) -> tuple[Node, ...]:
        return ()

    def map_inputs(self, change: Callable[[Node], Node]) -> None:
        pass

    def attributes(self) -> tuple[Hashable, ...]:
        return (self.index,)

    def copy(self) -> Parameter:
        return Parameter(self.index, label=self.label, span=self.span)


@dataclass(slots=True, eq=False, repr=False)
class ConstantNode(InputNode, PureNode, FloatingNode):
    """`ConstantNode(constant value)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("value", "constant", Category.NODE),
        FieldInfo("label", "str", Category.SCALAR, hidden=True, default="", note=True),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None, note=True),
    )
    WORD: ClassVar[str] = "constant"
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    value: Constant
    label: str = field(default="", kw_only=True)
    span: Span | None = field(default=None, kw_only=True)

    def inputs(self) -> tuple[Node, ...]:
        return ()

    def map_inputs(self, change: Callable[[Node], Node]) -> None:
        pass

    def attributes(self) -> tuple[Hashable, ...]:
        return (self.value,)

    def copy(self) -> ConstantNode:
        return ConstantNode(self.value, label=self.label, span=self.span)


@dataclass(slots=True, eq=False, repr=False)
class DynamicConstantNode(InputNode, PureNode, FloatingNode):
    """`DynamicConstantNode(dynamic_constant value)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("value", "dynamic_constant", Category.NODE),
        FieldInfo("label", "str", Category.SCALAR, hidden=True, default="", note=True),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None, note=True),
    )
    WORD: ClassVar[str] = "dynamic"
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    value: DynamicConstant
    label: str = field(default="", kw_only=True)
    span: Span | None = field(default=None, kw_only=True)

    def inputs(self) -> tuple[Node, ...]:
        return ()

    def map_inputs(self, change: Callable[[Node], Node]) -> None:
        pass

    def attributes(self) -> tuple[Hashable, ...]:
        return (self.value,)

    def copy(self) -> DynamicConstantNode:
        return DynamicConstantNode(self.value, label=self.label, span=self.span)


@dataclass(slots=True, eq=False, repr=False)
class Unary(ScalarNode, PureNode, FloatingNode):
    """`Unary(unary_op op, node operand)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("op", "unary_op", Category.ENUM, is_word=True),
        FieldInfo("operand", "node", Category.NODE),
        FieldInfo("label", "str", Category.SCALAR, hidden=True, default="", note=True),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None, note=True),
    )
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    op: UnaryOp
    operand: Node
    label: str = field(default="", kw_only=True)
    span: Span | None = field(default=None, kw_only=True)

    def inputs(self) -> tuple[Node, ...]:
        return (self.operand,)

    def map_inputs(self, change: Callable[[Node], Node]) -> None:
        self.operand = change(self.operand)

    def attributes(self) -> tuple[Hashable, ...]:
        return (self.op,)

    def copy(self) -> Unary:
        return Unary(self.op, self.operand, label=self.label, span=self.span)


@dataclass(slots=True, eq=False, repr=False)
class Binary(ScalarNode, PureNode, FloatingNode):
    """`Binary(binary_op op, node lhs, node rhs)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("op", "binary_op", Category.ENUM, is_word=True),
        FieldInfo("lhs", "node", Category.NODE),
        FieldInfo("rhs", "node", Category.NODE),
        FieldInfo("label", "str", Category.SCALAR, hidden=True, default="", note=True),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None, note=True),
    )
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    op: BinaryOp
    lhs: Node
    rhs: Node
    label: str = field(default="", kw_only=True)
    span: Span | None = field(default=None, kw_only=True)

    def inputs(self) -> tuple[Node, ...]:
        return (self.lhs, self.rhs)

    def map_inputs(self, change: Callable[[Node], Node]) -> None:
        self.lhs = change(self.lhs)
        self.rhs = change(self.rhs)

    def attributes(self) -> tuple[Hashable, ...]:
        return (self.op,)

    @property
    def is_commutative(self) -> bool:
        return self.op.is_commutative

    def copy(self) -> Binary:
        return Binary(self.op, self.lhs, self.rhs, label=self.label, span=self.span)


@dataclass(slots=True, eq=False, repr=False)
class Select(ScalarNode, PureNode, FloatingNode):
    """`Select(node condition, node if_true, node if_false)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("condition", "node", Category.NODE),
        FieldInfo("if_true", "node", Category.NODE),
        FieldInfo("if_false", "node", Category.NODE),
        FieldInfo("label", "str", Category.SCALAR, hidden=True, default="", note=True),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None, note=True),
    )
    WORD: ClassVar[str] = "select"
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    condition: Node
    if_true: Node
    if_false: Node
    label: str = field(default="", kw_only=True)
    span: Span | None = field(default=None, kw_only=True)

    def inputs(self) -> tuple[Node, ...]:
        return (self.condition, self.if_true, self.if_false)

    def map_inputs(self, change: Callable[[Node], Node]) -> None:
        self.condition = change(self.condition)
        self.if_true = change(self.if_true)
        self.if_false = change(self.if_false)

    def attributes(self) -> tuple[Hashable, ...]:
        return ()

    def copy(self) -> Select:
        return Select(self.condition, self.if_true, self.if_false, label=self.label, span=self.span)


@dataclass(slots=True, eq=False, repr=False)
class Cast(ScalarNode, PureNode, FloatingNode):
    """`Cast(type type, node operand)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("type", "type", Category.NODE),
        FieldInfo("operand", "node", Category.NODE),
        FieldInfo("label", "str", Category.SCALAR, hidden=True, default="", note=True),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None, note=True),
    )
    WORD: ClassVar[str] = "cast"
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    type: Type
    operand: Node
    label: str = field(default="", kw_only=True)
    span: Span | None = field(default=None, kw_only=True)

    def inputs(self) -> tuple[Node, ...]:
        return (self.operand,)

    def map_inputs(self, change: Callable[[Node], Node]) -> None:
        self.operand = change(self.operand)

    def attributes(self) -> tuple[Hashable, ...]:
        return (self.type,)

    def copy(self) -> Cast:
        return Cast(self.type, self.operand, label=self.label, span=self.span)


@dataclass(slots=True, eq=False, repr=False)
class Bitcast(ScalarNode, PureNode, FloatingNode):
    """`Bitcast(type type, node operand)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("type", "type", Category.NODE),
        FieldInfo("operand", "node", Category.NODE),
        FieldInfo("label", "str", Category.SCALAR, hidden=True, default="", note=True),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None, note=True),
    )
    WORD: ClassVar[str] = "bitcast"
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    type: Type
    operand: Node
    label: str = field(default="", kw_only=True)
    span: Span | None = field(default=None, kw_only=True)

    def inputs(self) -> tuple[Node, ...]:
        return (self.operand,)

    def map_inputs(self, change: Callable[[Node], Node]) -> None:
        self.operand = change(self.operand)

    def attributes(self) -> tuple[Hashable, ...]:
        return (self.type,)

    def copy(self) -> Bitcast:
        return Bitcast(self.type, self.operand, label=self.label, span=self.span)


@dataclass(slots=True, eq=False, repr=False)
class Intrinsic(ScalarNode, PureNode, FloatingNode):
    """`Intrinsic(str function, type type, node* arguments)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("function", "str", Category.SCALAR),
        FieldInfo("type", "type", Category.NODE),
        FieldInfo("arguments", "node", Category.NODE, Count.MANY),
        FieldInfo("label", "str", Category.SCALAR, hidden=True, default="", note=True),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None, note=True),
    )
    WORD: ClassVar[str] = "intrinsic"
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    function: str
    type: Type
    arguments: list[Node]
    label: str = field(default="", kw_only=True)
    span: Span | None = field(default=None, kw_only=True)

    def inputs(self) -> tuple[Node, ...]:
        return tuple(self.arguments)

    def map_inputs(self, change: Callable[[Node], Node]) -> None:
        self.arguments = [change(it) for it in self.arguments]

    def attributes(self) -> tuple[Hashable, ...]:
        return (self.function, self.type)

    def copy(self) -> Intrinsic:
        return Intrinsic(self.function, self.type, list(self.arguments), label=self.label, span=self.span)


@dataclass(slots=True, eq=False, repr=False)
class Call(PureNode, FloatingNode):
    """`Call(dynamic_constant* dynamic_constants, node* arguments, node? control)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("callee", "function", Category.NODE, hidden=True),
        FieldInfo("dynamic_constants", "dynamic_constant", Category.NODE, Count.MANY),
        FieldInfo("arguments", "node", Category.NODE, Count.MANY),
        FieldInfo("control", "node", Category.NODE, Count.OPTIONAL, default=None),
        FieldInfo("label", "str", Category.SCALAR, hidden=True, default="", note=True),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None, note=True),
    )
    WORD: ClassVar[str] = "call"
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    callee: Function
    dynamic_constants: list[DynamicConstant]
    arguments: list[Node]
    control: Node | None = field(default=None, kw_only=True)
    label: str = field(default="", kw_only=True)
    span: Span | None = field(default=None, kw_only=True)

    def inputs(self) -> tuple[Node, ...]:
        return (*self.arguments, *(() if self.control is None else (self.control,)))

    def map_inputs(self, change: Callable[[Node], Node]) -> None:
        self.arguments = [change(it) for it in self.arguments]
        self.control = None if self.control is None else change(self.control)

    def attributes(self) -> tuple[Hashable, ...]:
        return (self.callee, tuple(self.dynamic_constants), self.control is not None)

    def copy(self) -> Call:
        return Call(
            self.callee,
            list(self.dynamic_constants),
            list(self.arguments),
            control=self.control,
            label=self.label,
            span=self.span,
        )


@dataclass(slots=True, eq=False, repr=False)
class Read(PureNode, FloatingNode):
    """`Read(node collection, index* indices)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("collection", "node", Category.NODE),
        FieldInfo("indices", "index", Category.NODE, Count.MANY),
        FieldInfo("label", "str", Category.SCALAR, hidden=True, default="", note=True),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None, note=True),
    )
    WORD: ClassVar[str] = "read"
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    collection: Node
    indices: list[Index]
    label: str = field(default="", kw_only=True)
    span: Span | None = field(default=None, kw_only=True)

    def inputs(self) -> tuple[Node, ...]:
        return (self.collection, *[node for it in self.indices for node in it.inputs()])

    def map_inputs(self, change: Callable[[Node], Node]) -> None:
        self.collection = change(self.collection)
        self.indices = [it.mapped(change) for it in self.indices]

    def attributes(self) -> tuple[Hashable, ...]:
        return (tuple([it.attributes() for it in self.indices]),)

    def copy(self) -> Read:
        return Read(self.collection, list(self.indices), label=self.label, span=self.span)


@dataclass(slots=True, eq=False, repr=False)
class Write(WritingNode, FloatingNode):
    """`Write(node collection, node value, index* indices)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("collection", "node", Category.NODE),
        FieldInfo("value", "node", Category.NODE),
        FieldInfo("indices", "index", Category.NODE, Count.MANY),
        FieldInfo("label", "str", Category.SCALAR, hidden=True, default="", note=True),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None, note=True),
    )
    WORD: ClassVar[str] = "write"
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    collection: Node
    value: Node
    indices: list[Index]
    label: str = field(default="", kw_only=True)
    span: Span | None = field(default=None, kw_only=True)

    def inputs(self) -> tuple[Node, ...]:
        return (self.collection, self.value, *[node for it in self.indices for node in it.inputs()])

    def map_inputs(self, change: Callable[[Node], Node]) -> None:
        self.collection = change(self.collection)
        self.value = change(self.value)
        self.indices = [it.mapped(change) for it in self.indices]

    def attributes(self) -> tuple[Hashable, ...]:
        return (tuple([it.attributes() for it in self.indices]),)

    def copy(self) -> Write:
        return Write(self.collection, self.value, list(self.indices), label=self.label, span=self.span)


@dataclass(slots=True, eq=False, repr=False)
class Atomic(ReadingNode, WritingNode, FloatingNode):
    """`Atomic(atomic_op op, node collection, index* indices, node* operands)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("op", "atomic_op", Category.ENUM),
        FieldInfo("collection", "node", Category.NODE),
        FieldInfo("indices", "index", Category.NODE, Count.MANY),
        FieldInfo("operands", "node", Category.NODE, Count.MANY),
        FieldInfo("label", "str", Category.SCALAR, hidden=True, default="", note=True),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None, note=True),
    )
    WORD: ClassVar[str] = "atomic"
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    op: AtomicOp
    collection: Node
    indices: list[Index]
    operands: list[Node]
    label: str = field(default="", kw_only=True)
    span: Span | None = field(default=None, kw_only=True)

    def inputs(self) -> tuple[Node, ...]:
        return (self.collection, *[node for it in self.indices for node in it.inputs()], *self.operands)

    def map_inputs(self, change: Callable[[Node], Node]) -> None:
        self.collection = change(self.collection)
        self.indices = [it.mapped(change) for it in self.indices]
        self.operands = [change(it) for it in self.operands]

    def attributes(self) -> tuple[Hashable, ...]:
        return (self.op, tuple([it.attributes() for it in self.indices]))

    def copy(self) -> Atomic:
        return Atomic(
            self.op,
            self.collection,
            list(self.indices),
            list(self.operands),
            label=self.label,
            span=self.span,
        )


@dataclass(slots=True, eq=False, repr=False)
class ProductNode(PureNode, FloatingNode):
    """`ProductNode(node* fields)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("fields", "node", Category.NODE, Count.MANY),
        FieldInfo("label", "str", Category.SCALAR, hidden=True, default="", note=True),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None, note=True),
    )
    WORD: ClassVar[str] = "product"
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    fields: list[Node]
    label: str = field(default="", kw_only=True)
    span: Span | None = field(default=None, kw_only=True)

    def inputs(self) -> tuple[Node, ...]:
        return tuple(self.fields)

    def map_inputs(self, change: Callable[[Node], Node]) -> None:
        self.fields = [change(it) for it in self.fields]

    def attributes(self) -> tuple[Hashable, ...]:
        return ()

    def copy(self) -> ProductNode:
        return ProductNode(list(self.fields), label=self.label, span=self.span)


Type: TypeAlias = Control | Bool | Integer | Float | Product | Summation | Array
"""Types, compared structurally.
Control carries the thread replication factors of the forks around it, outermost first.
The outputs of If and Match have a Product of Controls, of which only a Read may select one.
"""

DynamicConstant: TypeAlias = DynamicLiteral | DynamicParameter | DynamicBinary
"""u64 expressions of literals and dynamic-constant parameters. Division and remainder by zero give zero."""

Constant: TypeAlias = (
    BoolConstant | IntegerConstant | FloatConstant | ProductConstant | SummationConstant | ArrayConstant | ZeroConstant
)
"""Constant values. A Zero is the zero value of any type. A Float's value is exactly representable in its type (NaN
and infinities included).
"""

Index: TypeAlias = FieldIndex | VariantIndex | PositionIndex | ControlIndex
"""How Read and Write index one level of a collection's type tree.
A position is a node of type u64; a position past the end is clamped to the last element (an empty array reads zero
and ignores writes).
"""

Node: TypeAlias = (
    Start
    | Region
    | If
    | Match
    | Fork
    | Join
    | Return
    | Phi
    | ThreadID
    | Reduce
    | Collect
    | Parameter
    | ConstantNode
    | DynamicConstantNode
    | Unary
    | Binary
    | Select
    | Cast
    | Bitcast
    | Intrinsic
    | Call
    | Read
    | Write
    | Atomic
    | ProductNode
)
"""Nodes. Each stores its predecessors (use-def); `def_use` computes the inverse.
  If gives (false, true): its two Reads have ControlIndex 0 for false and 1 for true.
  ThreadID is the thread's index in its fork, 0 … factor - 1. A fork with factor 0 runs no threads.
  Collect gathers one value of each thread into an array. Reduce carries a value across the threads of a fork:
    inside the fork it is the value so far (`init` at first), from which the fork computes `update`; after the
    join it is the last value.
    Threads may be folded in any order.
  Select: the ternary operator. Cast: numeric conversion with WGSL's rules (float to integer saturates, NaN gives
    0; bool is 0 or 1).
  Bitcast: the value with the same bits. Intrinsic: a WGSL builtin on scalars, by name.
  Call: with a `control`, runs only if control reaches that node. Without one, it may run anywhere, even where its
    result is not used; so a call of a function that may not terminate, or is expensive, has a `control`.
  Atomic: gives the product (collection after, old value); CompareExchange has operands (comparand, value).
    A Load returns the collection unchanged; the old value of a Store is the value it overwrote.
"""

AnyControlNode: TypeAlias = Start | Region | If | Match | Fork | Join | Return
"""Every kind of `ControlNode`."""

AnyPinnedNode: TypeAlias = Phi | ThreadID | Reduce | Collect
"""Every kind of `PinnedNode`."""

AnyInputNode: TypeAlias = Parameter | ConstantNode | DynamicConstantNode
"""Every kind of `InputNode`."""

AnyScalarNode: TypeAlias = Unary | Binary | Select | Cast | Bitcast | Intrinsic
"""Every kind of `ScalarNode`."""

AnyPureNode: TypeAlias = (
    Phi
    | ThreadID
    | Parameter
    | ConstantNode
    | DynamicConstantNode
    | Unary
    | Binary
    | Select
    | Cast
    | Bitcast
    | Intrinsic
    | Call
    | Read
    | ProductNode
)
"""Every kind of `PureNode`."""

AnyReadingNode: TypeAlias = Atomic
"""Every kind of `ReadingNode`."""

AnyWritingNode: TypeAlias = Write | Atomic
"""Every kind of `WritingNode`."""

AnyFloatingNode: TypeAlias = (
    Parameter
    | ConstantNode
    | DynamicConstantNode
    | Unary
    | Binary
    | Select
    | Cast
    | Bitcast
    | Intrinsic
    | Call
    | Read
    | Write
    | Atomic
    | ProductNode
)
"""Every kind of `FloatingNode`."""

BY_WORD: Mapping[str, type[Node]] = {
    "start": Start,
    "region": Region,
    "if": If,
    "match": Match,
    "fork": Fork,
    "join": Join,
    "return": Return,
    "phi": Phi,
    "thread_id": ThreadID,
    "reduce": Reduce,
    "collect": Collect,
    "parameter": Parameter,
    "constant": ConstantNode,
    "dynamic": DynamicConstantNode,
    "negate": Unary,
    "not": Unary,
    "add": Binary,
    "sub": Binary,
    "mul": Binary,
    "div": Binary,
    "rem": Binary,
    "less": Binary,
    "less_equal": Binary,
    "greater": Binary,
    "greater_equal": Binary,
    "equal": Binary,
    "not_equal": Binary,
    "and": Binary,
    "or": Binary,
    "xor": Binary,
    "shift_left": Binary,
    "shift_right": Binary,
    "select": Select,
    "cast": Cast,
    "bitcast": Bitcast,
    "intrinsic": Intrinsic,
    "call": Call,
    "read": Read,
    "write": Write,
    "atomic": Atomic,
    "product": ProductNode,
}
"""The operations by their words in the text form, but for words that are externs."""

SCHEMA = Schema(
    name="hercules",
    kinds=(
        Module,
        Function,
        Control,
        Bool,
        Integer,
        Float,
        Product,
        Summation,
        Array,
        DynamicLiteral,
        DynamicParameter,
        DynamicBinary,
        BoolConstant,
        IntegerConstant,
        FloatConstant,
        ProductConstant,
        SummationConstant,
        ArrayConstant,
        ZeroConstant,
        FieldIndex,
        VariantIndex,
        PositionIndex,
        ControlIndex,
        Start,
        Region,
        If,
        Match,
        Fork,
        Join,
        Return,
        Phi,
        ThreadID,
        Reduce,
        Collect,
        Parameter,
        ConstantNode,
        DynamicConstantNode,
        Unary,
        Binary,
        Select,
        Cast,
        Bitcast,
        Intrinsic,
        Call,
        Read,
        Write,
        Atomic,
        ProductNode,
    ),
    enums={"dynamic_op": DynamicOp, "unary_op": UnaryOp, "binary_op": BinaryOp, "atomic_op": AtomicOp},
    sums={
        "module": (Module,),
        "function": (Function,),
        "type": (Control, Bool, Integer, Float, Product, Summation, Array),
        "dynamic_constant": (DynamicLiteral, DynamicParameter, DynamicBinary),
        "constant": (
            BoolConstant,
            IntegerConstant,
            FloatConstant,
            ProductConstant,
            SummationConstant,
            ArrayConstant,
            ZeroConstant,
        ),
        "index": (FieldIndex, VariantIndex, PositionIndex, ControlIndex),
        "node": (
            Start,
            Region,
            If,
            Match,
            Fork,
            Join,
            Return,
            Phi,
            ThreadID,
            Reduce,
            Collect,
            Parameter,
            ConstantNode,
            DynamicConstantNode,
            Unary,
            Binary,
            Select,
            Cast,
            Bitcast,
            Intrinsic,
            Call,
            Read,
            Write,
            Atomic,
            ProductNode,
        ),
    },
    externs=("span",),
)


NodeT = TypeVar("NodeT", bound=Node)


class OperationBuilder:
    """A method for each kind of operation that only constructs it; `add` says what a builder does with each."""

    def add(self, operation: NodeT, /) -> NodeT:
        raise NotImplementedError

    def region(self, predecessors: Iterable[Node], *, label: str = "") -> Region:
        """`Region(node* predecessors)`"""
        return self.add(Region(list(predecessors), label=label))

    def join(self, control: Node, *, label: str = "") -> Join:
        """`Join(node control)`"""
        return self.add(Join(control, label=label))

    def return_(self, control: Node, value: Node, *, label: str = "") -> Return:
        """`Return(node control, node value)`"""
        return self.add(Return(control, value, label=label))

    def phi(self, region: Node, values: Iterable[Node], *, label: str = "") -> Phi:
        """`Phi(node region, node* values)`"""
        return self.add(Phi(region, list(values), label=label))

    def thread_id(self, fork: Node, *, label: str = "") -> ThreadID:
        """`ThreadID(node fork)`"""
        return self.add(ThreadID(fork, label=label))

    def collect(self, join: Node, value: Node, *, label: str = "") -> Collect:
        """`Collect(node join, node value)`"""
        return self.add(Collect(join, value, label=label))

    def unary(self, op: UnaryOp, operand: Node, *, label: str = "") -> Unary:
        """`Unary(unary_op op, node operand)`"""
        return self.add(Unary(op, operand, label=label))

    def binary(self, op: BinaryOp, lhs: Node, rhs: Node, *, label: str = "") -> Binary:
        """`Binary(binary_op op, node lhs, node rhs)`"""
        return self.add(Binary(op, lhs, rhs, label=label))

    def select(self, condition: Node, if_true: Node, if_false: Node, *, label: str = "") -> Select:
        """`Select(node condition, node if_true, node if_false)`"""
        return self.add(Select(condition, if_true, if_false, label=label))

    def cast(self, type: Type, operand: Node, *, label: str = "") -> Cast:
        """`Cast(type type, node operand)`"""
        return self.add(Cast(type, operand, label=label))

    def bitcast(self, type: Type, operand: Node, *, label: str = "") -> Bitcast:
        """`Bitcast(type type, node operand)`"""
        return self.add(Bitcast(type, operand, label=label))

    def intrinsic(self, function: str, type: Type, arguments: Iterable[Node], *, label: str = "") -> Intrinsic:
        """`Intrinsic(str function, type type, node* arguments)`"""
        return self.add(Intrinsic(function, type, list(arguments), label=label))

    def call(
        self,
        callee: Function,
        dynamic_constants: Iterable[DynamicConstant],
        arguments: Iterable[Node],
        *,
        control: Node | None = None,
        label: str = "",
    ) -> Call:
        """`Call(dynamic_constant* dynamic_constants, node* arguments, node? control)`"""
        return self.add(Call(callee, list(dynamic_constants), list(arguments), control=control, label=label))

    def read(self, collection: Node, indices: Iterable[Index], *, label: str = "") -> Read:
        """`Read(node collection, index* indices)`"""
        return self.add(Read(collection, list(indices), label=label))

    def write(self, collection: Node, value: Node, indices: Iterable[Index], *, label: str = "") -> Write:
        """`Write(node collection, node value, index* indices)`"""
        return self.add(Write(collection, value, list(indices), label=label))

    def product(self, fields: Iterable[Node], *, label: str = "") -> ProductNode:
        """`ProductNode(node* fields)`"""
        return self.add(ProductNode(list(fields), label=label))
