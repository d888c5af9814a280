"""Folds instructions on integers whose result follows from literal operands, which makes LLVM's work less."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping

_ZERO, _ALL = ("0", "false", "zeroinitializer"), ("-1", "true", "splat (i1 true)")
_ARITHMETIC: Mapping[str, Callable[[int, int], int]] = {"add": operator.add, "sub": operator.sub, "mul": operator.mul}
_COMPARISONS: Mapping[str, Callable[[int, int], bool]] = {
    "icmp eq": operator.eq,
    "icmp ne": operator.ne,
    "icmp ult": operator.lt,
    "icmp ule": operator.le,
    "icmp ugt": operator.gt,
    "icmp uge": operator.ge,
}


def folded_binary(instruction: str, scalar: str, lhs: str, rhs: str) -> str | None:
    """The result of a binary instruction, if it is one of its operands or a literal; scalar types only have literals.

    Comparisons of literals are folded as far as they are unsigned.
    """
    if scalar[0] != "i":
        return None
    if lhs[0] != "%":
        if rhs[0] != "%" and lhs.isdigit() and rhs.isdigit():
            return _of_literals(instruction, int(scalar[1:]), int(lhs), int(rhs))
        if instruction in ("add", "or", "and"):
            lhs, rhs = rhs, lhs
    if rhs in _ZERO:
        match instruction:
            case "add" | "sub" | "or" | "xor" | "shl" | "lshr" | "ashr":
                return lhs
            case "and" | "mul":
                return rhs
            case _:
                return None
    if rhs in _ALL:
        match instruction:
            case "and":
                return lhs
            case "or":
                return rhs
            case _:
                return None
    return lhs if rhs == "1" and instruction == "mul" else None


def _of_literals(instruction: str, bits: int, lhs: int, rhs: int) -> str | None:
    if instruction in _ARITHMETIC:
        return str(_ARITHMETIC[instruction](lhs, rhs) & ((1 << bits) - 1))
    if instruction in _COMPARISONS:
        mask = (1 << bits) - 1
        return "true" if _COMPARISONS[instruction](lhs & mask, rhs & mask) else "false"
    return None


def folded_conversion(instruction: str, operand: str, target: str) -> str | None:
    """The literal that results from widening or narrowing a literal that is not negative."""
    if instruction not in ("zext", "trunc") or not operand.isdigit():
        return None
    return str(int(operand) & ((1 << int(target[1:])) - 1))
