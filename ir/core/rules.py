"""Typing rules: the type of an operation's result, from its operands.

`operations` has the rule of each kind of instruction. A rule returns the type of the result (`VOID` where there is
none) or raises `RuleError` with one sentence about the error.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..builtins import NoMatch, builtin, resolve_call
from ..operators import binary_result, unary_result
from ..ops import BinaryOp, UnaryOp
from ..types import (
    I32,
    U32,
    VOID,
    Access,
    AddressSpace,
    Array,
    Buffer,
    Matrix,
    OverrideCount,
    Pointer,
    Sampler,
    Scalar,
    Struct,
    Texture,
    Type,
    Vector,
    element_type,
    is_constructible,
    pointer,
    scalar_of,
    vector,
    walk,
    with_scalar,
)
from . import nodes
from .values import Value


class RuleError(Exception):
    """An operation does not accept its operands."""


def unary_type(op: UnaryOp, operand: Type) -> Type:
    """The type of a negation, a complement or a `!`."""
    match = unary_result(op, operand, concrete=True)
    if match is None or match.operands != (operand,):
        raise RuleError(f"no operator {op.value} for {operand}")
    return match.result


def binary_type(op: BinaryOp, left: Type, right: Type) -> Type:
    """The type of an infix operator. `&&` and `||` do not occur: they are Ifs in core IR."""
    match = None if op.is_short_circuit else binary_result(op, left, right, concrete=True)
    if match is None or match.operands != (left, right):
        raise RuleError(f"no operator {op.value} for {left} and {right}")
    return match.result


def convert_type(target: Type, operand: Type) -> Type:
    """A value conversion keeps the shape and changes the scalar."""
    scalar = scalar_of(target)
    if not isinstance(operand, (Scalar, Vector, Matrix)) or scalar is None or scalar.is_abstract:
        raise RuleError(f"{operand} does not convert to {target}")
    if with_scalar(operand, scalar) is not target or (isinstance(operand, Matrix) and not scalar.is_float):
        raise RuleError(f"{operand} does not convert to {target}")
    return target


def construct_type(target: Type, elements: Sequence[Type]) -> Type:
    """A value constructor takes all parts of the value; that of a vector also takes one scalar, or a mixture of scalars
    and vectors.
    """
    if not is_constructible(target):
        raise RuleError(f"{target} is not constructible")
    if not _constructs(target, elements):
        shown = ", ".join(map(str, elements))
        raise RuleError(f"{target} is not made of ({shown})")
    return target


def _constructs(target: Type, elements: Sequence[Type]) -> bool:
    match target:
        case Vector(width=width, element=scalar):
            if any(scalar_of(element) is not scalar or isinstance(element, Matrix) for element in elements):
                return False
            found = sum(element.width if isinstance(element, Vector) else 1 for element in elements)
            return found == width or (len(elements) == 1 and elements[0] is scalar)
        case Matrix(columns=columns, rows=rows, element=scalar):
            by_column = len(elements) == columns and all(element is target.column for element in elements)
            return by_column or (len(elements) == columns * rows and all(element is scalar for element in elements))
        case Array(element=element, count=count):
            return len(elements) == count and all(found is element for found in elements)
        case Struct(members=members):
            return [member.type for member in members] == list(elements)
        case _:
            return False


def access_type(object: Type, indices: Sequence[Value]) -> Type:
    """An access through a pointer gives a pointer to the part, an access to a value the part.

    An index, even a constant one, may be out of range: it is clamped at run time.
    """
    if not indices:
        raise RuleError("an access needs an index")
    part = object.store if isinstance(object, Pointer) else object
    for index in indices:
        part = _part_type(part, index)
    return pointer(object.space, part, object.access) if isinstance(object, Pointer) else part


def _part_type(whole: Type, index: Value) -> Type:
    if index.type is not I32 and index.type is not U32:
        raise RuleError(f"an index must be i32 or u32, not {index.type}")
    position = index.value.value if isinstance(index, nodes.Constant) else None
    if isinstance(whole, Struct) and (index.type is not U32 or not isinstance(position, int)):
        raise RuleError("a member must be indexed by a u32 constant")
    part = element_type(whole, position if isinstance(position, int) else 0)
    if part is None:
        raise RuleError(f"{whole} has no part {position}" if isinstance(whole, Struct) else f"{whole} has no parts")
    return part


def swizzle_type(object: Type, components: Sequence[int]) -> Type:
    """Two to four components of a vector value."""
    if not isinstance(object, Vector):
        raise RuleError(f"{object} has no components")
    if not 2 <= len(components) <= 4 or not all(0 <= component < object.width for component in components):
        raise RuleError(f"{object} has no such components")
    return vector(len(components), object.element)


def load_type(source: Type) -> Type:
    """A load gives the value of a variable or of a part of it; for a texture or sampler variable, the handle."""
    if not isinstance(source, Pointer):
        raise RuleError(f"a load needs a pointer, not {source}")
    if source.access is Access.WRITE:
        raise RuleError("a load needs read access")
    if not is_loadable(source.store):
        raise RuleError(f"{source.store} cannot be loaded")
    return source.store


def is_loadable(type: Type) -> bool:
    """Whether values of the type can be loaded: constructible types, override-sized arrays excluded, and handles."""
    return is_constructible(type) or isinstance(type, (Texture, Sampler))


def store_type(target: Type, value: Type) -> Type:
    """A store has no result."""
    if not isinstance(target, Pointer):
        raise RuleError(f"a store needs a pointer, not {target}")
    if target.access is Access.READ:
        raise RuleError("a store needs write access")
    if target.store is not value or not is_constructible(value):
        raise RuleError(f"{value} cannot be stored through {target}")
    return VOID


def var_type(type: Type, initializer: Value | None) -> Type:
    """A variable's type is the pointer to its memory."""
    if not isinstance(type, Pointer):
        raise RuleError(f"a variable must have a pointer type, not {type}")
    if initializer is not None and type.space not in (AddressSpace.FUNCTION, AddressSpace.PRIVATE):
        raise RuleError(f"a variable in {type.space.value} memory has no initialiser")
    if initializer is not None and initializer.type is not type.store:
        raise RuleError(f"{initializer.type} does not initialise a variable of type {type.store}")
    return type


def override_type(type: Type, default: Value | None) -> Type:
    """An override's type is a scalar."""
    if not isinstance(type, Scalar) or type.is_abstract:
        raise RuleError(f"an override must be a concrete scalar, not {type}")
    if default is not None and default.type is not type:
        raise RuleError(f"{default.type} is no default of an override of type {type}")
    return type


def call_type(callee: nodes.Function, arguments: Sequence[Value]) -> Type:
    """A call's type is the callee's return type."""
    expected = [parameter.type for parameter in callee.parameters]
    given = [argument.type for argument in arguments]
    if given != expected and not (len(given) == len(expected) and all(map(is_passed_as, given, expected))):
        raise RuleError(f"@{callee.name} takes ({', '.join(map(str, expected))})")
    return callee.return_type


def is_passed_as(given: Type, expected: Type) -> bool:
    """Whether a parameter of type `expected` accepts an argument: one of the same type or, for buffers, of a larger one
    (WGSL, "Conversion Rank").
    """
    if given is expected:
        return True
    if not isinstance(given, Pointer) or not isinstance(expected, Pointer):
        return False
    larger, smaller = given.store, expected.store
    if not isinstance(larger, Buffer) or not isinstance(smaller, Buffer):
        return False
    if (given.space, given.access) != (expected.space, expected.access):
        return False
    if smaller.size is None:
        return larger.size is not None
    return isinstance(larger.size, int) and isinstance(smaller.size, int) and smaller.size < larger.size


def builtin_type(name: str, template_arguments: Sequence[Type], arguments: Sequence[Value]) -> Type:
    """The result type of the overload whose parameters have exactly the arguments' types."""
    function = builtin(name)
    if function is None:
        raise RuleError(f"there is no builtin function {name}")
    types = tuple(argument.type for argument in arguments)
    match = resolve_call(function, tuple(template_arguments), types, concrete=True)
    if isinstance(match, NoMatch) or match.param_types != types:
        raise RuleError(f"{name} does not take ({', '.join(map(str, types))})")
    return match.result_type


def counts_in(type: Type) -> list[OverrideCount]:
    """The override-sized counts in a type: numbers of elements, or of a buffer's bytes."""
    parts = list(walk(type))
    extents = [part.count for part in parts if isinstance(part, Array)]
    extents += [part.size for part in parts if isinstance(part, Buffer)]
    return [extent for extent in extents if isinstance(extent, OverrideCount)]
