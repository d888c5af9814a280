"""The samplers of a module, and the textures that an entry point uses with them.

WebGPU restricts such pairs: a sampler that filters needs a texture of floats (WebGPU, "validating
GPUProgrammableStage").
"""

from __future__ import annotations

from collections import defaultdict
from typing import TypeAlias

from ..types import Pointer, Sampler, Texture
from . import nodes
from .structure import blocks_of
from .values import Value

Pair: TypeAlias = tuple[Value, Value]
"""A texture and a sampler: each a variable of the module, or a parameter of the function that is looked at."""


def has_samplers(module: nodes.Module) -> bool:
    """Whether a module has variables for samplers."""
    types = [it.type for it in module.root.instructions]
    return any(isinstance(it, Pointer) and isinstance(it.store, Sampler) for it in types)


def sampled_pairs(entry: nodes.Function) -> list[tuple[nodes.Var, nodes.Var]]:
    """The variables of each texture and sampler that are arguments of one call of a builtin function, in order."""
    pairs = _pairs(entry, {})
    return [(one, other) for one, other in pairs if isinstance(one, nodes.Var) and isinstance(other, nodes.Var)]


def _pairs(function: nodes.Function, known: dict[nodes.Function, list[Pair]]) -> list[Pair]:
    if function in known:
        return known[function]
    found: dict[Pair, None] = {}
    for block in blocks_of(function):
        for call in block.instructions:
            if isinstance(call, nodes.BuiltinCall):
                textures, samplers = _handles(call, Texture), _handles(call, Sampler)
                found.update(dict.fromkeys((one, other) for one in textures for other in samplers))
            elif isinstance(call, nodes.Call):
                given: dict[Value, Value] = dict(
                    zip(call.callee.parameters, map(handle_of, call.arguments), strict=True)
                )
                inner = _pairs(call.callee, known)
                found.update(dict.fromkeys((given.get(one, one), given.get(other, other)) for one, other in inner))
    known[function] = list(found)
    return known[function]


def handle_variables(module: nodes.Module) -> dict[Value, set[nodes.Var]]:
    """The variables of the module that each parameter for a texture or a sampler may stand for."""
    found: defaultdict[Value, set[nodes.Var]] = defaultdict(set)
    passed = [
        (parameter, handle_of(argument))
        for function in module.functions
        for block in blocks_of(function)
        for call in block.instructions
        if isinstance(call, nodes.Call)
        for parameter, argument in zip(call.callee.parameters, call.arguments, strict=True)
        if isinstance(parameter.type, (Texture, Sampler))
    ]
    for _ in module.functions:  # no chain of calls is longer
        for parameter, given in passed:
            found[parameter] |= {given} if isinstance(given, nodes.Var) else found[given]
    return found


def _handles(call: nodes.BuiltinCall, kind: type[Texture | Sampler]) -> list[Value]:
    return [handle_of(it) for it in call.arguments if isinstance(it.type, kind)]


def handle_of(value: Value) -> Value:
    """The variable that a handle was loaded from, or the parameter that it is."""
    return value.pointer if isinstance(value, nodes.Load) else value
