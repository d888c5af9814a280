from __future__ import annotations

from types import ModuleType

import pytest

from tinct.ir.schema.runtime import SchemaNode
from tinct.ir.schema.traverse import children, map_children, mistakes, rewrite, same, walk


def ring(graph: ModuleType, size: int) -> SchemaNode:
    """A program whose blocks are linked in a ring, each jumping back to the first."""
    program = graph.Program("ring", [])
    program.blocks = [graph.Block([graph.Parameter("p")], [], None, parent=program) for _ in range(size)]
    for index, block in enumerate(program.blocks):
        block.next = program.blocks[(index + 1) % size]
        parameter = program.blocks[index - 1].parameters[0]
        block.instructions.append(graph.Jump(program.blocks[0], [parameter]))
    return program


def deep(tree: ModuleType, depth: int, leaf: SchemaNode) -> SchemaNode:
    for _ in range(depth):
        leaf = tree.Binary(tree.Operator.PLUS, leaf, tree.Number(1.0))
    return leaf


def test_children_are_what_a_node_owns(graph: ModuleType) -> None:
    a = graph.Parameter("a")
    add = graph.Add(a, a)
    program = graph.Program("p", [])
    block = graph.Block([a], [add], None, parent=program)
    assert list(children(block)) == [a, add]
    assert list(children(add)) == []
    assert list(children(graph.Jump(block, [a]))) == []


def test_walk_goes_down_in_order_and_meets_identity_once(graph: ModuleType, tree: ModuleType) -> None:
    program = ring(graph, 2)
    assert [type(node).__name__ for node in walk(program)] == [
        "Program", "Block", "Parameter", "Jump", "Block", "Parameter", "Jump",
    ]  # fmt: skip
    one = tree.Number(1.0)
    assert list(walk(tree.Tuple((one, one))))[1:] == [one, one]


def test_walk_and_same_do_not_recurse(tree: ModuleType) -> None:
    left, right = (deep(tree, 30_000, tree.Name("x")) for _ in range(2))
    assert sum(1 for _ in walk(left)) == 60_001
    assert same(left, right)
    assert not same(left, deep(tree, 30_000, tree.Name("y")))


def test_same_compares_leaves(tree: ModuleType) -> None:
    assert same(tree.Name("x"), tree.Name("x"))
    assert not same(tree.Name("x"), tree.Name("y"))
    assert not same(tree.Number(1.0), tree.Name("x"))
    assert not same(tree.Number(0.0), tree.Number(-0.0))
    assert same(tree.Number(float("nan")), tree.Number(float("nan")))
    assert same(tree.Number(1.0, line=1), tree.Number(1.0, line=2))
    assert not same(tree.Some(None), tree.Some(tree.Name("x")))
    assert not same(tree.Tuple((tree.Name("x"),)), tree.Tuple(()))


def test_same_tells_shared_nodes_from_equal_ones(tree: ModuleType) -> None:
    x = tree.Name("x")
    shared, separate = tree.Tuple((x, x)), tree.Tuple((tree.Name("x"), tree.Name("x")))
    assert same(shared, tree.Tuple((x, x)))
    assert not same(shared, separate)
    assert not same(separate, shared)
    one = tree.Number(1.0)
    assert same(tree.Tuple((one, one)), tree.Tuple((tree.Number(1.0), tree.Number(1.0))))


def test_same_compares_cycles_up_to_isomorphism(graph: ModuleType) -> None:
    assert same(ring(graph, 3), ring(graph, 3))
    assert not same(ring(graph, 3), ring(graph, 4))
    twisted = ring(graph, 3)
    twisted.blocks[1].next = twisted.blocks[0]
    assert not same(ring(graph, 3), twisted)


def test_same_compares_operands_but_no_hidden_fields(graph: ModuleType) -> None:
    other_operand, other_target = ring(graph, 3), ring(graph, 3)
    other_operand.blocks[0].instructions[0].arguments = [other_operand.blocks[0].parameters[0]]
    other_target.blocks[2].instructions[0].target = other_target.blocks[1]
    assert not same(ring(graph, 3), other_operand)
    assert same(ring(graph, 3), other_target)


def test_map_children(tree: ModuleType) -> None:
    x, y, number = tree.Name("x"), tree.Name("y"), tree.Number(1.0, line=7)
    pair = tree.Binary(tree.Operator.MINUS, x, number)
    assert map_children(pair, lambda child: child) is pair
    changed = map_children(pair, lambda child: y if child is x else child)
    assert (changed.op, changed.lhs, changed.rhs) == (tree.Operator.MINUS, y, number)
    assert changed.rhs is number
    assert map_children(tree.Tuple((x, x)), lambda _: y).items == (y, y)
    assert map_children(tree.Some(None), lambda _: y).item is None


def test_map_children_refuses_mutable_nodes(graph: ModuleType) -> None:
    with pytest.raises(TypeError, match="Block is mutable"):
        map_children(graph.Block([], [], None), lambda child: child)


def test_rewrite_goes_bottom_up_in_constant_stack(tree: ModuleType) -> None:
    def fold(node: SchemaNode) -> SchemaNode:
        match node:
            case tree.Binary(_, tree.Number(a), tree.Number(b)):
                return tree.Number(a + b)
            case _:
                return node

    assert rewrite(deep(tree, 20_000, tree.Number(0.0)), fold) == tree.Number(20_000.0)
    untouched = deep(tree, 3, tree.Name("x"))
    assert rewrite(untouched, fold) is untouched


def test_mistakes(graph: ModuleType) -> None:
    program = ring(graph, 2)
    assert mistakes(program, graph.SCHEMA) == []
    program.name = 3
    program.blocks[0].next = graph.Stop()
    program.blocks[1].parameters = (program.blocks[1].parameters[0],)
    program.settings = [graph.Setting("key", 1, b"")]
    assert sorted(mistakes(program, graph.SCHEMA)) == [
        "Block.next: expected Block?, found Stop",
        "Block.parameters: expected parameter*, found (Parameter('p'),)",
        "Program.name: expected str, found 3",
        "Setting.on: expected bool, found 1",
    ]
