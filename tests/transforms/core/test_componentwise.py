"""Functions that the table of builtins calls componentwise: their signatures, and the passes that rely on the table."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import pytest

from tinct.ir.builtins import Match, builtin, componentwise_builtins, resolve_call
from tinct.ir.builtins.patterns import Pattern
from tinct.ir.core.nodes import BuiltinCall, Module
from tinct.ir.core.structure import blocks_of
from tinct.ir.types import BOOL, SCALARS, Scalar, Type, Vector, scalar_of, vector

from .support import answers, module_of, transformed

NAMES = sorted(componentwise_builtins())


class Call(NamedTuple):
    """A call by the types of its arguments and of its result."""

    name: str
    arguments: tuple[Type, ...]
    result: Type


def vector_calls(name: str) -> Iterator[Call]:
    """A call on vectors of three for each overload with a vector result, and each concrete scalar type."""
    function = builtin(name)
    assert function is not None
    for overload in function.overloads:
        if overload.result.head != "vecN":
            continue
        for scalars in product(*overload.scalars.values()):
            if not any(scalar.is_abstract for scalar in scalars):
                known = dict(zip(overload.scalars, scalars, strict=True))
                types = [_type(it.pattern, known) for it in overload.parameters]
                yield Call(name, tuple(types), _type(overload.result, known))


def _type(pattern: Pattern, known: dict[str, Scalar]) -> Type:
    if pattern.head == "vecN":
        (element,) = pattern.arguments
        scalar = _type(element, known)
        assert isinstance(scalar, Scalar)
        return vector(3, scalar)
    return known.get(pattern.head) or SCALARS[pattern.head]


def _element(type: Type) -> Type:
    scalar = scalar_of(type)
    assert scalar is not None
    return scalar


CALLS = [call for name in NAMES for call in vector_calls(name)]


@pytest.mark.parametrize("name", NAMES)
def test_signatures(name: str) -> None:
    """Each call on vectors is one on scalars, too; scalars stay scalars where the table says so."""
    function = builtin(name)
    assert function is not None
    found = list(vector_calls(name))
    assert found
    for call in found:
        match = resolve_call(function, (), tuple(map(_element, call.arguments)), concrete=True)
        assert isinstance(match, Match)
        assert match.result_type is _element(call.result)
    for position in range(len(found[0].arguments)):
        is_vector = any(isinstance(call.arguments[position], Vector) for call in found)
        assert function.takes_vector(position) == is_vector


def kernel(call: Call) -> str:
    """A kernel that stores the bits of the call's value for numbers from a buffer."""
    arguments = ", ".join(_argument(type, index) for index, type in enumerate(call.arguments))
    lanes = (f"out[{lane}] = {_stored(call.result, f'found.{axis}')};" for lane, axis in enumerate("xyz"))
    return f"""
        enable f16;
        @group(0) @binding(0) var<storage> data: array<u32, 16>;
        @group(0) @binding(1) var<storage, read_write> out: array<u32, 3>;
        @compute @workgroup_size(1) fn main() {{
            let found = {call.name}({arguments});
            {" ".join(lanes)}
        }}
    """


def _argument(type: Type, index: int) -> str:
    lanes = [_number(_element(type), f"data[{4 * index + lane}]") for lane in range(3)]
    return f"{type}({', '.join(lanes)})" if isinstance(type, Vector) else lanes[0]


def _number(scalar: Type, word: str) -> str:
    if scalar is BOOL:
        return f"({word} % 2u == 1u)"
    is_float = isinstance(scalar, Scalar) and scalar.is_float
    return f"{scalar}({word}) / 7" if is_float else f"{scalar}({word})"


def _stored(type: Type, value: str) -> str:
    scalar = _element(type)
    if isinstance(scalar, Scalar) and scalar.is_float:
        return f"bitcast<u32>(f32({value}))"
    return f"u32({value})"


def builtin_calls(module: Module) -> Iterator[BuiltinCall]:
    for function in module.functions:
        for block in blocks_of(function):
            yield from (it for it in block.instructions if isinstance(it, BuiltinCall))


@pytest.mark.parametrize("call", CALLS, ids=lambda call: f"{call.name} {'-'.join(map(str, call.arguments))}")
def test_scalarize_splits_and_vectorize_joins(call: Call) -> None:
    module = module_of(kernel(call))
    expected = answers(module, "main")
    assert transformed(module, "scalarize,algebraic,dce")
    lanes = [it for it in builtin_calls(module) if it.function == call.name]
    assert len(lanes) == 3
    assert not any(isinstance(operand.type, Vector) for lane in lanes for operand in lane.operands)
    assert answers(module, "main") == expected


SHARED = """
    @group(0) @binding(0) var<storage> words: vec4u;
    @group(0) @binding(1) var<storage, read_write> out: vec2u;
    @compute @workgroup_size(1) fn main() {
        let first = words.w;
        let v = words.xy;
        out = vec2u(extractBits(v.x, first, 3), extractBits(v.y, OTHER, 3));
    }
"""


@pytest.mark.parametrize(("other", "count"), [("first", 1), ("first + 1", 2)])
def test_vectorize_joins_calls_with_the_same_scalar_arguments(other: str, count: int) -> None:
    module = module_of(SHARED.replace("OTHER", other))
    expected = answers(module, "main")
    transformed(module, "vectorize,dce")
    assert sum(it.function == "extractBits" for it in builtin_calls(module)) == count
    assert answers(module, "main") == expected
