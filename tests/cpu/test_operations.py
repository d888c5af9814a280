"""Every operator, conversion and builtin function on edge values, against the tables that the interpreters use."""

from __future__ import annotations

import itertools
import math
import random

import numpy as np
import pytest

import tinct
from tinct.ir.hercules import arithmetic
from tinct.ir.hercules import nodes as h
from tinct.ir.hercules.types import BOOL, COMPARISONS, F16, F32, I32, U32, U64

EDGES = {
    BOOL: [False, True],
    I32: [0, 1, -1, 2, 7, -7, 31, 32, 33, 1 << 30, (1 << 31) - 1, -(1 << 31), -(1 << 31) + 1, 0x1234567],
    U32: [0, 1, 2, 3, 31, 32, 33, 255, 1 << 16, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 0xDEADBEEF],
    U64: [0, 1, (1 << 32) - 1, 1 << 32, (1 << 64) - 1],
    F32: [
        0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, 0.1, 2.0**-149, -(2.0**-130), 2.0**-126, 16777217.0,
        2.0**31, -(2.0**31), 2.0**32, 4294967040.0, 65504.0, 65520.0, 1e10, -1e30, 3.4028234663852886e38,
        math.inf, -math.inf, math.nan,
    ],
    F16: [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -3.0, 2.0**-24, 2.0**-14, 100.0, 2048.0, 65504.0, -65504.0, math.inf,
          -math.inf, math.nan],
}  # fmt: skip
EDGES[F32] = [float(np.float32(it)) for it in EDGES[F32]]
NUMBERS = [I32, U32, F32, F16]


def samples(type: h.Type, count: int, seed: int) -> list:
    source = random.Random(seed)
    match type:
        case h.Bool():
            return EDGES[BOOL]
        case h.Integer():
            low, high = arithmetic.integer_range(type)
            return [source.randint(low, high) for _ in range(count)]
        case h.Float(bits=bits):
            dtype = np.float16 if bits == 16 else np.float32
            return [float(dtype(source.uniform(-1, 1) * 2.0 ** source.randint(-12, 12))) for _ in range(count)]
    raise TypeError(type)


def rows_of(types: list[h.Type]) -> list[tuple]:
    rows = list(itertools.product(*(EDGES[it] for it in types))) if len(types) <= 2 else []
    columns = [EDGES[it] * 40 for it in types]
    source = random.Random(1)
    for column in columns:
        source.shuffle(column)
    rows += list(zip(*columns, strict=False))
    return rows + list(zip(*(samples(it, 300, index) for index, it in enumerate(types)), strict=False))


def same(left: object, right: object) -> bool:
    if isinstance(left, float) and isinstance(right, float):
        return (left != left and right != right) or (
            left == right and math.copysign(1, left) == math.copysign(1, right)
        )
    return left == right


def check(found: list, expected: list, rows: list) -> None:
    wrong = [(row, got, want) for row, got, want in zip(rows, found, expected, strict=True) if not same(got, want)]
    assert not wrong, f"{len(wrong)} of {len(rows)}: (operands, found, expected) {wrong[:8]}"


def operator_cases() -> list:
    cases = []
    for op, type in itertools.product(h.BinaryOp, [BOOL, *NUMBERS, U64]):
        try:
            arithmetic.binary(op, type)
        except arithmetic.UnknownOperation:
            continue
        cases.append(pytest.param(op, type, id=f"{op.value}-{type}"))
    return cases


@pytest.mark.parametrize(("op", "type"), operator_cases())
def test_binary(operate, op: h.BinaryOp, type: h.Type) -> None:
    rows = rows_of([type, type])
    result = BOOL if op in COMPARISONS else type
    found = operate(lambda b, it: b.binary(op, *it), [type, type], result, rows)
    check(found, [arithmetic.binary(op, type)(*row) for row in rows], rows)


@pytest.mark.parametrize(
    ("op", "type"),
    [(h.UnaryOp.NEGATE, it) for it in NUMBERS] + [(h.UnaryOp.NOT, it) for it in (BOOL, I32, U32)],
)
def test_unary(operate, op: h.UnaryOp, type: h.Type) -> None:
    rows = rows_of([type])
    found = operate(lambda b, it: b.unary(op, *it), [type], type, rows)
    check(found, [arithmetic.unary(op, type)(*row) for row in rows], rows)


@pytest.mark.parametrize(("source", "target"), list(itertools.permutations([BOOL, *NUMBERS], 2)))
def test_cast(operate, source: h.Type, target: h.Type) -> None:
    rows = rows_of([source])
    found = operate(lambda b, it: b.cast(target, *it), [source], target, rows)
    check(found, [arithmetic.cast(source, target)(*row) for row in rows], rows)


@pytest.mark.parametrize(("source", "target"), list(itertools.permutations([I32, U32, F32], 2)))
def test_bitcast(operate, source: h.Type, target: h.Type) -> None:
    rows = rows_of([source])
    found = operate(lambda b, it: b.bitcast(target, *it), [source], target, rows)
    check(found, [arithmetic.bitcast(source, target)(*row) for row in rows], rows)


def test_select(operate) -> None:
    rows = rows_of([BOOL, F32, F32])
    found = operate(lambda b, it: b.select(*it), [BOOL, F32, F32], F32, rows)
    check(found, [row[1] if row[0] else row[2] for row in rows], rows)


EXACT = {
    **{name: [(it,) for it in NUMBERS] for name in ("abs",)},
    **{name: [(it,) for it in (I32, F32, F16)] for name in ("sign",)},
    **{name: [(it, it) for it in NUMBERS] for name in ("min", "max")},
    "clamp": [(it, it, it) for it in NUMBERS],
    **{name: [(F32,), (F16,)] for name in ("floor", "ceil", "round", "trunc", "fract", "sqrt", "saturate")},
    "step": [(F32, F32), (F16, F16)],
    "fma": [(F32, F32, F32)],
    "mix": [(F32, F32, F32)],
    "smoothstep": [(F32, F32, F32)],
    "ldexp": [(F32, I32), (F16, I32)],
    **{
        name: [(I32,), (U32,)]
        for name in ("countOneBits", "countLeadingZeros", "countTrailingZeros", "firstLeadingBit", "firstTrailingBit",
                     "reverseBits")
    },
    "extractBits": [(I32, U32, U32), (U32, U32, U32)],
    "insertBits": [(I32, I32, U32, U32), (U32, U32, U32, U32)],
    "dot4U8Packed": [(U32, U32)],
}  # fmt: skip


@pytest.mark.parametrize(("name", "types"), [(name, types) for name, all in EXACT.items() for types in all])
def test_exact_function(operate, name: str, types: tuple[h.Type, ...]) -> None:
    rows = rows_of(list(types))
    found = operate(lambda b, it: b.intrinsic(name, types[0], it), types, types[0], rows)
    kernel = arithmetic.intrinsic(name, types, types[0])
    check(found, [kernel(row) for row in rows], rows)


def test_dot_of_signed_bytes(operate) -> None:
    rows = rows_of([U32, U32])
    found = operate(lambda b, it: b.intrinsic("dot4I8Packed", I32, it), [U32, U32], I32, rows)
    kernel = arithmetic.intrinsic("dot4I8Packed", [U32, U32], I32)
    check(found, [kernel(row) for row in rows], rows)


# Functions that WGSL's "Accuracy of Concrete Floating Point Expressions" lets differ. But for those in LESS it allows
# each 3 ULP or more in f32: exp, log, pow, the hyperbolic functions and their inverses by name or by inheritance, the
# others as so many ULP or as an absolute error. tests/accuracy holds each to a closer bound.

ALLOWED = {F32: 3, F16: 1}
LESS = {"inverseSqrt": 2, "degrees": 1, "radians": 1}

RANGES = {
    "exp": (-104, 89), "exp2": (-150, 129), "log": (0, 1e30), "log2": (0, 1e30), "sin": (-1e3, 1e3), "cos": (-1e3, 1e3),
    "tan": (-1e3, 1e3), "asin": (-1.1, 1.1), "acos": (-1.1, 1.1), "atan": (-50, 50), "sinh": (-90, 90),
    "cosh": (-90, 90), "tanh": (-12, 12), "asinh": (-1e5, 1e5), "acosh": (0.5, 1e5), "atanh": (-1.1, 1.1),
    "inverseSqrt": (0, 1e9), "degrees": (-1e3, 1e3), "radians": (-1e3, 1e3),
}  # fmt: skip


def distance(found: float, expected: float, dtype: type) -> float:
    """In units in the last place; NaN equals NaN."""
    if same(found, expected) or (found == 0 and expected == 0):
        return 0
    if not (math.isfinite(found) and math.isfinite(expected)):
        return math.inf
    return abs(found - expected) / float(np.spacing(dtype(abs(expected)) if expected else dtype(0)))


def check_near(found: list, expected: list, rows: list, dtype: type, allowed: int) -> None:
    distances = [distance(got, want, dtype) for got, want in zip(found, expected, strict=True)]
    worst = max(range(len(rows)), key=lambda index: distances[index])
    assert distances[worst] <= allowed, f"{rows[worst]}: {found[worst]}, not {expected[worst]}"


@pytest.mark.parametrize("type", [F32, F16], ids=["f32", "f16"])
@pytest.mark.parametrize("name", RANGES)
def test_unary_function(operate, name: str, type: h.Type) -> None:
    dtype = np.float16 if type is F16 else np.float32
    low, high = RANGES[name]
    source = random.Random(name)
    largest = float(np.finfo(dtype).max)
    values = [float(dtype(max(-largest, min(source.uniform(low, high), largest)))) for _ in range(4000)]
    values += [float(dtype(2.0 ** source.uniform(-30, 3) * source.choice((1, -1)))) for _ in range(2000)]
    rows = [(it,) for it in values + EDGES[type]]
    found = operate(lambda b, it: b.intrinsic(name, type, it), [type], type, rows)
    kernel = arithmetic.intrinsic(name, [type], type)
    check_near(found, [kernel(row) for row in rows], rows, dtype, min(ALLOWED[type], LESS.get(name, 3)))


@pytest.mark.parametrize("type", [F32, F16], ids=["f32", "f16"])
@pytest.mark.parametrize("name", ["pow", "atan2"])
def test_binary_function(operate, name: str, type: h.Type) -> None:
    dtype = np.float16 if type is F16 else np.float32
    source = random.Random(name)
    rows = [(float(dtype(2.0 ** source.uniform(-8, 8))), float(dtype(source.uniform(-12, 12)))) for _ in range(4000)]
    rows += [(float(dtype(source.uniform(-9, 9))), float(dtype(source.uniform(-9, 9)))) for _ in range(2000)]
    rows += list(itertools.product(EDGES[type], EDGES[type]))
    found = operate(lambda b, it: b.intrinsic(name, type, it), [type, type], type, rows)
    kernel = arithmetic.intrinsic(name, [type, type], type)
    check_near(found, [kernel(row) for row in rows], rows, dtype, ALLOWED[type])


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_large_angles(operate, name: str) -> None:
    source = random.Random(5)
    rows = [(float(np.float32(2.0 ** source.uniform(20, 127.9))),) for _ in range(3000)]
    found = operate(lambda b, it: b.intrinsic(name, F32, it), [F32], F32, rows)
    expected = [float(np.float32(getattr(math, name)(it))) for (it,) in rows]
    check_near(found, expected, rows, np.float32, ALLOWED[F32])


def test_positions_are_shifted_by_constants_beyond_their_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the low bits count. A constant of the signed type of what is shifted is negative then."""
    text = """
        @group(0) @binding(0) var<storage, read_write> out: array<i32>;
        @group(0) @binding(1) var<storage> data: array<i32>;
        @compute @workgroup_size(64)
        fn main(@builtin(global_invocation_id) id: vec3u) {
            var count = 0xfffffff3u;
            let i = i32(id.x);
            out[id.x] = data[(i >> count) & 63] + data[(i << (count + 14u)) & 63] * 100;
        }"""
    data = np.arange(64, dtype=np.int32)
    monkeypatch.setenv("TINCT_CPU_TIER", "gang")
    found = tinct.load(text)["main"].run({"data": data, "out": np.zeros(64, np.int32)}, workgroups=1)["out"]
    np.testing.assert_array_equal(found, (data << 1 & 63) * 100)
