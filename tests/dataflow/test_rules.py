"""Each rule of the verifier holds for a graph, and is broken by a change to it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tinct.ir.dataflow.nodes import Binary, BinaryOp, CreateNode, Graph, IntegerLiteral, Module, Type
from tinct.ir.dataflow.rules import connections, declarations, modules
from tinct.ir.dataflow.text import parse, print_module
from tinct.ir.dataflow.verify import VerifyError, check, verify

BASE = """
shader s = file("s.wgsl")

leaf f(in a: array<f32>, inout b: array<f32>, in n: u32) {
  entry(s, f)
  constant(WIDTH, 2)
  workgroup_size(64)
}

leaf count(in a: array<f32>, inout total: atomic<u32>) {
  entry(s, count)
}

leaf fresh(out b: array<f32>) {
  entry(s, fresh)
}

host mean(in a: array<f32>, out mean: f32)

graph inner(in x: array<f32>, inout z: array<f32>) {
  node = createNode1D(f, len(x))
  bind.input(node, x, a)
  bind.input(node, z, b)
  bind.input(node, 4, n)
  bind.output(node, b, z)
}

graph g(in x: array<f32>, in n: u32, in table: array<u32, 4>, in scale: f32, out y: array<f32>, out w: array<f32>) {
  room = malloc(array<f32>, n)
  cell = malloc(u32)
  one = createNode1D(f, n * 2)
  bind.input(one, x, a)
  bind.input(one, room, b)
  bind.input(one, table[2], n)
  pair = split(array<f32>, 2)
  createEdge(one, pair, one_to_one, b, value)
  two = createNode1D(f, 2 * n)
  createEdge(pair, two, one_to_one, copy0, a)
  bind.input(two, room, b)
  bind.input(two, n, n)
  sum = createNode1D(count, min(n, 8))
  bind.input(sum, x, a)
  bind.input(sum, cell, total)
  three = createNode1D(inner, sum.total)
  bind.input(three, x, x)
  createEdge(pair, three, all_to_all, copy1, z)
  bind.output(two, b, y)
  bind.output(three, z, w)
}

root = createNode(g)
"""

CYCLE = """
  early = createNode(count)
  late = createNode(count)
  bind.input(early, x, a)
  bind.input(late, x, a)
  createEdge(early, late, all_to_all, total, total)
  createEdge(late, early, all_to_all, total, total)
"""
LONE = """
graph lone(out o: array<f32>) { node = createNode(fresh) bind.output(node, b, o) }
graph turns(out o: array<f32>) { node = createNode(lone, repeat = 2) bind.output(node, o, o) }
"""
INNER = "graph inner(in x: array<f32>, inout z: array<f32>) {\n"
EDGE = "createEdge(sum, two, all_to_all, total, n)"

BROKEN = [
    ("identifier", "room = malloc(array<f32>, n)", '"a b" = malloc(array<f32>, n)', "'a b' is no identifier"),
    ("local-names", "cell = malloc(u32)", "room = malloc(u32)", "'room' is a transient buffer already"),
    ("local-names", "cell = malloc(u32)", "n = malloc(u32)", "'n' is an input of the graph already"),
    ("local-names", "two = createNode1D(f, 2 * n)", "one = createNode1D(f, n)", "'one' is a node already"),
    ("node-function", "one = createNode1D(f,", "one = createNode1D(cuont,", "did you mean 'count'"),
    ("split-count", "split(array<f32>, 2)", "split(array<f32>, 1)", "'pair' makes 1 copies"),
    (
        "malloc-extents",
        "malloc(array<f32>, n)",
        "malloc(array<f32>)",
        "takes one extent, its number of elements, not 0",
    ),
    ("malloc-extents", "malloc(u32)", "malloc(u32, 3)", "u32 takes no extent, not 1"),
    ("malloc-extents", "malloc(u32)", "malloc(texture_storage_2d<r32float, write>, 3)", "takes 2 extents, not 1"),
    ("expression-depth", "min(n, 8)", "n" + " + 1" * 60, "more than 50 levels"),
    ("type-depth", "malloc(u32)", f"malloc({'array<' * 60}u32{'>' * 60})", "more than 50 levels"),
    ("port-depth", "in table: array<u32, 4>", f"in table: {'array<' * 60}u32{'>' * 60}", "more than 50 levels"),
    ("references", "min(n, 8)", "min(m, 8)", "'m' is no input of the graph"),
    ("references", "min(n, 8)", "one", "'one' is a node: name one of its outputs"),
    ("references", "sum.total", "sum.totl", "node 'sum' has no output 'totl'; did you mean 'total'?"),
    ("references", "table[2]", "table[4]", "table[4]: there is no element 4"),
    ("references", "table[2]", "table.first", "array<u32, 4> has no members"),
    ("references", "table[2]", "n[0]", "u32 has no elements"),
    ("references", "min(n, 8)", "len(n)", "len(n): u32 has no elements"),
    ("whole-numbers", "min(n, 8)", "min(n, 1.5)", "1.5 is no whole number"),
    ("whole-numbers", "min(n, 8)", "scale * 2", "scale is of type f32, and no whole number"),
    ("malloc-size", "malloc(array<f32>, n)", "malloc(array<f32>, len(room))", "depends on that of another, 'room'"),
    ("query-form", "min(n, 8)", "getNumNodeInstances(getParentNode(getNode()))", "needs a dimension"),
    ("query-form", "min(n, 8)", "getNumDims.x(getParentNode(getNode()))", "takes no dimension"),
    ("query-form", "min(n, 8)", "getNumNodeInstances.x(getNode())", "are not known before it is made"),
    (
        "query-form",
        "bind.input(two, n, n)",
        "bind.input(two, getNodeInstanceID.x(getNode()), n)",
        "WGSL's builtin values",
    ),
    ("children", "bind.output(two, b, y)", "bind.output(node, b, y)", "'node' is no node of this graph"),
    ("source-port", "bind.output(two, b, y)", "bind.output(two, a, y)", "node 'two' has no output 'a'"),
    (
        "destination-port",
        "bind.input(sum, x, a)",
        "bind.input(sum, x, aa)",
        "node 'sum' has no input 'aa'; did you mean 'a'?",
    ),
    ("output-port", "bind.output(two, b, y)", "bind.output(two, b, yy)", "the graph has no output 'yy'"),
    ("bound-value", "bind.input(two, n, n)", "bind.input(two, sum.total, n)", "createEdge takes it to two.n"),
    ("edge-types", "copy0, a)", "copy0, n)", "pair.copy0 is of type array<f32>, but two.n of u32"),
    (
        "input-types",
        "bind.input(two, n, n)",
        "bind.input(two, x, n)",
        "x is of type array<f32>, but two.n is of type u32",
    ),
    ("input-types", "bind.input(two, n, n)", "bind.input(two, 1.5, n)", "1.5 is no whole number"),
    (
        "input-types",
        "bind.input(sum, x, a)",
        "bind.input(sum, 3, a)",
        "sum.a is of type array<f32>, and takes no number",
    ),
    (
        "input-types",
        "bind.input(two, n, n)",
        "bind.input(two, -1, n)",
        "two.n is of type u32, which does not have the number -1",
    ),
    ("output-types", "out y: array<f32>", "out y: array<u32>", "but the output 'y' of array<u32>"),
    ("edge-source", "copy1, z)", "copy0, z)", "pair.copy0 is the source of an edge already: a split"),
    ("edge-destination", "copy1, z)", f"copy1, z)\n{EDGE}\n{EDGE}", "two.n is the destination of an edge already"),
    (
        "bind-destination",
        "bind.input(two, n, n)",
        "bind.input(two, n, n)\nbind.input(two, 3, n)",
        "two.n is bound already",
    ),
    ("bind-source", "bind.output(three, z, w)", "bind.output(two, b, w)", "two.b is bound to an output already"),
    ("bound-output", "bind.output(three, z, w)", "bind.output(three, z, y)", "the output 'y' is bound already"),
    ("one-source", "bind.output(two, b, y)", "bind.output(pair, copy0, y)", "goes along an edge and to an output"),
    (
        "one-destination",
        "bind.input(sum, x, a)",
        "bind.input(sum, x, a)\ncreateEdge(two, sum, all_to_all, b, a)",
        "sum.a is given by an edge and by a bind",
    ),
    ("stream-source", "bind.input(two, n, n)", "bind.input(two, 3, n, streaming)", "3 does not stream"),
    ("stream-mix", "bind.output(two, b, y)", "bind.output(two, b, y, streaming)", "do not mix"),
    (
        "one-to-one-grids",
        "two = createNode1D(f, 2 * n)",
        "two = createNode1D(f, 2 * n + 1)",
        "the extent x is n * 2 in 'one', but 2 * n + 1 in 'two'",
    ),
    (
        "one-to-one-grids",
        "two = createNode1D(f, 2 * n)",
        "two = createNode2D(f, 2, n)",
        "'one' has 1 dimensions, but 'two' 2",
    ),
    (
        "one-to-one-splits",
        "one_to_one, b, value)",
        "all_to_all, b, value)",
        "split 'pair' does not get its value one-to-one",
    ),
    ("complete-inputs", "bind.input(two, n, n)", "", "node 'two': nothing gives its input 'n'"),
    ("complete-outputs", "bind.output(two, b, y)", "", "nothing gives the output 'y'"),
    (
        "capacity",
        "two = createNode1D(f, 2 * n)",
        "two = createNode1D(f, 2 * n, capacity = 0)",
        "node 'two' has the capacity 0; a capacity is at least 1",
    ),
    ("repeat", "three = createNode1D(inner, sum.total)", "three = createNode(inner, repeat = -1)", "repeated -1 times"),
    (
        "repeat",
        "two = createNode1D(f, 2 * n)",
        "two = createNode1D(f, 2 * n, repeat = 3)",
        "node 'two' has a repeat, but executes no graph",
    ),
    (
        "repeat",
        INNER,
        LONE + INNER,
        "node 'node' is repeated, but no output of 'lone' has the name of one of its inputs",
    ),
    ("whole-numbers", "createNode1D(inner, sum.total)", "createNode(inner, repeat = scale)", "no whole number"),
    ("references", "createNode1D(inner, sum.total)", "createNode(inner, repeat = m)", "'m' is no input of the graph"),
    ("acyclic", "createNode1D(inner, sum.total)", "createNode(inner, repeat = len(three.z))", "part of a cycle"),
    ("acyclic", "cell = malloc(u32)", "cell = malloc(u32)" + CYCLE, "node 'early' is part of a cycle, with 'late'"),
    ("acyclic", "min(n, 8)", "sum.total", "node 'sum' is part of a cycle, with itself"),
    ("shader-names", "leaf f(", 'shader s = file("t.wgsl")\nleaf f(', "there is a shader 's' already"),
    ("function-names", "leaf count(", "leaf f(", "there is a leaf or a graph 'f' already"),
    ("identifiers", "root =", 'root("1") =', "'1' is no identifier"),
    ("port-names", "in scale: f32", "in n: f32", "'g' has a port 'n' already"),
    ("port-names", "in scale: f32", "in scale.x: f32", "'scale.x' is no name of a port"),
    ("member-ports", "leaf fresh(out b: array<f32>)", "leaf fresh(out b.x: f32)", "it is an input only"),
    (
        "member-ports",
        "leaf fresh(out b: array<f32>)",
        "leaf fresh(in b: P, in b.x: f32)",
        "is a part of 'b', which is a port, too",
    ),
    ("leaf-shader", "entry(s, count)", "entry(t, count)", "leaf 'count': no shader is named 't'"),
    (
        "leaf-constants",
        "constant(WIDTH, 2)",
        "constant(WIDTH, 2)\nconstant(WIDTH, 3)",
        "the constant 'WIDTH' is given twice",
    ),
    ("workgroup-size", "workgroup_size(64)", "workgroup_size(64, 0)", "one to three sizes, all above 0"),
    ("workgroup-size", "workgroup_size(64)", "workgroup_size(4, 4, 4, 1)", "one to three sizes"),
    ("root-function", "root = createNode(g)", "root = createNode(gg)", "no graph is named 'gg'; did you mean 'g'?"),
    ("root-function", "root = createNode(g)", "root = createNode(f)", "'f' is a leaf"),
    ("root-function", "root = createNode(g)", "root = createNode(mean)", "'mean' is a leaf"),
    (
        "host-extents",
        "cell = malloc(u32)",
        "cell = malloc(u32)\nm = createNode1D(mean, 4)\nbind.input(m, x, a)",
        "takes no extents",
    ),
    ("port-names", "out mean: f32", "out mean.x: f32", "'mean.x' is no name of a port"),
    ("root-instances", "root = createNode(g)", "root = createNode1D(g, 2)", "the root has one instance"),
    ("root-instances", "root = createNode(g)", "root = createNode(g, repeat = 2)", "the root is executed once"),
    (
        "no-recursion",
        "node = createNode1D(f, len(x))",
        "node = createNode1D(f, len(x))\nself = createNode(inner)\nbind.input(self, x, x)\nbind.input(self, z, z)",
        "graph 'inner' contains itself",
    ),
    (
        "instance-outputs",
        "graph inner(in x: array<f32>, inout z: array<f32>) {",
        INNER + "  extra = createNode1D(last, 2)\n bind.input(extra, x, x)\n",
        "its output 'y' is no version of one of its inputs",
    ),
    (
        "nested-streams",
        "bind.output(node, b, z)",
        "bind.output(node, b, z, streaming)",
        "graph 'g' do not stream, and those of node 'three' stream",
    ),
    (
        "query-ancestor",
        "bind.input(node, 4, n)",
        "bind.input(node, getNumNodeInstances.y(getParentNode(getNode())), n)",
        "node 'three' is replicated in 1 dimensions only",
    ),
    (
        "query-ancestor",
        "bind.input(node, 4, n)",
        "bind.input(node, getNumDims(getParentNode(getParentNode(getParentNode(getNode())))), n)",
        "there is no such ancestor",
    ),
]

EXTRA = """
graph last(in x: array<f32>, out y: array<f32>) {
  node = createNode1D(fresh, len(x))
  bind.output(node, b, y)
}

root ="""


def broken(rule: str, old: str, new: str) -> Module:
    assert old in BASE, old
    text = BASE.replace(old, new)
    if rule == "instance-outputs":
        text = text.replace("root =", EXTRA.lstrip())
    if rule == "nested-streams":
        text = text.replace("bind.input(node, x, a)", "bind.input(node, x, a, streaming)")
        text = text.replace("bind.input(node, z, b)", "bind.input(node, z, b, streaming)")
    return parse(text)


def test_the_graph_keeps_all_rules() -> None:
    module = parse(BASE)
    assert verify(module) == []
    check(module)
    assert parse(print_module(module)) == module


@pytest.mark.parametrize(("rule", "old", "new", "message"), BROKEN)
def test_a_rule_is_broken(rule: str, old: str, new: str, message: str) -> None:
    module = broken(rule, old, new)
    found = verify(module)
    assert [it for it in found if it.rule == rule and message in it.message], [(it.rule, it.message) for it in found]
    assert all(it.part.span is not None for it in found)
    with pytest.raises(VerifyError) as caught:
        check(module)
    assert message in str(caught.value)


def graph_with(module: Module, *statements: CreateNode) -> Module:
    *others, graph = module.functions
    assert isinstance(graph, Graph)
    return replace(module, functions=(*others, replace(graph, body=(*graph.body, *statements))))


def test_dimensions() -> None:
    """No text has a node of four dimensions."""
    module = graph_with(parse(BASE), CreateNode("many", "fresh", (IntegerLiteral(1),) * 4))
    assert [it.message for it in verify(module)] == ["node 'many' has 4 dimensions; a node has at most 3"]


def test_nesting() -> None:
    """Sixty graphs, each in the next."""
    graphs = "graph g0() {}\n" + "".join(f"graph g{i + 1}() {{ node = createNode(g{i}) }}\n" for i in range(60))
    found = verify(parse(graphs + "root = createNode(g60)"))
    assert {it.rule for it in found} == {"nesting"}
    assert found[0].message == "graph 'g50' has more than 50 levels"


def test_very_deep_trees_are_refused_before_anything_recurses_on_them() -> None:
    """Deeper than Python's stack; only JSON and Python can say so."""
    number: Binary | IntegerLiteral = IntegerLiteral(1)
    type = Type("u32", ())
    for _ in range(100_000):
        number, type = Binary(BinaryOp.ADD, number, IntegerLiteral(1)), Type("array", (type,))
    module = graph_with(parse(BASE), CreateNode("deep", "fresh", (number,)))
    assert [it.rule for it in verify(module)] == ["expression-depth"]
    with pytest.raises(VerifyError, match="more than 50 levels deep"):
        check(module)


def test_every_rule_is_broken_by_a_test() -> None:
    tables = (
        *declarations.DEPTHS,
        *declarations.DECLARATIONS,
        *declarations.EXPRESSIONS,
        *connections.CONNECTIONS,
        *connections.EDGES,
        *connections.GRAPHS,
        modules.PORT_DEPTH,
        *modules.NAMES,
        *modules.ROOT,
        *modules.STRUCTURE,
        *modules.HIERARCHY,
        *modules.ANCESTORS,
    )
    names = [it.name for it in tables]
    assert len(set(names)) == len(names)
    assert set(names) - {rule for rule, *_ in BROKEN} == {"dimensions", "nesting"}


def test_two_outputs_of_one_input() -> None:
    """Both copies of a split are written: instances could not share them."""
    text = """
    shader s = file("s.wgsl")
    leaf f(inout b: array<f32>) { entry(s, f) }
    graph both(in x: array<f32>, out y: array<f32>, out z: array<f32>) {
      pair = split(array<f32>, 2)
      bind.input(pair, x, value)
      left = createNode(f)
      createEdge(pair, left, all_to_all, copy0, b)
      bind.output(left, b, y)
      bind.output(pair, copy1, z)
    }
    graph g(in x: array<f32>, out y: array<f32>, out z: array<f32>) {
      node = createNode1D(both, 2)
      bind.input(node, x, x)
      bind.output(node, y, y)
      bind.output(node, z, z)
    }
    root = createNode(g)
    """
    (found,) = verify(parse(text))
    assert found.message == (
        "node 'node' has several instances: its outputs 'y' and 'z' are two versions of its input 'x'"
    )
    assert verify(parse(text.replace("createNode1D(both, 2)", "createNode(both)"))) == []
