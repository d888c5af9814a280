"""The text form: whatever prints can be read back, and what cannot be read says where."""

from __future__ import annotations

import math
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tinct.ir.constants import ConstantValue, RawValue, Repeated
from tinct.ir.core import Builder, Module, parse, print_module, verify
from tinct.ir.core.builder import constant, empty_module, parameter, variable_type
from tinct.ir.diagnostics import ShaderError
from tinct.ir.schema.traverse import same
from tinct.ir.types import (
    BOOL,
    F16,
    F32,
    I32,
    U32,
    VOID,
    Access,
    AddressSpace,
    IoAttributes,
    OverrideCount,
    Struct,
    StructMember,
    TextureKind,
    Type,
    array,
    atomic,
    matrix,
    pointer,
    sampler,
    texture,
    vector,
)

PAIR = Struct("Pair", (StructMember("a", vector(2, F32), align=16, size=32), StructMember("b", array(U32, 3))))


def with_constant(type: Type, value: RawValue) -> Module:
    """A module that stores a constant."""
    module = empty_module()
    module.structs = [PAIR]
    builder = Builder(module)
    function = builder.function("main")
    variable = builder.var(variable_type(AddressSpace.FUNCTION, type), name="x")
    builder.store(variable, constant(type, value))
    builder.return_(function)
    return module


def check(module: Module) -> None:
    text = print_module(module)
    again = parse(text, module.structs)
    assert same(module, again), text
    assert print_module(again) == text


CONSTANTS: list[tuple[Type, RawValue]] = [
    (BOOL, True),
    (BOOL, False),
    (I32, -(2**31)),
    (U32, 2**32 - 1),
    (F32, 0.0),
    (F32, -0.0),
    (F32, math.inf),
    (F32, -math.inf),
    (F32, math.nan),
    (F32, 2.0**-149),
    (F32, 3.4028234663852886e38),
    (F32, struct.unpack("<f", struct.pack("<f", 0.1))[0]),
    (F16, -0.0),
    (F16, 65504.0),
    (F16, 2.0**-24),
    (F16, -math.inf),
    (F16, math.nan),
    (vector(3, F32), (1.0, -0.0, math.inf)),
    (vector(4, BOOL), (True, False, True, True)),
    (matrix(2, 3, F16), ((1.0, 2.0, 3.0), Repeated(0.5, 3))),
    (array(vector(2, I32), 1000), Repeated((1, -2), 1000)),
    (array(matrix(2, 2, F32), 2), (Repeated(Repeated(0.0, 2), 2), ((1.0, 2.0), (3.0, 4.0)))),
    (PAIR, ((1.0, 2.0), Repeated(7, 3))),
    (array(PAIR, 1), (((1.0, 2.0), (1, 2, 3)),)),
]


@pytest.mark.parametrize(("type", "value"), CONSTANTS, ids=lambda it: str(it)[:40])
def test_constants(type: Type, value: RawValue) -> None:
    module = with_constant(type, value)
    verify(module)
    check(module)


@settings(max_examples=200, deadline=None)
@given(st.floats(width=32))
def test_every_f32(value: float) -> None:
    check(with_constant(F32, value))


@settings(max_examples=200, deadline=None)
@given(st.floats(width=16))
def test_every_f16(value: float) -> None:
    check(with_constant(F16, value))


TYPES: list[Type] = [
    VOID,
    vector(4, F16),
    matrix(4, 3, F32),
    array(array(PAIR, 2), None),
    array(F32, OverrideCount("n")),
    array(F32, OverrideCount("n * (2 + m)", 3)),
    atomic(I32),
    pointer(AddressSpace.STORAGE, atomic(U32), Access.READ_WRITE),
    pointer(AddressSpace.STORAGE, PAIR, Access.READ),
    pointer(AddressSpace.UNIFORM, PAIR, Access.READ),
    pointer(AddressSpace.WORKGROUP, F32, Access.READ_WRITE),
    pointer(AddressSpace.HANDLE, sampler(comparison=True), Access.READ),
    texture(TextureKind.SAMPLED, "2d_array", F32),
    texture(TextureKind.MULTISAMPLED, "2d", U32),
    texture(TextureKind.DEPTH, "cube_array"),
    texture(TextureKind.DEPTH_MULTISAMPLED, "2d"),
    texture(TextureKind.STORAGE, "1d", None, "rgba8unorm", Access.WRITE),
    texture(TextureKind.EXTERNAL, "2d"),
]


@pytest.mark.parametrize("type", TYPES, ids=str)
def test_types(type: Type) -> None:
    module = empty_module()
    module.structs = [PAIR]
    builder = Builder(module)
    function = builder.function("f", [parameter(type, "x")], type)
    builder.return_(function, None if type is VOID else function.parameters[0])
    check(module)


def test_attributes() -> None:
    module = empty_module()
    io = IoAttributes(None, 1, 0, None, ("flat", "either"), invariant=True)
    members = StructMember("a", F32, 4, 8, io), StructMember("b", F32, io=IoAttributes("position"))
    module.structs = [Struct("S", members)]
    check(module)


def test_unicode_names() -> None:
    module = with_constant(F32, 1.0)
    module.functions[0].start_target.instructions[0].name = "größe_नमस्ते"
    verify(module)
    check(module)


def test_constant_equality_sees_signs() -> None:
    assert not same(with_constant(F32, 0.0), with_constant(F32, -0.0))
    assert ConstantValue(F32, 0.0) != ConstantValue(F32, -0.0)


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("root {\n  %a: f33 = override\n}", 2, 7, "unknown type"),
        ("root {\n  %a: f32 = overide 1.0f\n}", 2, 13, "unknown instruction"),
        ("root {\n  %a: f32 = negate %b\n}", 2, 20, "no such value has been made"),
        ("root {\n  %a: u32 = override 1u\n  %a: u32 = override 1u\n}", 3, 3, "this value is made twice"),
        ("fn @f() -> void {\n  b0: { branch b1 }\n}", 2, 16, "there is no block b1"),
        ("fn @f() -> void {\n  b0: { call @g() }\n}", 2, 14, "there is no such function before this one"),
        ("fn @f() -> void {\n  b0: { return }\n  b0: { return }\n}", 3, 3, "this block is made twice"),
        ("fn @f() -> void {\n  b0: { return 1 }\n}", 2, 16, "a constant needs the suffix i, u, f or h"),
        ("fn @f() -> void {\n  b0: { return 1.5u }\n}", 2, 16, "expected a whole number"),
        ("fn @f() -> void {\n  b0: { return vec2<f32>{1.0f, 2u} }\n}", 2, 32, "expected a constant of type f32"),
        ("fn @f() -> void {\n", 2, 1, "expected a block"),
        ("nonsense", 1, 1, "expected a function"),
        ("root {\n  ü?\n}", 2, 4, "unexpected character '?'"),
        ("@inline fn @f() -> void {}", 1, 1, "unknown attribute of a function"),
    ],
)
def test_errors_have_places(text: str, line: int, column: int, message: str) -> None:
    with pytest.raises(ShaderError) as error:
        parse(text)
    (diagnostic,) = error.value.diagnostics
    assert diagnostic.message == message
    assert diagnostic.span is not None
    assert error.value.source is not None
    position = error.value.source.position(diagnostic.span.start)
    assert (position.line, position.column) == (line, column)


SAMPLE = """struct S {
  a: f32
}
root {
  %n: u32 = override 4u
}
@compute @workgroup_size(%n)
fn @main(%id: vec3<u32> @builtin(global_invocation_id)) -> void {
  b0: {
    %0: u32 = access %id, 0u
    switch %0 [case 1u, default: b1, merge: b2]
  }
    b1: { branch b2 }
  b2: { return }
}
"""


@settings(max_examples=300, deadline=None)
@given(st.integers(0, len(SAMPLE) - 1), st.integers(0, 12), st.sampled_from(["", "}", "%", "x", "1", "<", "'", "@"]))
def test_broken_text_is_a_diagnostic(at: int, length: int, inserted: str) -> None:
    """Mutated text reads, or says what is wrong: nothing else happens."""
    try:
        module = parse(SAMPLE[:at] + inserted + SAMPLE[at + length :])
    except ShaderError:
        return
    print_module(module)
