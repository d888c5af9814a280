from __future__ import annotations

import pytest

from tinct.ir.schema.asdl import parse_schema
from tinct.ir.schema.check import has_alias
from tinct.ir.schema.model import EnumDefault, Kind, Product, Reference, SchemaError, SchemaModule
from tinct.ir.schema.runtime import REQUIRED, Category, Count


def schema(body: str, kind: str = "") -> SchemaModule:
    return parse_schema(f'module toy "ir/toy/nodes.py" {kind} {{\n{body}\n}}', "toy.asdl")


def only_kind(module: SchemaModule) -> Kind:
    (kind,) = module.kinds
    return kind


def test_header() -> None:
    module = parse_schema('-- About it.\n--\n-- More.\nmodule toy "a/b.py" immutable { }')
    assert (module.name, module.output, module.immutable, module.doc) == ("toy", "a/b.py", True, "About it.\n\nMore.")


def test_fields() -> None:
    kind = only_kind(schema(r'a = A(int one, str? maybe, A* many, a? \back, int \n = -3, str s = "x\"y", a* l = [])'))
    shown = [(it.type, it.name, it.count, it.hidden, it.default) for it in kind.fields]
    assert shown == [
        ("int", "one", Count.ONE, False, REQUIRED),
        ("str", "maybe", Count.OPTIONAL, False, REQUIRED),
        ("A", "many", Count.MANY, False, REQUIRED),
        ("a", "back", Count.OPTIONAL, True, None),
        ("int", "n", Count.ONE, True, -3),
        ("str", "s", Count.ONE, False, 'x"y'),
        ("a", "l", Count.MANY, False, ()),
    ]


def test_defaults_are_literals_and_enum_constructors() -> None:
    kind = only_kind(schema("a = A(bool b = true, float f = 1e3, e e = Two, int? i = none)\ne = One | Two"))
    assert [it.default for it in kind.fields] == [True, 1000.0, EnumDefault("Two"), None]


def test_constructors_without_fields_make_an_enum() -> None:
    module = schema("e = One | Two\nmixed = A(int x) | B\nidentity = @C\nwith = D attributes (int x)")
    assert [it.constructors for it in module.enums] == [("One", "Two")]
    assert [kind.name for kind in module.kinds] == ["A", "B", "C", "D"]
    assert module.category("e") is Category.ENUM


def test_bare_name_of_a_constructor_declared_elsewhere_refers_to_it() -> None:
    module = schema("some = A(int x) | B(int y)\nother = A | C")
    other = next(it for it in module.sums if it.name == "other")
    assert isinstance(other.alternatives[0], Reference)
    assert [kind.name for kind in module.members("other")] == ["A", "C"]


def test_sums_nest() -> None:
    module = schema("value = leaf | B(int x) | pair\nleaf = A(int x)\npair = (value l, value r)")
    assert [kind.name for kind in module.members("value")] == ["A", "B", "Pair"]


def test_attributes_go_to_every_constructor() -> None:
    module = schema(r"sum = A(int x) | @B attributes (int \line = 0)" + "\np = (int y) attributes (int z)")
    assert {kind.name: [it.name for it in kind.fields] for kind in module.kinds} == {
        "A": ["x", "line"],
        "B": ["line"],
        "P": ["y", "z"],
    }


def test_comments_directly_above_are_documentation() -> None:
    module = schema(
        "-- far away\n\n-- The sum,\n--   over two lines.\nsum = -- no doc\n  -- The first.\n  A(int x)  -- no doc\n"
        "  -- The second.\n  | @B(int x)\n\n-- The product.\nproduct = (int x)"
    )
    (sum_,) = module.sums
    product = next(it for it in module.definitions if isinstance(it, Product))
    assert sum_.doc == "The sum,\n  over two lines."
    assert [it.doc for it in module.kinds] == ["The first.", "The second.", "The product."]
    assert product.kind.doc == "The product."


def test_sum_named_like_its_only_constructor_has_no_alias() -> None:
    module = schema("block = @Block(int x)\nother = @Node(int x)")
    assert [has_alias(module, it) for it in module.sums] == [False, True]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("a = A(int x", "3:1: expected ',', found '}'"),
        ("a = A(int)", "2:10: expected the field's name, found ')'"),
        ("a = $", "2:5: unexpected character '$'"),
        ("a = a(int x)", "2:5: the constructor 'a' must begin with a capital letter"),
        ("A = B(int x)", "2:1: the type 'A' must begin with a lower-case letter"),
        ("a = A(thing x)", "2:13: unknown type 'thing'"),
        ("s = A(int x) | b", "2:16: unknown type 'b'"),
        ("a = b\nb = a", "2:1: the sum 'a' contains itself"),
        ("a = A(int x)\na = B(int x)", "3:1: 'a' is declared twice"),
        ("s = A(int x) | A(int y)", "2:16: the class name 'A' is already taken"),
        ("s = A(int x) | Schema(int y)", "2:16: the class name 'Schema' is already taken"),
        ("thing = A(int x) | Thing(int y)", "2:1: the class name 'Thing' is already taken"),
        ("a = A(int x, str x)", "2:18: 'A' has two fields named 'x'"),
        ("a = A(int from)", "2:11: the field name 'from' is reserved"),
        ("a = A(int kind)", "2:11: the field name 'kind' is reserved"),
        ("a = A(int x = 1.5)", "2:11: the default of 'x' does not fit its type"),
        ("a = A(int x = true)", "2:11: the default of 'x' does not fit its type"),
        ("a = A(int* x = 1)", "2:12: the default of 'x' does not fit its type"),
        ("a = A(int x = none)", "2:11: the default of 'x' does not fit its type"),
        ("a = A(e x = Three)\ne = One | Two", "2:9: the default of 'x' does not fit its type"),
        ("s = A(int x) | e\ne = One | Two", "2:16: 'e' is not a node type, so it cannot be part of a sum"),
        ("extern e = E in ..x\ns = A(int x) | e", "3:16: 'e' is not a node type, so it cannot be part of a sum"),
        ("extern e = E in x", "2:17: expected a relative module such as '..types', found 'x'"),
        ("text a = 1", "2:10: expected a Python function, found '1'"),
        ("text a = print_a in .text", "2:6: 'a' is no kind of node, so it has no text"),
        ("text e = print_e in .text\ne = One | Two", "2:6: 'e' is no kind of node, so it has no text"),
        ("text a = f in .x\ntext a = g in .x\na = (int x)", "2:6: 'a' has two texts"),
        ("tracked v\ntracked w", "3:1: a schema has one 'tracked' sum only"),
        ("tracked v", "1:1: the tracked sum 'v' is not declared"),
        ("tracked v\nv = A(int x)", "3:5: 'A' is part of the tracked sum, so it needs an @"),
        ("tracked v\nv = @A(v* x, v y)", "3:11: 'x' is not of fixed length, so it must be the last operand"),
        ("tracked v\nv = @A(v? x, v? y)", "3:11: 'x' is not of fixed length, so it must be the last operand"),
        ("tracked v\nv = @A(v \\x)", "3:11: the operand 'x' cannot be hidden"),
        ("tracked v\nv = @A(int x)\nb = B(v y)", "4:9: 'B' holds an operand, so it needs an @"),
        ("tracked v\nv = @A(int uses)", "3:12: the field name 'uses' is reserved"),
    ],
)
def test_errors(body: str, message: str) -> None:
    with pytest.raises(SchemaError) as caught:
        schema(body)
    assert str(caught.value) == f"toy.asdl:{message}"


def test_error_at_the_end() -> None:
    with pytest.raises(SchemaError, match=r"^<schema>:1:22: expected a definition, found the end of the file$"):
        parse_schema('module toy "a/b.py" {')
