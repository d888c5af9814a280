"""Locations, broadcasts, reductions, and the copies that are inserted."""

from __future__ import annotations

from tinct.ir.schedule.dependence import Broadcast, Closure, broadcasts, locations
from tinct.ir.schedule.nodes import Constant, ElementType, Fby, FloatLiteral
from tinct.ir.schedule.reductions import reductions_of
from tinct.ir.schedule.scope import Scope
from tinct.ir.schedule.text import parse, print_nest
from tinct.ir.schedule.verify import verify
from tinct.transforms.schedule.insert_copies import insert_copies

from .nests import ROW_SUMS, SOFTMAX


def test_what_is_carried_shares_a_location() -> None:
    found = locations(Scope(parse(ROW_SUMS)))
    assert found == (frozenset({"x0"}), frozenset({"acc", "total", "row"}))


def test_a_mapped_value_shares_the_location_of_the_value() -> None:
    shared = [it for it in locations(Scope(parse(SOFTMAX))) if len(it) > 1]
    assert {"x0", "again"} in shared
    assert {"e", "part"} in shared


def test_broadcasts_are_found_once_each() -> None:
    text = SOFTMAX.replace("y[i, l] = share", "twice: f32 = inst share / all on [i, l]\n  y[i, l] = twice")
    found = broadcasts(Scope(parse(text)))
    assert found == (Broadcast("most", ("k",)), Broadcast("all", ("l",)))


def reductions(text: str) -> list[str]:
    scope = Scope(parse(text))
    closure = Closure(scope)
    fbys = [it for it in scope.values.values() if isinstance(it, Fby)]
    return [it.join for it in reductions_of(fbys, scope, closure).values() if isinstance(it.join, str)]


def test_reductions() -> None:
    assert reductions(ROW_SUMS) == ["+"]
    assert reductions(SOFTMAX) == ["max", "+"]
    assert reductions(ROW_SUMS.replace("acc + x0", "x0 + acc")) == ["+"]
    assert reductions(ROW_SUMS.replace("acc + x0", "acc - x0")) == []
    assert reductions(ROW_SUMS.replace("acc + x0", "acc + acc")) == []
    depends = ROW_SUMS.replace(
        "  total: f32 = inst acc + x0", "  w: f32 = inst acc * x0 on [i, j]\n  total: f32 = inst acc + w"
    )
    assert reductions(depends) == []
    scan = ROW_SUMS.replace("out sums", "out y: f32[rows, columns]\n  out sums") + ""
    scan = scan.replace("  sums[i]", "  y[i, j] = total on [i, j]\n  sums[i]")
    assert verify(parse(scan)) == []
    assert reductions(scan) == []


def test_neutral_elements() -> None:
    scope = Scope(parse(ROW_SUMS))
    fby = scope.values["acc"]
    assert isinstance(fby, Fby)
    found = reductions_of([fby], scope, Closure(scope))[fby.name]
    assert found.neutral == (Constant(ElementType.F32, FloatLiteral(0.0)),)
    assert not found.is_exact


FIXED = {
    # A value that two carried values begin with, and a broadcast of one.
    "zero: f32 = inst 0.0f + 0.0f on []\n  acc: f32 = zero fby total on [j]": ["zero_copy1"],
    # A next value that is no value of an instruction.
    "acc: f32 = 0.0f fby delay on [j]\n  delay: f32 = 0.0f fby x0 on [j]": ["delay_copy1"],
}


def test_copies() -> None:
    for lines, copies in FIXED.items():
        text = ROW_SUMS.replace("acc: f32 = 0.0f fby total on [j]", lines)
        assert verify(parse(text))
        fixed = insert_copies(parse(text))
        assert verify(fixed) == [], print_nest(fixed)
        assert [it.name for it in fixed.body if "copy" in getattr(it, "name", "")] == copies


def test_one_copy_serves_all_late_reads() -> None:
    late = "  a: f32 = inst acc - total on [i, j]\n  b: f32 = inst acc * total on [i, j]\n  row:"
    fixed = insert_copies(parse(ROW_SUMS.replace("  row:", late)))
    assert verify(fixed) == []
    assert print_nest(fixed).count("copy(") == 1


def test_nothing_is_copied_without_need() -> None:
    for text in (ROW_SUMS, SOFTMAX):
        assert insert_copies(parse(text)) == parse(text)
