"""Values as expressions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, assert_never

from ...ir.constants import ConstantValue, element
from ...ir.core import nodes
from ...ir.core.values import User, Value
from ...ir.ops import BinaryOp, UnaryOp
from ...ir.types import AddressSpace, Array, Pointer, Struct, Type, Vector, element_type
from ...ir.wgsl import ast
from . import syntax
from .names import COMPONENTS
from .spelling import Speller, is_zero

_LONGEST_ARRAY = 16

ConstantOf: TypeAlias = Callable[[Value], ConstantValue | None]
CalleeName: TypeAlias = Callable[[nodes.Function], str]


@dataclass(frozen=True, slots=True)
class ShortCircuit:
    """The meaning of a block argument that is written as `lhs && rhs` or `lhs || rhs`."""

    op: BinaryOp
    lhs: Value
    rhs: Value


class Expressions:
    """Builds expressions. `bound` maps values to their names; all others are built from their operands.

    `table` gives the name of a module-scope constant that holds a constant value.
    """

    def __init__(
        self,
        speller: Speller,
        *,
        constant_of: ConstantOf,
        callee_name: CalleeName,
        table: Callable[[ConstantValue], str],
    ) -> None:
        self._speller = speller
        self._constant_of = constant_of
        self._callee_name = callee_name
        self._table = table
        self.bound: dict[Value, str] = {}
        self.hidden: dict[tuple[User, int], str] = {}
        self.short_circuits: dict[Value, ShortCircuit] = {}

    def type(self, type: Type) -> ast.Expression:
        """A type."""
        return self._speller.type(type)

    def of(self, value: Value) -> ast.Expression:
        """The expression of a value; that of a pointer is `&memory`, or a name."""
        if value in self.bound and not _names_memory(value):
            return syntax.identifier(self.bound[value])
        if isinstance(value.type, Pointer):
            return syntax.address_of(self.memory(value))
        constant = self._constant_of(value)
        return self._operation(value) if constant is None else self.literal(constant)

    def literal(self, constant: ConstantValue) -> ast.Expression:
        """The expression of a constant; a long array gets a declaration of its own."""
        return self._declared(constant) if is_long(constant) else self._speller.constant(constant)

    def memory(self, pointer: Value) -> ast.Expression:
        """A reference to the memory that a pointer points to."""
        if pointer in self.bound:
            name = syntax.identifier(self.bound[pointer])
            return name if _names_memory(pointer) else syntax.unary(UnaryOp.INDIRECTION, name)
        if isinstance(pointer, nodes.BuiltinCall):
            return syntax.unary(UnaryOp.INDIRECTION, self.instruction(pointer))
        assert isinstance(pointer, nodes.Access), "a pointer is a variable, a parameter, a view, or a part of one"
        return self._part(self.memory(pointer.object), pointer)

    def operand(self, user: nodes.Instruction, index: int) -> ast.Expression:
        """An operand; a constant that is hidden from const evaluation is read from its variable."""
        name = self.hidden.get((user, index))
        return self.of(user.operands[index]) if name is None else syntax.identifier(name)

    def _declared(self, constant: ConstantValue) -> ast.Expression:
        return syntax.identifier(self._table(constant))

    def _access(self, access: nodes.Access) -> ast.Expression:
        """A part of a value. Of a constant, the leading constant indices are applied at once. If an array is left, it
        gets a declaration, since the next index is computed at run time.
        """
        constant = None if access.object in self.bound else self._constant_of(access.object)
        if constant is None:
            return self._part(self.of(access.object), access)
        known = 0
        while (number := self._index_of(access, known)) is not None:
            constant, known = element(constant, number), known + 1
        is_table = isinstance(constant.type, Array) and not is_zero(constant)
        whole = self._declared(constant) if is_table else self.literal(constant)
        return self._part(whole, access, known)

    def _index_of(self, access: nodes.Access, position: int) -> int | None:
        """An index, if it is constant and not hidden from const evaluation."""
        if position == len(access.indices) or (access, position + 1) in self.hidden:
            return None
        constant = self._constant_of(access.indices[position])
        return constant.value if constant is not None and isinstance(constant.value, int) else None

    def _operation(self, value: Value) -> ast.Expression:
        if value in self.short_circuits:
            return self._short_circuit(self.short_circuits[value])
        assert isinstance(value, nodes.Instruction), f"{value!r} has no name"
        return self.instruction(value)

    def _short_circuit(self, short: ShortCircuit) -> ast.Expression:
        """`a && (b && c)` as `a && b && c`, which evaluates the same in the same order."""
        chain: list[ast.Expression] = []
        rhs = self.of(short.rhs)
        while isinstance(rhs, ast.Binary) and rhs.op is short.op:
            chain.append(rhs.rhs)
            rhs = rhs.lhs
        made = syntax.binary(short.op, self.of(short.lhs), rhs)
        for operand in reversed(chain):
            made = syntax.binary(short.op, made, operand)
        return made

    def instruction(self, node: nodes.Instruction) -> ast.Expression:
        """The expression of an instruction that has a result, or is a call."""
        match node:
            case nodes.Unary(op=op):
                return syntax.unary(op, self.operand(node, 0))
            case nodes.Binary(op=op):
                return syntax.binary(op, self.operand(node, 0), self.operand(node, 1))
            case nodes.Convert(type=type) | nodes.Construct(type=type):
                return syntax.call(self._speller.type_name(type), self._operands(node))
            case nodes.Access():
                return self._access(node)
            case nodes.Swizzle(components=components):
                return syntax.member(self.operand(node, 0), "".join(COMPONENTS[it] for it in components))
            case nodes.Load(pointer=pointer):
                return self.memory(pointer)
            case nodes.Call(callee=callee):
                return syntax.call(self._callee_name(callee), self._operands(node))
            case nodes.BuiltinCall():
                return self._builtin(node)
            case nodes.Var() | nodes.Override() | nodes.Store() | nodes.Discard():
                raise AssertionError(f"{node!r} is no expression")
            case _:
                assert_never(node)

    def _operands(self, node: nodes.Instruction) -> Sequence[ast.Expression]:
        return [self.operand(node, index) for index in range(len(node.operands))]

    def _builtin(self, node: nodes.BuiltinCall) -> ast.Expression:
        templates = [self._speller.type(argument) for argument in node.template_arguments]
        return syntax.call(syntax.identifier(node.function, *templates), self._operands(node))

    def _part(self, whole: ast.Expression, access: nodes.Access, known: int = 0) -> ast.Expression:
        """Apply the indices of an access to `whole`, except the first `known`, which have been applied already."""
        type = access.object.type
        type = type.store if isinstance(type, Pointer) else type
        for position, index in enumerate(access.indices, 1):
            constant = self._constant_of(index)
            number = constant.value if constant is not None and isinstance(constant.value, int) else None
            if position <= known:
                pass
            elif isinstance(type, Struct):
                assert number is not None
                whole = syntax.member(whole, type.members[number].name)
            elif isinstance(type, Vector) and number is not None and (access, position) not in self.hidden:
                whole = syntax.member(whole, COMPONENTS[number])
            else:
                whole = syntax.index(whole, self.operand(access, position))
            part = element_type(type, number or 0)
            assert part is not None
            type = part
        return whole


def _names_memory(value: Value) -> bool:
    """Whether the name of a pointer is that of a variable, so that the name itself is a reference."""
    return isinstance(value, nodes.Var)


def is_handle(value: Value) -> bool:
    """Whether the value is a texture or sampler read from its variable: no `let` may hold one."""
    return isinstance(value, nodes.Load) and is_handle_pointer(value.pointer.type)


def is_handle_pointer(type: Type) -> bool:
    """Whether a pointer points to a texture or sampler."""
    return isinstance(type, Pointer) and type.space is AddressSpace.HANDLE


def is_long(constant: ConstantValue) -> bool:
    """Whether an array constant is too long to stand in an expression."""
    count = constant.type.count if isinstance(constant.type, Array) else None
    return isinstance(count, int) and count > _LONGEST_ARRAY and not is_zero(constant)
