# Written by `python -m tinct.ir.schema.generate` from ir/schema/hercules.asdl: change the schema, not this file.

"""Hercules IR: a sea of nodes with fork/join parallelism, after the Hercules IR document."""

from __future__ import annotations

import dataclasses
import enum
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from ..schema.runtime import Category, Count, ExactNode, FieldInfo, Schema, SchemaNode

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


@dataclasses.dataclass(slots=True, eq=False, repr=False)
class Module(SchemaNode):
    """A program: functions that may call each other."""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (FieldInfo("functions", "function", Category.NODE, Count.MANY),)
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    functions: list[Function]


@dataclasses.dataclass(slots=True, eq=False, repr=False)
class Function(SchemaNode):
    """`dynamic_constants` names the u64 parameters known when the program starts; `nodes[0]` is the Start node.
    Parameter types are by index; their names are for people.
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


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class Control(SchemaNode):
    """`Control(dynamic_constant* factors)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (FieldInfo("factors", "dynamic_constant", Category.NODE, Count.MANY),)

    factors: tuple[DynamicConstant, ...]


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class Bool(SchemaNode):
    """`Bool`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = ()


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class Integer(SchemaNode):
    """`Integer(int bits, bool signed)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("bits", "int", Category.SCALAR),
        FieldInfo("signed", "bool", Category.SCALAR),
    )

    bits: int
    signed: bool


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class Float(SchemaNode):
    """`Float(int bits)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (FieldInfo("bits", "int", Category.SCALAR),)

    bits: int


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class Product(SchemaNode):
    """`Product(type* fields)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (FieldInfo("fields", "type", Category.NODE, Count.MANY),)

    fields: tuple[Type, ...]


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class Summation(SchemaNode):
    """`Summation(type* variants)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (FieldInfo("variants", "type", Category.NODE, Count.MANY),)

    variants: tuple[Type, ...]


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class Array(SchemaNode):
    """`Array(type element, dynamic_constant extent)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("element", "type", Category.NODE),
        FieldInfo("extent", "dynamic_constant", Category.NODE),
    )

    element: Type
    extent: DynamicConstant


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class DynamicLiteral(SchemaNode):
    """`DynamicLiteral(int value)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (FieldInfo("value", "int", Category.SCALAR),)

    value: int


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class DynamicParameter(SchemaNode):
    """`DynamicParameter(int index)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (FieldInfo("index", "int", Category.SCALAR),)

    index: int


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
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


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class BoolConstant(SchemaNode):
    """`BoolConstant(bool value)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (FieldInfo("value", "bool", Category.SCALAR),)

    value: bool


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class IntegerConstant(SchemaNode):
    """`IntegerConstant(type type, int value)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("type", "type", Category.NODE),
        FieldInfo("value", "int", Category.SCALAR),
    )

    type: Type
    value: int


@dataclasses.dataclass(frozen=True, slots=True, eq=False, repr=False)
class FloatConstant(ExactNode):
    """`FloatConstant(type type, float value)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("type", "type", Category.NODE),
        FieldInfo("value", "float", Category.SCALAR),
    )

    type: Type
    value: float


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class ProductConstant(SchemaNode):
    """`ProductConstant(type type, constant* fields)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("type", "type", Category.NODE),
        FieldInfo("fields", "constant", Category.NODE, Count.MANY),
    )

    type: Type
    fields: tuple[Constant, ...]


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
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


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class ArrayConstant(SchemaNode):
    """`ArrayConstant(type type, constant* elements)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("type", "type", Category.NODE),
        FieldInfo("elements", "constant", Category.NODE, Count.MANY),
    )

    type: Type
    elements: tuple[Constant, ...]


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class ZeroConstant(SchemaNode):
    """`ZeroConstant(type type)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (FieldInfo("type", "type", Category.NODE),)

    type: Type


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class FieldIndex(SchemaNode):
    """`FieldIndex(int field)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (FieldInfo("field", "int", Category.SCALAR),)

    field: int


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class VariantIndex(SchemaNode):
    """`VariantIndex(int variant)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (FieldInfo("variant", "int", Category.SCALAR),)

    variant: int


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class PositionIndex(SchemaNode):
    """`PositionIndex(node position)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (FieldInfo("position", "node", Category.NODE),)

    position: Node


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class ControlIndex(SchemaNode):
    """`ControlIndex(int output)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (FieldInfo("output", "int", Category.SCALAR),)

    output: int


@dataclasses.dataclass(slots=True, eq=False, repr=False)
class Start(SchemaNode):
    """`Start`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("label", "str", Category.SCALAR, hidden=True, default=""),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None),
    )
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    label: str = dataclasses.field(default="", kw_only=True)
    span: Span | None = dataclasses.field(default=None, kw_only=True)


@dataclasses.dataclass(slots=True, eq=False, repr=False)
class Region(SchemaNode):
    """`Region(node* predecessors)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("predecessors", "node", Category.NODE, Count.MANY),
        FieldInfo("label", "str", Category.SCALAR, hidden=True, default=""),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None),
    )
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    predecessors: list[Node]
    label: str = dataclasses.field(default="", kw_only=True)
    span: Span | None = dataclasses.field(default=None, kw_only=True)


@dataclasses.dataclass(slots=True, eq=False, repr=False)
class If(SchemaNode):
    """`If(node control, node condition)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("control", "node", Category.NODE),
        FieldInfo("condition", "node", Category.NODE),
        FieldInfo("label", "str", Category.SCALAR, hidden=True, default=""),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None),
    )
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    control: Node
    condition: Node
    label: str = dataclasses.field(default="", kw_only=True)
    span: Span | None = dataclasses.field(default=None, kw_only=True)


@dataclasses.dataclass(slots=True, eq=False, repr=False)
class Match(SchemaNode):
    """`Match(node control, node sum)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("control", "node", Category.NODE),
        FieldInfo("sum", "node", Category.NODE),
        FieldInfo("label", "str", Category.SCALAR, hidden=True, default=""),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None),
    )
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    control: Node
    sum: Node
    label: str = dataclasses.field(default="", kw_only=True)
    span: Span | None = dataclasses.field(default=None, kw_only=True)


@dataclasses.dataclass(slots=True, eq=False, repr=False)
class Fork(SchemaNode):
    """`Fork(node control, dynamic_constant factor)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("control", "node", Category.NODE),
        FieldInfo("factor", "dynamic_constant", Category.NODE),
        FieldInfo("label", "str", Category.SCALAR, hidden=True, default=""),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None),
    )
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    control: Node
    factor: DynamicConstant
    label: str = dataclasses.field(default="", kw_only=True)
    span: Span | None = dataclasses.field(default=None, kw_only=True)


@dataclasses.dataclass(slots=True, eq=False, repr=False)
class Join(SchemaNode):
    """`Join(node control)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("control", "node", Category.NODE),
        FieldInfo("label", "str", Category.SCALAR, hidden=True, default=""),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None),
    )
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    control: Node
    label: str = dataclasses.field(default="", kw_only=True)
    span: Span | None = dataclasses.field(default=None, kw_only=True)


@dataclasses.dataclass(slots=True, eq=False, repr=False)
class Phi(SchemaNode):
    """`Phi(node region, node* values)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("region", "node", Category.NODE),
        FieldInfo("values", "node", Category.NODE, Count.MANY),
        FieldInfo("label", "str", Category.SCALAR, hidden=True, default=""),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None),
    )
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    region: Node
    values: list[Node]
    label: str = dataclasses.field(default="", kw_only=True)
    span: Span | None = dataclasses.field(default=None, kw_only=True)


@dataclasses.dataclass(slots=True, eq=False, repr=False)
class ThreadID(SchemaNode):
    """`ThreadID(node fork)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("fork", "node", Category.NODE),
        FieldInfo("label", "str", Category.SCALAR, hidden=True, default=""),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None),
    )
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    fork: Node
    label: str = dataclasses.field(default="", kw_only=True)
    span: Span | None = dataclasses.field(default=None, kw_only=True)


@dataclasses.dataclass(slots=True, eq=False, repr=False)
class Reduce(SchemaNode):
    """`Reduce(node join, node init, node update)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("join", "node", Category.NODE),
        FieldInfo("init", "node", Category.NODE),
        FieldInfo("update", "node", Category.NODE),
        FieldInfo("label", "str", Category.SCALAR, hidden=True, default=""),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None),
    )
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    join: Node
    init: Node
    update: Node
    label: str = dataclasses.field(default="", kw_only=True)
    span: Span | None = dataclasses.field(default=None, kw_only=True)


@dataclasses.dataclass(slots=True, eq=False, repr=False)
class Collect(SchemaNode):
    """`Collect(node join, node value)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("join", "node", Category.NODE),
        FieldInfo("value", "node", Category.NODE),
        FieldInfo("label", "str", Category.SCALAR, hidden=True, default=""),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None),
    )
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    join: Node
    value: Node
    label: str = dataclasses.field(default="", kw_only=True)
    span: Span | None = dataclasses.field(default=None, kw_only=True)


@dataclasses.dataclass(slots=True, eq=False, repr=False)
class Return(SchemaNode):
    """`Return(node control, node value)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("control", "node", Category.NODE),
        FieldInfo("value", "node", Category.NODE),
        FieldInfo("label", "str", Category.SCALAR, hidden=True, default=""),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None),
    )
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    control: Node
    value: Node
    label: str = dataclasses.field(default="", kw_only=True)
    span: Span | None = dataclasses.field(default=None, kw_only=True)


@dataclasses.dataclass(slots=True, eq=False, repr=False)
class Parameter(SchemaNode):
    """`Parameter(int index)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("index", "int", Category.SCALAR),
        FieldInfo("label", "str", Category.SCALAR, hidden=True, default=""),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None),
    )
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    index: int
    label: str = dataclasses.field(default="", kw_only=True)
    span: Span | None = dataclasses.field(default=None, kw_only=True)


@dataclasses.dataclass(slots=True, eq=False, repr=False)
class ConstantNode(SchemaNode):
    """`ConstantNode(constant value)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("value", "constant", Category.NODE),
        FieldInfo("label", "str", Category.SCALAR, hidden=True, default=""),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None),
    )
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    value: Constant
    label: str = dataclasses.field(default="", kw_only=True)
    span: Span | None = dataclasses.field(default=None, kw_only=True)


@dataclasses.dataclass(slots=True, eq=False, repr=False)
class DynamicConstantNode(SchemaNode):
    """`DynamicConstantNode(dynamic_constant value)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("value", "dynamic_constant", Category.NODE),
        FieldInfo("label", "str", Category.SCALAR, hidden=True, default=""),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None),
    )
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    value: DynamicConstant
    label: str = dataclasses.field(default="", kw_only=True)
    span: Span | None = dataclasses.field(default=None, kw_only=True)


@dataclasses.dataclass(slots=True, eq=False, repr=False)
class Unary(SchemaNode):
    """`Unary(unary_op op, node operand)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("op", "unary_op", Category.ENUM),
        FieldInfo("operand", "node", Category.NODE),
        FieldInfo("label", "str", Category.SCALAR, hidden=True, default=""),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None),
    )
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    op: UnaryOp
    operand: Node
    label: str = dataclasses.field(default="", kw_only=True)
    span: Span | None = dataclasses.field(default=None, kw_only=True)


@dataclasses.dataclass(slots=True, eq=False, repr=False)
class Binary(SchemaNode):
    """`Binary(binary_op op, node lhs, node rhs)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("op", "binary_op", Category.ENUM),
        FieldInfo("lhs", "node", Category.NODE),
        FieldInfo("rhs", "node", Category.NODE),
        FieldInfo("label", "str", Category.SCALAR, hidden=True, default=""),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None),
    )
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    op: BinaryOp
    lhs: Node
    rhs: Node
    label: str = dataclasses.field(default="", kw_only=True)
    span: Span | None = dataclasses.field(default=None, kw_only=True)


@dataclasses.dataclass(slots=True, eq=False, repr=False)
class Select(SchemaNode):
    """`Select(node condition, node if_true, node if_false)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("condition", "node", Category.NODE),
        FieldInfo("if_true", "node", Category.NODE),
        FieldInfo("if_false", "node", Category.NODE),
        FieldInfo("label", "str", Category.SCALAR, hidden=True, default=""),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None),
    )
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    condition: Node
    if_true: Node
    if_false: Node
    label: str = dataclasses.field(default="", kw_only=True)
    span: Span | None = dataclasses.field(default=None, kw_only=True)


@dataclasses.dataclass(slots=True, eq=False, repr=False)
class Cast(SchemaNode):
    """`Cast(type type, node operand)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("type", "type", Category.NODE),
        FieldInfo("operand", "node", Category.NODE),
        FieldInfo("label", "str", Category.SCALAR, hidden=True, default=""),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None),
    )
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    type: Type
    operand: Node
    label: str = dataclasses.field(default="", kw_only=True)
    span: Span | None = dataclasses.field(default=None, kw_only=True)


@dataclasses.dataclass(slots=True, eq=False, repr=False)
class Bitcast(SchemaNode):
    """`Bitcast(type type, node operand)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("type", "type", Category.NODE),
        FieldInfo("operand", "node", Category.NODE),
        FieldInfo("label", "str", Category.SCALAR, hidden=True, default=""),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None),
    )
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    type: Type
    operand: Node
    label: str = dataclasses.field(default="", kw_only=True)
    span: Span | None = dataclasses.field(default=None, kw_only=True)


@dataclasses.dataclass(slots=True, eq=False, repr=False)
class Intrinsic(SchemaNode):
    """`Intrinsic(str function, type type, node* arguments)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("function", "str", Category.SCALAR),
        FieldInfo("type", "type", Category.NODE),
        FieldInfo("arguments", "node", Category.NODE, Count.MANY),
        FieldInfo("label", "str", Category.SCALAR, hidden=True, default=""),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None),
    )
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    function: str
    type: Type
    arguments: list[Node]
    label: str = dataclasses.field(default="", kw_only=True)
    span: Span | None = dataclasses.field(default=None, kw_only=True)


@dataclasses.dataclass(slots=True, eq=False, repr=False)
class Call(SchemaNode):
    """`Call(dynamic_constant* dynamic_constants, node* arguments)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("callee", "function", Category.NODE, hidden=True),
        FieldInfo("dynamic_constants", "dynamic_constant", Category.NODE, Count.MANY),
        FieldInfo("arguments", "node", Category.NODE, Count.MANY),
        FieldInfo("label", "str", Category.SCALAR, hidden=True, default=""),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None),
    )
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    callee: Function
    dynamic_constants: list[DynamicConstant]
    arguments: list[Node]
    label: str = dataclasses.field(default="", kw_only=True)
    span: Span | None = dataclasses.field(default=None, kw_only=True)


@dataclasses.dataclass(slots=True, eq=False, repr=False)
class Read(SchemaNode):
    """`Read(node collection, index* indices)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("collection", "node", Category.NODE),
        FieldInfo("indices", "index", Category.NODE, Count.MANY),
        FieldInfo("label", "str", Category.SCALAR, hidden=True, default=""),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None),
    )
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    collection: Node
    indices: list[Index]
    label: str = dataclasses.field(default="", kw_only=True)
    span: Span | None = dataclasses.field(default=None, kw_only=True)


@dataclasses.dataclass(slots=True, eq=False, repr=False)
class Write(SchemaNode):
    """`Write(node collection, node value, index* indices)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("collection", "node", Category.NODE),
        FieldInfo("value", "node", Category.NODE),
        FieldInfo("indices", "index", Category.NODE, Count.MANY),
        FieldInfo("label", "str", Category.SCALAR, hidden=True, default=""),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None),
    )
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    collection: Node
    value: Node
    indices: list[Index]
    label: str = dataclasses.field(default="", kw_only=True)
    span: Span | None = dataclasses.field(default=None, kw_only=True)


@dataclasses.dataclass(slots=True, eq=False, repr=False)
class Atomic(SchemaNode):
    """`Atomic(atomic_op op, node collection, index* indices, node* operands)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("op", "atomic_op", Category.ENUM),
        FieldInfo("collection", "node", Category.NODE),
        FieldInfo("indices", "index", Category.NODE, Count.MANY),
        FieldInfo("operands", "node", Category.NODE, Count.MANY),
        FieldInfo("label", "str", Category.SCALAR, hidden=True, default=""),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None),
    )
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    op: AtomicOp
    collection: Node
    indices: list[Index]
    operands: list[Node]
    label: str = dataclasses.field(default="", kw_only=True)
    span: Span | None = dataclasses.field(default=None, kw_only=True)


@dataclasses.dataclass(slots=True, eq=False, repr=False)
class ProductNode(SchemaNode):
    """`ProductNode(node* fields)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("fields", "node", Category.NODE, Count.MANY),
        FieldInfo("label", "str", Category.SCALAR, hidden=True, default=""),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None),
    )
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    fields: list[Node]
    label: str = dataclasses.field(default="", kw_only=True)
    span: Span | None = dataclasses.field(default=None, kw_only=True)


Type: TypeAlias = Control | Bool | Integer | Float | Product | Summation | Array
"""Types, compared structurally.
Control carries the thread replication factors of the forks around it, outermost first.
Values that only a Read may take apart (the outputs of If and Match) have a Product of Controls.
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
A position is a node of type u64; one past the end is moved to the last element (an empty array reads zero and
ignores writes).
"""

Node: TypeAlias = (
    Start
    | Region
    | If
    | Match
    | Fork
    | Join
    | Phi
    | ThreadID
    | Reduce
    | Collect
    | Return
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
  ThreadID is the thread's index in its fork, 0 … factor - 1. A factor of 0 runs nothing.
  Collect gathers one datum a thread into an array. Reduce carries a value across the threads of a fork: inside
    the fork it is the value so far (`init` at first), `update` is computed inside from it, after the join it is
    the last value.
    Threads may be folded in any order.
  Select: the ternary. Cast: numeric conversion with WGSL's rules (float to integer saturates, NaN gives 0; bool
    is 0 or 1);
  Bitcast: same bits. Intrinsic: a WGSL builtin on scalars, by name.
  Atomic: gives the product (collection after, old value); CompareExchange has operands (comparand, value).
    A Load returns the collection unchanged; the old value of a Store is the value it overwrote.
"""

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
        Phi,
        ThreadID,
        Reduce,
        Collect,
        Return,
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
            Phi,
            ThreadID,
            Reduce,
            Collect,
            Return,
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
