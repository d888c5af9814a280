"""Each rule of the verifier catches a broken module."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tinct.ir.constants import ConstantValue
from tinct.ir.core import VerifyError, parse, verify
from tinct.ir.core.builder import constant
from tinct.ir.core.nodes import Block, Branch, Constant, Discard, Loop, Module, Terminator
from tinct.ir.types import ABSTRACT_INT, I32, U32, VOID

GOOD = """
root {
  %data: ptr<storage, array<f32>, read_write> = var @group(0) @binding(0)
  %n: u32 = override @id(3) 4u
  %0: u32 = multiply %n, 2u
  %tile: ptr<workgroup, array<f32, 'n * 2'>> = var
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


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        # the module
        ("fn @helper(", "fn @main() -> void {\n  b0: { return }\n}\nfn @helper(", "there are 2 functions @main"),
        ("root {", "struct S {\n x: f32\n}\nstruct S {\n y: f32\n}\nroot {", "there are 2 structures S"),
        ("  count 'n * 2' = %0\n", "", "the count 'n * 2' has no value"),
        ("count 'n * 2' = %0", "count 'n * 2' = 2.0f", "a count must be an integer"),
        # functions
        ("fn @helper(", "@compute @workgroup_size(1u)\nfn @helper(", "an entry point cannot be called"),
        ("@compute @workgroup_size(64u) ", "@compute ", "one to three workgroup sizes"),
        ("workgroup_size(64u)", "workgroup_size(1u, 1u, 1u, 1u)", "one to three workgroup sizes"),
        ("workgroup_size(64u)", "workgroup_size(1.0f)", "a workgroup size must be an integer"),
        ("(64u) ", "(64u) @subgroup_size('half') ", "the count 'half' has no value"),
        ("fn @helper(", "@subgroup_size(8)\nfn @helper(", "only a compute entry point has a subgroup size"),
        # instructions
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
        ("store %p, %a", "store %p, %a\n    %w: u32 = override 1u", "an override belongs to root"),
        ("store %p, %a", "store %p, %a\n    %w: ptr<private, f32> = var", "private memory does not belong"),
        ("%tile: ptr<workgroup", "%t: ptr<function, u32> = var\n  %tile: ptr<workgroup", "memory does not belong"),
        (" = var @group(0) @binding(0)", " = var", "a resource variable, and nothing else, has a binding"),
        ("%0: u32 = multiply", "%z: f32 = load %data\n  %0: u32 = multiply", "root holds declarations"),
        ("call @helper(%a)", "call @helper(%i)", "@helper takes (f32)"),
        ("call @helper(%a)", "call @main(%id)", "a callee stands before its callers"),
        ("store %p, %a", "store %p, %a\n    builtin atomicStore(%p, 1u)", "a component is for load and store"),
        # branches
        ("b2: { branch b3(2.0f) }", "b2: { branch b3 }", "the target takes (f32)"),
        ("b2: { branch b3(2.0f) }", "b2: { branch b3(2u) }", "the target takes (f32)"),
        ("start: b4(%i)", "start: b4", "the target takes (u32)"),
        ("b11: { return }", "b11: { return %a }", "the target takes ()"),
        ("if %c [", "if %i [", "a condition must be a bool"),
        ("switch %i [", "switch %a [", "a switch needs an integer"),
        ("case 0u, 1u:", "case 0i, 1u:", "a selector must have the type of the condition"),
        ("case 0u, 1u:", "case 0u, 0u:", "a selector occurs twice"),
        ("case default:", "case 3u:", "a switch has one default case"),
        ("b1: {", "b1(%q: u32): {", "an arm or a case has no arguments"),
        # structure
        ("b1: { branch b3(1.0f) }", "b1: { branch b12 }", "a block may not branch there"),
        ("b11: { return }", "b11: { branch b7 }", "a block may not branch there"),
        ("b11: { return }", "b11: { unreachable }", "control reaches this block"),
        ("b7: { branch b4(%k) }", "b7: { branch b8 }", "a block may not branch there"),
        ("b5: { branch b9 }", "b5: { branch b8 }", "a merge that nothing reaches must be left out"),
        ("b5: { branch b9 }", "b5: { branch b7 }", "an operand is not made before, or not seen from here"),
        ("call @helper(%a)", "call @helper(2.0f)\n    %w: u32 = add %k, 1u", "not made before, or not seen from here"),
        ("b10: { branch b12 }", "b10: { }", "a block ends in a branch"),
    ],
)
def test_text_rule(old: str, new: str, message: str) -> None:
    module = changed(old, new)
    with pytest.raises(VerifyError) as error:
        verify(module)
    assert any(message in finding for finding in error.value.findings), error.value.findings


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


@pytest.mark.parametrize(
    ("break_", "message"),
    [
        (break_use, "an operand does not know this use"),
        (leave_use, "a use is left of what is gone"),
        (own_root_branch, "root has neither arguments nor a branch"),
        (two_places, "a block stands in two places"),
        (foreign_end, "a return branches to the end of its own function"),
        (same_name, "%data is made twice"),
        (bad_name, "'a b' is no identifier"),
        (void_name, "what has no value has no name"),
        (abstract_constant, "a constant must have the concrete type of its value"),
        (lying_constant, "a constant must have the concrete type of its value"),
        (lost_resource, "a resource must be a value of root"),
        (foreign_size, "a workgroup size must be a constant or a value of root"),
        (foreign_count, "a count must be a constant or a value of root"),
        (dead_block, "control reaches this block"),
        (filled_unreached, "a block that is not reached must be empty"),
        (abstract_value, "abstract-int is abstract"),
        (unreached_continuing, "a block that is not reached must be unreachable"),
    ],
    ids=lambda it: getattr(it, "__name__", None),
)
def test_rule(break_: Callable[[Module], None], message: str) -> None:
    module = parse(GOOD)
    break_(module)
    with pytest.raises(VerifyError) as error:
        verify(module)
    assert message in error.value.findings


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
