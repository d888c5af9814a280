"""Every table by hand covers every kind of instruction: a new kind fails here until each has a row for it.

Typing rules, effects, evaluators, the interpreter, WGSL, and what Hercules IR and machine code make of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

import numpy as np
import pytest

from tinct.backend.gpu import GpuDevice
from tinct.backend.wgsl.printer import print_unit
from tinct.compilation import Compilation
from tinct.devices import Dispatch, device_named
from tinct.ir.core import nodes as c
from tinct.ir.core.effects import has_effects, reads_memory
from tinct.ir.core.operations import pure_evaluator, result_type
from tinct.ir.core.structure import blocks_of
from tinct.ir.core.text import parse, print_module
from tinct.ir.core.verifier import verify
from tinct.ir.scalars import Mode
from tinct.ir.source import Source
from tinct.ir.types import BindingPoint
from tinct.origins import CoreOrigin
from tinct.pipeline import Job
from tinct.shader import Shader
from tinct.transforms.core.purity import is_pure
from tinct.transforms.to_wgsl.unit import to_unit

KINDS: tuple[type[c.Instruction], ...] = get_args(c.Instruction)
SNIPPETS: Mapping[type[c.Instruction], str] = {
    c.Unary: "%value: f32 = negate %x",
    c.Binary: "%value: f32 = multiply %x, %y",
    c.Convert: "%value: f32 = convert %i",
    c.Construct: "%both: vec2<f32> = construct %x, %y\n%value: f32 = access %both, 1u",
    c.Access: "%value: f32 = access %v, 2u",
    c.Swizzle: "%part: vec2<f32> = swizzle %v, zy\n%value: f32 = access %part, 0u",
    c.Load: "%value: f32 = load %memory",
    c.Store: "store %memory, %y\n%value: f32 = load %memory",
    c.Var: "%other: ptr<function, f32> = var %y\n%value: f32 = load %other",
    c.Override: "%value: f32 = multiply %x, %factor",
    c.Call: "%value: f32 = call @helper(%x)",
    c.BuiltinCall: "%value: f32 = builtin sqrt(%y)",
}
"""An instruction of each kind that a compute shader may have, on %x, %y (f32), %i (u32), %v (vec4f), and %memory."""
VALUES: Mapping[type[c.Instruction], float] = {
    c.Unary: -2.5,
    c.Binary: 10.0,
    c.Convert: 0.0,
    c.Construct: 4.0,
    c.Access: 2.5,
    c.Swizzle: 2.5,
    c.Load: 2.5,
    c.Store: 4.0,
    c.Var: 4.0,
    c.Override: 7.5,
    c.Call: 5.0,
    c.BuiltinCall: 2.0,
}
"""What each gives for x = 2.5 and y = 4, worked out by hand."""
MODULE = """root {{
  %out: ptr<storage, array<f32>, read_write> = var @group(0) @binding(0)
  %factor: f32 = override 3.0f
}}
fn @helper(%a: f32) -> f32 {{
  b0: {{
    %twice: f32 = add %a, %a
    return %twice
  }}
}}
@compute @workgroup_size(1u) @resources(%out, %factor)
fn @main(%id: vec3<u32> @builtin(global_invocation_id)) -> void {{
  b0: {{
    %i: u32 = access %id, 0u
    %p: ptr<storage, f32, read_write> = access %out, 0u
    %q: ptr<storage, f32, read_write> = access %out, 1u
    %x: f32 = load %p
    %y: f32 = load %q
    %v: vec4<f32> = construct %x, %y, %x, %y
    %memory: ptr<function, f32> = var %x
    {snippet}
    store %p, %value
    return
  }}
}}
"""
DISCARD = """@fragment
fn @main() -> vec4<f32> @location(0) {
  b0: {
    discard
    %color: vec4<f32> = construct 1.0f
    return %color
  }
}
"""
EFFECTS: Mapping[type[c.Instruction], tuple[bool, bool, bool]] = {
    c.Unary: (True, False, False),
    c.Binary: (True, False, False),
    c.Convert: (True, False, False),
    c.Construct: (True, False, False),
    c.Access: (True, False, False),
    c.Swizzle: (True, False, False),
    c.Load: (False, True, False),
    c.Store: (False, False, True),
    c.Var: (False, False, False),
    c.Override: (False, False, False),
    c.Call: (False, True, True),
    c.BuiltinCall: (True, False, False),
    c.Discard: (False, False, True),
}
"""Whether it only computes, reads memory, and is noticed if left out."""


def text_with(kind: type[c.Instruction]) -> str:
    return DISCARD if kind is c.Discard else MODULE.format(snippet=SNIPPETS[kind].replace("\n", "\n    "))


def module_with(kind: type[c.Instruction]) -> tuple[c.Module, c.Instruction]:
    """A module that verifies, and the first instruction of the kind."""
    module = parse(text_with(kind))
    verify(module)
    blocks = [module.root, *blocks_of(module.functions[-1])]
    found = [it for block in blocks for it in block.instructions if isinstance(it, kind)]
    return module, found[0]


def test_every_instruction_has_a_sample() -> None:
    assert {*SNIPPETS, c.Discard} == set(KINDS)
    assert SNIPPETS.keys() == VALUES.keys()
    assert EFFECTS.keys() == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_text_types_and_effects(kind: type[c.Instruction]) -> None:
    module, instruction = module_with(kind)
    assert print_module(parse(print_module(module))) == print_module(module)
    assert result_type(instruction) is instruction.type
    assert (is_pure(instruction), reads_memory(instruction), has_effects(instruction)) == EFFECTS[kind]
    assert (pure_evaluator(instruction, Mode.RUNTIME) is not None) == EFFECTS[kind][0]


@pytest.mark.parametrize("kind", KINDS)
def test_wgsl(kind: type[c.Instruction]) -> None:
    """What is written means the same, and is stable: written again, it is the same text."""
    module, _ = module_with(kind)
    text = print_unit(to_unit(module))
    shader = Shader(Source.from_text(text))
    if kind is not c.Discard:
        np.testing.assert_array_equal(run_wgsl(shader, "interp"), [VALUES[kind], 4.0])


def run_wgsl(shader: Shader, device: str) -> object:
    return shader["main"].run({"out": np.array([2.5, 4.0], np.float32)}, workgroups=1, device=device)["out"]


@pytest.mark.parametrize("device", ["interp", "hercules", "cpu", "gpu"])
@pytest.mark.parametrize("kind", SNIPPETS)
def test_every_device_gives_the_value(kind: type[c.Instruction], device: str) -> None:
    if device == "gpu" and (reason := GpuDevice.unavailable_reason()) is not None:
        pytest.skip(f"no GPU: {reason}")
    shader = Shader(Source.from_text(print_unit(to_unit(module_with(kind)[0]))))
    compilation = Compilation(Job(CoreOrigin(Source.from_text(text_with(kind), "<core>")), "main", {}))
    buffer = bytearray(np.array([2.5, 4.0], np.float32).tobytes())
    bindings = shader["main"].bindings
    device_named(device)(Dispatch(compilation, bindings, {BindingPoint(0, 0): buffer}, (1, 1, 1), is_trial=False))
    np.testing.assert_array_equal(np.frombuffer(buffer, np.float32), [VALUES[kind], 4.0])
