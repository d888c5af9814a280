from __future__ import annotations

import time
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinct.ir.core.values import Use, Value


def check(values: list[Value]) -> None:
    """Every use is an operand place that holds the value, and the other way round."""
    held = [(user, index, value) for user in values for index, value in enumerate(user.operands)]
    recorded = [(use.user, use.index, value) for value in values for use in value.uses]
    assert len(held) == len(recorded)
    assert set(held) == set(recorded)


def test_uses(graph: ModuleType) -> None:
    a, b = graph.Parameter("a"), graph.Parameter("b")
    add = graph.Add(a, a)
    assert a.uses == [Use(add, 0), Use(add, 1)]
    assert a.users == [add]
    assert a.use_count == 2
    add.set_operand(0, b)
    assert (a.uses, b.uses) == ([Use(add, 1)], [Use(add, 0)])
    add.drop_operands()
    assert (a.uses, b.uses, add.operands) == ([], [], ())


def test_dropped_operands_cannot_be_set(graph: ModuleType) -> None:
    a = graph.Parameter("a")
    pick = graph.Pick(a, None, graph.Order.LESS, a)
    pick.drop_operands()
    with pytest.raises(IndexError):
        pick.otherwise = a
    with pytest.raises(IndexError):
        pick.choice = a
    check([a, pick])


def test_setting_an_operand_to_itself_keeps_one_use(graph: ModuleType) -> None:
    a = graph.Parameter("a")
    add = graph.Add(a, a)
    add.lhs = a
    check([a, add])


def test_replace_all_uses(graph: ModuleType) -> None:
    a, b = graph.Parameter("a"), graph.Parameter("b")
    users = [graph.Add(a, b), graph.Sum([b, a, a]), graph.Pick(b, None, graph.Order.LESS, a)]
    a.replace_all_uses_with(b)
    assert all(value is b for user in users for value in user.operands)
    assert a.uses == []
    check([a, b, *users])
    b.replace_all_uses_with(b)
    check([a, b, *users])


def test_replacing_by_a_user_makes_it_use_itself(graph: ModuleType) -> None:
    a = graph.Parameter("a")
    add = graph.Add(a, a)
    a.replace_all_uses_with(add)
    assert add.operands == (add, add)
    check([a, add])


@pytest.mark.parametrize("index", [-1, 2])
def test_missing_operand(graph: ModuleType, index: int) -> None:
    a = graph.Parameter("a")
    with pytest.raises(IndexError, match=f"Add has 2 operands, no operand {index}"):
        graph.Add(a, a).set_operand(index, a)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 7), st.lists(st.integers(0, 7), max_size=5))))
def test_any_edits_keep_both_sides_in_step(graph: ModuleType, edits: list[tuple[int, int, list[int]]]) -> None:
    a, b = graph.Parameter("a"), graph.Parameter("b")
    values = [a, b, graph.Add(a, b), graph.Sum([a]), graph.Sum([]), graph.Pick(b, None, graph.Order.LESS, None)]
    values += [graph.Jump(None, [a, b]), graph.Add(b, b)]
    for action, index, others in edits:
        user, chosen = values[index], [values[other] for other in others]
        if action == 0:
            user.drop_operands()
        elif action == 1 and chosen:
            user.replace_all_uses_with(chosen[0])
        elif action == 2 and isinstance(user, graph.Sum):
            user.terms = chosen
        elif action == 3 and user.operands and chosen:
            user.set_operand(len(others) % len(user.operands), chosen[0])
        elif action == 4 and isinstance(user, graph.Pick) and user.operands:
            user.otherwise = chosen[0] if chosen else None
        check(values)


def test_many_uses_are_removed_quickly(graph: ModuleType) -> None:
    a, b = graph.Parameter("a"), graph.Parameter("b")
    users = [graph.Add(a, a) for _ in range(50_000)]
    start = time.perf_counter()
    for user in reversed(users):
        user.lhs = b
    a.replace_all_uses_with(b)
    assert (a.use_count, b.use_count) == (0, 100_000)
    assert time.perf_counter() - start < 10
