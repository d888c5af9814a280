"""Random modules: any tree of the schema that the text form can hold, mostly no valid programs."""

from __future__ import annotations

from hypothesis import strategies as st

from tinct.ir.dataflow import nodes as n

NAMES = st.one_of(st.sampled_from(("a", "b", "node", "root", "true", "inf", "len", "é")), st.text(max_size=5))
PORTS = st.one_of(NAMES, st.sampled_from(("size.width", "a.b.c", ".", "a.")))
INTEGERS = st.integers(-(10**12), 10**12)
FLAGS = st.booleans()
TYPES = st.recursive(
    st.builds(n.Type, st.one_of(NAMES, st.sampled_from(("u32", "0", "64", "064"))), st.just(())),
    lambda inner: st.builds(n.Type, NAMES, st.lists(inner, min_size=1, max_size=2).map(tuple)),
    max_leaves=4,
)
SELECTORS = st.lists(st.one_of(st.builds(n.Member, NAMES), st.builds(n.Element, INTEGERS)), max_size=3).map(tuple)
REFERENCES = st.builds(n.Reference, NAMES, SELECTORS)
QUERIES = st.builds(n.Query, st.sampled_from(n.Question), st.integers(0, 4), st.none() | st.sampled_from(n.Dimension))
FLOATS = st.builds(n.FloatLiteral, st.floats(allow_nan=True, allow_infinity=True))
EXPRESSIONS = st.recursive(
    st.one_of(st.builds(n.IntegerLiteral, INTEGERS), FLOATS, REFERENCES, st.builds(n.Length, REFERENCES), QUERIES),
    lambda inner: st.builds(n.Binary, st.sampled_from(n.BinaryOp), inner, inner),
    max_leaves=8,
)


def extents(most: int) -> st.SearchStrategy[tuple[n.Expression, ...]]:
    return st.lists(EXPRESSIONS, max_size=most).map(tuple)


ENDPOINTS = st.builds(n.Endpoint, NAMES, PORTS)
CREATIONS = st.builds(
    n.CreateNode, NAMES, NAMES, extents(3), capacity=st.none() | INTEGERS, repeat=st.none() | EXPRESSIONS
)
STATEMENTS = st.one_of(
    CREATIONS,
    st.builds(n.Split, NAMES, TYPES, INTEGERS),
    st.builds(n.Malloc, NAMES, TYPES, extents(4)),
    st.builds(n.CreateEdge, ENDPOINTS, ENDPOINTS, st.sampled_from(n.Replication), streaming=FLAGS),
    st.builds(n.BindInput, EXPRESSIONS, ENDPOINTS, streaming=FLAGS),
    st.builds(n.BindOutput, ENDPOINTS, PORTS, streaming=FLAGS),
)
SOURCES = st.one_of(st.builds(n.EmbeddedShader, st.text()), st.builds(n.ShaderFile, st.text()))
NUMBERS = st.one_of(st.builds(n.IntegerLiteral, INTEGERS), FLOATS, st.builds(n.BoolLiteral, FLAGS))
PORT_LISTS = st.lists(st.builds(n.Port, st.sampled_from(n.Access), PORTS, TYPES), max_size=3).map(tuple)
LEAVES = st.builds(
    n.Leaf,
    NAMES,
    PORT_LISTS,
    NAMES,
    NAMES,
    st.lists(st.builds(n.Constant, NAMES, NUMBERS), max_size=2).map(tuple),
    st.lists(INTEGERS, max_size=4).map(tuple),
)
HOSTS = st.builds(n.Host, NAMES, PORT_LISTS)
GRAPHS = st.builds(n.Graph, NAMES, PORT_LISTS, st.lists(STATEMENTS, max_size=5).map(tuple))
MODULES = st.builds(
    n.Module,
    st.lists(st.builds(n.Shader, NAMES, SOURCES), max_size=2).map(tuple),
    st.lists(st.one_of(LEAVES, HOSTS, GRAPHS), max_size=3).map(tuple),
    CREATIONS,
)
