"""Copies of functions' bodies with other dynamic constants."""

from __future__ import annotations

import copy
from collections.abc import Sequence

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


def specialised(function: h.Function, values: Sequence[int]) -> h.Function:
    """The function for known values of its dynamic constants, which it still has."""
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
    made = copy.copy(node)
    match made:
        case h.Fork():
            made.factor = dynamic.substitute(made.factor, constants)
        case h.DynamicConstantNode():
            made.value = dynamic.substitute(made.value, constants)
        case h.Call():
            made.dynamic_constants = [dynamic.substitute(it, constants) for it in made.dynamic_constants]
            made.arguments = list(made.arguments)
        case h.ConstantNode():
            made.value = _constant(made.value, constants)
        case h.Region():
            made.predecessors = list(made.predecessors)
        case h.Phi():
            made.values = list(made.values)
        case h.Intrinsic():
            made.arguments = list(made.arguments)
        case h.ProductNode():
            made.fields = list(made.fields)
        case h.Read() | h.Write():
            made.indices = list(made.indices)
        case h.Atomic():
            made.indices, made.operands = list(made.indices), list(made.operands)
        case _:
            pass
    return made


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
        case _:
            return constant
