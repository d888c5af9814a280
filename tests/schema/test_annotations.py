"""Annotations and roles of operations: what they mean in a schema, and what the check refuses."""

from __future__ import annotations

import pytest

from tinct.ir.schema.asdl import parse_schema
from tinct.ir.schema.model import Flag, Kind, Role, SchemaError, SchemaModule

NODES = """operations node
node = @Start ["start", control]
     | @Fork(control node before, int factor) ["fork", control]
     | @Index(pinned node fork) ["index", pure]
     | @Binary(op op, node lhs, node rhs) [op, pure, scalar]
     | @Store(node value, step* path) ["store", writes, composed]
     attributes (note str label = "")
step = Member(int index) | Element(node position)
op = Add [commutative] | Sub
"""


def schema(body: str, kind: str = "") -> SchemaModule:
    return parse_schema(f'module toy "ir/toy/nodes.py" {kind} {{\n{body}\n}}', "toy.asdl")


def kinds(body: str) -> dict[str, Kind]:
    return {it.name: it for it in schema(body).kinds}


def test_words() -> None:
    module = schema(NODES)
    words = {kind.name: module.words(kind) for kind in module.members("node")}
    assert words == {
        "Start": ["start"],
        "Fork": ["fork"],
        "Index": ["index"],
        "Binary": ["add", "sub"],
        "Store": ["store"],
    }


def test_flags() -> None:
    found = kinds(NODES)
    assert found["Fork"].flags == {Flag.CONTROL}
    assert found["Binary"].flags == {Flag.PURE, Flag.SCALAR}
    assert found["Store"].flags == {Flag.WRITES, Flag.COMPOSED}


def test_roles() -> None:
    found = kinds(NODES)
    assert [it.role for it in found["Fork"].fields] == [Role.CONTROL, Role.DATA, Role.NOTE]
    assert [it.role for it in found["Index"].fields] == [Role.PINNED, Role.NOTE]


def test_a_field_may_be_named_and_typed_like_a_role() -> None:
    (kind,) = schema("control = (control? control, int note, control* pinned)").kinds
    assert [(it.role, it.type, it.name) for it in kind.fields] == [
        (Role.DATA, "control", "control"),
        (Role.DATA, "int", "note"),
        (Role.DATA, "control", "pinned"),
    ]


def test_operators_commute_one_by_one() -> None:
    (enum,) = schema(NODES).enums
    assert (enum.constructors, enum.commutative) == (("Add", "Sub"), ("Add",))


def test_groups() -> None:
    groups = {it.name: [kind.name for kind in it.kinds] for it in schema(NODES).groups}
    assert groups == {
        "ControlNode": ["Start", "Fork"],
        "PinnedNode": ["Index"],
        "ScalarNode": ["Binary"],
        "PureNode": ["Index", "Binary"],
        "WritingNode": ["Store"],
        "FloatingNode": ["Binary", "Store"],
    }


def refused(node: str, message: str) -> tuple[str, str]:
    """A schema with one more operation than a start, and where it is wrong."""
    return f'operations node\nnode = @Start ["start", control]\n{node}', message


@pytest.mark.parametrize(
    ("body", "message"),
    [
        refused('| @A ["a", strange]', "4:12: unknown annotation 'strange'"),
        refused('| @A ["a", pure, pure]', "4:18: 'pure' stands twice"),
        refused('| @A ["a", "b"]', "4:12: 'A' has a word already"),
        refused('| @A(op op) ["a", op]\nop = Add | Sub', "4:19: 'A' has a word already"),
        refused("| @A [pure]", "4:4: 'A' is an operation, so it needs a word"),
        refused("| @A", "4:4: 'A' is an operation, so it needs a word"),
        refused('| @A ["start"]', "4:7: the word 'start' is already taken"),
        refused('| @A ["add"] | @B(op op) [op]\nop = Add | Sub', "4:27: the word 'add' is already taken"),
        refused("| @A(int op) [op]", "4:15: the field 'op' cannot be a word"),
        refused("| @A(op* op) [op]\nop = Add | Sub", "4:15: the field 'op' cannot be a word"),
        refused('| @A ["a", pure, writes]', "4:4: 'A' cannot be both pure and writes"),
        refused('| @A ["a", reads, pure]', "4:4: 'A' cannot be both pure and reads"),
        refused('| @A ["a", pure, exits]', "4:4: 'A' cannot be both pure and exits"),
        refused('| @A ["a", control, pure]', "4:4: 'A' cannot be both pure and control"),
        refused('| @A ["a", scalar, control]', "4:4: 'A' cannot be both scalar and control"),
        refused('| @A(node x) ["a", input]', "4:11: 'A' is an input, so it has no operands"),
        refused('| @A ["a", input, writes]', "4:4: 'A' cannot be both input and writes"),
        refused('| @A(node x) ["a", commutative]', "4:4: 'A' is commutative, so it needs two operands"),
        refused('| @A(strange node x) ["a"]', "4:6: unknown role 'strange'"),
        refused('| @A(control int x) ["a"]', "4:18: 'x' cannot be control: no 'int' is"),
        refused('| @A(control B x) ["a"] | @B ["b"]', "4:16: 'x' cannot be control: no 'B' is"),
        refused('| @A(pinned node \\x) ["a"]', "4:19: the hidden field 'x' cannot be pinned"),
        refused('| @A(pinned node* x) ["a"]', "4:19: 'A' can be pinned to one node only"),
        refused('| @A(pinned node x, pinned node y) ["a"]', "4:33: 'A' can be pinned to one node only"),
        refused('| @A(note node x) ["a"]', "4:16: the operand 'x' cannot be a note"),
        refused('| @A(step? x) ["a"]\nstep = (node x)', "4:12: the operand 'x' cannot be optional"),
        refused('| @A(int inputs) ["a"]', "4:10: the field name 'inputs' is reserved"),
        refused('| A(int x) ["a"]', "4:3: 'A' is an operation, so it needs an @"),
        ("operations node", "1:1: the sum of operations 'node' is not declared"),
        ("operations a\noperations b", "3:1: a schema has one 'operations' sum only"),
        ('a = A(int x) ["a"]', "2:15: 'A' is no operation, so it has no annotations"),
        ("a = A(note int x)", "2:16: 'A' is no operation, so its fields have no roles"),
        (NODES + "part = (node* x)", "11:15: 'x' must be one operand: 'Part' is a part of operations"),
        (NODES + "part = (step x)", "11:14: 'x' holds operands, so it must be a field of an operation"),
        ("e = One [pure] | Two", "2:10: a constructor of an enum cannot be 'pure'"),
        ('e = One ["one"] | Two', "2:10: a constructor of an enum cannot be 'one'"),
        ("s = A(int x)\nt = A [pure] | B", "3:8: 'A' is declared elsewhere"),
        ('a = @A ["a" pure]', "2:13: expected ',', found 'pure'"),
        ('tracked v\noperations v\nv = @A(control v x) ["a"]', "4:18: 'x' cannot be control: no 'v' is"),
        (NODES + "control_node = @ControlNode(int x)", "1:1: the class name 'ControlNode' is already taken"),
    ],
)
def test_errors(body: str, message: str) -> None:
    with pytest.raises(SchemaError) as caught:
        schema(body)
    assert str(caught.value) == f"toy.asdl:{message}"


def test_an_immutable_schema_has_no_operations() -> None:
    with pytest.raises(SchemaError, match="an immutable schema has no operations"):
        schema('operations a\na = @B(int x) ["b"] | @C ["c"]', "immutable")
