"""`tinct minify`: fewer bytes, the same interface, the same answers."""

from __future__ import annotations

import json
import lzma
import os
from pathlib import Path

import pytest

from tinct.buffers import pack_buffers
from tinct.cases import Case, load_cases
from tinct.devices import device_named
from tinct.dispatch import Dispatch, dispatch_size
from tinct.frontend import load_program
from tinct.ir.core import run
from tinct.ir.diagnostics import ShaderError
from tinct.ir.source import Source
from tinct.ir.types import BindingPoint, Pointer
from tinct.ir.wgsl.program import Program
from tinct.minifying import minify
from tinct.shader import Shader
from tinct.transforms.from_wgsl import build

ROOT = Path(__file__).parents[2]
SHADERS = sorted((ROOT / "shaders").glob("*/*.wgsl"))
FOLDER = Path(os.environ.get("TINCT_CONFORMANCE", ROOT.parent / "shared" / "conformance"))
VECTORS = FOLDER / "validation-smoke.jsonl.xz"
EVERY = 10


def minified(text: str) -> str:
    return minify(Source.from_text(text))


def program_of(text: str) -> Program:
    return load_program(Source.from_text(text))


def interface(program: Program) -> object:
    """Entry points with the bindings and overrides they use, by what a host program knows of them."""
    return [
        (
            function.name,
            function.stage,
            [
                (it.name, it.kind, it.binding, it.override_id, it.space, it.access)
                for it in function.resources
                if it.binding is not None or it.kind == "override"
            ],
        )
        for function in program.entry_points
    ]


@pytest.mark.parametrize("path", SHADERS, ids=lambda path: path.stem)
def test_shaders_shrink_and_keep_their_interface(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    short = minified(text)
    assert len(short) < 0.8 * len(text)
    assert interface(program_of(short)) == interface(program_of(text))
    assert len(minified(short)) <= len(short)


@pytest.mark.parametrize("file", sorted((ROOT / "shaders").glob("*/*.toml")), ids=lambda file: file.stem)
def test_same_answers(file: Path) -> None:
    """The interpreter leaves the same bytes in all buffers."""
    for kernels in load_cases(file):
        text = kernels.path.read_text(encoding="utf-8")
        shaders = [Shader(Source.from_text(it)) for it in (text, minified(text))]
        for case in [case for case in kernels.cases if case.interp][:1]:
            assert bytes_after(shaders[0], shaders[0], case) == bytes_after(shaders[1], shaders[0], case)


def bytes_after(shader: Shader, original: Shader, case: Case) -> dict[BindingPoint, bytearray]:
    kernel = shader.kernel(case.entry)
    bindings = original.kernel(case.entry).bindings
    inputs = case.inputs_of(bindings)
    buffers = pack_buffers(bindings, {**inputs, **case.samplers})
    compilation = shader.compilation(kernel.info.name, case.constants)
    workgroups = dispatch_size(case.workgroups, case.threads, compilation)
    device_named("interp")(Dispatch(compilation, kernel.bindings, buffers, workgroups))
    return buffers


def test_same_bytes_with_structures() -> None:
    """The layout of a structure stays, whatever its members are called."""
    text = """
    struct Inner { @size(32) weight: f32, flag: u32 }
    struct Outer { direction: vec3f, scale: f32, parts: array<Inner, 3> }
    @group(0) @binding(0) var<storage, read_write> world: Outer;
    fn grow(amount: f32) -> f32 { let twice = amount * 2.0; return twice + 0.5; }
    @compute @workgroup_size(1) fn main() {
        for (var index = 0u; index < 3u; index++) {
            world.parts[index].weight = grow(f32(index)) - -world.scale;
            world.parts[index].flag += index << 1u;
        }
        world.direction.y = max(world.scale, 1.0) / 4.0;
    }
    """
    found = [_bytes_after(it) for it in (text, minified(text))]
    assert found[0] == found[1]


def _bytes_after(text: str) -> bytes:
    module = build(program_of(text))
    assert isinstance(module.root.instructions[0].type, Pointer)
    buffer = bytearray(b"\x00\x00\x80\x3f" * 44)
    run(module, "main", {BindingPoint(0, 0): buffer}, (1, 1, 1))
    return bytes(buffer)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "fn unused() {} @compute @workgroup_size(64, 1, 1) fn main() {}",
            "@compute@workgroup_size(64,1,1)fn main(){}",
        ),
        (
            "@group(0) @binding(0) var<storage, read_write> o: f32;\n"
            "@compute @workgroup_size(1) fn main() { o += 0.5; o -= -1e9; o *= 2.0; }",
            "@group(0)@binding(0)var<storage,read_write>o:f32;@compute@workgroup_size(1)fn main(){o+=.5;o-=-1e9;o*=2;}",
        ),
        (
            "@group(0) @binding(0) var<storage, read_write> o: i32;\n"
            "@compute @workgroup_size(1) fn main() { let x = o; o = x - -x; o++; }",
            "@group(0)@binding(0)var<storage,read_write>o:i32;"
            "@compute@workgroup_size(1)fn main(){let a=o;o=a- -a;o++;}",
        ),
    ],
)
def test_small_texts(text: str, expected: str) -> None:
    assert minified(text) == expected


@pytest.mark.skipif(not VECTORS.exists(), reason="no conformance vectors on this machine")
def test_sample_is_accepted() -> None:
    with lzma.open(VECTORS, "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    count = 0
    for record in [it for it in records if it["expected"] and it["kind"] == "module"][::EVERY]:
        try:
            program = program_of(record["code"])
        except ShaderError:
            continue
        assert interface(program_of(minified(record["code"]))) == interface(program), record["q"]
        count += 1
    assert count > 100
