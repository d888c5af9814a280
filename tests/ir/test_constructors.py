"""Value constructors: what they construct, and what of."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tinct.ir.builtins import NoMatch, construct, convert, resolve_constructor
from tinct.ir.constants import RawValue, Repeated, same_bits
from tinct.ir.scalars import EvaluationError, Mode
from tinct.ir.types import ABSTRACT_FLOAT, ABSTRACT_INT, F32, I32, U32, Struct, StructMember, Type, array, vector

TypeParser = Callable[[str], Type]

# type or generic name, argument types, type made, arguments, value
CONSTRUCTED: list[tuple[str, str, str, list[RawValue], RawValue]] = [
    ("i32", "f32", "i32", [2.9], 2),
    ("u32", "AI", "u32", [2**32 - 1], 2**32 - 1),
    ("bool", "i32", "bool", [7], True),
    ("f32", "bool", "f32", [True], 1.0),
    ("vec2<f32>", "AI", "vec2<f32>", [3], (3.0, 3.0)),
    ("vec3<i32>", "vec3<f32>", "vec3<i32>", [(1.5, -2.5, 3.0)], (1, -2, 3)),
    ("vec4<f32>", "AI vec2<f32> f32", "vec4<f32>", [1, (2.0, 3.0), 4.0], (1.0, 2.0, 3.0, 4.0)),
    ("vec3", "AI AF AI", "vec3<AF>", [1, 2.5, 3], (1.0, 2.5, 3.0)),
    ("vec3", "vec2<AI> u32", "vec3<u32>", [(1, 2), 3], (1, 2, 3)),
    ("vec2", "", "vec2<AI>", [], (0, 0)),
    ("vec2", "bool", "vec2<bool>", [True], (True, True)),
    ("mat2x2", "AI AI AI AI", "mat2x2<AF>", [1, 2, 3, 4], ((1.0, 2.0), (3.0, 4.0))),
    ("mat2x3<f32>", "vec3<AF> vec3<f32>", "mat2x3<f32>", [(1.0, 2.0, 3.0), (4.0, 5.0, 6.0)],
     ((1.0, 2.0, 3.0), (4.0, 5.0, 6.0))),
    ("mat2x2<f16>", "mat2x2<f32>", "mat2x2<f16>", [((1.0, 2.0), (3.0, 4.0))], ((1.0, 2.0), (3.0, 4.0))),
    ("f32", "", "f32", [], 0.0),
]  # fmt: skip


def _target(text: str, type_of: TypeParser) -> Type | str:
    return text if text in ("array", "vec2", "vec3", "vec4", "mat2x2", "mat2x3") else type_of(text)


@pytest.mark.parametrize(("target", "arg_types", "made", "args", "expected"), CONSTRUCTED)
def test_constructors(
    target: str, arg_types: str, made: str, args: list[RawValue], expected: RawValue, type_of: TypeParser
) -> None:
    types = tuple(type_of(text) for text in arg_types.split())
    match = resolve_constructor(_target(target, type_of), types)
    assert not isinstance(match, NoMatch)
    assert match.type is type_of(made)
    converted = [convert(arg, source, to) for arg, source, to in zip(args, types, match.param_types, strict=True)]
    assert same_bits(construct(match.type, match.param_types, converted, Mode.CONST), expected)


@pytest.mark.parametrize(
    ("target", "arg_types"),
    [
        ("vec3<f32>", "i32"),
        ("vec3<f32>", "vec2<i32> f32"),
        ("vec3<f32>", "vec2<f32> vec2<f32>"),
        ("vec3<f32>", "vec2<f32>"),
        ("vec3", "AI AF u32"),
        ("mat2x2<f32>", "AI AI AI u32"),
        ("mat2x2<f32>", "mat2x3<f32>"),
        ("mat2x2", "u32 u32 u32 u32"),
        ("f32", "vec2<f32>"),
        ("f32", "f32 f32"),
        ("array", "i32 u32"),
        ("array", ""),
    ],
)
def test_no_constructor(target: str, arg_types: str, type_of: TypeParser) -> None:
    match = resolve_constructor(_target(target, type_of), tuple(type_of(text) for text in arg_types.split()))
    assert isinstance(match, NoMatch)
    assert match.candidates


def test_arrays() -> None:
    inferred = resolve_constructor("array", (vector(2, ABSTRACT_INT), vector(2, ABSTRACT_FLOAT)))
    assert not isinstance(inferred, NoMatch)
    assert inferred.type is array(vector(2, ABSTRACT_FLOAT), 2)
    concrete = resolve_constructor("array", (ABSTRACT_INT, I32), concrete=True)
    assert not isinstance(concrete, NoMatch)
    assert concrete.type is array(I32, 2)
    assert isinstance(resolve_constructor(array(F32, 2), (F32,)), NoMatch)
    assert isinstance(resolve_constructor(array(F32, None), (F32,)), NoMatch)


def test_structures() -> None:
    pair = Struct("Pair", (StructMember("a", U32), StructMember("b", vector(2, F32))))
    match = resolve_constructor(pair, (ABSTRACT_INT, vector(2, ABSTRACT_INT)))
    assert not isinstance(match, NoMatch)
    assert match.param_types == (U32, vector(2, F32))
    assert construct(pair, match.param_types, [1, (2.0, 3.0)], Mode.CONST) == (1, (2.0, 3.0))
    assert resolve_constructor(pair, (U32,)) == NoMatch(("Pair(a: u32, b: vec2<f32>)",))


def test_a_large_zero_value_costs_nothing() -> None:
    type = array(array(F32, 2**20), 2**20)
    match = resolve_constructor(type, ())
    assert not isinstance(match, NoMatch)
    value = construct(type, match.param_types, [], Mode.CONST)
    assert isinstance(value, Repeated)
    assert isinstance(convert(value, type, array(array(U32, 2**20), 2**20)), Repeated)


def test_conversions_of_constants_are_checked() -> None:
    with pytest.raises(EvaluationError):
        construct(U32, (ABSTRACT_INT,), [-1], Mode.CONST)
