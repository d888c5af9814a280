"""Views of buffers agree on all devices, in and out of range."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tinct
from tinct.devices import DEVICES

RAW = np.arange(64, dtype=np.uint8) * 3
WORDS = RAW.view(np.uint32)

HEAD = """enable f16;
requires buffer_view;
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
"""

READ = """
struct S { a: vec3f, n: u32, m: mat2x2f }
@group(0) @binding(1) var<storage, read> b: buffer<64>;
@group(0) @binding(2) var<uniform> u: buffer<64>;
fn second(p: ptr<storage, buffer>) -> u32 { return (*bufferView<vec2u>(p, 8)).y + bufferLength(p); }
@compute @workgroup_size(16) fn main(@builtin(local_invocation_index) i: u32) {
    let s = bufferView<S>(&b, 16);
    out[i] = *bufferView<u32>(&b, i * 4 + 1000 * u32(i == 9)) + second(&b) + s.n;
    out[16 + i] = bitcast<u32>(s.m[1][i & 1]) ^ bitcast<u32>((*s).a.z) ^ (*bufferView<array<vec2u, 8>>(&u, 0))[i / 2].y;
}
"""


def _expected_of_reads() -> list[int]:
    index = np.where(np.arange(16) == 9, 15, np.arange(16))
    pairs = np.arange(16) // 2 * 2 + 1
    first = WORDS[index] + WORDS[3] + np.uint32(64) + WORDS[7]
    return [*first.tolist(), *(WORDS[10 + np.arange(16) % 2] ^ WORDS[6] ^ WORDS[pairs]).tolist()]


ALL = """
struct R { n: u32, a: array<vec2i> }
@group(0) @binding(1) var<storage, read_write> b: buffer;
var<workgroup> halves: buffer<34>;
@compute @workgroup_size(8) fn main(@builtin(local_invocation_index) i: u32) {
    let r = bufferView<R>(&b, 8);
    let q = bufferArrayView<array<i32>>(&b, 16, 24);
    out[i] = arrayLength(&r.a) * 100 + arrayLength(q) + u32(q[i + 2]);
    out[8 + i] = u32(r.a[i].y) + r.n + bufferLength(&b);
    storageBarrier();
    (*bufferArrayView<array<u32>>(&b, 32, 32))[i] = i;
    *bufferView<f16>(&b, 2 * i) = f16(i);
    *bufferView<f16>(&halves, i * 2) = f16(i) * 0.5h;
    workgroupBarrier();
    let v = *bufferView<vec4<f16>>(&halves, (i & 1) * 8);
    let w = workgroupUniformLoad(bufferView<vec2u>(&halves, 8));
    out[16 + i] = (bitcast<u32>(v.xy) + u32(v.w * 2)) ^ w.x ^ w.y;
}
"""

SMALL = """
@group(0) @binding(1) var<storage, read_write> b: buffer;
@compute @workgroup_size(8) fn main(@builtin(local_invocation_index) i: u32) {
    let v = bufferView<array<vec4u>>(&b, 0);
    v[i] = vec4u(7);
    out[i] = v[i].x + arrayLength(v) + 10 * bufferLength(&b) + 100 * *bufferView<u32>(&b, i);
}
"""


@pytest.mark.parametrize("device", [*DEVICES, "gpu via hercules"])
@pytest.mark.usefixtures("needs_device")
def test_reads(device: str) -> None:
    name, _, way = device.partition(" via ")
    given: dict[str, Any] = {"out": (None, 32), "b": WORDS, "u": RAW.tobytes()}
    found = tinct.load(HEAD + READ)["main"].run(given, workgroups=1, device=name, via=way or None)["out"]
    assert found.tolist() == _expected_of_reads()


@pytest.mark.parametrize("source", [ALL, SMALL], ids=["all", "small"])
@pytest.mark.usefixtures("needs_gpu")
def test_devices_agree(source: str) -> None:
    kernel = tinct.load(HEAD + source)["main"]
    raw = RAW[:8] if source is SMALL else RAW
    runs = [kernel.run({"out": (None, 24), "b": raw}, workgroups=1, device=device) for device in DEVICES]
    assert runs[0]["b"].dtype == np.uint8
    for name in ("out", "b"):
        assert len({run[name].tobytes() for run in runs}) == 1
    if source is SMALL:
        assert np.array_equal(runs[0]["b"], raw)
        words = raw.view(np.uint32)[np.arange(8) // 4]
        assert runs[0]["out"][:8].tolist() == (words * np.uint32(100) + np.uint32(81)).tolist()


ODD = """
@group(0) @binding(1) var<uniform> u: buffer<20>;
@group(0) @binding(2) var<uniform> v: buffer<36>;
@compute @workgroup_size(16) fn main(@builtin(local_invocation_index) i: u32) {
    let row = bufferView<array<vec4u, 1>>(&u, 0);
    out[i] = (*row)[0][i & 3] + *bufferView<u32>(&u, 4 * i) * bufferLength(&u) + u32(*bufferView<f16>(&v, 2 * i + 3));
}
"""


@pytest.mark.parametrize("device", [*DEVICES, "gpu via hercules"])
@pytest.mark.usefixtures("needs_device")
def test_uniform_buffers_of_any_size(device: str) -> None:
    """Offsets past the end are those of the last place that fits, whatever follows in a row of 16 bytes."""
    name, _, way = device.partition(" via ")
    words, halves = np.arange(5, dtype=np.uint32) + 7, np.arange(18, dtype=np.float16)
    kernel, lane = tinct.load(HEAD + ODD)["main"], np.arange(16)
    expected = words[lane % 4] + 20 * words[np.minimum(lane, 4)] + lane + 1
    found = kernel.run({"out": (None, 16), "u": words, "v": halves}, workgroups=1, device=name, via=way or None)
    assert found["out"].tolist() == expected.tolist()
    with tinct.Session() as session:
        buffers = {"u": session.buffer(words), "v": session.buffer(halves), "out": session.empty(np.uint32, 16)}
        session.run(kernel, buffers, workgroups=1, device=name, via=way or None)
        assert buffers["out"].numpy().tolist() == expected.tolist()


def test_values_that_do_not_fit() -> None:
    kernel = tinct.load(HEAD + READ)["main"]
    with pytest.raises(tinct.InputError, match="b: buffer<64> takes 64 bytes, not 8"):
        kernel.run({"out": (None, 32), "b": RAW[:8], "u": RAW}, workgroups=1)
    with pytest.raises(tinct.InputError, match="u: buffer<64> takes bytes, or an array of numbers"):
        kernel.run({"out": (None, 32), "b": RAW, "u": {"x": 1}}, workgroups=1)


def test_a_value_of_too_many_parts() -> None:
    source = """requires buffer_view;
@group(0) @binding(0) var<storage, read_write> b: buffer;
@compute @workgroup_size(1) fn main() {
    *bufferView<array<u32, 2000>>(&b, 0) = *bufferView<array<u32, 2000>>(&b, 8000);
}"""
    with pytest.raises(tinct.ShaderError, match="not supported: a view's value of type 'array<u32, 2000>'"):
        tinct.load(source)["main"].run({"b": np.zeros(4000, np.uint32)}, workgroups=1)
