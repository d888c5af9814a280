"""The text form: whatever prints can be read back, and what cannot be read says where."""

from __future__ import annotations

import math
import os
import re
import struct
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tinct.backend.wgsl.printer import print_unit
from tinct.ir.constants import ConstantValue, RawValue, Repeated
from tinct.ir.core import Builder, Module, VerifyError, parse, print_module, verify
from tinct.ir.core.builder import constant, empty_module, parameter, variable_type
from tinct.ir.diagnostics import ShaderError
from tinct.ir.schema.traverse import same
from tinct.ir.source import Source
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
from tinct.transforms.to_wgsl.unit import to_unit

GOLDENS = Path(__file__).parents[1] / "goldens" / "core"
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
        ("enable f17", 1, 8, "expected an extension"),
        ("requires speed", 1, 10, "expected a language feature"),
        ("diagnostic(loud, derivative_uniformity)", 1, 12, "expected a severity"),
        ("diagnostic(off, 7)", 1, 17, "expected a diagnostic rule"),
        ("fn @f(%a: u32 @builtin(time)) -> void {}", 1, 24, "expected a built-in value"),
        ("fn @f(%a: f32 @location(0) @interpolate(flat, sample)) -> void {}", 1, 47, "expected a way of sampling"),
        ("fn @f(%a: f32 @location(0) @interpolate(smooth)) -> void {}", 1, 41, "expected a type of interpolation"),
        ("fn @f(%a: f32 @builtin(frag_depth, equal)) -> void {}", 1, 36, "expected a promise of depth"),
        ("struct S {\n  0a: u32\n}", 2, 3, "unexpected character '0'"),
        ("struct S {\n  a: u32 @size(999999999999999999999)\n}", 2, 16, "the number is too large"),
        ("struct S {\n  a: u32 @size(-4)\n}", 2, 16, "expected a whole number"),
        ("root {\n  %a: mat2x2<u32> = override\n}", 2, 14, "expected a scalar type that fits here"),
        ("root {\n  %a: atomic<f32> = override\n}", 2, 14, "expected a scalar type that fits here"),
        ("root {\n  %a: texture_3d<f16> = var\n}", 2, 18, "expected a scalar type that fits here"),
        ("root {\n  %a: texture_4d<f32> = var\n}", 2, 7, "unknown type"),
        ("root {\n  %a: texture_storage_2d<rgb8, read> = var\n}", 2, 26, "expected a texel format"),
        ("root {\n  %a: ptr<everywhere, u32> = var\n}", 2, 11, "unknown AddressSpace"),
        ("root {\n  %a: ptr<private, void> = var\n}", 2, 20, "void is not the type of anything in memory"),
        ("root {\n  %a: array<u32, 0> = var\n}", 2, 18, "an array has at least one element"),
        ("root {\n  %a: u32 = override 4294967296u\n}", 2, 22, "the number is no u32"),
        ("root {\n  %a: i32 = override " + "9" * 5000 + "i\n}", 2, 22, "the number is no i32"),
        ("root {\n  %a: f16 = override 65520.0h\n}", 2, 22, "the number is no f16"),
        ("fn @f() -> void {\n  b0: { return vec2<f32>{1.0f} }\n}", 2, 25, "vec2<f32> has 2 parts, not 1"),
        ("fn @f() -> void {\n  b0: { return vec2<f32>{3 * 1.0f} }\n}", 2, 25, "vec2<f32> has 2 parts, not 3"),
        ("fn @f() -> void {\n  b0: { return f32{} }\n}", 2, 19, "there are no constants of type f32"),
        ("fn @f() -> void {\n  b0: { return array<f32>{} }\n}", 2, 26, "there are no constants of type array<f32>"),
        ("fn @f() -> void {\n  b0: { switch 1u [case : b1] }\n}", 2, 27, "there is no block b1"),
        ("fn @f() -> " + "array<" * 5000, 1, 396, "a type nests too deep"),
        ("fn @f() -> void {\n  b0: { %a: u32 = swizzle 1u, xq }\n}", 2, 31, "expected components"),
        ("@resources(1u) fn @f() -> void {}", 1, 12, "a resource is a variable or an override"),
        ("fn @f() -> u32 {\n  b0: { if true [true: b1 }\n}", 2, 27, "expected ','"),
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


def test_rules_that_nobody_knows_are_kept() -> None:
    """They are a warning in WGSL ("Diagnostic Filtering"), so a module may have them."""
    text = "diagnostic(off, new_rule)\ndiagnostic(info, vendor.rule)\n"
    assert print_module(parse(text)) == text


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


SAMPLES = [SAMPLE, *(path.read_text(encoding="utf-8") for path in sorted(GOLDENS.glob("*.core")))]
TOKENS = re.compile(r"\s+|[%@]?\w+|'[^']*'|.", re.DOTALL)
STRANGE = [
    *(
        "",
        "}",
        "{",
        "(",
        "<",
        ">",
        "%",
        "@",
        "'",
        "#",
        ",",
        "x",
        "1",
        "1u",
        "-1u",
        "1e9h",
        "+inf_f",
        "²",
        "\x00",
        "void",
    ),
    *("array<u32, 2>{1u}", "vec3<bool>", "ptr<storage, f32, write>", "@builtin(position)", "@location(1)", "%0", "b0"),
]


@st.composite
def damaged_texts(draw: st.DrawFn) -> str:
    """A printed module of which one to three tokens are deleted, doubled, swapped or replaced."""
    tokens = TOKENS.findall(draw(st.sampled_from(SAMPLES)))
    for _ in range(draw(st.integers(1, 3))):
        here, there = (draw(st.integers(0, len(tokens) - 1)) for _ in range(2))
        match draw(st.sampled_from(["delete", "double", "swap", "replace", "strange"])):
            case "delete":
                tokens[here] = ""
            case "double":
                tokens[here] *= 2
            case "swap":
                tokens[here], tokens[there] = tokens[there], tokens[here]
            case "replace":
                tokens[here] = tokens[there]
            case _:
                tokens[here] = draw(st.sampled_from(STRANGE))
    return "".join(tokens)


@settings(max_examples=int(os.environ.get("TINCT_FUZZ_EXAMPLES", "300")), deadline=None)
@given(damaged_texts())
def test_damaged_texts_are_answered(text: str) -> None:
    """A text is read, or says where it is wrong; what was read prints, is verified or refused, and can be written."""
    module = read_or_refused(text)
    if module is None:
        return
    printed = print_module(module)
    try:
        verify(module)
    except VerifyError:
        return
    assert same(parse(printed, module.structs), module)
    print_unit(to_unit(module))


def read_or_refused(text: str) -> Module | None:
    """The module; None for a text that is refused, with a place in it."""
    try:
        return parse(text)
    except ShaderError as refused:
        error = refused
    (diagnostic,) = error.diagnostics
    assert diagnostic.span is not None
    assert 0 <= diagnostic.span.start <= diagnostic.span.end <= len(text.encode())
    assert f"<core>:{Source.from_text(text).position(diagnostic.span.start).line}:" in str(error)
    return None


@settings(max_examples=300, deadline=None)
@given(st.integers(0, len(SAMPLE) - 1), st.integers(0, 12), st.sampled_from(["", "}", "%", "x", "1", "<", "'", "@"]))
def test_broken_text_is_a_diagnostic(at: int, length: int, inserted: str) -> None:
    """Mutated text reads, or says what is wrong: nothing else happens."""
    try:
        module = parse(SAMPLE[:at] + inserted + SAMPLE[at + length :])
    except ShaderError:
        return
    print_module(module)
