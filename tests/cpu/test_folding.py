"""What instructions on known operands come to, and when one that was written before stands for another."""

from __future__ import annotations

import re

import pytest

from tinct.backend.cpu.folding import folded_binary, folded_conversion
from tinct.backend.cpu.gangs.values.slots import Slots
from tinct.backend.cpu.llvm import FunctionText, ModuleText, Ops


@pytest.mark.parametrize(
    ("instruction", "type", "lhs", "rhs", "result"),
    [
        ("add", "i32", "4294967295", "2", "1"),
        ("sub", "i32", "0", "1", "4294967295"),
        ("mul", "i64", "%x", "1", "%x"),
        ("mul", "i32", "%x", "0", "0"),
        ("add", "i32", "0", "%x", "%x"),
        ("sub", "i32", "0", "%x", None),
        ("shl", "i32", "%x", "0", "%x"),
        ("shl", "i32", "0", "%x", None),
        ("and", "i1", "true", "%x", "%x"),
        ("or", "i1", "%x", "true", "true"),
        ("xor", "i1", "%x", "true", None),
        ("and", "i1", "%x", "splat (i1 true)", "%x"),
        ("icmp ult", "i64", "3", "4", "true"),
        ("icmp slt", "i32", "3", "4294967295", "false"),
        ("icmp slt", "i32", "3", "2147483647", "true"),
        ("icmp sge", "i64", "18446744073709551613", "0", "false"),
        ("icmp sge", "i64", "-3", "-3", "true"),
        ("icmp sgt", "i64", "%x", "-3", None),
        ("icmp ult", "i32", "-1", "1", "false"),
        ("sub", "i32", "-1", "1", "4294967294"),
        ("fadd", "float", "%x", "0", None),
    ],
)
def test_binary(instruction: str, type: str, lhs: str, rhs: str, result: str | None) -> None:
    assert folded_binary(instruction, type, lhs, rhs) == result


def test_conversions_of_literals_keep_their_low_bits() -> None:
    assert folded_conversion("trunc", str((1 << 32) + 5), "i32") == "5"
    assert folded_conversion("zext", "5", "i64") == "5"
    assert folded_conversion("sext", "5", "i64") is None


def _text() -> FunctionText:
    out = FunctionText(ModuleText())
    out.open("entry")
    return out


def test_an_instruction_is_written_once_where_control_has_passed_it() -> None:
    out = _text()
    ops = Ops(out)
    before = ops.binary("add", "i32", "%a", "%b")
    out.open("start")
    assert ops.binary("add", "i32", "%a", "%b") == before
    own = ops.binary("mul", "i32", "%a", "%b")
    out.open_arm("left", "start")
    assert ops.binary("mul", "i32", "%a", "%b") == own
    left = ops.binary("xor", "i32", "%a", "%b")
    out.open_arm("right", "start")
    assert ops.binary("xor", "i32", "%a", "%b") != left
    out.open_merge("end", "start")
    assert ops.binary("mul", "i32", "%a", "%b") == own
    assert ops.binary("xor", "i32", "%a", "%b") != left
    out.open("elsewhere")
    assert ops.binary("mul", "i32", "%a", "%b") != own


def test_a_value_is_kept_in_a_slot_only_if_code_beyond_its_guards_asks_for_it() -> None:
    out = _text()
    slots = Slots(out)
    with slots.level("body"):
        with slots.guarded():
            slots.define("x", "%x", "i32")
            slots.define("y", "%y", "i32")
            assert slots.use("x") == "%x"
        assert "alloca" not in out.text()
        with slots.guarded():
            slots.define("x", "%z", "i32")
        assert slots.use("x") != "%z"
    text = out.text()
    assert text.count("alloca") == 1
    assert "store i32 %x" in text
    assert "store i32 %z" in text
    assert "%y" not in text


def test_slots_are_cleared_in_all_copies_of_a_level() -> None:
    out = _text()
    slots = Slots(out)
    for value in "%first", "%second":
        with slots.level("body"):
            with slots.guarded():
                slots.define("x", value, "i32")
            slots.use("x")
    blocks = re.findall(r"\nreset\S*:\n  store i32 zeroinitializer", out.text())
    assert len(blocks) == 2
