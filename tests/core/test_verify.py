"""Each rule of the verifier catches a broken module."""

from __future__ import annotations

import ast
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tinct.ir.constants import ConstantValue
from tinct.ir.core import VerifyError, parse, rules, verify
from tinct.ir.core.builder import constant
from tinct.ir.core.nodes import Block, Branch, Constant, Discard, Loop, Module, Terminator, Unary
from tinct.ir.core.operations import result_type
from tinct.ir.core.structure import blocks_of
from tinct.ir.core.verifier import RULES
from tinct.ir.ops import UnaryOp
from tinct.ir.types import ABSTRACT_INT, F32, I32, U32, VOID

GOOD = """
struct S {
  a: u32
}
root {
  %data: ptr<storage, array<f32>, read_write> = var @group(0) @binding(0)
  %n: u32 = override @id(3) 4u
  %0: u32 = multiply %n, 2u
  %tile: ptr<workgroup, array<f32, 'n * 2'>> = var
  %s: ptr<private, S> = var
  count 'n * 2' = %0
}
fn @helper(%x: f32) -> f32 {
  b0: { return %x }
}
@compute @workgroup_size(64u) @resources(%data)
fn @main(%id: vec3<u32>) -> void {
  b0: {
    %i: u32 = access %id, 0u
    %v: ptr<function, vec2<f32>> = var
    %c: bool = less %i, 4u
    if %c [true: b1, false: b2, merge: b3]
  }
    b1: { branch b3(1.0f) }
    b2: { branch b3(2.0f) }
  b3(%a: f32): {
    %p: ptr<function, f32> = access %v, 0u
    store %p, %a
    loop [start: b4(%i), continuing: b7, merge: b8]
  }
    b4(%j: u32): {
      %d: bool = less %j, 9u
      if %d [true: b5, false: b6, merge: b9]
    }
      b5: { branch b9 }
      b6: { branch b8 }
    b9: {
      %k: u32 = add %j, 1u
      branch b7
    }
    b7: { branch b4(%k) }
  b8: {
    switch %i [case 0u, 1u: b10, case default: b11, merge: b12]
  }
    b10: { branch b12 }
    b11: { return }
  b12: {
    %f: f32 = call @helper(%a)
    return
  }
}
"""


def test_good() -> None:
    verify(parse(GOOD))


def changed(old: str, new: str) -> Module:
    assert GOOD.count(old) == 1, old
    return parse(GOOD.replace(old, new))


TYPES = [
    ("%i: u32 = access", "%i: i32 = access", "the type must be u32"),
    ("less %i, 4u", "less %i, 4i", "no operator < for u32 and i32"),
    ("access %id, 0u", "access %id, 0.0f", "an index must be i32 or u32, not f32"),
    ("access %id, 0u", "access %id, 0u, 0u", "u32 has no parts"),
    ("store %p, %a", "store %p, %i", "u32 cannot be stored through ptr<function, f32>"),
    ("store %p, %a", "store %p, %a\n    %w: f32 = builtin sin(%i)", "sin does not take (u32)"),
    ("store %p, %a", "store %p, %a\n    %w: f32 = builtin sine(%a)", "there is no builtin function sine"),
    ("store %p, %a", "store %p, %a\n    %w: vec2<f32> = swizzle %id, xy", "the type must be vec2<u32>"),
    ("store %p, %a", "store %p, %a\n    %w: vec2<f32> = construct %a, %i", "vec2<f32> is not made of (f32, u32)"),
    ("store %p, %a", "store %p, %a\n    %w: vec2<f32> = convert %a", "f32 does not convert to vec2<f32>"),
    ("store %p, %a", "store %p, %a\n    %w: array<f32> = load %data", "array<f32> cannot be loaded"),
    ("call @helper(%a)", "call @helper(%i)", "@helper takes (f32)"),
    (
        "store %p, %a",
        "store %p, %a\n    %w: i32 = convert %data",
        "ptr<storage, array<f32>, read_write> does not convert to i32",
    ),
    ("store %p, %a", "store %p, %a\n    %w: vec2<i32> = convert %id", "vec3<u32> does not convert to vec2<i32>"),
    ("store %p, %a", "store %p, %a\n    %w: array<f32> = construct %a", "array<f32> is not constructible"),
    ("store %p, %a", "store %p, %a\n    %w: u32 = access %s, %i", "a member must be indexed by a u32 constant"),
    ("store %p, %a", "store %p, %a\n    %w: u32 = access %s, 7u", "S has no part 7"),
    ("store %p, %a", "store %p, %a\n    %w: vec2<f32> = swizzle %a, xy", "f32 has no components"),
    ("store %p, %a", "store %p, %a\n    %w: vec2<u32> = swizzle %id, xw", "vec3<u32> has no such components"),
    ("store %p, %a", "store %p, %a\n    %w: f32 = load %a", "a load needs a pointer, not f32"),
    ("store %p, %a", "store %p, %a\n    store %a, %a", "a store needs a pointer, not f32"),
    ("store %p, %a", "store %p, %a\n    %w: f32 = var", "a variable must have a pointer type, not f32"),
    (
        "store %p, %a",
        "store %p, %a\n    %w: ptr<function, f32> = var %i",
        "u32 does not initialise a variable of type f32",
    ),
    ("store %p, %a", "store %p, %a\n    %w: bool = not %a", "no operator ! for f32"),
    ("access %id, 0u", "access %id", "an access needs an index"),
    (
        "%n: u32 = override @id(3) 4u",
        "%n: vec2<u32> = override",
        "an override must be a concrete scalar, not vec2<u32>",
    ),
    ("override @id(3) 4u", "override @id(3) 4i", "i32 is no default of an override of type u32"),
    ("'n * 2'>> = var", "'n * 2'>> = var 1u", "a variable in workgroup memory has no initialiser"),
    ("store %p, %a", "%w: ptr<private, f32, read> = var\n    store %w, %a", "a store needs write access"),
    ("store %p, %a", "%w: ptr<private, f32, write> = var\n    %r: f32 = load %w", "a load needs read access"),
]
"""Operations that rules of types refuse: the rule `type_follows`."""

TEXTS = [
    # the module
    (
        "unique_functions",
        "fn @helper(",
        "fn @main() -> void {\n  b0: { return }\n}\nfn @helper(",
        "there are 2 functions @main",
    ),
    ("unique_structs", "root {", "struct T {\n x: f32\n}\nstruct T {\n y: f32\n}\nroot {", "there are 2 structures T"),
    ("counts_are_known", "  count 'n * 2' = %0\n", "", "the count 'n * 2' has no value"),
    ("counts_are_whole", "count 'n * 2' = %0", "count 'n * 2' = 2.0f", "a count must be an integer"),
    # functions
    (
        "callee_is_no_entry_point",
        "fn @helper(",
        "@compute @workgroup_size(1u)\nfn @helper(",
        "an entry point cannot be called",
    ),
    ("compute_has_sizes", "@compute @workgroup_size(64u) ", "@compute ", "one to three workgroup sizes"),
    ("compute_has_sizes", "workgroup_size(64u)", "workgroup_size(1u, 1u, 1u, 1u)", "one to three workgroup sizes"),
    ("sizes_are_whole", "workgroup_size(64u)", "workgroup_size(1.0f)", "a workgroup size must be an integer"),
    ("subgroup_size_is_known", "(64u) ", "(64u) @subgroup_size('half') ", "the count 'half' has no value"),
    (
        "subgroup_size_is_of_compute",
        "fn @helper(",
        "@subgroup_size(8)\nfn @helper(",
        "only a compute entry point has a subgroup size",
    ),
    ("io_is_of_entry_points", "(%x: f32)", "(%x: f32 @location(0))", "only an entry point has inputs and outputs"),
    # instructions
    ("override_is_in_root", "store %p, %a", "store %p, %a\n    %w: u32 = override 1u", "an override belongs to root"),
    (
        "var_is_in_place",
        "store %p, %a",
        "store %p, %a\n    %w: ptr<private, f32> = var",
        "private memory does not belong",
    ),
    (
        "var_is_in_place",
        "%tile: ptr<workgroup",
        "%t: ptr<function, u32> = var\n  %tile: ptr<workgroup",
        "memory does not belong",
    ),
    (
        "resource_is_bound",
        " = var @group(0) @binding(0)",
        " = var",
        "a resource variable, and nothing else, has a binding",
    ),
    ("root_is_pure", "%0: u32 = multiply", "%z: f32 = load %data\n  %0: u32 = multiply", "root holds declarations"),
    ("callee_stands_before", "call @helper(%a)", "call @main(%id)", "a callee stands before its callers"),
    (
        "component_stays_here",
        "store %p, %a",
        "store %p, %a\n    builtin atomicStore(%p, 1u)",
        "a component is for load and store",
    ),
    # branches
    ("arguments_fit", "b2: { branch b3(2.0f) }", "b2: { branch b3 }", "the target takes (f32)"),
    ("arguments_fit", "b2: { branch b3(2.0f) }", "b2: { branch b3(2u) }", "the target takes (f32)"),
    ("arguments_fit", "start: b4(%i)", "start: b4", "the target takes (u32)"),
    ("arguments_fit", "b11: { return }", "b11: { return %a }", "the target takes ()"),
    ("condition_is_bool", "if %c [", "if %i [", "a condition must be a bool"),
    ("switch_is_on_integer", "switch %i [", "switch %a [", "a switch needs an integer"),
    ("selectors_fit", "case 0u, 1u:", "case 0i, 1u:", "a selector must have the type of the condition"),
    ("selectors_differ", "case 0u, 1u:", "case 0u, 0u:", "a selector occurs twice"),
    ("cases_are_chosen", "case 0u, 1u:", "case :", "a case has a selector or is the default"),
    ("one_case_is_default", "case default:", "case 3u:", "a switch has one default case"),
    ("entered_blocks_take_nothing", "b1: {", "b1(%q: u32): {", "an arm or a case has no arguments"),
    # structure
    ("ways", "b1: { branch b3(1.0f) }", "b1: { branch b12 }", "a block may not branch there"),
    ("ways", "b11: { return }", "b11: { branch b7 }", "a block may not branch there"),
    ("not_reached", "b11: { return }", "b11: { unreachable }", "control reaches this block"),
    ("ways", "b7: { branch b4(%k) }", "b7: { branch b8 }", "a block may not branch there"),
    ("reached_merge", "b5: { branch b9 }", "b5: { branch b8 }", "a merge that nothing reaches must be left out"),
    ("made_before", "b5: { branch b9 }", "b5: { branch b7 }", "an operand is not made before, or not seen from here"),
    (
        "made_before",
        "call @helper(%a)",
        "call @helper(2.0f)\n    %w: u32 = add %k, 1u",
        "not made before, or not seen from here",
    ),
    ("ends", "b10: { branch b12 }", "b10: { }", "a block ends in a branch"),
    *(("type_follows", *it) for it in TYPES),
]
"""Modules that break a rule, as texts: the rule, what of GOOD is replaced by what, and the sentence."""


@pytest.mark.parametrize(("rule", "old", "new", "message"), TEXTS)
def test_text_rule(rule: str, old: str, new: str, message: str) -> None:
    assert_caught(changed(old, new), rule, message)


def assert_caught(module: Module, rule: str, message: str) -> None:
    """The rule is broken, and the report says so under a line of the text."""
    with pytest.raises(VerifyError) as error:
        verify(module)
    found = zip(error.value.rules, error.value.findings, strict=True)
    sentences = [sentence for broken, sentence in found if broken == rule and message in sentence]
    assert sentences, list(zip(error.value.rules, error.value.findings, strict=True))
    lines = str(error.value).splitlines()
    places = [number for number, line in enumerate(lines) if line.startswith("!!!") and line.endswith(sentences[0])]
    assert places
    assert all(number > 1 for number in places), "the sentence stands under no line"


def _block(module: Module) -> Block:
    """The first block of `@main`."""
    return module.functions[1].start_target


def break_use(module: Module) -> None:
    """An operand that its user holds without having told it."""
    instruction = _block(module).instructions[2]
    instruction.operands[0].remove_use(instruction.operands[0].uses[0])


def leave_use(module: Module) -> None:
    gone = _block(module).instructions.pop(2)
    assert gone.operands


def own_root_branch(module: Module) -> None:
    module.root.branch = Branch(Terminator(), ())


def two_places(module: Module) -> None:
    branch = _block(module).branch
    assert branch is not None
    branch.target.false_target = branch.target.true_target


def foreign_end(module: Module) -> None:
    module.functions[0].start_target.branch.target = Terminator()


def same_name(module: Module) -> None:
    _block(module).instructions[0].name = "data"


def bad_name(module: Module) -> None:
    _block(module).instructions[0].name = "a b"


def keyword_name(module: Module) -> None:
    _block(module).instructions[0].name = "while"


def reserved_name(module: Module) -> None:
    module.functions[0].name = "final"


def void_name(module: Module) -> None:
    branch = _block(module).branch
    assert branch is not None
    branch.target.merge_target.instructions[1].name = "stored"


def abstract_constant(module: Module) -> None:
    _block(module).instructions[2].set_operand(1, constant(ABSTRACT_INT, 1))


def lying_constant(module: Module) -> None:
    _block(module).instructions[2].set_operand(1, Constant(ConstantValue(I32, 1), U32, None))


def lost_resource(module: Module) -> None:
    module.functions[1].resources.append(module.functions[1].start_target.instructions[1])


def foreign_size(module: Module) -> None:
    module.functions[1].workgroup_size = (_block(module).instructions[0],)


def foreign_count(module: Module) -> None:
    module.counts[0].value = _block(module).instructions[0]


def dead_block(module: Module) -> None:
    """Instructions where no branch leads."""
    loop = _loop(module)
    loop.merge_target.branch = Branch(Terminator(unreachable=True), ())


def _loop(module: Module) -> Loop:
    branch = _block(module).branch
    assert branch is not None
    loop = branch.target.merge_target.branch.target
    assert isinstance(loop, Loop)
    return loop


def unreached_continuing(module: Module) -> None:
    loop = _loop(module)
    body = loop.start_target.branch.target.merge_target
    body.branch = Branch(loop.merge_target, ())


def filled_unreached(module: Module) -> None:
    unreached_continuing(module)
    block = _loop(module).continuing_target
    block.instructions.append(Discard(VOID, None))
    block.branch = Branch(Terminator(unreachable=True), ())


def abstract_value(module: Module) -> None:
    module.functions[1].parameters[0].type = ABSTRACT_INT


def use_of_nothing(module: Module) -> None:
    branch = _block(module).branch
    assert branch is not None
    load, store = branch.target.merge_target.instructions
    branch.target.merge_target.instructions.append(Unary(UnaryOp.NEGATE, store, F32, None))
    assert load.users


EDITS = [
    ("use_is_known", break_use, "an operand does not know this use"),
    ("user_is_here", leave_use, "a use is left of what is gone"),
    ("root_is_straight", own_root_branch, "root has neither arguments nor a branch"),
    ("one_place", two_places, "a block stands in two places"),
    ("own_end", foreign_end, "a return branches to the end of its own function"),
    ("name_is_unique", same_name, "%data is made twice"),
    ("name_is_identifier", bad_name, "'a b' is no identifier"),
    ("name_is_identifier", keyword_name, "'while' is no identifier"),
    ("names_are_identifiers", reserved_name, "'final' is no identifier"),
    ("void_has_no_name", void_name, "what has no value has no name"),
    ("constants_fit", abstract_constant, "a constant must have the concrete type of its value"),
    ("constants_fit", lying_constant, "a constant must have the concrete type of its value"),
    ("resources_are_of_root", lost_resource, "a resource must be a value of root"),
    ("sizes_are_of_root", foreign_size, "a workgroup size must be a constant or a value of root"),
    ("counts_are_of_root", foreign_count, "a count must be a constant or a value of root"),
    ("not_reached", dead_block, "control reaches this block"),
    ("empty_if_not_reached", filled_unreached, "a block that is not reached must be empty"),
    ("type_is_concrete", abstract_value, "abstract-int is abstract"),
    ("unreachable_if_not_reached", unreached_continuing, "a block that is not reached must be unreachable"),
    ("void_has_no_use", use_of_nothing, "what has no value has no use"),
]
"""Modules that break a rule as no text can."""


@pytest.mark.parametrize(("rule", "break_", "message"), EDITS, ids=lambda it: getattr(it, "__name__", None))
def test_rule(rule: str, break_: Callable[[Module], None], message: str) -> None:
    module = parse(GOOD)
    break_(module)
    assert_caught(module, rule, message)


def test_every_rule_is_tested() -> None:
    assert {rule for rule, *_ in (*TEXTS, *EDITS)} == set(RULES)


def test_every_refusal_of_types_is_tested() -> None:
    """Each `raise` of the rules of types is reached by one of the modules above."""
    source = Path(rules.__file__).read_text(encoding="utf-8")
    sites = {node.lineno for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Raise)}
    assert {line for old, new, _ in TYPES for line in refusals(changed(old, new))} == sites


def refusals(module: Module) -> Iterator[int]:
    """The lines of `rules` from which instructions are refused."""
    blocks = [module.root, *(block for function in module.functions for block in blocks_of(function))]
    for instruction in (it for block in blocks for it in block.instructions):
        try:
            result_type(instruction)
        except rules.RuleError as error:
            yield traceback.extract_tb(error.__traceback__)[-1].lineno or 0


def test_message_stands_under_the_line() -> None:
    with pytest.raises(VerifyError) as error:
        verify(changed("less %i, 4u", "less %i, 4i"))
    lines = str(error.value).splitlines()
    place = next(number for number, line in enumerate(lines) if "less %i, 4i" in line)
    assert lines[place + 1] == "!!!     ^ no operator < for u32 and i32"


def test_any_module_prints() -> None:
    """A value that has not been made is `%?`."""
    module = parse(GOOD)
    _block(module).instructions.insert(0, _block(module).instructions.pop(2))
    with pytest.raises(VerifyError, match=r"less %\?, 4u"):
        verify(module)
