"""Copies of functions, and of their bodies with other dynamic constants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, assert_never

from ..schema.runtime import Count, values_of
from . import dynamic
from . import nodes as h
from .graph import map_predecessors
from .types import substitute


def copied(nodes: Sequence[h.Node], constants: Sequence[h.DynamicConstant]) -> list[h.Node]:
    """Copies that use each other, in order; `constants` replace the function's dynamic constants."""
    copies = {node: _copy(node, constants) for node in nodes}
    for node in copies.values():
        map_predecessors(node, lambda used: copies[used])
    return list(copies.values())


def copy_of(function: h.Function) -> tuple[h.Function, dict[h.Node, h.Node]]:
    """A copy of a function, and the copy of each of its nodes, in their order."""
    constants = [h.DynamicParameter(index) for index in range(len(function.dynamic_constants))]
    copies = dict(zip(function.nodes, copied(function.nodes, constants), strict=True))
    made = h.Function(
        name=function.name,
        dynamic_constants=list(function.dynamic_constants),
        parameter_types=list(function.parameter_types),
        parameter_names=list(function.parameter_names),
        return_type=function.return_type,
        nodes=list(copies.values()),
    )
    return made, copies


def specialised(function: h.Function, values: Sequence[int]) -> h.Function:
    """A copy with the values of the dynamic constants substituted; the copy keeps the parameters."""
    constants = [dynamic.literal(value) for value in values]
    return h.Function(
        name=function.name,
        dynamic_constants=list(function.dynamic_constants),
        parameter_types=[substitute(type, constants) for type in function.parameter_types],
        parameter_names=list(function.parameter_names),
        return_type=substitute(function.return_type, constants),
        nodes=copied(function.nodes, constants),
    )


def _copy(node: h.Node, constants: Sequence[h.DynamicConstant]) -> h.Node:
    made = node.copy()
    for info in made.FIELDS:
        if info.type in _SUBSTITUTED:
            items = [_substituted(it, constants) for it in values_of(made, info)]
            setattr(made, info.name, items if info.count is Count.MANY else items[0])
    return made


_SUBSTITUTED: Final = frozenset({"dynamic_constant", "constant", "type"})
"""The types of fields that may contain dynamic constants."""


def _substituted(value: object, constants: Sequence[h.DynamicConstant]) -> object:
    if isinstance(value, h.DynamicConstant):
        return dynamic.substitute(value, constants)
    if isinstance(value, h.Constant):
        return _constant(value, constants)
    assert isinstance(value, h.Type)
    return substitute(value, constants)


def _constant(constant: h.Constant, constants: Sequence[h.DynamicConstant]) -> h.Constant:
    match constant:
        case h.ZeroConstant(type=type):
            return h.ZeroConstant(substitute(type, constants))
        case h.ProductConstant(type=type, fields=parts):
            return h.ProductConstant(substitute(type, constants), tuple(_constant(it, constants) for it in parts))
        case h.ArrayConstant(type=type, elements=parts):
            return h.ArrayConstant(substitute(type, constants), tuple(_constant(it, constants) for it in parts))
        case h.SummationConstant(type=type, variant=variant, value=value):
            return h.SummationConstant(substitute(type, constants), variant, _constant(value, constants))
        case h.BoolConstant() | h.IntegerConstant() | h.FloatConstant():
            return constant
        case _:
            assert_never(constant)
