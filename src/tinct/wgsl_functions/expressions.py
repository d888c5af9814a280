"""Values of constant expressions."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from .. import frontend
from ..arguments import text_of
from ..base.errors import InputError
from ..ir.constants import RawValue
from ..ir.diagnostics import Diagnostic, Note, ShaderError
from ..ir.layout_numbers import shown
from ..ir.source import Source, Span
from ..ir.types import Array, Matrix, Scalar, ScalarKind, Struct, Type, Vector
from ..ir.wgsl.program import Program
from .values import dtype_of

Value: TypeAlias = "bool | int | float | npt.NDArray[Any]"

_ABSTRACT = {ScalarKind.ABSTRACT_INT: np.dtype(np.int64), ScalarKind.ABSTRACT_FLOAT: np.dtype(np.float64)}
_NAME = "value_of_expression"


def evaluate(expression: str, module: Source | None = None) -> Value:
    """The value of a constant expression, such as `vec3f(1) * 2`, with the declarations of a module, if there is one.

    A bool, int or float of Python for a scalar of an abstract type or a bool; else a numpy scalar or array of the
    type's dtype, where matrices have columns first and structures are structured. Raises ShaderError, with the place
    in the expression, for what is wrong in it, and InputError if it is no text.
    """
    text = text_of(expression, "an expression", "vec3f(1) * 2")
    before = b"" if module is None else module.data + b"\n"
    name = _NAME
    while name.encode() in before:
        name += "_"
    head = before + f"const {name} = (".encode()
    written = text.encode("utf-8", "surrogatepass")
    source = Source("<expression>", written)
    try:
        program = frontend.load_program(Source("<expression>", head + written + b"\n);"))
    except ShaderError as error:
        raise ShaderError([_moved(it, len(head), source) for it in error.diagnostics], source) from None
    found = next((it for it in program.variables if it.name == name), None)
    if found is None or found.constant is None or not _is_last(program, name):
        raise InputError(f"{shown(expression)} is not one expression")
    return _value(found.type, found.constant.value)


def _is_last(program: Program, name: str) -> bool:
    """Whether the constant is declared last: a text could end its declaration, and begin another one."""
    return getattr(program.unit.declarations[-1], "name", None) == name


def _moved(diagnostic: Diagnostic, offset: int, source: Source) -> Diagnostic:
    """The diagnostic at its place in the expression."""

    def inside(span: Span | None) -> Span | None:
        if span is None:
            return None
        start, end = (min(max(it - offset, 0), len(source.data)) for it in span)
        return Span(start, end)

    notes = tuple(Note(it.message, inside(it.span)) for it in diagnostic.notes)
    return Diagnostic(diagnostic.severity, diagnostic.code, diagnostic.message, inside(diagnostic.span), notes)


def _value(type: Type, raw: RawValue) -> Value:
    if isinstance(type, Scalar) and (type.is_abstract or not type.is_numeric):
        assert isinstance(raw, (bool, int, float))
        return raw
    made: npt.NDArray[Any] = np.array(_nested(type, raw), _dtype(type))
    return made[()]


def _nested(type: Type, raw: RawValue) -> object:
    """Lists, and tuples for structures, as numpy takes them."""
    match type:
        case Struct(members=members):
            return tuple(_nested(it.type, part) for it, part in zip(members, _parts(raw), strict=True))
        case Vector(element=element) | Array(element=element):
            return [_nested(element, part) for part in _parts(raw)]
        case Matrix():
            return [_nested(type.column, part) for part in _parts(raw)]
        case _:
            return raw


def _parts(raw: RawValue) -> list[RawValue]:
    assert not isinstance(raw, (bool, int, float))
    return list(raw)


def _dtype(type: Type) -> np.dtype[Any]:
    """The dtype of the elements; arrays have no own one."""
    match type:
        case Scalar(kind=kind) if kind in _ABSTRACT:
            return _ABSTRACT[kind]
        case Vector(element=element) | Matrix(element=element) | Array(element=element):
            return _dtype(element)
        case _:
            return dtype_of(type)
