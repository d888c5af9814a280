from __future__ import annotations

import dataclasses
from types import ModuleType
from typing import get_args

import pytest

from tinct.ir.core.values import User, Value
from tinct.ir.schema import generate
from tinct.ir.schema.runtime import SchemaNode


def test_committed_modules_are_up_to_date(capsys: pytest.CaptureFixture[str]) -> None:
    assert generate.main(["--check"]) == 0, capsys.readouterr().out


def test_wrong_arguments_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert generate.main(["--chekc"]) == 2
    assert "usage" in capsys.readouterr().err


def test_every_core_value_has_what_values_promise() -> None:
    from tinct.ir.core import nodes

    for kind in get_args(nodes.AnyValue):
        assert issubclass(kind, Value)
        assert {"type", "name", "span"} <= {info.name for info in kind.FIELDS}, kind
        assert not {"type", "name", "span"} & set(kind.__slots__), kind


def test_immutable_identity_kind(tree: ModuleType) -> None:
    name = tree.Name("x")
    assert name != tree.Name("x")
    assert len({name, tree.Name("x")}) == 2
    with pytest.raises(dataclasses.FrozenInstanceError):
        name.name = "y"


def test_plain_kind_is_compared_by_its_visible_fields(graph: ModuleType) -> None:
    assert graph.Setting("a", True, b"") == graph.Setting("a", True, b"")
    assert graph.Setting("a", True, b"") != graph.Setting("a", True, b"", weight=2.0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        graph.Setting("a", True, b"").key = "b"


def test_hidden_fields_are_not_compared(tree: ModuleType) -> None:
    assert tree.Number(1.0, line=1) == tree.Number(1.0, line=2)
    assert hash(tree.Number(1.0, line=1)) == hash(tree.Number(1.0, line=2))


def test_floats_are_compared_by_their_bits(tree: ModuleType) -> None:
    zero, minus_zero, nan = tree.Number(0.0), tree.Number(-0.0), float("nan")
    assert zero != minus_zero
    assert tree.Number(nan) == tree.Number(float("nan"))
    assert tree.Tuple((zero,)) != tree.Tuple((minus_zero,))
    assert len({zero, minus_zero, tree.Number(0.0)}) == 2


def test_mutable_identity_kind(graph: ModuleType) -> None:
    block = graph.Block([], [], None)
    block.next = block
    block.instructions.append(graph.Stop())
    assert block in [block]
    assert block != graph.Block([], [], None)
    assert graph.Program("p", [block]).settings == []
    assert graph.Program("p", []).settings is not graph.Program("p", []).settings


def test_slots(graph: ModuleType, tree: ModuleType) -> None:
    for node in (graph.Block([], [], None), graph.Stop(), graph.Parameter("p"), tree.Name("x")):
        assert not hasattr(node, "__dict__")


def test_aliases_match_and_test(graph: ModuleType) -> None:
    assert get_args(graph.Instruction) == (graph.Add, graph.Sum, graph.Pick, graph.Jump, graph.Stop)
    assert set(get_args(graph.AnyValue)) == {graph.Parameter, *get_args(graph.Instruction)}
    assert isinstance(graph.Stop(), graph.Instruction)
    match graph.Add(graph.Parameter("a"), graph.Parameter("b")):
        case graph.Add(lhs, rhs):
            assert (lhs.name, rhs.name) == ("a", "b")
        case _:
            pytest.fail("Add does not match")


def test_enum(tree: ModuleType, graph: ModuleType) -> None:
    assert [it.value for it in tree.Operator] == ["plus", "minus"]
    assert graph.Order.LESS_EQUAL.value == "less_equal"


def test_documentation(tree: ModuleType) -> None:
    assert tree.__doc__ == "A small language.\n\n  let x = 1\n"
    assert tree.Name.__doc__ == 'A name, "quoted".'
    assert tree.Tuple.__doc__ == "`Tuple(expression* items)`"


def test_bases(graph: ModuleType) -> None:
    assert issubclass(graph.Parameter, Value)
    assert issubclass(graph.Jump, User)
    assert not issubclass(graph.Block, User)
    assert issubclass(graph.Block, SchemaNode)


def test_operand_properties(graph: ModuleType) -> None:
    a, b, c = (graph.Parameter(name) for name in "abc")
    add = graph.Add(a, b)
    add.rhs = c
    assert add.operands == (a, c)
    assert b.uses == []
    total = graph.Sum([a, a])
    total.terms = (*total.terms, b)
    assert total.operands == (a, a, b)
    pick = graph.Pick(a, None, graph.Order.LESS, None)
    assert pick.otherwise is None
    pick.otherwise = b
    assert (pick.operands, pick.otherwise) == ((a, b), b)
    pick.otherwise = None
    assert pick.operands == (a,)
    assert [(use.user, use.index) for use in a.uses] == [(add, 0), (total, 0), (total, 1), (pick, 0)]


def test_repr_ends(graph: ModuleType, tree: ModuleType) -> None:
    block = graph.Block([], [graph.Stop()], None)
    block.next = block
    assert repr(block) == "Block([], [<Stop>], <Block>)"
    assert repr(graph.Add(graph.Parameter("a"), graph.Stop())) == "Add(<Parameter a>, <Stop>)"
    deep = tree.Tuple(())
    for _ in range(5000):
        deep = tree.Tuple((deep,))
    assert repr(deep) == "Tuple([" * 8 + "..." + "])" * 8
    assert repr(tree.Binary(tree.Operator.PLUS, tree.Number(1.0), tree.Name("x"))) == (
        "Binary(Operator.PLUS, Number(1.0), <Name x>)"
    )
