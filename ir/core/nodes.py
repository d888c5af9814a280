# Written by `python -m tinct.ir.schema.generate` from ir/schema/core.asdl: change the schema, not this file.
# ruff: noqa: D102  (the schema documents the operands; methods are as in ir/schema/asdl.py)

"""Core IR: the round-trip IR, after Tint's design document.

An instruction has its shape in parentheses and its meaning in brackets; `ir/schema/asdl.py` describes the notation.
A `pure` instruction may be computed anywhere, any number of times; `reads`, `writes` and `exits` are the effects of
the others. The effects of a BuiltinCall depend on the function, see `ir/builtins`. No operation is commutative, since
the product of matrices is not.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, ClassVar, TypeAlias, TypeVar

from ...base.records import dataclass, field
from ..schema.runtime import Category, Count, FieldInfo, Operation, Schema, SchemaNode
from .values import UNTYPED, User, Value

if TYPE_CHECKING:
    from ..constants import ConstantValue
    from ..ops import BinaryOp, UnaryOp
    from ..source import Span
    from ..types import BindingPoint, Extent, IoAttributes, OverrideCount, Stage, Struct, Type


class PureInstruction(Operation):
    """What gives the same value whenever attributes and operands are the same. A base, for tests and patterns."""

    __slots__ = ()


class ReadingInstruction(Operation):
    """What depends on memory. A base, for tests and patterns."""

    __slots__ = ()


class WritingInstruction(Operation):
    """What changes memory, or makes a new version of storage. A base, for tests and patterns."""

    __slots__ = ()


class ExitingInstruction(Operation):
    """What may end the invocation. A base, for tests and patterns."""

    __slots__ = ()


@dataclass(slots=True, eq=False, repr=False)
class Module(SchemaNode):
    """A whole module. `root` holds the module-scope `Var`s and `Override`s, and the single operations that their
    initializers and override-sized arrays need, in dependency order. `functions` are in call order: a callee stands
    before its callers. `counts` gives each override-sized count of elements or bytes its value: an override, a
    constant or an operation of `root`.
    """

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("enables", "str", Category.SCALAR, Count.MANY),
        FieldInfo("requires", "str", Category.SCALAR, Count.MANY),
        FieldInfo("diagnostics", "diagnostic_filter", Category.NODE, Count.MANY),
        FieldInfo("structs", "struct", Category.EXTERN, Count.MANY),
        FieldInfo("root", "Block", Category.NODE),
        FieldInfo("functions", "function", Category.NODE, Count.MANY),
        FieldInfo("counts", "array_count", Category.NODE, Count.MANY, default=()),
    )
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    enables: list[str]
    requires: list[str]
    diagnostics: list[DiagnosticFilter]
    structs: list[Struct]
    root: Block
    functions: list[Function]
    counts: list[ArrayCount] = field(default_factory=list["ArrayCount"], kw_only=True)

    def __str__(self) -> str:
        from .text import print_module

        return print_module(self)


class ArrayCount(User):
    """`ArrayCount(override_count count, value value)`"""

    __slots__ = ("count",)
    __match_args__ = ("count", "value")
    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("count", "override_count", Category.EXTERN),
        FieldInfo("value", "value", Category.NODE, operand=True),
    )
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    def __init__(self, count: OverrideCount, value: Value) -> None:
        super().__init__((value,))
        self.count = count

    @property
    def value(self) -> Value:
        return self._operands[0]

    @value.setter
    def value(self, value: Value) -> None:
        self.set_operand(0, value)


@dataclass(frozen=True, slots=True, repr=False)
class DiagnosticFilter(SchemaNode):
    """`diagnostic(severity, rule)`, on a module, a function, or a block."""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("severity", "str", Category.SCALAR),
        FieldInfo("rule", "str", Category.SCALAR),
    )

    severity: str
    rule: str


@dataclass(slots=True, eq=False, repr=False)
class Block(SchemaNode):
    """`Block(block_argument* arguments, instruction* instructions, branch? branch, diagnostic_filter* diagnostics)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("arguments", "block_argument", Category.NODE, Count.MANY),
        FieldInfo("instructions", "instruction", Category.NODE, Count.MANY),
        FieldInfo("branch", "branch", Category.NODE, Count.OPTIONAL),
        FieldInfo("diagnostics", "diagnostic_filter", Category.NODE, Count.MANY, default=()),
    )
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    arguments: list[BlockArgument]
    instructions: list[Instruction]
    branch: Branch | None
    diagnostics: list[DiagnosticFilter] = field(default_factory=list["DiagnosticFilter"], kw_only=True)


class If(User):
    """Both arms always exist; an arm with nothing to do is a Block that branches to `merge_target`.
    `merge_target` is None when neither arm reaches it.
    An If that yields values has a merge block with arguments.
    """

    __slots__ = ("false_target", "merge_target", "span", "true_target")
    __match_args__ = ("condition", "true_target", "false_target", "merge_target")
    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("condition", "value", Category.NODE, operand=True),
        FieldInfo("true_target", "Block", Category.NODE),
        FieldInfo("false_target", "Block", Category.NODE),
        FieldInfo("merge_target", "Block", Category.NODE, Count.OPTIONAL),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None),
    )
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    def __init__(
        self,
        condition: Value,
        true_target: Block,
        false_target: Block,
        merge_target: Block | None,
        *,
        span: Span | None = None,
    ) -> None:
        super().__init__((condition,))
        self.true_target = true_target
        self.false_target = false_target
        self.merge_target = merge_target
        self.span = span

    @property
    def condition(self) -> Value:
        return self._operands[0]

    @condition.setter
    def condition(self, value: Value) -> None:
        self.set_operand(0, value)


@dataclass(slots=True, eq=False, repr=False)
class Loop(SchemaNode):
    """Entered at `start_target`; `continue` branches to `continuing_target`, whose end branches back to `start_target`,
    or, for `break if`, enters an If whose arms branch to `merge_target` and to `start_target`. `break` branches to
    `merge_target`. Arguments of `start_target` are loop-carried values: the branch that enters the Loop and the back
    branch pass them (the entering Branch has this Loop as target and the arguments for `start_target`).
    """

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("start_target", "Block", Category.NODE),
        FieldInfo("continuing_target", "Block", Category.NODE),
        FieldInfo("merge_target", "Block", Category.NODE),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None),
    )
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    start_target: Block
    continuing_target: Block
    merge_target: Block
    span: Span | None = field(default=None, kw_only=True)


class Switch(User):
    """`Switch(value condition, switch_case* cases, Block? merge_target)`"""

    __slots__ = ("cases", "merge_target", "span")
    __match_args__ = ("condition", "cases", "merge_target")
    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("condition", "value", Category.NODE, operand=True),
        FieldInfo("cases", "switch_case", Category.NODE, Count.MANY),
        FieldInfo("merge_target", "Block", Category.NODE, Count.OPTIONAL),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None),
    )
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    def __init__(
        self, condition: Value, cases: Iterable[SwitchCase], merge_target: Block | None, *, span: Span | None = None
    ) -> None:
        super().__init__((condition,))
        self.cases = list(cases)
        self.merge_target = merge_target
        self.span = span

    @property
    def condition(self) -> Value:
        return self._operands[0]

    @condition.setter
    def condition(self, value: Value) -> None:
        self.set_operand(0, value)


@dataclass(slots=True, eq=False, repr=False)
class SwitchCase(SchemaNode):
    """`SwitchCase(constant_value* selectors, bool is_default, Block target)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("selectors", "constant_value", Category.EXTERN, Count.MANY),
        FieldInfo("is_default", "bool", Category.SCALAR),
        FieldInfo("target", "Block", Category.NODE),
    )
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    selectors: list[ConstantValue]
    is_default: bool
    target: Block


@dataclass(slots=True, eq=False, repr=False)
class Terminator(SchemaNode):
    """Marks the end of a function: a return is a branch to it, with the returned value as argument if there is one.
    The end of a block that control never reaches is a Terminator too, with `unreachable` set.
    """

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (FieldInfo("unreachable", "bool", Category.SCALAR, default=False),)
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    unreachable: bool = field(default=False, kw_only=True)


class Branch(User):
    """The end of a block, and its only branch. Its target is a merge, start or continuing block, a Terminator, or the
    If, Loop or Switch that the block enters.
    """

    __slots__ = ("span", "target")
    __match_args__ = ("target", "arguments")
    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("target", "flow", Category.NODE),
        FieldInfo("arguments", "value", Category.NODE, Count.MANY, operand=True),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None),
    )
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    def __init__(self, target: Flow, arguments: Iterable[Value], *, span: Span | None = None) -> None:
        super().__init__(arguments)
        self.target = target
        self.span = span

    @property
    def arguments(self) -> tuple[Value, ...]:
        return tuple(self._operands)

    @arguments.setter
    def arguments(self, values: Iterable[Value]) -> None:
        self._set_tail(0, values)


class Function(User):
    """A function; with a `stage` it is an entry point. `workgroup_size` has one to three values: constants or values of
    `root`. `subgroup_size` is the size that the entry point demands, a number or a count in `counts`. `resources` are
    the module-scope variables and overrides in the interface, determined before dead code is dropped: phony uses
    count, and so do uses in called functions.
    """

    __slots__ = (
        "diagnostics",
        "end_target",
        "must_use",
        "name",
        "parameters",
        "resources",
        "return_io",
        "return_type",
        "span",
        "stage",
        "start_target",
        "subgroup_size",
    )
    __match_args__ = (
        "name",
        "stage",
        "workgroup_size",
        "parameters",
        "return_type",
        "return_io",
        "start_target",
        "end_target",
    )
    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("name", "str", Category.SCALAR),
        FieldInfo("stage", "stage", Category.EXTERN, Count.OPTIONAL),
        FieldInfo("workgroup_size", "value", Category.NODE, Count.MANY, operand=True),
        FieldInfo("parameters", "function_parameter", Category.NODE, Count.MANY),
        FieldInfo("return_type", "type", Category.EXTERN),
        FieldInfo("return_io", "io", Category.EXTERN),
        FieldInfo("start_target", "Block", Category.NODE),
        FieldInfo("end_target", "Terminator", Category.NODE),
        FieldInfo("resources", "value_declaration", Category.NODE, Count.MANY, hidden=True, default=()),
        FieldInfo("diagnostics", "diagnostic_filter", Category.NODE, Count.MANY, default=()),
        FieldInfo("must_use", "bool", Category.SCALAR, default=False),
        FieldInfo("subgroup_size", "extent", Category.EXTERN, Count.OPTIONAL, default=None),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None),
    )
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    def __init__(
        self,
        name: str,
        stage: Stage | None,
        workgroup_size: Iterable[Value],
        parameters: Iterable[FunctionParameter],
        return_type: Type,
        return_io: IoAttributes,
        start_target: Block,
        end_target: Terminator,
        *,
        resources: Iterable[ValueDeclaration] = (),
        diagnostics: Iterable[DiagnosticFilter] = (),
        must_use: bool = False,
        subgroup_size: Extent | None = None,
        span: Span | None = None,
    ) -> None:
        super().__init__(workgroup_size)
        self.name = name
        self.stage = stage
        self.parameters = list(parameters)
        self.return_type = return_type
        self.return_io = return_io
        self.start_target = start_target
        self.end_target = end_target
        self.resources = list(resources)
        self.diagnostics = list(diagnostics)
        self.must_use = must_use
        self.subgroup_size = subgroup_size
        self.span = span

    @property
    def workgroup_size(self) -> tuple[Value, ...]:
        return tuple(self._operands)

    @workgroup_size.setter
    def workgroup_size(self, values: Iterable[Value]) -> None:
        self._set_tail(0, values)


class Constant(Value):
    """`Constant(constant_value value, type type, str? name)`"""

    __slots__ = ("value",)
    __match_args__ = ("value", "type", "name")
    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("value", "constant_value", Category.EXTERN),
        FieldInfo("type", "type", Category.EXTERN),
        FieldInfo("name", "str", Category.SCALAR, Count.OPTIONAL),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None),
    )
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    def __init__(self, value: ConstantValue, type: Type, name: str | None, *, span: Span | None = None) -> None:
        super().__init__()
        self.value = value
        self.type = type
        self.name = name
        self.span = span


class FunctionParameter(Value):
    """`FunctionParameter(io io, type type, str? name)`"""

    __slots__ = ("io",)
    __match_args__ = ("io", "type", "name")
    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("io", "io", Category.EXTERN),
        FieldInfo("type", "type", Category.EXTERN),
        FieldInfo("name", "str", Category.SCALAR, Count.OPTIONAL),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None),
    )
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    def __init__(self, io: IoAttributes, type: Type, name: str | None, *, span: Span | None = None) -> None:
        super().__init__()
        self.io = io
        self.type = type
        self.name = name
        self.span = span


class BlockArgument(Value):
    """`BlockArgument(type type, str? name)`"""

    __slots__ = ()
    __match_args__ = ("type", "name")
    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("type", "type", Category.EXTERN),
        FieldInfo("name", "str", Category.SCALAR, Count.OPTIONAL),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None),
    )
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    def __init__(self, type: Type, name: str | None, *, span: Span | None = None) -> None:
        super().__init__()
        self.type = type
        self.name = name
        self.span = span


class Unary(Value, PureInstruction):
    """`Unary(unary_op op, value operand, type type, str? name)`"""

    __slots__ = ("op",)
    __match_args__ = ("op", "operand", "type", "name")
    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("op", "unary_op", Category.EXTERN, is_word=True),
        FieldInfo("operand", "value", Category.NODE, operand=True),
        FieldInfo("type", "type", Category.EXTERN),
        FieldInfo("name", "str", Category.SCALAR, Count.OPTIONAL, note=True),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None, note=True),
    )
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    def __init__(self, op: UnaryOp, operand: Value, type: Type, name: str | None, *, span: Span | None = None) -> None:
        super().__init__((operand,))
        self.op = op
        self.type = type
        self.name = name
        self.span = span

    @property
    def operand(self) -> Value:
        return self._operands[0]

    @operand.setter
    def operand(self, value: Value) -> None:
        self.set_operand(0, value)

    def attributes(self) -> tuple[Hashable, ...]:
        return (self.op, self.type)

    def copy(self) -> Unary:
        return Unary(self.op, self.operand, self.type, self.name, span=self.span)


class Binary(Value, PureInstruction):
    """`Binary(binary_op op, value lhs, value rhs, type type, str? name)`"""

    __slots__ = ("op",)
    __match_args__ = ("op", "lhs", "rhs", "type", "name")
    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("op", "binary_op", Category.EXTERN, is_word=True),
        FieldInfo("lhs", "value", Category.NODE, operand=True),
        FieldInfo("rhs", "value", Category.NODE, operand=True),
        FieldInfo("type", "type", Category.EXTERN),
        FieldInfo("name", "str", Category.SCALAR, Count.OPTIONAL, note=True),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None, note=True),
    )
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    def __init__(
        self, op: BinaryOp, lhs: Value, rhs: Value, type: Type, name: str | None, *, span: Span | None = None
    ) -> None:
        super().__init__((lhs, rhs))
        self.op = op
        self.type = type
        self.name = name
        self.span = span

    @property
    def lhs(self) -> Value:
        return self._operands[0]

    @lhs.setter
    def lhs(self, value: Value) -> None:
        self.set_operand(0, value)

    @property
    def rhs(self) -> Value:
        return self._operands[1]

    @rhs.setter
    def rhs(self, value: Value) -> None:
        self.set_operand(1, value)

    def attributes(self) -> tuple[Hashable, ...]:
        return (self.op, self.type)

    def copy(self) -> Binary:
        return Binary(self.op, self.lhs, self.rhs, self.type, self.name, span=self.span)


class Convert(Value, PureInstruction):
    """`Convert(value operand, type type, str? name)`"""

    __slots__ = ()
    __match_args__ = ("operand", "type", "name")
    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("operand", "value", Category.NODE, operand=True),
        FieldInfo("type", "type", Category.EXTERN),
        FieldInfo("name", "str", Category.SCALAR, Count.OPTIONAL, note=True),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None, note=True),
    )
    WORD: ClassVar[str] = "convert"
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    def __init__(self, operand: Value, type: Type, name: str | None, *, span: Span | None = None) -> None:
        super().__init__((operand,))
        self.type = type
        self.name = name
        self.span = span

    @property
    def operand(self) -> Value:
        return self._operands[0]

    @operand.setter
    def operand(self, value: Value) -> None:
        self.set_operand(0, value)

    def attributes(self) -> tuple[Hashable, ...]:
        return (self.type,)

    def copy(self) -> Convert:
        return Convert(self.operand, self.type, self.name, span=self.span)


class Construct(Value, PureInstruction):
    """`Construct(value* elements, type type, str? name)`"""

    __slots__ = ()
    __match_args__ = ("elements", "type", "name")
    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("elements", "value", Category.NODE, Count.MANY, operand=True),
        FieldInfo("type", "type", Category.EXTERN),
        FieldInfo("name", "str", Category.SCALAR, Count.OPTIONAL, note=True),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None, note=True),
    )
    WORD: ClassVar[str] = "construct"
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    def __init__(self, elements: Iterable[Value], type: Type, name: str | None, *, span: Span | None = None) -> None:
        super().__init__(elements)
        self.type = type
        self.name = name
        self.span = span

    @property
    def elements(self) -> tuple[Value, ...]:
        return tuple(self._operands)

    @elements.setter
    def elements(self, values: Iterable[Value]) -> None:
        self._set_tail(0, values)

    def attributes(self) -> tuple[Hashable, ...]:
        return (self.type,)

    def copy(self) -> Construct:
        return Construct(self.elements, self.type, self.name, span=self.span)


class Access(Value, PureInstruction):
    """`Access(value object, value* indices, type type, str? name)`"""

    __slots__ = ()
    __match_args__ = ("object", "indices", "type", "name")
    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("object", "value", Category.NODE, operand=True),
        FieldInfo("indices", "value", Category.NODE, Count.MANY, operand=True),
        FieldInfo("type", "type", Category.EXTERN),
        FieldInfo("name", "str", Category.SCALAR, Count.OPTIONAL, note=True),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None, note=True),
    )
    WORD: ClassVar[str] = "access"
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    def __init__(
        self, object: Value, indices: Iterable[Value], type: Type, name: str | None, *, span: Span | None = None
    ) -> None:
        super().__init__((object, *indices))
        self.type = type
        self.name = name
        self.span = span

    @property
    def object(self) -> Value:
        return self._operands[0]

    @object.setter
    def object(self, value: Value) -> None:
        self.set_operand(0, value)

    @property
    def indices(self) -> tuple[Value, ...]:
        return tuple(self._operands[1:])

    @indices.setter
    def indices(self, values: Iterable[Value]) -> None:
        self._set_tail(1, values)

    def attributes(self) -> tuple[Hashable, ...]:
        return (self.type,)

    def copy(self) -> Access:
        return Access(self.object, self.indices, self.type, self.name, span=self.span)


class Swizzle(Value, PureInstruction):
    """`Swizzle(value object, int* components, type type, str? name)`"""

    __slots__ = ("components",)
    __match_args__ = ("object", "components", "type", "name")
    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("object", "value", Category.NODE, operand=True),
        FieldInfo("components", "int", Category.SCALAR, Count.MANY),
        FieldInfo("type", "type", Category.EXTERN),
        FieldInfo("name", "str", Category.SCALAR, Count.OPTIONAL, note=True),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None, note=True),
    )
    WORD: ClassVar[str] = "swizzle"
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    def __init__(
        self, object: Value, components: Iterable[int], type: Type, name: str | None, *, span: Span | None = None
    ) -> None:
        super().__init__((object,))
        self.components = list(components)
        self.type = type
        self.name = name
        self.span = span

    @property
    def object(self) -> Value:
        return self._operands[0]

    @object.setter
    def object(self, value: Value) -> None:
        self.set_operand(0, value)

    def attributes(self) -> tuple[Hashable, ...]:
        return (tuple(self.components), self.type)

    def copy(self) -> Swizzle:
        return Swizzle(self.object, self.components, self.type, self.name, span=self.span)


class Load(Value, ReadingInstruction):
    """`Load(value pointer, type type, str? name)`"""

    __slots__ = ()
    __match_args__ = ("pointer", "type", "name")
    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("pointer", "value", Category.NODE, operand=True),
        FieldInfo("type", "type", Category.EXTERN),
        FieldInfo("name", "str", Category.SCALAR, Count.OPTIONAL, note=True),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None, note=True),
    )
    WORD: ClassVar[str] = "load"
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    def __init__(self, pointer: Value, type: Type, name: str | None, *, span: Span | None = None) -> None:
        super().__init__((pointer,))
        self.type = type
        self.name = name
        self.span = span

    @property
    def pointer(self) -> Value:
        return self._operands[0]

    @pointer.setter
    def pointer(self, value: Value) -> None:
        self.set_operand(0, value)

    def attributes(self) -> tuple[Hashable, ...]:
        return (self.type,)

    def copy(self) -> Load:
        return Load(self.pointer, self.type, self.name, span=self.span)


class Store(Value, WritingInstruction):
    """`Store(value pointer, value value, type type, str? name)`"""

    __slots__ = ()
    __match_args__ = ("pointer", "value", "type", "name")
    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("pointer", "value", Category.NODE, operand=True),
        FieldInfo("value", "value", Category.NODE, operand=True),
        FieldInfo("type", "type", Category.EXTERN),
        FieldInfo("name", "str", Category.SCALAR, Count.OPTIONAL, note=True),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None, note=True),
    )
    WORD: ClassVar[str] = "store"
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    def __init__(self, pointer: Value, value: Value, type: Type, name: str | None, *, span: Span | None = None) -> None:
        super().__init__((pointer, value))
        self.type = type
        self.name = name
        self.span = span

    @property
    def pointer(self) -> Value:
        return self._operands[0]

    @pointer.setter
    def pointer(self, value: Value) -> None:
        self.set_operand(0, value)

    @property
    def value(self) -> Value:
        return self._operands[1]

    @value.setter
    def value(self, value: Value) -> None:
        self.set_operand(1, value)

    def attributes(self) -> tuple[Hashable, ...]:
        return (self.type,)

    def copy(self) -> Store:
        return Store(self.pointer, self.value, self.type, self.name, span=self.span)


class Var(Value, Operation):
    """`Var(value? initializer, binding_point? binding, type type, str? name)`"""

    __slots__ = ("binding",)
    __match_args__ = ("initializer", "type", "name")
    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("initializer", "value", Category.NODE, Count.OPTIONAL, operand=True),
        FieldInfo("binding", "binding_point", Category.EXTERN, Count.OPTIONAL, default=None),
        FieldInfo("type", "type", Category.EXTERN),
        FieldInfo("name", "str", Category.SCALAR, Count.OPTIONAL, note=True),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None, note=True),
    )
    WORD: ClassVar[str] = "var"
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    def __init__(
        self,
        initializer: Value | None,
        type: Type,
        name: str | None,
        *,
        binding: BindingPoint | None = None,
        span: Span | None = None,
    ) -> None:
        super().__init__(() if initializer is None else (initializer,))
        self.binding = binding
        self.type = type
        self.name = name
        self.span = span

    @property
    def initializer(self) -> Value | None:
        return self._operands[0] if len(self._operands) > 0 else None

    @initializer.setter
    def initializer(self, value: Value | None) -> None:
        self._set_tail(0, () if value is None else (value,))

    def attributes(self) -> tuple[Hashable, ...]:
        return (self.binding, self.type)

    def copy(self) -> Var:
        return Var(self.initializer, self.type, self.name, binding=self.binding, span=self.span)


class Override(Value, Operation):
    """`Override(value? default, int? id, type type, str? name)`"""

    __slots__ = ("id",)
    __match_args__ = ("default", "type", "name")
    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("default", "value", Category.NODE, Count.OPTIONAL, operand=True),
        FieldInfo("id", "int", Category.SCALAR, Count.OPTIONAL, default=None),
        FieldInfo("type", "type", Category.EXTERN),
        FieldInfo("name", "str", Category.SCALAR, Count.OPTIONAL, note=True),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None, note=True),
    )
    WORD: ClassVar[str] = "override"
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    def __init__(
        self, default: Value | None, type: Type, name: str | None, *, id: int | None = None, span: Span | None = None
    ) -> None:
        super().__init__(() if default is None else (default,))
        self.id = id
        self.type = type
        self.name = name
        self.span = span

    @property
    def default(self) -> Value | None:
        return self._operands[0] if len(self._operands) > 0 else None

    @default.setter
    def default(self, value: Value | None) -> None:
        self._set_tail(0, () if value is None else (value,))

    def attributes(self) -> tuple[Hashable, ...]:
        return (self.id, self.type)

    def copy(self) -> Override:
        return Override(self.default, self.type, self.name, id=self.id, span=self.span)


class Call(Value, ReadingInstruction, WritingInstruction):
    """`Call(value* arguments, type type, str? name)`"""

    __slots__ = ("callee",)
    __match_args__ = ("callee", "arguments", "type", "name")
    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("callee", "function", Category.NODE, hidden=True),
        FieldInfo("arguments", "value", Category.NODE, Count.MANY, operand=True),
        FieldInfo("type", "type", Category.EXTERN),
        FieldInfo("name", "str", Category.SCALAR, Count.OPTIONAL, note=True),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None, note=True),
    )
    WORD: ClassVar[str] = "call"
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    def __init__(
        self, callee: Function, arguments: Iterable[Value], type: Type, name: str | None, *, span: Span | None = None
    ) -> None:
        super().__init__(arguments)
        self.callee = callee
        self.type = type
        self.name = name
        self.span = span

    @property
    def arguments(self) -> tuple[Value, ...]:
        return tuple(self._operands)

    @arguments.setter
    def arguments(self, values: Iterable[Value]) -> None:
        self._set_tail(0, values)

    def attributes(self) -> tuple[Hashable, ...]:
        return (self.callee, self.type)

    def copy(self) -> Call:
        return Call(self.callee, self.arguments, self.type, self.name, span=self.span)


class BuiltinCall(Value, Operation):
    """`BuiltinCall(str function, type* template_arguments, value* arguments, type type, str? name)`"""

    __slots__ = ("function", "template_arguments")
    __match_args__ = ("function", "template_arguments", "arguments", "type", "name")
    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("function", "str", Category.SCALAR),
        FieldInfo("template_arguments", "type", Category.EXTERN, Count.MANY),
        FieldInfo("arguments", "value", Category.NODE, Count.MANY, operand=True),
        FieldInfo("type", "type", Category.EXTERN),
        FieldInfo("name", "str", Category.SCALAR, Count.OPTIONAL, note=True),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None, note=True),
    )
    WORD: ClassVar[str] = "builtin"
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    def __init__(
        self,
        function: str,
        template_arguments: Iterable[Type],
        arguments: Iterable[Value],
        type: Type,
        name: str | None,
        *,
        span: Span | None = None,
    ) -> None:
        super().__init__(arguments)
        self.function = function
        self.template_arguments = list(template_arguments)
        self.type = type
        self.name = name
        self.span = span

    @property
    def arguments(self) -> tuple[Value, ...]:
        return tuple(self._operands)

    @arguments.setter
    def arguments(self, values: Iterable[Value]) -> None:
        self._set_tail(0, values)

    def attributes(self) -> tuple[Hashable, ...]:
        return (self.function, tuple(self.template_arguments), self.type)

    def copy(self) -> BuiltinCall:
        return BuiltinCall(self.function, self.template_arguments, self.arguments, self.type, self.name, span=self.span)


class Discard(Value, ExitingInstruction):
    """`Discard(type type, str? name)`"""

    __slots__ = ()
    __match_args__ = ("type", "name")
    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("type", "type", Category.EXTERN),
        FieldInfo("name", "str", Category.SCALAR, Count.OPTIONAL, note=True),
        FieldInfo("span", "span", Category.EXTERN, Count.OPTIONAL, hidden=True, default=None, note=True),
    )
    WORD: ClassVar[str] = "discard"
    IDENTITY: ClassVar[bool] = True
    MUTABLE: ClassVar[bool] = True

    def __init__(self, type: Type, name: str | None, *, span: Span | None = None) -> None:
        super().__init__()
        self.type = type
        self.name = name
        self.span = span

    def attributes(self) -> tuple[Hashable, ...]:
        return (self.type,)

    def copy(self) -> Discard:
        return Discard(self.type, self.name, span=self.span)


Flow: TypeAlias = Block | If | Loop | Switch | Terminator
"""Control-flow nodes. A Block is a straight run of single operations and ends in one branch.
Structure: a Block that enters an If, Loop or Switch branches to that node; control continues at the node's
`merge_target`.
`diagnostics` are the filters of a region, held by its first block: the continuing block of a Loop, or the true
arm of a scope. A scope is an If whose condition is the constant `true` and whose false arm is unreachable; it
represents a block of statements in braces.
"""

IfNode: TypeAlias = If
"""Both arms always exist; an arm with nothing to do is a Block that branches to `merge_target`.
`merge_target` is None when neither arm reaches it.
An If that yields values has a merge block with arguments.
"""

LoopNode: TypeAlias = Loop
"""Entered at `start_target`; `continue` branches to `continuing_target`, whose end branches back to `start_target`,
or, for `break if`, enters an If whose arms branch to `merge_target` and to `start_target`. `break` branches to
`merge_target`. Arguments of `start_target` are loop-carried values: the branch that enters the Loop and the back
branch pass them (the entering Branch has this Loop as target and the arguments for `start_target`).
"""

SwitchNode: TypeAlias = Switch

ValueDeclaration: TypeAlias = Var | Override

Instruction: TypeAlias = (
    Unary
    | Binary
    | Convert
    | Construct
    | Access
    | Swizzle
    | Load
    | Store
    | Var
    | Override
    | Call
    | BuiltinCall
    | Discard
)
"""Single operations.
  Unary, Binary: the operators of WGSL, including those of vector and scalar and matrix products, but without &&
    and ||.
  Convert: f32(i), vec3u(v): value conversion to `type`. Construct: value constructor of `type` (vectors may mix
    or splat).
  Access: an access through a pointer gives a pointer to the element, an access to a value the element. Members of
    a structure are indexed by u32 constants. Only Load and Store may use a pointer to a vector's component.
  Swizzle: components of a vector value, 2 to 4 of 0…3.
  Var: a variable; its type is a pointer. In `root` it may have a binding point. Override: a pipeline constant,
    in `root` only.
  Call: a user function. BuiltinCall: a builtin function by its WGSL name (bitcast, select, workgroupBarrier …
    included); `template_arguments` as in bitcast<T>.
  Discard: fragment shaders only.
"""

AnyValue: TypeAlias = (
    Constant
    | FunctionParameter
    | BlockArgument
    | Unary
    | Binary
    | Convert
    | Construct
    | Access
    | Swizzle
    | Load
    | Store
    | Var
    | Override
    | Call
    | BuiltinCall
    | Discard
)
"""Every kind of `Value`."""

AnyPureInstruction: TypeAlias = Unary | Binary | Convert | Construct | Access | Swizzle
"""Every kind of `PureInstruction`."""

AnyReadingInstruction: TypeAlias = Load | Call
"""Every kind of `ReadingInstruction`."""

AnyWritingInstruction: TypeAlias = Store | Call
"""Every kind of `WritingInstruction`."""

AnyExitingInstruction: TypeAlias = Discard
"""Every kind of `ExitingInstruction`."""

BY_WORD: Mapping[str, type[Instruction]] = {
    "convert": Convert,
    "construct": Construct,
    "access": Access,
    "swizzle": Swizzle,
    "load": Load,
    "store": Store,
    "var": Var,
    "override": Override,
    "call": Call,
    "builtin": BuiltinCall,
    "discard": Discard,
}
"""The operations by their words in the text form, but for words that are externs."""

SCHEMA = Schema(
    name="core",
    kinds=(
        Module,
        ArrayCount,
        DiagnosticFilter,
        Block,
        If,
        Loop,
        Switch,
        SwitchCase,
        Terminator,
        Branch,
        Function,
        Constant,
        FunctionParameter,
        BlockArgument,
        Unary,
        Binary,
        Convert,
        Construct,
        Access,
        Swizzle,
        Load,
        Store,
        Var,
        Override,
        Call,
        BuiltinCall,
        Discard,
    ),
    enums={},
    sums={
        "module": (Module,),
        "array_count": (ArrayCount,),
        "diagnostic_filter": (DiagnosticFilter,),
        "flow": (Block, If, Loop, Switch, Terminator),
        "if_node": (If,),
        "loop_node": (Loop,),
        "switch_node": (Switch,),
        "switch_case": (SwitchCase,),
        "terminator": (Terminator,),
        "branch": (Branch,),
        "function": (Function,),
        "value_declaration": (Var, Override),
        "value": (
            Constant,
            FunctionParameter,
            BlockArgument,
            Unary,
            Binary,
            Convert,
            Construct,
            Access,
            Swizzle,
            Load,
            Store,
            Var,
            Override,
            Call,
            BuiltinCall,
            Discard,
        ),
        "constant": (Constant,),
        "function_parameter": (FunctionParameter,),
        "block_argument": (BlockArgument,),
        "instruction": (
            Unary,
            Binary,
            Convert,
            Construct,
            Access,
            Swizzle,
            Load,
            Store,
            Var,
            Override,
            Call,
            BuiltinCall,
            Discard,
        ),
    },
    externs=(
        "type",
        "struct",
        "io",
        "binding_point",
        "stage",
        "span",
        "constant_value",
        "override_count",
        "extent",
        "unary_op",
        "binary_op",
    ),
)


InstructionT = TypeVar("InstructionT", bound=Instruction)


class OperationBuilder:
    """A method for each kind of operation that only constructs it; `add` says what a builder does with each."""

    def add(self, operation: InstructionT, /) -> InstructionT:
        raise NotImplementedError

    def unary(self, op: UnaryOp, operand: Value, *, name: str | None = None) -> Unary:
        """`Unary(unary_op op, value operand, type type, str? name)`"""
        return self.add(Unary(op, operand, UNTYPED, name))

    def binary(self, op: BinaryOp, lhs: Value, rhs: Value, *, name: str | None = None) -> Binary:
        """`Binary(binary_op op, value lhs, value rhs, type type, str? name)`"""
        return self.add(Binary(op, lhs, rhs, UNTYPED, name))

    def access(self, object: Value, indices: Iterable[Value], *, name: str | None = None) -> Access:
        """`Access(value object, value* indices, type type, str? name)`"""
        return self.add(Access(object, indices, UNTYPED, name))

    def swizzle(self, object: Value, components: Iterable[int], *, name: str | None = None) -> Swizzle:
        """`Swizzle(value object, int* components, type type, str? name)`"""
        return self.add(Swizzle(object, components, UNTYPED, name))

    def load(self, pointer: Value, *, name: str | None = None) -> Load:
        """`Load(value pointer, type type, str? name)`"""
        return self.add(Load(pointer, UNTYPED, name))

    def store(self, pointer: Value, value: Value, *, name: str | None = None) -> Store:
        """`Store(value pointer, value value, type type, str? name)`"""
        return self.add(Store(pointer, value, UNTYPED, name))

    def call(self, callee: Function, arguments: Iterable[Value], *, name: str | None = None) -> Call:
        """`Call(value* arguments, type type, str? name)`"""
        return self.add(Call(callee, arguments, UNTYPED, name))

    def discard(self, *, name: str | None = None) -> Discard:
        """`Discard(type type, str? name)`"""
        return self.add(Discard(UNTYPED, name))
