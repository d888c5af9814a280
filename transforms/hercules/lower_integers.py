"""Integers that WGSL lacks: functions of i8, i16, i64, u8, u16 and u64 become functions of i32 and u32.

Afterwards a function is in *normal form*, which a back end for GPUs may rely on:

- Scalars are bool, i32, u32, f32 and f16, and collections hold only these.
- Every u64 node is a ThreadID; a DynamicConstantNode; a ConstantNode below 2^32 or a Cast of a u32, of which both are
  used as positions only. A ThreadID or DynamicConstantNode is used as a position, and by Casts to u32. All these values
  are below 2^32, so that a back end drops the casts. Positions past the end are clamped, as everywhere.
- Every u16 node is the bits of an f16: `bitcast(u16, x)` is used by Casts to u32, and `cast(u16, w)` of a u32 by
  Bitcasts to f16.

The numbers of threads, the extents of arrays, and what they are computed from are below 2^32, which `too_large` checks
for the dynamic constants of a launch. Buffers are smaller than 2^32 bytes.

Parameters keep their order and their bytes (`packed_type`, `narrowed_type`): a 64-bit integer is an `array<u32, 2>`,
low word first; an array of n bools, i8 or u8 is an `array<u32, (n + 3) / 4>`, one of i16 or u16 an
`array<u32, (n + 1) / 2>`, and arrays of such arrays are one array of words. A bool or narrow integer in a product takes
four bytes. Where a 64-bit integer is aligned to 8 bytes in a product, a word of padding is a field (`pad_products`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, assert_never

from ...ir.diagnostics import Diagnostic, ShaderError, not_supported
from ...ir.hercules import dynamic
from ...ir.hercules import nodes as h
from ...ir.hercules.inference import infer_types
from ...ir.hercules.types import BOOL, F16, F32, F64, I32, U16, U32
from .inline_calls import inline_calls
from .lower_products import lower_products
from .narrow_integers import lower_narrow_integers
from .packed_arrays import packed_type
from .pad_products import pad_products
from .wide_integers import is_wide, lower_wide_integers, wide_nodes

LIMIT: Final = 1 << 32
"""What thread numbers and positions stay below."""
_OF_WGSL: Final = frozenset({BOOL, I32, U32, F32, F16})


@dataclass(frozen=True)
class LowerIntegers:
    """Computes 8-bit, 16-bit and 64-bit integers in 32 bits, as GPUs need.

    Parameters and results have other types afterwards, but the same bytes: see the module. Calls that pass such
    integers are inlined. Raises ShaderError for f64, sums, and atomics on 64-bit integers.
    """

    name = "lower_integers"

    def run(self, module: h.Module) -> bool:
        """Change the module; whether anything changed."""
        changed = False
        names = {it.name for it in module.functions}
        for function in _callers_first(module.functions):
            changed |= not is_lowered(function)
            for helper in lower_integers(function).helpers:
                helper.name = _unused(helper.name, names)
                names.add(helper.name)
                module.functions.append(helper)
        return changed


@dataclass(frozen=True, slots=True)
class LoweredIntegers:
    """What the lowering of a function did to its signature, and the functions it calls from then on.

    `before` and `after` are the types of the parameters, in order.
    """

    function: h.Function
    before: tuple[h.Type, ...]
    after: tuple[h.Type, ...]
    helpers: tuple[h.Function, ...]


def lower_integers(function: h.Function) -> LoweredIntegers:
    """Bring a function that verifies into normal form, in place. It has no sums (`lower_sums`).

    The functions that it calls must be lowered too: a call stays only if it passes and returns values of WGSL's types.
    The caller puts the helpers, if there are any, into the module. Raises ShaderError for f64, and for what cannot be
    done in 32 bits.
    """
    before = tuple(function.parameter_types)
    if not is_lowered(function):
        small = small_constants(function)
        inline_calls(function, lambda call: not _stays(call, small))
        _refuse(function)
        lower_products(function)
        pad_products(function)
        small = small_constants(function)
        helpers = lower_wide_integers(function, small)
        lower_narrow_integers(function, small)
    else:
        helpers = ()
    return LoweredIntegers(function, before, tuple(function.parameter_types), helpers)


def is_lowered(function: h.Function) -> bool:
    """Whether a function is in normal form, and its parameters are as they lie in buffers."""
    are_packed = all(packed_type(it) == it for it in function.parameter_types)
    return are_packed and next(unlowered(function), None) is None


def unlowered(function: h.Function) -> Iterator[h.Node]:
    """The nodes that break the normal form."""
    types = infer_types(function)
    for node in function.nodes:
        if not (is_wide(types[node]) or types[node] == U16) and not _is_of_wgsl(types[node]):
            yield node
        if (U16 in (types[node], *map(types.__getitem__, node.inputs()))) and not _is_half(node, types):
            yield node
    yield from wide_nodes(function, types)


def _is_half(node: h.Node, types: dict[h.Node, h.Type]) -> bool:
    """Whether it is one of the four conversions between u32 and f16 by way of u16."""
    match node:
        case h.Bitcast(operand=h.Cast(operand=operand)) if types[node] == F16:
            return types[operand] == U32
        case h.Cast(operand=h.Bitcast(operand=operand)) if types[node] == U32:
            return types[operand] == F16
        case h.Bitcast(operand=operand) if types[node] == U16:
            return types[operand] == F16
        case h.Cast(operand=operand) if types[node] == U16:
            return types[operand] == U32
        case _:
            return False


def small_constants(function: h.Function) -> frozenset[h.DynamicConstant]:
    """The dynamic constants below 2^32: factors of forks, extents of arrays, and what they are computed from."""
    types = [*infer_types(function).values(), *function.parameter_types, function.return_type]
    found = {extent for type in types for extent in _extents(type)}
    found |= {node.factor for node in function.nodes if isinstance(node, h.Fork)}
    return frozenset(part for it in found for part in dynamic.parts(it))


def too_large(function: h.Function, constants: Sequence[int]) -> h.DynamicConstant | None:
    """Of a function in normal form, a dynamic constant that these values make 2^32 or more; None if all are below."""
    used = {node.value for node in function.nodes if isinstance(node, h.DynamicConstantNode)}
    checked = small_constants(function) | used
    checked |= {h.DynamicParameter(index) for index in range(len(constants))}
    return next((it for it in checked if dynamic.evaluate(it, constants) >= LIMIT), None)


def _extents(type: h.Type) -> Iterator[h.DynamicConstant]:
    match type:
        case h.Array(element=element, extent=extent):
            yield extent
            yield from _extents(element)
        case h.Product(fields=parts) | h.Summation(variants=parts):
            for part in parts:
                yield from _extents(part)
        case h.Control(factors=factors):
            yield from factors
        case h.Bool() | h.Integer() | h.Float():
            return
        case _:
            assert_never(type)


def _stays(call: h.Call, small: frozenset[h.DynamicConstant]) -> bool:
    """Whether a call passes and returns what no pass changes, and dynamic constants below 2^32."""
    callee = call.callee
    if not all(map(_is_of_wgsl, (*callee.parameter_types, callee.return_type))):
        return False
    most = dict.fromkeys(small, LIMIT - 1)
    are_small = all(dynamic.greatest(it, LIMIT - 1, most) < LIMIT for it in call.dynamic_constants)
    return are_small and all(packed_type(it) == it for it in callee.parameter_types)


def _is_of_wgsl(type: h.Type) -> bool:
    return all(it in _OF_WGSL for it in _scalars(type))


def _scalars(type: h.Type) -> Iterator[h.Type]:
    """The scalars in a type."""
    match type:
        case h.Array(element=element):
            yield from _scalars(element)
        case h.Product(fields=parts) | h.Summation(variants=parts):
            for part in parts:
                yield from _scalars(part)
        case h.Bool() | h.Integer() | h.Float():
            yield type
        case h.Control():
            return
        case _:
            assert_never(type)


def _refuse(function: h.Function) -> None:
    """Raise an error for types that no pass removes."""
    types = infer_types(function)
    found: list[Diagnostic] = []
    for node in function.nodes:
        if F64 in _scalars(types[node]):
            found.append(not_supported(f"f64 on a GPU: the value `{_name(node, function)}`", node.span))
        elif isinstance(types[node], h.Summation):
            found.append(not_supported(f"a sum on a GPU: the value `{_name(node, function)}`", node.span))
    if found:
        raise ShaderError(found)


def _name(node: h.Node, function: h.Function) -> str:
    if isinstance(node, h.Parameter):
        return function.parameter_names[node.index]
    return node.label or node.WORD


def _callers_first(functions: Sequence[h.Function]) -> list[h.Function]:
    """The functions, each before those that it calls."""
    ordered: list[h.Function] = []
    pending = list(functions)
    while pending:
        called = {node.callee for it in pending for node in it.nodes if isinstance(node, h.Call)}
        ready = [it for it in pending if it not in called]
        assert ready, "a function calls itself"
        ordered += ready
        pending = [it for it in pending if it in called]
    return ordered


def _unused(name: str, names: set[str]) -> str:
    number, candidate = 2, name
    while candidate in names:
        candidate, number = f"{name}_{number}", number + 1
    return candidate


__all__ = ["LIMIT", "LowerIntegers", "LoweredIntegers", "is_lowered", "lower_integers", "too_large", "unlowered"]
