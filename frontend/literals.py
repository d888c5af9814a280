"""Numeric literals (WGSL, "Numeric Literals"): their value and suffix, from text that the grammar has accepted."""

from __future__ import annotations

from ..base.named_tuples import NamedTuple


class IntText(NamedTuple):
    """An integer literal taken apart: its exact value, and `i`, `u` or nothing."""

    value: int
    suffix: str


def read_int(text: str) -> IntText:
    """Decode an integer literal, decimal or hexadecimal."""
    digits = text.rstrip("iu")
    suffix = text[len(digits) :]
    return IntText(int(digits, 16) if digits[:2] in ("0x", "0X") else _decimal(digits), suffix)


def float_suffix(text: str) -> str:
    """The suffix of a float literal: `f`, `h` or nothing. Without an exponent, a hexadecimal `f` is a digit."""
    if text[:2] in ("0x", "0X") and "p" not in text.lower():
        return ""
    return text[-1] if text[-1] in "fh" else ""


def malformation(text: str) -> str:
    """The error in digits that form no literal."""
    if text[0] == "0" and text.rstrip("iufh").isdigit():
        return "a number has no leading zeros"
    return "malformed number"


_CHUNK = 4000  # decimal digits that int() takes at once


def _decimal(digits: str) -> int:
    if len(digits) <= _CHUNK:
        return int(digits)
    tail = len(digits) // 2
    scale: int = 10**tail
    return _decimal(digits[:-tail]) * scale + _decimal(digits[-tail:])
