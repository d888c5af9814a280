from __future__ import annotations

import json
import math
from collections.abc import Callable
from types import ModuleType
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinct.ir.hercules import nodes as hercules
from tinct.ir.schema.codec import Codec, CodecError, ExternCodec
from tinct.ir.schema.runtime import SchemaNode
from tinct.ir.schema.traverse import mistakes, same, walk


class Point(NamedTuple):
    x: int
    y: int


def point_text(value: object) -> str:
    assert isinstance(value, Point)
    return f"{value.x},{value.y}"


def point_from(text: str) -> Point:
    x, y = text.split(",")
    return Point(int(x), int(y))


@pytest.fixture
def codec(graph: ModuleType) -> Codec:
    return Codec(graph.SCHEMA, {"point": ExternCodec(point_text, point_from)})


@pytest.fixture
def plain(tree: ModuleType) -> Codec:
    return Codec(tree.SCHEMA, {})


def round_trips(codec: Codec, root: SchemaNode) -> None:
    for write, read in ((codec.to_json, codec.from_json), (codec.to_aterm, codec.from_aterm)):
        text = write(root)
        back = read(text, type(root))
        assert same(back, root), text
        assert write(back) == text
        assert mistakes(back, codec.schema) == []


def program(graph: ModuleType) -> SchemaNode:
    """Two blocks in a cycle, with uses before definitions and a value that no block holds."""
    p, q, loose = graph.Parameter("p"), graph.Parameter("q", line=4), graph.Parameter("loose")
    settings = [graph.Setting('a\n"b"é', True, b"\x00\xff", weight=math.inf), graph.Setting("", False, b"")]
    result = graph.Program("main", [], settings=settings)
    second = graph.Block([q], [], None, parent=result)
    late = graph.Sum([q, p])
    first = graph.Block([p], [graph.Add(late, loose), graph.Jump(second, [p])], second, parent=result)
    second.instructions = [late, graph.Pick(p, Point(3, -4), graph.Order.NONE, late), graph.Jump(first, [])]
    second.next = first
    result.blocks = [first, second]
    return result


def test_json_form(graph: ModuleType, codec: Codec) -> None:
    a = graph.Parameter("a")
    block = graph.Block([a], [graph.Add(a, a, line=2)], None)
    block.next = block
    assert json.loads(codec.to_json(block)) == {
        "kind": "Block",
        "@id": 1,
        "parameters": [{"kind": "Parameter", "@id": 2, "name": "a"}],
        "instructions": [{"kind": "Add", "lhs": {"@ref": 2}, "rhs": {"@ref": 2}, "line": 2}],
        "next": {"@ref": 1},
    }


def test_aterm_form(graph: ModuleType, tree: ModuleType, codec: Codec, plain: Codec) -> None:
    a = graph.Parameter("a")
    block = graph.Block([a], [graph.Add(a, a), graph.Pick(a, Point(1, 2), graph.Order.NONE, None)], None)
    block.next = block
    assert codec.to_aterm(block) == ('Block([Parameter("a"){#2}], [Add(#2, #2), Pick(#2, "1,2", none, None)], #1){#1}')
    number = tree.Binary(tree.Operator.PLUS, tree.Number(1.0), tree.Some(None))
    assert plain.to_aterm(number) == "Binary(plus, Number(1.0), Some(None))"


def test_aterm_underscore_is_a_default(graph: ModuleType, codec: Codec) -> None:
    setting = graph.Program("p", [], settings=[graph.Setting("k", True, b"\x01", weight=2.0)])
    assert codec.to_aterm(setting) == 'Program("p", [], [Setting("k", true, 2.0, "01")])'
    setting = graph.Setting("k", True, b"\x01")
    assert codec.to_aterm(setting) == 'Setting("k", true, _, "01")'
    assert codec.from_aterm('Setting("k", true, _, "01")', graph.Setting) == setting


def test_cyclic_program(graph: ModuleType, codec: Codec) -> None:
    round_trips(codec, program(graph))


def test_hidden_references_come_back(graph: ModuleType, codec: Codec) -> None:
    back = codec.from_json(codec.to_json(program(graph)), graph.Program)
    first, second = back.blocks
    assert first.parent is back
    assert second.parent is back
    assert first.instructions[1].target is second
    assert second.instructions[2].target is first
    assert second.parameters[0].line == 4


def test_uses_are_rebuilt(graph: ModuleType, codec: Codec) -> None:
    back = codec.from_aterm(codec.to_aterm(program(graph)), graph.Program)
    late = back.blocks[1].instructions[0]
    assert [type(use.user).__name__ for use in late.uses] == ["Add", "Pick"]
    assert late.operands == (back.blocks[1].parameters[0], back.blocks[0].parameters[0])


def test_operands_stay_where_they_are_owned(graph: ModuleType, codec: Codec) -> None:
    text = json.loads(codec.to_json(program(graph)))
    first = text["blocks"][0]
    add, late = first["instructions"][0], first["next"]["instructions"][0]
    assert add["lhs"] == {"@ref": late["@id"]}
    assert add["rhs"]["kind"] == "Parameter"


def test_hercules_loop() -> None:
    start = hercules.Start()
    zero = hercules.ConstantNode(hercules.FloatConstant(hercules.Float(32), -0.0))
    loop = hercules.Region([start])
    phi = hercules.Phi(loop, [zero])
    phi.values.append(hercules.Binary(hercules.BinaryOp.ADD, phi, zero, label="next"))
    loop.predecessors.append(loop)
    nodes: list[hercules.Node] = [start, loop, zero, phi, hercules.Return(loop, phi)]
    function = hercules.Function("f", ["n"], [], [], hercules.Float(32), nodes)
    round_trips(Codec(hercules.SCHEMA, {}), hercules.Module([function]))


@pytest.mark.parametrize("value", [0.0, -0.0, math.nan, math.inf, -math.inf, 5e-324, 1e300, 0.1])
def test_floats_keep_their_bits(tree: ModuleType, plain: Codec, value: float) -> None:
    round_trips(plain, tree.Number(value))


@pytest.mark.parametrize("text", ["", 'a"b\\', "\u2028\x00\n\t", "\ud800", "true", "None", "#1", "日本"])
def test_strings_keep_their_characters(tree: ModuleType, plain: Codec, text: str) -> None:
    round_trips(plain, tree.Name(text))


def test_depth_is_no_limit(tree: ModuleType, plain: Codec) -> None:
    node = tree.Name("x")
    for _ in range(20_000):
        node = tree.Some(node)
    round_trips(plain, node)


@given(st.data())
def test_random_trees(tree: ModuleType, data: st.DataObject) -> None:
    shared = [tree.Name("shared"), tree.Number(2.0)]
    leaves = st.one_of(
        st.sampled_from(shared),
        st.floats(width=64).map(tree.Number),
        st.text(max_size=4).map(tree.Name),
        st.none().map(tree.Some),
    )

    def larger(smaller: st.SearchStrategy[SchemaNode]) -> st.SearchStrategy[SchemaNode]:
        return st.one_of(
            st.builds(tree.Binary, st.sampled_from(tree.Operator), smaller, smaller),
            st.lists(smaller, max_size=3).map(lambda items: tree.Tuple(tuple(items))),
            smaller.map(tree.Some),
        )

    round_trips(Codec(tree.SCHEMA, {}), data.draw(st.recursive(leaves, larger, max_leaves=12)))


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 5), st.booleans()), max_size=8))
def test_random_graphs(graph: ModuleType, edges: list[tuple[int, int, int, bool]]) -> None:
    """Blocks that link to any others, jump anywhere and use values of any block, listed in the program or not."""
    root = graph.Program("random", [])
    blocks = [graph.Block([graph.Parameter(str(index))], [], None, parent=root) for index in range(6)]
    for source, target, used, listed in edges:
        blocks[source].next = blocks[target]
        blocks[source].instructions.append(graph.Jump(blocks[used], blocks[target].parameters))
        if listed and blocks[source] not in root.blocks:
            root.blocks.append(blocks[source])
    codec = Codec(graph.SCHEMA, {})
    round_trips(codec, root)
    back = codec.from_json(codec.to_json(root), graph.Program)
    pairs = zip(walk(root), walk(back), strict=True)
    assert all(type(before) is type(after) for before, after in pairs)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1:1: expected a value, found the end of the text"),
        ('{"kind": "Name", "name" "x"}', "1:25: expected ':', found '\"x\"'"),
        ('{"kind": "Name",\n "name": ?}', "2:10: expected a value, found '?'"),
        ('{"kind": "Name", "name": "x"} 1', "1:31: expected the end of the text, found '1'"),
        ('{"kind": "Tuple", "items": [}', "1:29: expected a value, found '}'"),
        ('{"kind": "Tuple", "items": [', "1:29: expected a value, found the end of the text"),
        ('{"name": "x"}', "an object must begin with its kind, not with 'name'"),
        ("[]", "a field outside of a node"),
        ("3", "the text must begin with a node"),
        ('{"kind": "Nam"}', "the schema 'tree' has no kind 'Nam'"),
        ('{"kind": "Name"}', "Name.name is missing"),
        ('{"kind": "Tuple"}', "Tuple.items is missing"),
        ('{"kind": "Name", "nam": "x"}', "Name has no field 'nam'"),
        ('{"kind": "Name", "name": "x", "name": "y"}', "Name.name is given twice"),
        ('{"kind": "Name", "name": 3}', "Name.name: expected str, found 3 (not a value of this type)"),
        ('{"kind": "Name", "name": null}', "Name.name: expected str, found None (not a value of this type)"),
        ('{"kind": "Name", "name": ["x"]}', "Name.name is no list"),
        ('{"kind": "Tuple", "items": "x"}', "Tuple.items must be a list"),
        ('{"kind": "Number", "value": "one"}', "Number.value: expected float, found 'one'"),
        ('{"kind": "Number", "value": true}', "Number.value: expected float, found True"),
        ('{"kind": "Number", "@id": 1, "value": 1}', "Number has no identity, so it cannot have an id"),
        ('{"kind": "Some", "item": {"@ref": 7}}', "no node has the id 7"),
        (
            '{"kind": "Tuple", "items": [{"kind": "Name", "@id": 1, "name": "x"}, {"kind": "Name", "@id": 1}]}',
            "two nodes have the id 1",
        ),
        (
            '{"kind": "Binary", "op": "times", "lhs": {"kind": "Some", "item": null}, "rhs": {"kind": "Tuple"}}',
            "Binary.op: expected operator, found 'times'",
        ),
    ],
)
def test_json_errors(tree: ModuleType, plain: Codec, text: str, message: str) -> None:
    assert_error(message, lambda: plain.from_json(text, SchemaNode))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1:1: expected a term, found the end of the text"),
        ("Name(", "1:6: expected a term, found the end of the text"),
        ('Name("x"', "1:9: expected ',', found the end of the text"),
        ('Name("x",)', "1:10: expected a term, found ')'"),
        ('Name("x") y', "1:11: expected the end of the text, found 'y'"),
        ("Name(x)", "Name.name: expected str, found 'x' (not a value of this type)"),
        ('Name("x", 1)', "Name has 1 fields only"),
        ("Name(_)", "Name.name is missing"),
        ("Tuple([])", None),
        ("Tuple([1])", "Tuple.items: expected expression, found 1"),
        ("Some(#1){#1}", "Some has no identity, so it cannot have an id"),
        ("Plus()", "the schema 'tree' has no kind 'Plus'"),
        ("Name", "the text must begin with a node"),
    ],
)
def test_aterm_errors(tree: ModuleType, plain: Codec, text: str, message: str | None) -> None:
    if message is None:
        assert plain.from_aterm(text, tree.Tuple).items == ()
    else:
        assert_error(message, lambda: plain.from_aterm(text, SchemaNode))


def test_values_of_a_wrong_kind(graph: ModuleType, codec: Codec) -> None:
    assert_error(
        "Block.next: expected Block, found Stop", lambda: codec.from_aterm("Block([], [], Stop())", graph.Block)
    )
    assert_error("expected a Block, found a Stop", lambda: codec.from_aterm("Stop()", graph.Block))


def test_externs_need_a_codec(graph: ModuleType) -> None:
    pick = graph.Pick(graph.Parameter("a"), Point(1, 2), graph.Order.LESS, None)
    bare = Codec(graph.SCHEMA, {})
    assert_error("no codec for the extern type 'point'", lambda: bare.to_json(pick))
    assert_error("no codec for the extern type 'point'", lambda: bare.from_aterm('Pick(Stop(), "1,2")', graph.Pick))


def test_extern_text_that_cannot_be_read(graph: ModuleType, codec: Codec) -> None:
    text = 'Pick(Stop(), "1;2", less, None)'
    assert_error("Pick.where: expected point, found '1;2'", lambda: codec.from_aterm(text, graph.Pick))


def assert_error(message: str, action: Callable[[], object]) -> None:
    with pytest.raises(CodecError) as caught:
        action()
    assert str(caught.value).startswith(message)
