"""What a `Compute` may do: operators and builtin functions of WGSL on scalars, conversions, and `copy`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Final

from ..builtins import NoMatch, builtin, builtin_names, resolve_call
from ..builtins import evaluator as builtin_evaluator
from ..constants import RawValue
from ..conversions import converter
from ..operators import binary_evaluator, binary_result, unary_evaluator, unary_result
from ..ops import BinaryOp, UnaryOp
from ..scalars import Mode
from ..types import BOOL, F16, F32, I32, U32, Scalar
from .nodes import ElementType
from .text import INFIXES, PREFIXES

COPY: Final = "copy"
"""The function that makes a value anew, so that the other may be consumed."""
_SCALARS: Final = {
    ElementType.BOOL: BOOL,
    ElementType.I32: I32,
    ElementType.U32: U32,
    ElementType.F32: F32,
    ElementType.F16: F16,
}
_ELEMENT_TYPES: Final = {scalar: type for type, scalar in _SCALARS.items()}
_CONVERSIONS: Final = {it.value: it for it in ElementType}

Evaluate = Callable[[Sequence[RawValue]], RawValue]


def scalar_type(type: ElementType) -> Scalar:
    """The type of WGSL."""
    return _SCALARS[type]


def function_names() -> list[str]:
    """The names of all functions but operators."""
    return [COPY, *_CONVERSIONS, *(it for it in builtin_names() if _is_pure(it))]


def is_function(name: str) -> bool:
    """Whether there is such an operator or function."""
    return name in INFIXES or name in PREFIXES or name == COPY or name in _CONVERSIONS or _is_pure(name)


def _is_pure(name: str) -> bool:
    found = builtin(name)
    return found is not None and found.is_const and not found.name.startswith("bitcast")


@cache
def result_type(function: str, operands: tuple[ElementType, ...]) -> ElementType | None:
    """The type of the result; None where the function does not take operands of these types."""
    types = tuple(_SCALARS[it] for it in operands)
    if len(operands) == 2 and function in INFIXES:
        match = binary_result(BinaryOp(function), *types, concrete=True)
        return None if match is None or match.operands != types else _element_type(match.result)
    if len(operands) == 1 and function in PREFIXES:
        match = unary_result(UnaryOp(function), *types, concrete=True)
        return None if match is None or match.operands != types else _element_type(match.result)
    if function == COPY or function in _CONVERSIONS:
        return _CONVERSIONS.get(function, operands[0]) if len(operands) == 1 else None
    found = builtin(function)
    if found is None or not _is_pure(function):
        return None
    call = resolve_call(found, (), types, concrete=True)
    return None if isinstance(call, NoMatch) or call.param_types != types else _element_type(call.result_type)


def _element_type(type: object) -> ElementType | None:
    return _ELEMENT_TYPES.get(type) if isinstance(type, Scalar) else None


def evaluator(function: str, operands: tuple[ElementType, ...]) -> Evaluate:
    """The function that computes a result from the operands, for types that `result_type` accepts; it is total."""
    types = tuple(_SCALARS[it] for it in operands)
    if function in INFIXES and len(operands) == 2:
        binary = binary_evaluator(BinaryOp(function), types[0], types[1], Mode.RUNTIME)
        return lambda args: binary(args[0], args[1])
    if function in PREFIXES and len(operands) == 1:
        unary = unary_evaluator(UnaryOp(function), types[0], Mode.RUNTIME)
        return lambda args: unary(args[0])
    if function == COPY:
        return lambda args: args[0]
    if function in _CONVERSIONS:
        convert = converter(types[0], _SCALARS[_CONVERSIONS[function]], Mode.RUNTIME)
        return lambda args: convert(args[0])
    result = result_type(function, operands)
    assert result is not None
    return builtin_evaluator(function, (), types, _SCALARS[result], Mode.RUNTIME)
