"""What is written for naga, wgpu's compiler: it takes the text, and computes what the interpreter does."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import numpy as np
import pytest

import tinct
from tinct.backend.gpu import AdapterInfo, GpuDevice
from tinct.pipeline import GpuOptions

WORDS = np.array([0x3C003C00, 0x80000001, 0x3BFF0400, 0xB8008000, 0x00000000, 0x3F8003FF], np.uint32)
"""Bits of f16 numbers, subnormal ones and zeros among them, which are numbers as f32 as well."""
THIRTY_TWO_BITS = ("i32", "u32", "f32")


@pytest.fixture(scope="module")
def adapter() -> AdapterInfo:
    found = GpuDevice.available()
    if found is None:
        pytest.skip(f"no GPU: {GpuDevice.unavailable_reason()}")
    return found


@pytest.fixture(scope="module")
def f16_adapter(adapter: AdapterInfo) -> AdapterInfo:
    if "shader-f16" not in adapter.features:
        pytest.skip("the adapter has no f16")
    return adapter


@pytest.mark.usefixtures("f16_adapter")
@pytest.mark.parametrize(("scalar", "pairs"), [*itertools.product(THIRTY_TWO_BITS, (1, 2))])
def test_bitcasts_to_f16(scalar: str, pairs: int) -> None:
    source = f"bitcast<{shape(scalar, pairs)}>({words(pairs)})"
    stores = "".join(f"out[id.x].m{i} = halves[{i}];" for i in range(2 * pairs))
    members = "".join(f"m{i}: f16, " for i in range(2 * pairs))
    shader = f"""
        enable f16;
        struct Halves {{ {members} }}
        @group(0) @binding(0) var<storage, read> bits: array<u32>;
        @group(0) @binding(1) var<storage, read_write> out: array<Halves>;
        @compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3u) {{
            let halves = bitcast<vec{2 * pairs}h>({source});
            {stores}
        }}
    """
    expected = WORDS.view(np.float16)
    for device in ("interp", "gpu"):
        out = np.zeros(len(WORDS) * 4, np.uint8).tobytes()
        found = tinct.load(shader)["main"].run({"bits": WORDS, "out": out}, threads=len(WORDS) // pairs, device=device)
        np.testing.assert_array_equal(found["out"].view(np.float16).reshape(-1), expected)


@pytest.mark.usefixtures("f16_adapter")
@pytest.mark.parametrize(("scalar", "pairs"), [*itertools.product(THIRTY_TWO_BITS, (1, 2))])
def test_bitcasts_from_f16(scalar: str, pairs: int) -> None:
    halves = ", ".join(f"bits[id.x * {2 * pairs} + {i}]" for i in range(2 * pairs))
    shader = f"""
        enable f16;
        @group(0) @binding(0) var<storage, read> bits: array<f16>;
        @group(0) @binding(1) var<storage, read_write> out: array<{shape("u32", pairs)}>;
        @compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3u) {{
            let words = bitcast<{shape(scalar, pairs)}>(vec{2 * pairs}h({halves}));
            out[id.x] = bitcast<{shape("u32", pairs)}>(words);
        }}
    """
    for device in ("interp", "gpu"):
        given = {"bits": WORDS.view(np.float16), "out": np.zeros(WORDS.size, np.uint32).reshape(-1, pairs).squeeze()}
        found = tinct.load(shader)["main"].run(given, threads=len(WORDS) // pairs, device=device)
        np.testing.assert_array_equal(found["out"].reshape(-1), WORDS)


def shape(scalar: str, width: int) -> str:
    return scalar if width == 1 else f"vec{width}<{scalar}>"


def words(count: int) -> str:
    parts = ", ".join(f"bits[id.x * {count} + {i}]" for i in range(count))
    return parts if count == 1 else f"vec{count}({parts})"


SUBGROUPS = """
enable subgroups;
requires subgroup_id;
@group(0) @binding(0) var<storage, read_write> firsts: atomic<u32>;
@group(0) @binding(1) var<storage, read_write> sizes: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32, @builtin(num_subgroups) count: u32) {
    if subgroupElect() { atomicAdd(&firsts, 100u / count); }
    sizes[i] = subgroupAdd(1u) * count;
}
"""


def test_extensions_that_naga_takes_without_their_directive(adapter: AdapterInfo) -> None:
    if "subgroup" not in adapter.features:
        pytest.skip("the adapter has no subgroups")
    for device in ("interp", "gpu"):
        given = {"firsts": np.zeros((), np.uint32), "sizes": np.zeros(64, np.uint32)}
        found = tinct.load(SUBGROUPS)["main"].run(given, threads=64, device=device)
        assert found["sizes"].tolist() == [64] * 64
        assert 64 < found["firsts"] <= 100


def test_other_engines_get_the_directives() -> None:
    compilation = tinct.load(SUBGROUPS).compilation("main", {})
    assert "enable subgroups;" in compilation.wgsl
    assert "requires subgroup_id;" in compilation.wgsl
    assert "enable" not in compilation.for_gpu(GpuOptions(for_naga=True)).wgsl
    assert "requires" not in compilation.for_gpu(GpuOptions(for_naga=True)).wgsl


@pytest.mark.usefixtures("adapter")
@pytest.mark.parametrize(
    "body",
    [
        "var x: u32; x += 1; out[0] += x;",
        "var x: bool; if i == 0 { x = true; } if x { out[0] += 1; }",
        "var x: array<u32, 3>; x[i % 3] += 1; out[0] += x[0] + x[1] + x[2];",
        "var x: mat2x2f; x[i & 1].x += 1; out[0] += u32(x[0].x + x[1].x);",
        "for (var j = 0u; j < 2; j++) { var x: vec2u; x[j] += i; out[j] += x.x + 2 * x.y; }",
    ],
)
def test_variables_in_loops_are_zero_in_each_turn(body: str) -> None:
    shader = tinct.load(f"""
        @group(0) @binding(0) var<storage, read_write> out: array<u32, 4>;
        @compute @workgroup_size(1) fn main() {{
            for (var i = 0u; i < 4 + out[3]; i++) {{ {body} }}
        }}
    """)
    expected, found = (
        shader["main"].run({"out": np.zeros(4, np.uint32)}, workgroups=1, device=device)["out"]
        for device in ("interp", "gpu")
    )
    np.testing.assert_array_equal(found, expected)


BOOLS = """
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
var<workgroup> flags: array<bool, 128>;
var<workgroup> single: bool;
@compute @workgroup_size(128) fn main(@builtin(local_invocation_index) i: u32) {
    flags[i] = i % 3 == 0;
    if i == 127 { single = true; }
    workgroupBarrier();
    out[i] = u32(flags[i ^ 1]) + 2 * u32(workgroupUniformLoad(&single)) + 4 * u32(flags[i ^ 64]);
}
"""


@pytest.mark.parametrize("way", [False, True])
def test_bools_in_workgroup_memory_are_words(*, way: bool) -> None:
    """naga gives each a byte, and invocations that write neighbouring ones would lose writes of each other."""
    compilation = tinct.load(BOOLS).compilation("main", {})
    text = compilation.for_gpu(GpuOptions(for_naga=True, via_hercules=way)).wgsl
    assert re.search(r"var<workgroup> \w+: array<u32, 128>;", text)
    assert not re.search("var<workgroup>.*bool", text)
    assert "var<workgroup> flags: array<bool, 128>;" in compilation.for_gpu(GpuOptions(for_naga=False)).wgsl


@pytest.mark.usefixtures("adapter")
@pytest.mark.parametrize("way", [None, "hercules"])
def test_bools_of_neighbours(way: str | None) -> None:
    lane = np.arange(128)
    expected = ((lane ^ 1) % 3 == 0) + 2 + 4 * ((lane ^ 64) % 3 == 0)
    found = tinct.load(BOOLS)["main"].run({"out": (None, 128)}, workgroups=1, device="gpu", via=way)["out"]
    assert found.tolist() == expected.tolist()


SHAPES = Path(__file__).parents[1] / "goldens" / "transforms" / "widen_bools" / "shapes.wgsl"


@pytest.mark.usefixtures("adapter")
@pytest.mark.parametrize("way", [None, "hercules"])
def test_bools_of_all_shapes(way: str | None) -> None:
    main = tinct.load(SHAPES.read_text(encoding="utf-8"))["main"]
    expected = main.run({"out": (None, 64)}, workgroups=1, device="interp")["out"]
    found = main.run({"out": (None, 64)}, workgroups=1, device="gpu", via=way)["out"]
    np.testing.assert_array_equal(found, expected)
    assert len(set(expected.tolist())) > 3


MATRICES = """
struct Two {{ m: mat2x2f, b: f32 }}
struct Params {{ n: i32, m: mat3x2f, @align(16) two: array<Two, 2>, last: vec4f }}
@group(0) @binding(0) var<uniform> u: Params;
@group(0) @binding(1) var<storage, read_write> out: array<f32, 8>;
@compute @workgroup_size(1) fn main(@builtin(workgroup_id) id: vec3u) {{
    {body}
}}
"""


@pytest.mark.usefixtures("adapter")
@pytest.mark.parametrize("via", [None, "hercules"])
@pytest.mark.parametrize(
    "body",
    [
        "let all = u; out[0] = all.m[1].x + all.two[1].m[1].y + f32(all.n) + all.last.w;",
        "let two = u.two; out[0] = two[0].m[0].y + two[1].b;",
        "out[0] = u.two[id.x + 1].m[id.x + 1].y; out[1] = u.m[2][id.x]; out[2] = u.two[1].b;",
        "let m = u.two[1].m; let v = u.m * vec3f(1, 2, 3); out[0] = m[0].x; out[1] = v.y;",
    ],
)
def test_matrices_of_two_rows_in_uniform_buffers(body: str, via: str | None) -> None:
    kernel = tinct.load(MATRICES.format(body=body))["main"]
    values = {"u": np.arange(36, dtype=np.float32).tobytes(), "out": np.zeros(8, np.float32)}
    expected = kernel.run(values, workgroups=1, device="interp")["out"]
    assert expected.any()
    np.testing.assert_array_equal(kernel.run(values, workgroups=1, device="gpu", via=via)["out"], expected)


def test_long_arrays_of_such_matrices_are_not_loaded_whole() -> None:
    source = """
        struct Two { m: mat2x2f, b: vec4f }
        @group(0) @binding(0) var<uniform> u: array<Two, 65>;
        @group(0) @binding(1) var<storage, read_write> out: f32;
        @compute @workgroup_size(1) fn main(@builtin(workgroup_id) id: vec3u) { let all = u; out = all[id.x].m[0].x; }
    """
    with pytest.raises(tinct.ShaderError, match="not supported: loading all of array<Two, 65>"):
        tinct.load(source).compilation("main", {}).for_gpu(GpuOptions(for_naga=True))


TIGHT = """
struct Inner { a: f32, b: array<f32, 3> }
struct Params { first: f32, inner: Inner }
@group(0) @binding(0) var<uniform> numbers: array<f32, 6>;
@group(0) @binding(1) var<uniform> params: Params;
@group(0) @binding(2) var<storage, read_write> out: array<f32, 8>;
fn sum(inner: ptr<uniform, Inner>, i: u32) -> f32 { return inner.a + inner.b[i]; }
@compute @workgroup_size(8) fn main(@builtin(local_invocation_index) i: u32) {
    let all = numbers;
    out[i] = numbers[i] + sum(&params.inner, i % 3) + all[5] + params.first;
}
"""


@pytest.mark.usefixtures("adapter")
@pytest.mark.parametrize("via", [None, "hercules"])
def test_uniform_buffers_in_the_layout_of_storage(via: str | None) -> None:
    kernel = tinct.load(TIGHT)["main"]
    values = {
        "numbers": np.arange(6, dtype=np.float32),
        "params": np.arange(5, dtype=np.float32).tobytes(),
        "out": np.zeros(8, np.float32),
    }
    expected = kernel.run(values, workgroups=1, device="interp")["out"]
    np.testing.assert_array_equal(kernel.run(values, workgroups=1, device="gpu", via=via)["out"], expected)
    with tinct.Session("gpu") as session:
        held = {name: session.buffer(it) for name, it in values.items()}
        kernel.run(held, workgroups=1, device="gpu")
        np.testing.assert_array_equal(held["out"].numpy().view(np.float32), expected)


SPLIT = """
enable f16;
var<private> first = modf(-2.75);
@group(0) @binding(0) var<storage, read_write> out: array<vec4f, 2>;
@compute @workgroup_size(1) fn main() {
    var split = frexp(vec2h(out[0].xy));
    split.exp += frexp(f16(out[0].z)).exp;
    out[1] = vec4f(vec2f(split.fract), f32(split.exp.y), first.whole);
    first = modf(out[0].w);
    out[0] = vec4f(first.fract, first.whole, vec2f(vec2i(split.exp)));
}
"""


@pytest.mark.usefixtures("f16_adapter")
def test_results_of_frexp_and_modf() -> None:
    given = np.array([[3, 0.375, 10, -5.25], [0, 0, 0, 0]], np.float32)
    for device in ("interp", "gpu"):
        found = tinct.load(SPLIT)["main"].run({"out": given}, workgroups=1, device=device)["out"]
        np.testing.assert_array_equal(found, [[-0.25, -5, 6, 3], [0.75, 0.75, 3, -2]])


UNPACKED = """
@group(0) @binding(0) var<storage, read_write> pairs: array<vec2f, 2>;
@compute @workgroup_size(1) fn main() {
    var word = 0x3f804200u;
    pairs[0] = unpack2x16float(word);
    pairs[1] = unpack2x16float(bitcast<u32>(pairs[1].x));
}
"""


@pytest.mark.usefixtures("adapter")
def test_upper_halves_of_constants() -> None:
    given = np.array([0, 0, 0x3F804200, 0], np.uint32).view(np.float32).reshape(2, 2)
    for device in ("interp", "gpu"):
        found = tinct.load(UNPACKED)["main"].run({"pairs": given}, workgroups=1, device=device)["pairs"]
        np.testing.assert_array_equal(found, [[3, 1.875], [3, 1.875]])


@pytest.mark.parametrize("unpacks", [True, False])
def test_only_drivers_with_the_fault_get_lower_halves(unpacks: bool) -> None:
    options = GpuOptions(for_naga=True, unpacks_low=unpacks)
    text = tinct.load(UNPACKED).compilation("main", {}).for_gpu(options).wgsl
    assert (">> 16u" in text) == unpacks
