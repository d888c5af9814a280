"""Which entry points have the same results, bit for bit, on the interpreter and as machine code.

Operations that IEEE 754 rounds correctly have, and functions that are built from them, but for NaN: which one an
operation makes, of those with other signs and payloads, is the processor's choice. What depends on the order of
invocations has not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ..types import F16, F32, AddressSpace, Array, Matrix, Pointer, Scalar, Struct, Type, Vector, Void
from ..types import walk as walk_type
from . import nodes
from .runnable import reached
from .structure import blocks_of

EXACT_FUNCTIONS: Final = frozenset(
    {
        *("abs", "all", "any", "arrayLength", "ceil", "clamp", "countLeadingZeros", "countOneBits"),
        *("countTrailingZeros", "cross", "dot", "extractBits", "firstLeadingBit", "firstTrailingBit", "floor", "fract"),
        *("insertBits", "max", "min", "mix", "reverseBits", "round", "saturate", "select", "sign", "sqrt", "step"),
        *("transpose", "trunc"),
    }
)
"""Builtin functions whose results are the same. None shows the bits of a float, which `bitcast` and others do."""

_OPERATIONS: Final = (
    *(nodes.Unary, nodes.Binary, nodes.Convert, nodes.Construct, nodes.Access, nodes.Swizzle),
    *(nodes.Load, nodes.Store, nodes.Var, nodes.Call),
)
_SPACES: Final = (AddressSpace.FUNCTION, AddressSpace.PRIVATE, AddressSpace.UNIFORM, AddressSpace.STORAGE)


def is_exact(entry: nodes.Function) -> bool:
    """Whether what an entry point writes is the same, but for the bits of NaN, if no two invocations use one place.

    False if it uses f16, textures, atomics, barriers, subgroups or workgroup memory.
    """
    return all(map(_is_exact, _instructions(entry))) and all(map(_is_plain, _types(entry)))


def uses_floats(entry: nodes.Function) -> bool:
    """Whether some value of an entry point has an f32 in it, which may be NaN."""
    return F32 in _types(entry)


def _instructions(entry: nodes.Function) -> Iterator[nodes.Instruction]:
    for function in reached(entry):
        for block in blocks_of(function):
            yield from block.instructions


def _types(entry: nodes.Function) -> set[Type]:
    """The types of all values, and all types in them."""
    used = {value.type for it in _instructions(entry) for value in (it, *it.operands)}
    return {part for type in used for part in walk_type(type)}


def _is_exact(instruction: nodes.Instruction) -> bool:
    if isinstance(instruction, nodes.BuiltinCall):
        return instruction.function in EXACT_FUNCTIONS
    return isinstance(instruction, _OPERATIONS)


def _is_plain(type: Type) -> bool:
    if isinstance(type, Pointer):
        return type.space in _SPACES
    return type is not F16 and isinstance(type, (Scalar, Vector, Matrix, Array, Struct, Void))
