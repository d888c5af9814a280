"""Every operation on scalars that the verifier lets through: machine code gives what the interpreter gives."""

from __future__ import annotations

import itertools
import math

import pytest

from tinct.functions import HerculesFunction
from tinct.ir import builtins
from tinct.ir.hercules import arithmetic
from tinct.ir.hercules.arithmetic import ScalarValue, UnknownOperation
from tinct.ir.hercules.inference import infer_types
from tinct.ir.hercules.interp import run
from tinct.ir.hercules.nodes import AtomicOp, BinaryOp, Integer, Module, Node, UnaryOp
from tinct.ir.hercules.storage import Value
from tinct.ir.hercules.text import type_text
from tinct.ir.hercules.types import BOOL, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64, Scalar, array
from tinct.ir.hercules.verify import verify

from .builder import FunctionBuilder, position
from .support import copy_of, run_compiled, same_value

TYPES: tuple[Scalar, ...] = (BOOL, I8, I16, I32, I64, U8, U16, U32, U64, F16, F32, F64)
IN_WGSL: tuple[Scalar, ...] = (BOOL, I32, U32, F16, F32)
FLOATS = (0.0, -0.0, 1.5, -2.75, 0.125, math.inf, -math.inf, math.nan, 60000.0)
CLOSE = 2.0**-9
"""Functions that are not correctly rounded have WGSL's accuracy, which `tests/accuracy` measures; here they run."""


def samples(type: Scalar) -> list[ScalarValue]:
    if isinstance(type, Integer):
        low, high = arithmetic.integer_range(type)
        return [low, high, 0, 1, 2, 7, high // 3, *((-1, -5) if low else ())]
    return [False, True] if type == BOOL else [*FLOATS]


def operations(type: Scalar) -> Module:
    """All operations on x and y, as one product; those that do not verify are left out."""
    b = FunctionBuilder("operations")
    x, y = b.parameter("x", type), b.parameter("y", type)
    results: list[Node] = [b.select(b.binary(BinaryOp.EQUAL, x, y), x, y)]
    results += [b.unary(op, x) for op in UnaryOp]
    results += [b.binary(op, x, y) for op in BinaryOp]
    results += [b.cast(it, x) for it in TYPES] + [b.bitcast(it, x) for it in TYPES]
    value = b.product(results)
    b.return_(b.start, value)
    b.function.return_type = infer_types(b.function)[value]
    module = Module([b.function])
    wrong = {it.node for it in verify(module)}
    value.fields = [it for it in results if it not in wrong]
    b.function.nodes = [it for it in b.function.nodes if it not in wrong]
    b.function.return_type = infer_types(b.function)[value]
    assert not verify(module)
    return module


@pytest.mark.parametrize("type", TYPES, ids=lambda it: type_text(it, ()))
def test_operators_and_conversions(type: Scalar) -> None:
    module = operations(type)
    compiled = HerculesFunction(copy_of(module).functions[0])
    pairs = [*itertools.product(samples(type), repeat=2)]
    for x, y in pairs[:: max(1, len(pairs) // 6)]:
        expected = run(module.functions[0], [], [x, y])
        assert same_value(run_compiled(compiled, [], [x, y]), expected), (x, y)


@pytest.mark.parametrize("type", [it for it in TYPES if isinstance(it, Integer)], ids=lambda it: type_text(it, ()))
@pytest.mark.parametrize("op", AtomicOp, ids=lambda it: it.value)
def test_atomics(type: Integer, op: AtomicOp) -> None:
    b = FunctionBuilder("atomics")
    elements, first, second = b.parameter("elements", array(type, 2)), b.parameter("x", type), b.parameter("y", type)
    operands = [first, second][: arithmetic.ATOMIC_OPERANDS.get(op, 1)]
    after, old = b.atomic(op, elements, [position(b.dynamic(1))], operands)
    value = b.product([after, old])
    b.return_(b.start, value)
    b.function.return_type = infer_types(b.function)[value]
    compiled = HerculesFunction(copy_of(Module([b.function])).functions[0])
    for numbers in itertools.pairwise(samples(type)):
        given = [[0, numbers[0]], *numbers]
        expected = run(b.function, [], given)
        assert same_value(run_compiled(compiled, [], given), expected), given


def intrinsics() -> list[tuple[str, tuple[Scalar, ...], Scalar]]:
    """All builtin functions of scalars that may be intrinsics: name, types of arguments, type of the result."""
    found: list[tuple[str, tuple[Scalar, ...], Scalar]] = []
    for name, count in itertools.product(sorted(builtins.TABLE), (1, 2, 3, 4)):
        for *types, result in itertools.product(IN_WGSL, repeat=count + 1):
            try:
                arithmetic.intrinsic(name, types, result)
            except UnknownOperation:
                continue
            found.append((name, tuple(types), result))
    return found


def agree(found: Value, expected: Value) -> bool:
    if isinstance(found, float) and isinstance(expected, float) and math.isfinite(expected):
        return math.isclose(found, expected, rel_tol=CLOSE, abs_tol=CLOSE)
    return same_value(found, expected)


@pytest.mark.parametrize("type", IN_WGSL, ids=lambda it: type_text(it, ()))
def test_intrinsics(type: Scalar) -> None:
    chosen = [it for it in intrinsics() if it[1][0] == type]
    assert chosen
    b = FunctionBuilder("intrinsics")
    inputs = {it: [b.parameter(f"{type_text(it, ())}_{number}", it) for number in range(4)] for it in IN_WGSL}
    calls = [
        b.intrinsic(name, result, [inputs[it][number] for number, it in enumerate(types)])
        for name, types, result in chosen
    ]
    value = b.product(calls)
    b.return_(b.start, value)
    b.function.return_type = infer_types(b.function)[value]
    module = Module([b.function])
    assert not verify(module)
    compiled = HerculesFunction(copy_of(module).functions[0])
    for turn in range(6):
        given = [samples(it)[(turn + 2 * number) % len(samples(it))] for it in IN_WGSL for number in range(4)]
        expected = run(b.function, [], given)
        found = run_compiled(compiled, [], given)
        assert isinstance(found, list)
        assert isinstance(expected, list)
        wrong = [
            (chosen[at][0], *pair) for at, pair in enumerate(zip(found, expected, strict=True)) if not agree(*pair)
        ]
        assert not wrong
