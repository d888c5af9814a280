"""Floats that are never NaN: least and greatest values of them take one instruction.

A running maximum that begins with a number stays one, whatever the elements are, since a NaN loses against a number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, TypeAlias, assert_never

from ...base.records import dataclass
from ...ir.hercules import nodes as h
from .float_bounds import float_bounds

_MOST: Final = 64
"""The most nodes that are looked at for one value; it may be NaN if there are more."""
_CHOOSING: Final = ("min", "max", "clamp")
"""Functions that give a NaN only if all arguments are NaN."""
_KEEPING: Final = ("abs", "ceil", "floor", "round", "trunc")
"""Functions that give a NaN only of a NaN."""

_Test: TypeAlias = Callable[[Iterable[bool]], bool]


@dataclass(frozen=True, slots=True)
class _Rule:
    """A value is never NaN if `all` or `any` of these operands are never NaN."""

    test: _Test
    operands: Sequence[h.Node]


def is_never_nan(node: h.Node, types: Mapping[h.Node, h.Type]) -> bool:
    """Whether a float is never NaN. Values that loops carry are taken for numbers until one of their operands may be
    none: what a loop begins with is outside of it.
    """
    rules: dict[h.Node, _Rule] = {}
    waiting = [node]
    while waiting:
        current = waiting.pop()
        if current not in rules:
            rules[current] = _rule(current, types)
            waiting += rules[current].operands
            if len(rules) > _MOST:
                return False
    numbers, before = set(rules), len(rules) + 1
    while len(numbers) < before:
        before = len(numbers)
        numbers = {it for it in numbers if rules[it].test(operand in numbers for operand in rules[it].operands)}
    return node in numbers


def _rule(node: h.Node, types: Mapping[h.Node, h.Type]) -> _Rule:
    if float_bounds(node, types) is not None:
        return _Rule(all, ())
    match node:
        case h.Intrinsic(function=function, arguments=arguments) if function in _CHOOSING:
            return _Rule(any, arguments)
        case h.Intrinsic(function=function, arguments=arguments) if function in _KEEPING:
            return _Rule(all, arguments)
        case h.Unary(op=h.UnaryOp.NEGATE, operand=operand):
            return _Rule(all, (operand,))
        case h.Select(if_true=if_true, if_false=if_false):
            return _Rule(all, (if_true, if_false))
        case h.Phi(values=values):
            return _Rule(all, values)
        case h.Reduce(init=init, update=update):
            return _Rule(all, (init, update))
        case h.FloatingNode() | h.PinnedNode() | h.ControlNode():
            return _Rule(any, ())
        case _:
            assert_never(node)
