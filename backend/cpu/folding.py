"""Folds instructions on integers whose result follows from literal operands, which makes LLVM's work less."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping

_ZERO, _ALL = ("0", "false", "zeroinitializer"), ("-1", "true", "splat (i1 true)")
_ARITHMETIC: Mapping[str, Callable[[int, int], int]] = {"add": operator.add, "sub": operator.sub, "mul": operator.mul}
_UNSIGNED: Mapping[str, Callable[[int, int], bool]] = {
    "icmp eq": operator.eq,
    "icmp ne": operator.ne,
    "icmp ult": operator.lt,
    "icmp ule": operator.le,
    "icmp ugt": operator.gt,
    "icmp uge": operator.ge,
}
_SIGNED: Mapping[str, Callable[[int, int], bool]] = {
    "icmp slt": operator.lt,
    "icmp sle": operator.le,
    "icmp sgt": operator.gt,
    "icmp sge": operator.ge,
}


def folded_binary(instruction: str, scalar: str, lhs: str, rhs: str) -> str | None:
    """The result of a binary instruction if that is one of its operands or a literal; only scalars have literals."""
    if scalar[0] != "i":
        return None
    if lhs[0] != "%":
        if rhs[0] != "%" and _is_literal(lhs) and _is_literal(rhs):
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


def _is_literal(text: str) -> bool:
    """Whether a text is a number."""
    return text.removeprefix("-").isdigit()


def _of_literals(instruction: str, bits: int, lhs: int, rhs: int) -> str | None:
    mask, sign = (1 << bits) - 1, 1 << (bits - 1)
    if instruction in _ARITHMETIC:
        return str(_ARITHMETIC[instruction](lhs, rhs) & mask)
    if instruction in _UNSIGNED:
        return "true" if _UNSIGNED[instruction](lhs & mask, rhs & mask) else "false"
    if instruction in _SIGNED:  # the order of signed numbers is that of unsigned ones whose sign bit is flipped
        return "true" if _SIGNED[instruction](lhs & mask ^ sign, rhs & mask ^ sign) else "false"
    return None


def folded_conversion(instruction: str, operand: str, target: str) -> str | None:
    """The literal that results from widening or narrowing a literal that is not negative."""
    if instruction not in ("zext", "trunc") or not operand.isdigit():
        return None
    return str(int(operand) & ((1 << int(target[1:])) - 1))
