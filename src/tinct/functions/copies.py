"""Copies of functions, which compilers may change."""

from __future__ import annotations

from ..ir.hercules import nodes as h
from ..ir.hercules.copying import copied


def copied_function(function: h.Function) -> h.Function:
    """A copy of a function; the functions that it calls are the same."""
    same = [h.DynamicParameter(index) for index in range(len(function.dynamic_constants))]
    return h.Function(
        name=function.name,
        dynamic_constants=list(function.dynamic_constants),
        parameter_types=list(function.parameter_types),
        parameter_names=list(function.parameter_names),
        return_type=function.return_type,
        nodes=copied(function.nodes, same),
    )
