"""Types and constants as expressions."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from ...ir.constants import ConstantValue, RawValue, Repeated, same_bits
from ...ir.conversions import elements
from ...ir.diagnostics import ShaderError, not_supported
from ...ir.ops import UnaryOp
from ...ir.scalars import bits_of, float_format, int_range, round_to
from ...ir.types import (
    I32,
    Access,
    AddressSpace,
    Array,
    Atomic,
    Buffer,
    Extent,
    Matrix,
    OverrideCount,
    Pointer,
    Reference,
    Sampler,
    Scalar,
    ScalarKind,
    Struct,
    Texture,
    TextureKind,
    Type,
    Vector,
    Void,
    has_no_name,
)
from ...ir.wgsl import ast
from . import syntax

_LEAST_I32, _ = int_range(I32)
_SUFFIXES = {ScalarKind.I32: "i", ScalarKind.U32: "u", ScalarKind.F32: "f", ScalarKind.F16: "h"}


_MOST_LEVELS = 16
"""Number of levels of nested array types, or of nested constructors of a constant, above which the inner ones get a
declaration: Tint's parser accepts 128 levels of brackets. Portable programs have at most 15 levels of composite types
(WGSL, "Limits").
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Speller:
    """Writes types and constants. `declared` are the module's names: if one shadows `vec3f`, `vec3<f32>` is written.

    `count` gives the expression of an override-sized array's count; `table` declares a constant, and `alias` a type, at
    module scope, and gives its name. `names` are those of structures.
    """

    declared: Collection[str]
    count: Callable[[OverrideCount], ast.Expression]
    table: Callable[[ConstantValue], str]
    alias: Callable[[Array], str]
    names: Mapping[Struct, str]

    def type(self, type: Type) -> ast.Expression:
        """The expression of a type."""
        return self.type_name(type)

    def type_name(self, type: Type) -> ast.Identifier:
        """The identifier of a type, perhaps with template arguments, as it is also used for a value constructor.

        Raises ShaderError for a structure that only builtin functions return: it has no constructor.
        """
        match type:
            case Array() if has_no_name(type):
                return syntax.identifier("array")
            case Struct() if has_no_name(type):
                raise ShaderError([not_supported(f"writing a value of type '{type}' other than by its function", None)])
            case Scalar():
                return syntax.identifier(str(type))
            case Vector(width=width, element=element):
                return self._generic(f"vec{width}", element)
            case Matrix(columns=columns, rows=rows, element=element):
                return self._generic(f"mat{columns}x{rows}", element)
            case Atomic(element=element):
                return syntax.identifier("atomic", self.type(element))
            case Array(element=element, count=count):
                extent = () if count is None else (self.extent(count),)
                return syntax.identifier("array", self._element(element), *extent)
            case Buffer(size=size):
                return syntax.identifier("buffer", *(() if size is None else (self.extent(size),)))
            case Struct(name=name):
                return syntax.identifier(self.names.get(type, name))
            case Pointer() | Reference():
                return self._pointer(type)
            case Texture():
                return _texture(type)
            case Sampler() | Void():
                return syntax.identifier(str(type))
            case _:
                assert_never(type)

    def _element(self, type: Type) -> ast.Expression:
        """The type of an array's elements; an alias of it where many array types are nested."""
        levels = 0
        inner = type
        while isinstance(inner, Array):
            inner = inner.element
            levels += 1
        if isinstance(type, Array) and levels % _MOST_LEVELS == 0:
            return syntax.identifier(self.alias(type))
        return self.type(type)

    def _generic(self, name: str, element: Scalar) -> ast.Identifier:
        short = f"{name}{_SUFFIXES.get(element.kind, '')}"
        if short == name or short in self.declared:
            return syntax.identifier(name, self.type(element))
        return syntax.identifier(short)

    def extent(self, count: Extent) -> ast.Expression:
        """A number, or the expression of a count."""
        return syntax.integer(count) if isinstance(count, int) else self.count(count)

    def _pointer(self, type: Pointer | Reference) -> ast.Identifier:
        arguments = [syntax.identifier(type.space.value), self.type(type.store)]
        if type.space is AddressSpace.STORAGE and type.access is not Access.READ:
            arguments.append(syntax.identifier(type.access.value))
        return syntax.identifier("ptr", *arguments)

    # Constants.

    def constant(self, constant: ConstantValue, *, typed: bool = False) -> ast.Expression:
        """A constant. Without `typed`, i32 and f32 literals have no suffix, since WGSL infers these by default."""
        return self._value(constant.type, constant.value, typed, 0)

    def _value(self, type: Type, value: RawValue, typed: bool, level: int) -> ast.Expression:
        if isinstance(type, Scalar):
            return _scalar(type, value, typed)
        if level == _MOST_LEVELS:
            return syntax.identifier(self.table(ConstantValue(type, value)))
        parts = elements(value)
        if isinstance(type, Struct) and type.name.startswith(("__frexp_result", "__modf_result")):
            return self._builtin_result(type, parts)
        name = self.type_name(type)
        match type:
            case Vector(width=width, element=element):
                is_splat = all(same_bits(parts[0], part) for part in parts)
                return self._call(name, [element] * width, parts[:1] if is_splat else parts, level)
            case _ if _is_zero(value) and not has_no_name(type):
                return syntax.call(name, ())
            case Matrix(columns=columns):
                return self._call(name, [type.column] * columns, parts, level)
            case Array(element=element):
                return self._call(name, [element] * len(parts), parts, level)
            case Struct(members=members):
                return self._call(name, [member.type for member in members], parts, level)
            case _:
                raise TypeError(f"no constant is of type {type}")

    def _call(
        self, name: ast.Identifier, types: Sequence[Type], parts: Sequence[RawValue], level: int
    ) -> ast.Expression:
        pairs = zip(types, parts, strict=False)
        return syntax.call(name, [self._value(type, part, False, level + 1) for type, part in pairs])

    def _builtin_result(self, type: Struct, parts: Sequence[RawValue]) -> ast.Expression:
        """A structure that `frexp` or `modf` returns has no name, so it is written as a call that returns it."""
        function = "frexp" if type.name.startswith("__frexp") else "modf"
        join = _join_frexp if function == "frexp" else _join_modf
        argument_type = type.members[0].type
        first, second = parts
        if isinstance(argument_type, Vector):
            joined = tuple(map(join, elements(first), elements(second)))
            return syntax.call(function, [self._value(argument_type, joined, True, 0)])
        return syntax.call(function, [self._value(argument_type, join(first, second), True, 0)])


def _join_frexp(fract: RawValue, exponent: RawValue) -> float:
    assert isinstance(fract, float)
    assert isinstance(exponent, int)
    return math.ldexp(fract, exponent)


def _join_modf(fract: RawValue, whole: RawValue) -> float:
    assert isinstance(fract, float)
    assert isinstance(whole, float)
    return whole + fract if fract else whole


def _is_zero(value: RawValue) -> bool:
    """Whether all scalars of the value are zero; -0.0 does not count."""
    if isinstance(value, float):
        return value == 0.0 and math.copysign(1.0, value) > 0
    if isinstance(value, int):
        return not value
    return _is_zero(value.item) if isinstance(value, Repeated) else all(map(_is_zero, value))


def is_zero(constant: ConstantValue) -> bool:
    """Whether it is the zero value of its type."""
    return _is_zero(constant.value)


def _scalar(type: Scalar, value: RawValue, typed: bool) -> ast.Expression:
    if isinstance(value, bool):
        return ast.BoolLiteral(value, syntax.NOWHERE)
    suffix = _SUFFIXES.get(type.kind, "")
    if type.kind in (ScalarKind.I32, ScalarKind.F32) and not typed:
        suffix = ""
    if isinstance(value, int):
        if value == _LEAST_I32 and type.kind is ScalarKind.I32:
            return syntax.call("i32", [syntax.integer(value)])
        return syntax.integer(value, suffix)
    assert isinstance(value, float)
    return _float(type, value, suffix)


def _float(type: Scalar, value: float, suffix: str) -> ast.Expression:
    """A float literal. WGSL has none for infinities and NaN, which are written as a `bitcast` of their bits."""
    if not math.isfinite(value):
        bits = syntax.integer(bits_of(type, value), "u")
        if type.kind is ScalarKind.F32:
            return syntax.call(syntax.identifier("bitcast", syntax.identifier("f32")), [bits])
        pair = syntax.identifier("vec2", syntax.identifier("f16"))
        return syntax.member(syntax.call(syntax.identifier("bitcast", pair), [bits]), "x")
    text = float_text(type, abs(value))
    literal = ast.FloatLiteral(f"{text}{suffix}", suffix, syntax.NOWHERE)
    return syntax.unary(UnaryOp.NEGATE, literal) if math.copysign(1.0, value) < 0 else literal


def float_text(type: Scalar, value: float) -> str:
    """The shortest decimal that rounds to the value, both directly in the type and by way of double precision."""
    for digits in range(1, 18):
        short = float(f"{value:.{digits}g}")
        if round_to(type, short) == value and short <= float_format(type).largest:
            return repr(short)
    return repr(value)


def _texture(type: Texture) -> ast.Identifier:
    name = "texture_external" if type.kind is TextureKind.EXTERNAL else f"{type.kind.value}_{type.dimension}"
    if type.kind is TextureKind.STORAGE:
        words = [it for it in (type.format, type.access.value if type.access else None) if it is not None]
        return syntax.identifier(name, *map(syntax.identifier, words))
    sampled = () if type.sampled is None else (syntax.identifier(str(type.sampled)),)
    return syntax.identifier(name, *sampled)
