"""Subgroup and quad operations of the interpreter: one function of all active lanes (WGSL, "Subgroup Built-in
Functions").

Lanes are numbered along `local_invocation_index`. A lane that reads from an inactive lane, for which WGSL leaves the
result open, gets its own value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import TypeAlias

from ..builtins import Mode, evaluator
from ..constants import RawValue
from ..operators import binary_evaluator
from ..ops import BinaryOp
from ..scalars import convert_scalar
from ..types import I32, Type, Vector, scalar_of
from . import nodes

Arguments: TypeAlias = Mapping[int, tuple[RawValue, ...]]
"""The arguments of each active lane, by its number in the subgroup, in order."""

_OPERATORS = {
    "Add": BinaryOp.ADD,
    "Mul": BinaryOp.MULTIPLY,
    "And": BinaryOp.AND,
    "Or": BinaryOp.OR,
    "Xor": BinaryOp.XOR,
}


def subgroup_results(node: nodes.BuiltinCall, arguments: Arguments) -> dict[int, RawValue]:
    """The result of each active lane."""
    lanes = sorted(arguments)
    match node.function:
        case "subgroupElect":
            return {lane: lane == lanes[0] for lane in lanes}
        case "subgroupAll":
            return dict.fromkeys(lanes, all(arguments[lane][0] for lane in lanes))
        case "subgroupAny":
            return dict.fromkeys(lanes, any(arguments[lane][0] for lane in lanes))
        case "subgroupBallot":
            mask = sum(1 << lane for lane in lanes if arguments[lane][0])
            return dict.fromkeys(lanes, tuple(mask >> shift & 0xFFFFFFFF for shift in (0, 32, 64, 96)))
        case "subgroupBroadcastFirst":
            return dict.fromkeys(lanes, arguments[lanes[0]][0])
        case name if name in _SOURCES:
            return _moved(arguments, _SOURCES[name])
        case name if name.startswith("subgroupInclusive"):
            return _scanned(node, name.removeprefix("subgroupInclusive"), arguments, is_inclusive=True)
        case name if name.startswith("subgroupExclusive"):
            return _scanned(node, name.removeprefix("subgroupExclusive"), arguments, is_inclusive=False)
        case name:
            combine = _combiner(name.removeprefix("subgroup"), node.type)
            return dict.fromkeys(lanes, reduce(combine, (arguments[lane][0] for lane in lanes)))


_SOURCES: dict[str, Callable[[int, int], int]] = {
    "subgroupBroadcast": lambda lane, id: id,
    "subgroupShuffle": lambda lane, id: id,
    "subgroupShuffleUp": lambda lane, delta: lane - delta,
    "subgroupShuffleDown": lambda lane, delta: lane + delta,
    "subgroupShuffleXor": lambda lane, mask: lane ^ mask,
    "quadBroadcast": lambda lane, id: lane // 4 * 4 + id,
    "quadSwapX": lambda lane, _: lane ^ 1,
    "quadSwapY": lambda lane, _: lane ^ 2,
    "quadSwapDiagonal": lambda lane, _: lane ^ 3,
}
"""By builtin function: the lane that a lane reads from, given its own number and the argument."""


def _moved(arguments: Arguments, source: Callable[[int, int], int]) -> dict[int, RawValue]:
    results: dict[int, RawValue] = {}
    for lane, (value, *rest) in arguments.items():
        operand = rest[0] if rest else 0
        assert isinstance(operand, int)
        found = arguments.get(source(lane, operand))
        results[lane] = value if found is None else found[0]
    return results


def _scanned(node: nodes.BuiltinCall, word: str, arguments: Arguments, *, is_inclusive: bool) -> dict[int, RawValue]:
    combine = _combiner(word, node.type)
    total = _identity(word, node.type)
    results: dict[int, RawValue] = {}
    for lane in sorted(arguments):
        before, total = total, combine(total, arguments[lane][0])
        results[lane] = total if is_inclusive else before
    return results


def _identity(word: str, type: Type) -> RawValue:
    scalar = scalar_of(type)
    assert scalar is not None
    start = convert_scalar(1 if word == "Mul" else 0, I32, scalar, Mode.RUNTIME)
    return (start,) * type.width if isinstance(type, Vector) else start


def _combiner(word: str, type: Type) -> Callable[[RawValue, RawValue], RawValue]:
    if word in _OPERATORS:
        return binary_evaluator(_OPERATORS[word], type, type, Mode.RUNTIME)
    evaluate = evaluator(word.lower(), (), (type, type), type, Mode.RUNTIME)

    def combine(left: RawValue, right: RawValue) -> RawValue:
        return evaluate((left, right))

    return combine
