"""First dispatches on the interpreter: which there are, when they end, and that nobody can tell from the results."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

import tinct
from tinct import first_calls
from tinct.compilation import Compilation
from tinct.ir.core.exact import EXACT_FUNCTIONS
from tinct.ir.source import Source
from tinct.kernel import Kernel
from tinct.shader import Shader

ADD = """
@group(0) @binding(0) var<storage, read_write> out: array<f32>;
override turns: u32 = 1;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
  for (var k = 0u; k < turns; k++) { out[id.x] += 1; }
}
"""


@pytest.fixture(autouse=True)
def _auto(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TINCT_CPU_TIER", "auto")
    monkeypatch.setattr(first_calls, "INTERPRETED_SECONDS", 60.0)


def add(kernel: Kernel, start: float = 1, turns: int = 1, threads: int = 64) -> None:
    """Run, and compare with what is expected of so many turns."""
    found = kernel.run({"out": np.full(threads, start, np.float32)}, threads=threads, constants={"turns": turns})
    np.testing.assert_array_equal(found["out"], np.full(threads, start + turns, np.float32))


def is_compiled(kernel: Kernel, turns: int = 1) -> bool:
    """Whether machine code was asked for."""
    return "machine_code" in vars(kernel.compilation({"turns": turns}))


def kernel_of(text: str) -> Kernel:
    return Shader(Source.from_text(text)).kernel()


def test_a_tiny_dispatch_compiles_nothing() -> None:
    kernel = kernel_of(ADD)
    for _ in range(2):
        add(kernel)
    assert not is_compiled(kernel)


def test_machine_code_takes_over_when_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_calls, "INTERPRETED_SECONDS", 1e-6)
    kernel = kernel_of(ADD)
    add(kernel)
    assert is_compiled(kernel)


def test_a_run_that_takes_too_long_is_undone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_calls, "INTERPRETED_SECONDS", 20e-3)
    kernel = kernel_of(ADD)
    add(kernel, turns=20_000)
    assert is_compiled(kernel, 20_000)
    add(kernel, turns=20_000)


def test_a_large_dispatch_is_compiled() -> None:
    kernel = kernel_of(ADD)
    add(kernel, threads=first_calls.MOST_INVOCATIONS + 64)
    assert is_compiled(kernel)


def test_a_buffer_that_is_large_is_not_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_calls, "MOST_WRITTEN", 255)
    kernel = kernel_of(ADD)
    add(kernel)
    assert is_compiled(kernel)


@pytest.mark.parametrize("options", [{"timeout": 60.0}, {"contract": True}])
def test_what_is_asked_of_machine_code(options: dict[str, float]) -> None:
    kernel = kernel_of(ADD)
    kernel.run({"out": np.ones(64, np.float32)}, threads=64, **options)  # type: ignore[arg-type]
    assert is_compiled(kernel, 1) or "machine_code" in vars(kernel.compilation())


def test_nan_is_left_to_the_processor() -> None:
    kernel = kernel_of(ADD.replace("+= 1", "/= out[id.x]"))
    given = np.ones(64, np.float32)
    assert (kernel.run({"out": given}, threads=64)["out"] == 1).all()
    assert "machine_code" not in vars(kernel.compilation())
    given[7] = 0
    bits = kernel.run({"out": given}, threads=64)["out"].view(np.uint32)
    assert "machine_code" in vars(kernel.compilation())
    expected = kernel_of(ADD.replace("+= 1", "/= out[id.x]")).run_timed({"out": given}, threads=64, trial=False)
    np.testing.assert_array_equal(bits, expected.outputs["out"].view(np.uint32))


def test_integers_that_look_like_nan_are_no_floats() -> None:
    kernel = kernel_of(ADD.replace("f32", "i32").replace("+= 1", "= -1"))
    assert (kernel.run({"out": np.zeros(64, np.int32)}, threads=64)["out"] == -1).all()
    assert "machine_code" not in vars(kernel.compilation())


@pytest.mark.parametrize(
    "body",
    [
        "out[id.x] = sin(out[id.x]);",
        "out[id.x] = bitcast<f32>(bitcast<u32>(out[id.x]) + 1);",
        "shared_value = 1.0; workgroupBarrier(); out[id.x] = shared_value;",
        "out[id.x] = f32(atomicAdd(&count, 1));",
        "out[id.x] = f32(f16(out[id.x]) * 3);",
        "out[id.x] = textureLoad(picture, vec2u(), 0).x;",
        "out[id.x] = subgroupAdd(out[id.x]);",
    ],
)
def test_what_may_differ_is_not_interpreted(body: str) -> None:
    text = f"""enable f16, subgroups;
        @group(0) @binding(0) var<storage, read_write> out: array<f32>;
        @group(0) @binding(1) var<storage, read_write> count: atomic<u32>;
        @group(0) @binding(2) var picture: texture_2d<f32>;
        var<workgroup> shared_value: f32;
        @compute @workgroup_size(32) fn main(@builtin(global_invocation_id) id: vec3u) {{ {body} }}"""
    compilation: Compilation = kernel_of(text).compilation()
    assert compilation.first_calls is None


def test_a_process_compiles_after_some_that_interpret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TINCT_CACHE", "on")
    monkeypatch.setenv("TINCT_CACHE_DIR", str(tmp_path / "cache"))
    file = tmp_path / "add.wgsl"
    file.write_text(ADD, encoding="utf-8")
    program = (
        "import sys, numpy, tinct.first_calls, tinct.backend.cpu.tiered;"
        "tinct.first_calls.INTERPRETING_PROCESSES = 2;"
        "tinct.first_calls.INTERPRETED_SECONDS = tinct.backend.cpu.tiered.TRIAL_SECONDS = 60.0;"
        "kernel = tinct.load(sys.argv[1])['main'];"
        "print(kernel.run({'out': numpy.ones(64, numpy.float32)}, threads=64)['out'].sum(), 'llvmlite' in sys.modules)"
    )
    command = [sys.executable, "-c", program, str(file)]
    runs = [subprocess.run(command, capture_output=True, text=True, check=True).stdout.split() for _ in range(4)]
    is_compiling = [False, False, True, False]  # the cache has code for the fourth
    assert runs == [["128.0", str(it)] for it in is_compiling]


# Results

SMALL, LARGE = 2.0**-149, 3.4028234663852886e38
FLOATS = (
    *(0.0, -0.0, 0.1, 0.5, -0.5, 1.0, -1.0, 1.5, 2.5, -2.5, 3.0, 7.25, 0.49999997, 8388609.0, 2.0**31, -(2.0**32)),
    *(SMALL, -3 * SMALL, 1e-38, 1e-20, LARGE, -LARGE, math.inf, -math.inf, math.nan),
)
WORDS = [0, 1, 2, 3, 5, 31, 32, 33, 100, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFF, 0xFFFFFFFE, 0x00FF00FF]
OF_FLOATS = """v + w; v - w; v * w; v / w; v % w; -v; abs(v); sign(v); ceil(v); floor(v); round(v); trunc(v); fract(v);
max(v, w); min(v, w); clamp(v, w, u); saturate(v); mix(v, w, u); step(v, w); select(v, w, v < u); sqrt(v);
f32(i32(v)); f32(u32(v)); dot(vec3f(v, w, u), vec3f(u, v, w)); cross(vec3f(v, w, u), vec3f(u, u, v)).y;
(mat2x3f(v, w, u, u, v, w) * vec2f(w, u)).y; (vec3f(v, w, u) * mat2x3f(v, w, u, u, v, w)).x;
(transpose(mat2x3f(v, w, u, u, v, w)) * mat2x3f(v, u, w, w, v, u))[1].x; f32(v <= w); (vec4f(v, w, u, 1) / w).z;
f32(all(vec2f(v, w) < vec2f(u, v))); f32(any(vec2f(v, w) >= vec2f(u, v))); f32(arrayLength(&x))"""
OF_WORDS = """v + w; v - w; v * w; v / w; v % w; v & w; v | w; v ^ w; ~v; v << (u32(w) % 32); v >> (u32(w) % 32);
max(v, w); min(v, w); clamp(v, w, u); abs(v); countLeadingZeros(v); countOneBits(v); countTrailingZeros(v);
reverseBits(v); firstLeadingBit(v); firstTrailingBit(v); extractBits(v, u32(w), u32(u)); insertBits(v, w, u32(u), 9);
select(v, w, v < u); dot(vec3<T>(v, w, u), vec3<T>(u, v, w)); T(f32(v)); T(v == w)"""
OF_SIGNED = "; -v; sign(v)"


@pytest.mark.parametrize("tier", ["baseline", "gang"])
@pytest.mark.parametrize("name", ["f32", "i32", "u32"])
def test_results_are_the_same_bit_for_bit(name: str, tier: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given = values_of(name)
    listed = {"f32": OF_FLOATS, "i32": OF_WORDS + OF_SIGNED, "u32": OF_WORDS}[name]
    expressions = [it.strip() for it in listed.split(";")]
    rows = " ".join(f"out[id.x][{number}] = {it};" for number, it in enumerate(expressions))
    text = f"""alias T = {name};
        @group(0) @binding(0) var<storage> x: array<array<T, 3>>;
        @group(0) @binding(1) var<storage, read_write> out: array<array<T, {len(expressions)}>>;
        @compute @workgroup_size(32) fn main(@builtin(global_invocation_id) id: vec3u) {{
            if id.x >= arrayLength(&x) {{ return; }}
            let v = x[id.x][0]; let w = x[id.x][1]; let u = x[id.x][2]; {rows}
        }}"""
    kernel, buffers = kernel_of(text), {"x": given, "out": (None, len(given))}
    assert kernel.compilation().first_calls is not None
    expected = kernel.run(buffers, threads=len(given), device="interp")["out"]
    monkeypatch.setenv("TINCT_CPU_TIER", tier)
    found = kernel.run(buffers, threads=len(given))["out"]
    for column, expression in enumerate(expressions):
        same = found[:, column].view(np.uint32) == expected[:, column].view(np.uint32)
        same |= (found[:, column] != found[:, column]) & (expected[:, column] != expected[:, column])
        assert same.all(), (expression, given[~same][:3], found[~same, column][:3], expected[~same, column][:3])


def test_all_functions_are_compared() -> None:
    text = OF_FLOATS + OF_WORDS
    assert [it for it in sorted(EXACT_FUNCTIONS) if f"{it}(" not in text] == []


def values_of(name: str) -> npt.NDArray[np.generic]:
    """Three values for each invocation: all pairs of unusual ones, with others."""
    unusual = np.array(FLOATS if name == "f32" else WORDS, np.float32 if name == "f32" else np.uint32)
    pairs = np.array(list(itertools.product(unusual, unusual)), unusual.dtype)
    third = np.resize(np.roll(unusual, 5), len(pairs))
    kind = {"f32": np.float32, "i32": np.int32, "u32": np.uint32}[name]
    return np.column_stack([pairs, third]).view(kind)


def test_a_function_is_called_in_the_same_way() -> None:
    function = tinct.load("fn twice(x: vec3f) -> vec3f { return x * 2; }").functions["twice"]
    np.testing.assert_array_equal(function(np.ones((5, 3))), np.full((5, 3), 2))
