"""Loops are unrolled up to an amount of code, so that the time of compiling stays in proportion to the kernel."""

from __future__ import annotations

from tinct.backend.cpu.llvm import _MOST_ADDED, FunctionText, ModuleText


def test_loops_are_unrolled_until_that_is_too_much_code() -> None:
    out = FunctionText(ModuleText())
    out.open("entry")
    for _ in range(100):
        out.do("")
    assert out.unrolled_loop(0, 3)
    assert out.size == 300, "three copies"
    assert out.unrolled_loop(0, 10), "of a loop inside of which is the other"
    assert out.size == 3000
    assert not out.unrolled_loop(0, _MOST_ADDED)
    assert out.size == 3000, "it stays a loop"
    assert out.unrolled_loop(2900, 2), "a smaller one"
