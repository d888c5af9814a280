"""Builtin functions: a type rule and a value for each, and what makes a constant call an error."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinct.ir.builtins import (
    Builtin,
    Match,
    NoMatch,
    atomic_operation,
    builtin,
    builtin_names,
    check_arguments,
    convert,
    evaluate,
    evaluator,
    resolve_call,
)
from tinct.ir.constants import RawValue, zero
from tinct.ir.conversions import conversion_rank
from tinct.ir.scalars import EvaluationError, Mode, round_fraction
from tinct.ir.types import (
    ABSTRACT_INT,
    F32,
    I32,
    U32,
    Access,
    AddressSpace,
    Stage,
    Struct,
    Type,
    array,
    buffer,
    pointer,
)

TypeParser = Callable[[str], Type]
NAN, INF = math.nan, math.inf

# name (with a template argument), argument types, result type, arguments, value
EVALUATED: list[tuple[str, str, str, list[RawValue], RawValue]] = [
    ("abs", "AI", "AI", [-5], 5),
    ("abs", "i32", "i32", [-(2**31)], -(2**31)),
    ("abs", "vec2<f32>", "vec2<f32>", [(-1.5, -0.0)], (1.5, 0.0)),
    ("acos", "AF", "AF", [1.0], 0.0),
    ("acosh", "f32", "f32", [1.0], 0.0),
    ("all", "vec2<bool>", "bool", [(True, False)], False),
    ("all", "bool", "bool", [True], True),
    ("any", "vec2<bool>", "bool", [(True, False)], True),
    ("any", "bool", "bool", [False], False),
    ("asin", "f32", "f32", [0.0], 0.0),
    ("asinh", "f16", "f16", [0.0], 0.0),
    ("atan", "AI", "AF", [0], 0.0),
    ("atan2", "AF AF", "AF", [1.0, 0.0], math.pi / 2),
    ("atanh", "f32", "f32", [0.0], 0.0),
    ("bitcast<u32>", "f32", "u32", [1.0], 0x3F800000),
    ("bitcast<f32>", "AI", "f32", [0x3F800000], 1.0),
    ("bitcast<u32>", "AI", "u32", [2**32 - 1], 2**32 - 1),
    ("bitcast<u32>", "AI", "u32", [-(2**31)], 2**31),
    ("bitcast<vec2<u32>>", "vec2<AI>", "vec2<u32>", [(-1, 2**32 - 2)], (2**32 - 1, 2**32 - 2)),
    ("bitcast<vec2<i32>>", "vec2<u32>", "vec2<i32>", [(2**32 - 1, 1)], (-1, 1)),
    ("bitcast<u32>", "vec2<f16>", "u32", [(1.0, 2.0)], 0x40003C00),
    ("bitcast<vec4<f16>>", "vec2<u32>", "vec4<f16>", [(0x40003C00, 0)], (1.0, 2.0, 0.0, 0.0)),
    ("ceil", "f32", "f32", [-0.5], -0.0),
    ("clamp", "AI AI u32", "u32", [7, 1, 5], 5),
    ("clamp", "f32 f32 f32", "f32", [-1.0, 0.0, 5.0], 0.0),
    ("cos", "f32", "f32", [0.0], 1.0),
    ("cosh", "f32", "f32", [0.0], 1.0),
    ("countLeadingZeros", "i32", "i32", [1], 31),
    ("countLeadingZeros", "u32", "u32", [0], 32),
    ("countOneBits", "i32", "i32", [-1], 32),
    ("countTrailingZeros", "u32", "u32", [8], 3),
    ("countTrailingZeros", "i32", "i32", [0], 32),
    ("cross", "vec3<f32> vec3<f32>", "vec3<f32>", [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0)], (0.0, 0.0, 1.0)),
    ("degrees", "f32", "f32", [0.0], 0.0),
    ("determinant", "mat2x2<f32>", "f32", [((1.0, 2.0), (3.0, 4.0))], -2.0),
    ("determinant", "mat3x3<AF>", "AF", [((2.0, 0.0, 1.0), (0.0, 3.0, 0.0), (1.0, 0.0, 4.0))], 21.0),
    ("distance", "vec2<f32> vec2<f32>", "f32", [(1.0, 1.0), (4.0, 5.0)], 5.0),
    ("distance", "f32 f32", "f32", [1.0, 4.0], 3.0),
    ("dot", "vec2<AI> vec2<AI>", "AI", [(1, 2), (3, 4)], 11),
    ("dot", "vec3<f32> vec3<AI>", "f32", [(1.0, 2.0, 3.0), (4, 5, 6)], 32.0),
    ("dot4I8Packed", "u32 u32", "i32", [0xFF_02_03_04, 0x01_01_01_01], 8),
    ("dot4U8Packed", "u32 u32", "u32", [0xFF_02_03_04, 0x01_01_01_01], 264),
    ("exp", "f32", "f32", [0.0], 1.0),
    ("exp2", "f32", "f32", [3.0], 8.0),
    ("extractBits", "i32 AI AI", "i32", [0b1100, 2, 2], -1),
    ("extractBits", "u32 AI AI", "u32", [0b1100, 2, 2], 3),
    ("extractBits", "u32 u32 u32", "u32", [5, 32, 0], 0),
    ("faceForward", "vec2<f32> vec2<f32> vec2<f32>", "vec2<f32>", [(1.0, 2.0), (1.0, 0.0), (1.0, 0.0)], (-1.0, -2.0)),
    ("firstLeadingBit", "i32", "i32", [-2], 0),
    ("firstLeadingBit", "i32", "i32", [-1], -1),
    ("firstLeadingBit", "u32", "u32", [0], 2**32 - 1),
    ("firstTrailingBit", "u32", "u32", [8], 3),
    ("firstTrailingBit", "i32", "i32", [0], -1),
    ("floor", "f32", "f32", [-0.5], -1.0),
    ("fma", "f32 f32 f32", "f32", [1.0 + 2.0**-23, 1.0 - 2.0**-23, -1.0], -(2.0**-46)),
    ("fract", "f32", "f32", [-0.25], 0.75),
    ("frexp", "AF", "frexp<AF>", [3.0], (0.75, 2)),
    ("frexp", "vec2<f32>", "frexp<vec2<f32>>", [(3.0, 0.0)], ((0.75, 0.0), (2, 0))),
    ("insertBits", "i32 i32 AI AI", "i32", [0, -1, 4, 4], 0xF0),
    ("inverseSqrt", "f32", "f32", [4.0], 0.5),
    ("ldexp", "AF AI", "AF", [1.0, 3], 8.0),
    ("ldexp", "f32 AI", "f32", [1.5, -1], 0.75),
    ("length", "vec2<f32>", "f32", [(3.0, 4.0)], 5.0),
    ("length", "f32", "f32", [-3.0], 3.0),
    ("log", "f32", "f32", [1.0], 0.0),
    ("log2", "AI", "AF", [32], 5.0),
    ("max", "AI AF", "AF", [1, 2.5], 2.5),
    ("min", "vec2<i32> vec2<i32>", "vec2<i32>", [(1, 5), (2, 3)], (1, 3)),
    ("mix", "f32 f32 f32", "f32", [2.0, 4.0, 0.25], 2.5),
    ("mix", "vec2<f32> vec2<f32> AF", "vec2<f32>", [(0.0, 2.0), (4.0, 4.0), 0.5], (2.0, 3.0)),
    ("modf", "f32", "modf<f32>", [-1.25], (-0.25, -1.0)),
    ("modf", "vec2<AF>", "modf<vec2<AF>>", [(1.5, -2.0)], ((0.5, 0.0), (1.0, -2.0))),
    ("normalize", "vec2<f32>", "vec2<f32>", [(0.0, 5.0)], (0.0, 1.0)),
    ("pack2x16float", "vec2<f32>", "u32", [(1.0, -2.0)], 0xC0003C00),
    ("pack2x16snorm", "vec2<f32>", "u32", [(1.0, -1.0)], 0x80017FFF),
    ("pack2x16unorm", "vec2<f32>", "u32", [(1.0, 0.0)], 0x0000FFFF),
    ("pack4x8snorm", "vec4<AF>", "u32", [(1.0, -1.0, 0.0, 9.0)], 0x7F00817F),
    ("pack4x8unorm", "vec4<f32>", "u32", [(1.0, 0.5, 0.0, -3.0)], 0x000080FF),
    ("pack4xI8", "vec4<i32>", "u32", [(1, -1, 256, 127)], 0x7F00FF01),
    ("pack4xI8Clamp", "vec4<i32>", "u32", [(1, -1, 256, -999)], 0x807FFF01),
    ("pack4xU8", "vec4<u32>", "u32", [(1, 2, 256, 255)], 0xFF000201),
    ("pack4xU8Clamp", "vec4<u32>", "u32", [(1, 2, 256, 255)], 0xFFFF0201),
    ("pow", "f32 f32", "f32", [2.0, 10.0], 1024.0),
    ("quantizeToF16", "f32", "f32", [1.0 + 2.0**-12], 1.0),
    ("radians", "f32", "f32", [0.0], 0.0),
    ("reflect", "vec2<f32> vec2<f32>", "vec2<f32>", [(1.0, -1.0), (0.0, 1.0)], (1.0, 1.0)),
    ("refract", "vec2<f32> vec2<f32> f32", "vec2<f32>", [(0.0, -1.0), (0.0, 1.0), 1.0], (0.0, -1.0)),
    ("reverseBits", "u32", "u32", [1], 2**31),
    ("reverseBits", "i32", "i32", [1], -(2**31)),
    ("round", "f32", "f32", [2.5], 2.0),
    ("saturate", "f32", "f32", [3.0], 1.0),
    ("select", "AI AF bool", "AF", [1, 2.5, True], 2.5),
    ("select", "vec2<i32> vec2<i32> vec2<bool>", "vec2<i32>", [(1, 2), (3, 4), (True, False)], (3, 2)),
    ("select", "vec2<i32> vec2<i32> bool", "vec2<i32>", [(1, 2), (3, 4), False], (1, 2)),
    ("sign", "i32", "i32", [-7], -1),
    ("sign", "AF", "AF", [0.0], 0.0),
    ("sin", "f32", "f32", [0.0], 0.0),
    ("sinh", "f32", "f32", [0.0], 0.0),
    ("smoothstep", "f32 f32 f32", "f32", [0.0, 2.0, 1.0], 0.5),
    ("smoothstep", "f32 f32 f32", "f32", [2.0, 0.0, 0.5], 0.84375),
    ("sqrt", "f32", "f32", [9.0], 3.0),
    ("step", "f32 f32", "f32", [1.0, 1.0], 1.0),
    ("tan", "f32", "f32", [0.0], 0.0),
    ("tanh", "f32", "f32", [0.0], 0.0),
    ("transpose", "mat3x2<f32>", "mat2x3<f32>", [((1.0, 2.0), (3.0, 4.0), (5.0, 6.0))],
     ((1.0, 3.0, 5.0), (2.0, 4.0, 6.0))),
    ("trunc", "f32", "f32", [-1.5], -1.0),
    ("unpack2x16float", "u32", "vec2<f32>", [0xC0003C00], (1.0, -2.0)),
    ("unpack2x16snorm", "u32", "vec2<f32>", [0x80007FFF], (1.0, -1.0)),
    ("unpack2x16unorm", "u32", "vec2<f32>", [0x0000FFFF], (1.0, 0.0)),
    ("unpack4x8snorm", "u32", "vec4<f32>", [0x8100807F], (1.0, -1.0, 0.0, -1.0)),
    ("unpack4x8unorm", "u32", "vec4<f32>", [0x0000FF00], (0.0, 1.0, 0.0, 0.0)),
    ("unpack4xI8", "u32", "vec4<i32>", [0x7F00FF01], (1, -1, 0, 127)),
    ("unpack4xU8", "u32", "vec4<u32>", [0x7F00FF01], (1, 255, 0, 127)),
]  # fmt: skip

_BYTES = pointer(AddressSpace.STORAGE, buffer(64), Access.READ)
_SHARED = pointer(AddressSpace.WORKGROUP, buffer(None), Access.READ_WRITE)
_WORDS = array(U32, None)

# name, template argument, argument types, result type
VIEWS: list[tuple[str, Type | None, tuple[Type, ...], Type]] = [
    ("bufferLength", None, (_BYTES,), U32),
    ("bufferView", F32, (_BYTES, U32), pointer(AddressSpace.STORAGE, F32, Access.READ)),
    ("bufferView", F32, (_SHARED, ABSTRACT_INT), pointer(AddressSpace.WORKGROUP, F32, Access.READ_WRITE)),
    ("bufferArrayView", _WORDS, (_BYTES, I32, U32), pointer(AddressSpace.STORAGE, _WORDS, Access.READ)),
]

# name, argument types, result type
TYPED: list[tuple[str, str, str]] = [
    ("arrayLength", "ptr<storage,array<f32>,read>", "u32"),
    ("atomicLoad", "ptr<workgroup,atomic<i32>,read_write>", "i32"),
    ("atomicStore", "ptr<storage,atomic<u32>,read_write> AI", "void"),
    ("atomicAdd", "ptr<storage,atomic<u32>,read_write> AI", "u32"),
    ("atomicSub", "ptr<storage,atomic<u32>,read_write> u32", "u32"),
    ("atomicMax", "ptr<storage,atomic<i32>,read_write> AI", "i32"),
    ("atomicMin", "ptr<storage,atomic<i32>,read_write> i32", "i32"),
    ("atomicAnd", "ptr<storage,atomic<u32>,read_write> AI", "u32"),
    ("atomicOr", "ptr<storage,atomic<u32>,read_write> AI", "u32"),
    ("atomicXor", "ptr<storage,atomic<u32>,read_write> AI", "u32"),
    ("atomicExchange", "ptr<storage,atomic<u32>,read_write> AI", "u32"),
    ("atomicCompareExchangeWeak", "ptr<storage,atomic<u32>,read_write> AI AI", "exchanged<u32>"),
    ("storageBarrier", "", "void"),
    ("textureBarrier", "", "void"),
    ("workgroupBarrier", "", "void"),
    ("workgroupUniformLoad", "ptr<workgroup,mat2x2<f32>,read_write>", "mat2x2<f32>"),
    ("workgroupUniformLoad", "ptr<workgroup,atomic<i32>,read_write>", "i32"),
    *((name, "vec2<f32>", "vec2<f32>") for name in (
        "dpdx", "dpdxCoarse", "dpdxFine", "dpdy", "dpdyCoarse", "dpdyFine", "fwidth", "fwidthCoarse", "fwidthFine")),
    *((f"subgroup{name}", "AF", "f32") for name in (
        "Add", "ExclusiveAdd", "InclusiveAdd", "Mul", "ExclusiveMul", "InclusiveMul", "Max", "Min", "BroadcastFirst")),
    *((name, "vec3<u32>", "vec3<u32>") for name in (
        "subgroupAnd", "subgroupOr", "subgroupXor", "quadSwapDiagonal", "quadSwapX", "quadSwapY")),
    ("subgroupAll", "bool", "bool"),
    ("subgroupAny", "bool", "bool"),
    ("subgroupBallot", "bool", "vec4<u32>"),
    ("subgroupElect", "", "bool"),
    ("subgroupBroadcast", "vec2<f16> AI", "vec2<f16>"),
    ("subgroupShuffle", "i32 u32", "i32"),
    ("subgroupShuffleDown", "f32 AI", "f32"),
    ("subgroupShuffleUp", "f32 u32", "f32"),
    ("subgroupShuffleXor", "f32 u32", "f32"),
    ("quadBroadcast", "f32 AI", "f32"),
    ("textureDimensions", "texture_1d<f32>", "u32"),
    ("textureDimensions", "texture_cube<u32> i32", "vec2<u32>"),
    ("textureDimensions", "texture_storage_3d<rgba8unorm,write>", "vec3<u32>"),
    ("textureDimensions", "texture_external", "vec2<u32>"),
    ("textureGather", "AI texture_2d<u32> sampler vec2<AF>", "vec4<u32>"),
    ("textureGather", "texture_depth_2d_array sampler vec2<f32> i32 vec2<AI>", "vec4<f32>"),
    ("textureGatherCompare", "texture_depth_cube sampler_comparison vec3<f32> f32", "vec4<f32>"),
    ("textureLoad", "texture_2d<i32> vec2<u32> AI", "vec4<i32>"),
    ("textureLoad", "texture_depth_multisampled_2d vec2<AI> u32", "f32"),
    ("textureLoad", "texture_storage_2d<rgba8uint,read_write> vec2<i32>", "vec4<u32>"),
    ("textureNumLayers", "texture_cube_array<f32>", "u32"),
    ("textureNumLevels", "texture_3d<f32>", "u32"),
    ("textureNumSamples", "texture_multisampled_2d<f32>", "u32"),
    ("textureSample", "texture_1d<f32> sampler AF", "vec4<f32>"),
    ("textureSample", "texture_depth_2d sampler vec2<f32> vec2<AI>", "f32"),
    ("textureSampleBaseClampToEdge", "texture_external sampler vec2<f32>", "vec4<f32>"),
    ("textureSampleBias", "texture_3d<f32> sampler vec3<f32> f32 vec3<AI>", "vec4<f32>"),
    ("textureSampleCompare", "texture_depth_2d sampler_comparison vec2<f32> f32", "f32"),
    ("textureSampleCompareLevel", "texture_depth_cube_array sampler_comparison vec3<f32> AI f32", "f32"),
    ("textureSampleGrad", "texture_cube<f32> sampler vec3<f32> vec3<f32> vec3<f32>", "vec4<f32>"),
    ("textureSampleLevel", "texture_depth_2d sampler vec2<f32> AI", "f32"),
    ("textureStore", "texture_storage_2d<r32sint,write> vec2<AI> vec4<AI>", "void"),
]  # fmt: skip


def _row(name: str) -> Builtin:
    found = builtin(name)
    assert found is not None, name
    return found


def _types(text: str, type_of: TypeParser) -> tuple[Type, ...]:
    return tuple(type_of(part) for part in text.split())


def _split(name: str, type_of: TypeParser) -> tuple[str, tuple[Type, ...]]:
    name, bracket, template = name.partition("<")
    return name, (type_of(template[:-1]),) if bracket else ()


def _call(
    name: str, arg_types: Sequence[Type], args: Sequence[RawValue], mode: Mode, templates: tuple[Type, ...] = ()
) -> tuple[Type, RawValue]:
    match = resolve_call(_row(name), templates, tuple(arg_types))
    assert isinstance(match, Match), match
    converted = [
        convert(arg, source, target) for arg, source, target in zip(args, arg_types, match.param_types, strict=True)
    ]
    return match.result_type, evaluate(name, templates, match.result_type, match.param_types, converted, mode)


@pytest.mark.parametrize(("name", "arg_types", "result", "args", "expected"), EVALUATED)
@pytest.mark.parametrize("mode", Mode)
def test_values(
    name: str, arg_types: str, result: str, args: list[RawValue], expected: RawValue, mode: Mode, type_of: TypeParser
) -> None:
    name, templates = _split(name, type_of)
    type, value = _call(name, _types(arg_types, type_of), args, mode, templates)
    assert type is type_of(result)
    assert value == expected
    assert repr(value) == repr(expected)  # tells -0.0 from 0.0 and 1 from 1.0 and True


@pytest.mark.parametrize(("name", "arg_types", "result"), TYPED)
def test_types(name: str, arg_types: str, result: str, type_of: TypeParser) -> None:
    match = resolve_call(_row(name), (), _types(arg_types, type_of))
    assert isinstance(match, Match), match
    assert match.result_type is type_of(result)
    assert not _row(name).is_const


@pytest.mark.parametrize(("name", "template", "args", "result"), VIEWS)
def test_views_of_buffers(name: str, template: Type | None, args: tuple[Type, ...], result: Type) -> None:
    match = resolve_call(_row(name), () if template is None else (template,), args)
    assert isinstance(match, Match), match
    assert match.result_type is result
    assert not _row(name).flags.accesses_memory


def test_every_builtin_is_in_a_table_above() -> None:
    tested = {name.partition("<")[0] for name, *_ in (*EVALUATED, *TYPED, *VIEWS)}
    assert tested == set(builtin_names())


@pytest.mark.parametrize(
    ("name", "arg_types"),
    [
        ("abs", "bool"),
        ("acos", "mat2x2<f32>"),
        ("sign", "u32"),
        ("clamp", "u32 AI i32"),
        ("cross", "vec2<f32> vec2<f32>"),
        ("determinant", "mat2x3<f32>"),
        ("dot", "vec2<f32> vec3<f32>"),
        ("countOneBits", "f32"),
        ("select", "i32 u32 bool"),
        ("quantizeToF16", "f16"),
        ("arrayLength", "ptr<function,array<f32>,read_write>"),
        ("atomicAdd", "ptr<storage,atomic<u32>,read> u32"),
        ("atomicAdd", "ptr<storage,atomic<u32>,read_write> i32"),
        ("atomicLoad", "ptr<workgroup,u32,read_write>"),
        ("workgroupUniformLoad", "ptr<storage,u32,read_write>"),
        ("textureLoad", "texture_storage_2d<rgba8uint,write> vec2<i32>"),
        ("textureSample", "texture_2d<u32> sampler vec2<f32>"),
        ("textureSample", "texture_2d<f32> sampler_comparison vec2<f32>"),
        ("textureStore", "texture_storage_2d<rgba8uint,write> vec2<i32> vec4<i32>"),
        ("workgroupBarrier", "i32"),
        ("min", "f32"),
    ],
)
def test_calls_without_overload(name: str, arg_types: str, type_of: TypeParser) -> None:
    match = resolve_call(_row(name), (), _types(arg_types, type_of))
    assert isinstance(match, NoMatch)
    assert all(text.startswith(name) for text in match.candidates)


def test_candidates_come_nearest_first(type_of: TypeParser) -> None:
    match = resolve_call(_row("extractBits"), (), _types("f32", type_of))
    assert isinstance(match, NoMatch)
    assert match.candidates[0] == "extractBits(e: T, offset: u32, count: u32) -> T where T is i32 or u32"


def test_a_runtime_argument_makes_all_parameters_concrete(type_of: TypeParser) -> None:
    match = resolve_call(_row("ldexp"), (), _types("AF i32", type_of), concrete=True)
    assert isinstance(match, Match)
    assert match.param_types == (F32, I32)
    assert match.param_names == ("e1", "e2")


def test_results_of_frexp_convert(type_of: TypeParser) -> None:
    assert conversion_rank(type_of("frexp<vec2<AF>>"), type_of("frexp<vec2<f32>>")) == 1
    assert conversion_rank(type_of("modf<AF>"), type_of("modf<f16>")) == 2
    assert conversion_rank(type_of("modf<AF>"), type_of("frexp<f32>")) is None
    result = type_of("frexp<vec2<AF>>")
    assert isinstance(result, Struct)
    assert (result.name, [member.name for member in result.members]) == (
        "__frexp_result_vec2_abstract",
        ["fract", "exp"],
    )


@pytest.mark.parametrize(
    ("name", "arg_types", "args"),
    [
        ("acos", "AF", [2.0]),
        ("acosh", "f32", [0.5]),
        ("asin", "f32", [-1.5]),
        ("atanh", "f32", [1.0]),
        ("bitcast<f32>", "u32", [0x7F800000]),
        ("bitcast<u32>", "AI", [-(2**31) - 1]),
        ("bitcast<u32>", "AI", [2**32]),
        ("clamp", "i32 i32 i32", [0, 2, 1]),
        ("exp", "f32", [1000.0]),
        ("exp2", "f16", [16.0]),
        ("extractBits", "i32 u32 u32", [0, 30, 3]),
        ("fma", "f32 f32 f32", [1e30, 1e30, -INF]),
        ("insertBits", "i32 i32 u32 u32", [0, 0, 33, 0]),
        ("inverseSqrt", "f32", [0.0]),
        ("ldexp", "f32 i32", [1.0, 129]),
        ("ldexp", "f32 i32", [1.0, 128]),
        ("length", "vec2<f32>", [(1e30, 0.0)]),
        ("log", "f32", [0.0]),
        ("log2", "f32", [-1.0]),
        ("normalize", "vec2<f32>", [(0.0, 0.0)]),
        ("pack2x16float", "vec2<f32>", [(0.0, 65505.0)]),
        ("pow", "f32 f32", [-1.0, 2.0]),
        ("pow", "f32 f32", [0.0, 0.0]),
        ("quantizeToF16", "f32", [65505.0]),
        ("smoothstep", "f32 f32 f32", [1.0, 1.0, 0.0]),
        ("sqrt", "f32", [-1.0]),
        ("unpack2x16float", "u32", [0x7C00]),
        ("dot", "vec2<AI> vec2<AI>", [(2**62, 2**62), (1, 1)]),
    ],
)
def test_errors_of_constant_calls(name: str, arg_types: str, args: list[RawValue], type_of: TypeParser) -> None:
    name, templates = _split(name, type_of)
    with pytest.raises(EvaluationError):
        _call(name, _types(arg_types, type_of), args, Mode.CONST, templates)
    if "AI" not in arg_types:
        _call(name, _types(arg_types, type_of), args, Mode.RUNTIME, templates)


@pytest.mark.parametrize("name", [name for name in builtin_names() if _row(name).is_const])
@pytest.mark.parametrize("value", [NAN, INF, -INF, 0.0, -1e38, 1e-45])
def test_run_time_evaluation_never_raises(name: str, value: float, type_of: TypeParser) -> None:
    for overload in _row(name).overloads:
        for scalar in ("f32", "i32"):
            for shape in ("{}", "vec3<{}>", "mat2x2<{}>"):
                types = (type_of(shape.format(scalar)),) * len(overload.parameters)
                match = resolve_call(_row(name), (), types)
                if isinstance(match, Match):
                    args = [_filled(zero(type), value) for type in match.param_types]
                    evaluate(name, (), match.result_type, match.param_types, args, Mode.RUNTIME)


def _filled(blank: RawValue, number: float) -> RawValue:
    """The shape of a zero value, filled with a number, or with the greatest i32."""
    if isinstance(blank, (bool, int, float)):
        return number if isinstance(blank, float) else 0x7FFFFFFF
    return tuple(_filled(part, number) for part in blank)


def test_partly_constant_arguments() -> None:
    check_arguments("clamp", (F32, F32, F32), (None, None, 1.0))
    with pytest.raises(EvaluationError, match="lower bound"):
        check_arguments("clamp", (F32, F32, F32), (None, 3.0, 1.0))
    with pytest.raises(EvaluationError, match="3 bits from bit 30"):
        check_arguments("insertBits", (I32, I32, U32, U32), (None, None, 30, 3))
    with pytest.raises(EvaluationError, match="128"):
        check_arguments("subgroupShuffle", (F32, U32), (None, 128))


@given(st.floats(width=32), st.floats(width=32), st.floats(width=32))
def test_fma_rounds_once(a: float, b: float, c: float) -> None:
    found = evaluator("fma", (), (F32, F32, F32), F32, Mode.RUNTIME)([a, b, c])
    if all(map(math.isfinite, (a, b, c))) and (exact := Fraction(a) * Fraction(b) + Fraction(c)):
        assert found == round_fraction(F32, exact)


def test_flags() -> None:
    assert _row("textureSample").stages == {Stage.FRAGMENT}
    assert _row("workgroupBarrier").flags.is_barrier
    assert not _row("atomicAdd").must_use
    assert _row("min").must_use
    assert _row("subgroupBroadcast").flags.const_parameters == ("id",)
    assert _row("subgroupAdd").flags.extension == "subgroups"
    assert all(_row(name).doc.endswith(".") for name in builtin_names())


def test_atomic_arithmetic() -> None:
    assert atomic_operation("atomicAdd", U32)(2**32 - 1, 1) == 0
    assert atomic_operation("atomicSub", I32)(-(2**31), 1) == 2**31 - 1
    assert atomic_operation("atomicExchange", U32)(1, 2) == 2


def test_uniform_load_takes_what_can_be_loaded() -> None:
    view = pointer(AddressSpace.WORKGROUP, array(F32, None), Access.READ_WRITE)
    assert isinstance(resolve_call(_row("workgroupUniformLoad"), (), (view,)), NoMatch)
