"""Types and constants of Hercules IR in WGSL.

A bool, a 32-bit integer and an f32 or f16 are those of WGSL. A u64 is a number of a thread or an index, which on a GPU
fits a u32 (see `transforms.hercules`); a u16 is the bits of an f16, in the low half of a u32.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import assert_never

from ...ir import types as w
from ...ir.constants import ConstantValue, RawValue, zero
from ...ir.diagnostics import ShaderError, not_supported
from ...ir.hercules import nodes as h
from ...ir.hercules.types import F16, F32, I32, U16, U32, U64, constant_type
from ...ir.source import Span
from .names import Names

_SCALARS: dict[h.Type, w.Scalar] = {
    h.Bool(): w.BOOL,
    I32: w.I32,
    U32: w.U32,
    U64: w.U32,
    U16: w.U32,
    F32: w.F32,
    F16: w.F16,
}


def scalar_type(type: h.Type, span: Span | None = None) -> w.Scalar:
    """The WGSL type of a scalar. Raises ShaderError for a type that WGSL does not have."""
    found = _SCALARS.get(type)
    if found is None:
        raise ShaderError([not_supported(f"a value of type {_shown(type)} on a GPU", span)])
    return found


def _shown(type: h.Type) -> str:
    match type:
        case h.Integer(bits=bits, signed=signed):
            return f"{'i' if signed else 'u'}{bits}"
        case h.Float(bits=bits):
            return f"f{bits}"
        case _:
            return str(type)


@dataclass(slots=True)
class Structs:
    """The structures of a module, one for each product type that a variable or a function's result has."""

    names: Names
    declared: list[w.Struct] = field(default_factory=list[w.Struct])
    _by_fields: dict[tuple[w.Type | None, ...], w.Struct] = field(
        default_factory=dict["tuple[w.Type | None, ...]", w.Struct]
    )

    def of(self, fields: Iterable[w.Type | None]) -> w.Struct:
        """The structure with members of these types. None stands for a field without any data, which has no member."""
        key = tuple(fields)
        if key not in self._by_fields:
            members = [w.StructMember(f"field{index}", it) for index, it in enumerate(key) if it is not None]
            placeholder = w.StructMember("empty", w.U32)  # WGSL has no structures without members
            self._by_fields[key] = struct = w.Struct(self.names.unique("Product"), tuple(members or [placeholder]))
            self.declared.append(struct)
        return self._by_fields[key]

    def declare(self, type: w.Type) -> None:
        """Add the structures in a type that has come from elsewhere."""
        for part in w.walk(type):
            if isinstance(part, w.Struct) and part not in self.declared:
                self.declared.append(part)

    def store_type(self, type: h.Type) -> w.Type:
        """The WGSL type of a variable that holds a value of this type; extents are literals. Raises ShaderError."""
        match type:
            case h.Array(element=element, extent=h.DynamicLiteral(value=count)):
                return w.array(self.store_type(element), max(count, 1))
            case h.Array():
                raise ShaderError([not_supported("an array of variable size inside of a kernel on a GPU", None)])
            case h.Product(fields=fields):
                return self.of(None if is_empty(it) else self.store_type(it) for it in fields)
            case _:
                return scalar_type(type)


def constant_value(constant: h.Constant, type: w.Type) -> ConstantValue:
    """The constant as a value of the WGSL type that stands for its type."""
    return ConstantValue(type, _raw(constant, type))


def _raw(constant: h.Constant, type: w.Type) -> RawValue:
    if is_empty(constant_type(constant)):
        return zero(type)
    match constant:
        case h.BoolConstant(value=value) | h.FloatConstant(value=value):
            return value
        case h.IntegerConstant(value=value):
            return min(value, 2**32 - 1) if constant.type == U64 else value
        case h.ArrayConstant(elements=parts) | h.ProductConstant(fields=parts):
            found: list[RawValue] = []
            for index, part in enumerate(it for it in parts if not is_empty(constant_type(it))):
                inner = w.element_type(type, index)
                assert inner is not None
                found.append(_raw(part, inner))
            return tuple(found)
        case h.ZeroConstant():
            return zero(type)
        case h.SummationConstant():
            raise TypeError("sums are lowered before")
        case _:
            assert_never(constant)


def is_empty(type: h.Type) -> bool:
    """Whether values of the type hold no data, as those of a product without fields and of an empty array."""
    match type:
        case h.Product(fields=fields):
            return all(map(is_empty, fields))
        case h.Array(element=element, extent=extent):
            return extent == h.DynamicLiteral(0) or is_empty(element)
        case _:
            return False


def member_of(type: w.Type, number: int) -> int:
    """The member that a field of a product is: those of `Structs` are named after the numbers of the fields."""
    assert isinstance(type, w.Struct)
    found = type.member_index(f"field{number}")
    return number if found is None else found
