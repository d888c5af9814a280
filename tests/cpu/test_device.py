"""Entry points on buffers: lengths, alignment, empty arrays, atomics, errors, and the texts of the stages."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

import tinct
from tinct.backend.cpu import CompiledKernel, CpuOptions, compile_entry
from tinct.backend.cpu.emit import Tier
from tinct.base.errors import InputError
from tinct.frontend import load_program
from tinct.ir.source import Source
from tinct.transforms.from_wgsl import build
from tinct.transforms.to_hercules import translate


def kernel(text: str) -> CompiledKernel:
    return compile_entry(translate(build(load_program(Source("test.wgsl", text.encode()))), "main"))


DOUBLE = """
struct Numbers { scale: u32, values: array<u32> }
@group(0) @binding(0) var<storage, read_write> numbers: Numbers;
@compute @workgroup_size(4)
fn main(@builtin(global_invocation_id) id: vec3u) {
  numbers.values[id.x] = numbers.values[id.x] * numbers.scale + arrayLength(&numbers.values);
}
"""


def test_runs_in_place_and_clamps_what_is_out_of_range() -> None:
    buffer = np.array([10, 1, 2, 3, 4], np.uint32)
    kernel(DOUBLE).run([buffer.view(np.uint8)], (1, 1, 1))
    assert buffer.tolist() == [10, 14, 24, 34, 44]


def test_bytearrays_and_given_lengths() -> None:
    buffer = bytearray(np.array([10, 1, 2, 3, 4, 5], np.uint32).tobytes())
    kernel(DOUBLE).run([buffer], (1, 1, 1), [4])
    assert np.frombuffer(buffer, np.uint32).tolist() == [10, 14, 24, 34, 44, 5]


def test_unaligned_buffer() -> None:
    memory = np.zeros(64, np.uint8)
    buffer = memory[3 : 3 + 20]
    buffer[:] = np.array([10, 1, 2, 3, 4], np.uint32).view(np.uint8)
    kernel(DOUBLE).run([buffer], (1, 1, 1))
    assert buffer.view(np.uint32).tolist() == [10, 14, 24, 34, 44]
    assert not memory[:3].any()
    assert not memory[23:].any()


@pytest.mark.parametrize("offset", [0, 3])
def test_bound_buffers_are_used_as_they_are_at_each_dispatch(offset: int) -> None:
    memory = np.zeros(64, np.uint8)
    start = -memory.ctypes.data % 16 + offset
    buffer = memory[start : start + 20]
    bound = kernel(DOUBLE).bind([buffer], (1, 1, 1))
    for scale in (10, 100):
        buffer[:] = np.array([scale, 1, 2, 3, 4], np.uint32).view(np.uint8)
        bound.run()
        assert buffer.view(np.uint32).tolist() == [scale, *(scale * it + 4 for it in (1, 2, 3, 4))]
    bound.run(timeout=10, workers=1)
    assert buffer.view(np.uint32)[1] == 100 * (100 + 4) + 4


def test_a_bound_buffer_cannot_move() -> None:
    buffer = bytearray(20)
    bound = kernel(DOUBLE).bind([buffer], (1, 1, 1))
    with pytest.raises(BufferError):
        buffer.extend(bytes(1 << 20))
    bound.run()
    assert buffer[4:] == np.full(4, 4, np.uint32).tobytes()


def test_empty_array_drops_writes() -> None:
    buffer = np.array([10], np.uint32)
    kernel(DOUBLE).run([buffer.view(np.uint8)], (2, 1, 1))
    assert buffer.tolist() == [10]


@pytest.mark.parametrize("workgroups", [(0, 1, 1), (1, 0, 1), (1, 1, 0)])
def test_no_workgroups_run_nothing(workgroups: tuple[int, int, int]) -> None:
    buffer = np.array([10, 1, 2, 3, 4], np.uint32)
    kernel(DOUBLE).run([buffer.view(np.uint8)], workgroups)
    assert buffer.tolist() == [10, 1, 2, 3, 4]


def test_too_small_and_too_few_buffers() -> None:
    compiled = kernel(DOUBLE)
    with pytest.raises(InputError, match="the buffer for 'numbers' has 2 bytes, but 4 are needed"):
        compiled.run([bytearray(2)], (1, 1, 1))
    with pytest.raises(InputError, match="1 buffers are needed, not 0"):
        compiled.run([], (1, 1, 1))


def test_overlapping_buffers_are_refused_where_one_is_written() -> None:
    copy = """
@group(0) @binding(0) var<storage> source: array<u32>;
@group(0) @binding(1) var<storage, read_write> target_: array<u32>;
@compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3u) { target_[id.x] = source[id.x]; }
"""
    memory = np.arange(8, dtype=np.uint32).view(np.uint8)
    with pytest.raises(InputError, match="the buffers for 'source' and 'target_' overlap"):
        kernel(copy).run([memory[:16], memory[12:]], (1, 1, 1))
    kernel(copy).run([memory[:16], memory[16:]], (4, 1, 1))
    assert memory.view(np.uint32).tolist() == [0, 1, 2, 3, 0, 1, 2, 3]


def test_layouts_of_structures_matrices_and_vectors() -> None:
    text = """
    struct Inner { flag: u32, direction: vec3f, last: f32 }
    struct Outer { turn: mat3x3f, small: mat2x2f, parts: array<Inner, 2>, @size(32) tail: vec2i }
    @group(0) @binding(0) var<storage, read> outer: array<Outer>;
    @group(0) @binding(1) var<storage, read_write> out: array<f32>;
    @compute @workgroup_size(1)
    fn main(@builtin(workgroup_id) id: vec3u) {
      let o = outer[id.x];
      out[id.x * 4] = o.turn[2].y + o.small[1].x;
      out[id.x * 4 + 1] = f32(o.parts[1].flag) + o.parts[1].direction.z;
      out[id.x * 4 + 2] = o.parts[0].last;
      out[id.x * 4 + 3] = f32(outer[id.x].tail[1]);
    }
    """
    inner = np.dtype(
        {
            "names": ["flag", "direction", "last"],
            "formats": ["u4", ("f4", 3), "f4"],
            "offsets": [0, 16, 28],
            "itemsize": 32,
        }
    )
    outer = np.dtype(
        {
            "names": ["turn", "small", "parts", "tail"],
            "formats": [("f4", (3, 4)), ("f4", (2, 2)), (inner, 2), ("i4", 2)],
            "offsets": [0, 48, 64, 128],
            "itemsize": 160,
        }
    )
    data = np.zeros(3, outer)
    source = np.random.default_rng(2)
    data["turn"] = source.random((3, 3, 4))
    data["small"] = source.random((3, 2, 2))
    data["parts"]["flag"] = source.integers(0, 9, (3, 2))
    data["parts"]["direction"] = source.random((3, 2, 3))
    data["parts"]["last"] = source.random((3, 2))
    data["tail"] = source.integers(-9, 9, (3, 2))
    out = np.zeros((3, 4), np.float32)
    kernel(text).run([data.view(np.uint8).reshape(-1), out.view(np.uint8).reshape(-1)], (3, 1, 1))
    assert np.array_equal(out[:, 0], data["turn"][:, 2, 1] + data["small"][:, 1, 0])
    assert np.array_equal(out[:, 1], data["parts"]["flag"][:, 1].astype("f4") + data["parts"]["direction"][:, 1, 2])
    assert np.array_equal(out[:, 2], data["parts"]["last"][:, 0])
    assert np.array_equal(out[:, 3], data["tail"][:, 1].astype("f4"))


ATOMICS = """
@group(0) @binding(0) var<storage, read_write> totals: array<atomic<u32>, 8>;
@group(0) @binding(1) var<storage, read_write> signed: array<atomic<i32>, 2>;
var<workgroup> local_total: atomic<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) lane: u32) {
  atomicAdd(&totals[0], id.x);
  atomicSub(&totals[1], 1u);
  atomicMax(&totals[2], id.x);
  atomicMin(&totals[3], id.x);
  atomicOr(&totals[4], 1u << (id.x % 32u));
  atomicXor(&totals[5], id.x);
  loop {
    let seen = atomicLoad(&totals[6]);
    if atomicCompareExchangeWeak(&totals[6], seen, seen + 2u).exchanged { break; }
  }
  atomicMin(&signed[0], -i32(id.x));
  atomicMax(&signed[1], -i32(id.x));
  atomicAdd(&local_total, 1u);
  workgroupBarrier();
  if lane == 0u { atomicAdd(&totals[7], atomicLoad(&local_total)); }
}
"""


def test_atomics_from_many_workgroups() -> None:
    count = 64 * 2000
    totals = np.zeros(8, np.uint32)
    totals[1], totals[3] = count + 5, 99
    signed = np.array([7, -1 << 31], np.int32)
    kernel(ATOMICS).run([totals.view(np.uint8), signed.view(np.uint8)], (2000, 1, 1), workers=4)
    ids = np.arange(count, dtype=np.uint32)
    expected = [
        int(ids.sum(dtype=np.uint32)),
        5,
        count - 1,
        0,
        0xFFFFFFFF,
        int(np.bitwise_xor.reduce(ids)),
        2 * count,
        count,
    ]
    assert totals.tolist() == expected
    assert signed.tolist() == [1 - count, 0]


def test_stages_have_text_and_times() -> None:
    compiled = kernel(DOUBLE)
    assert "define void @kernel(" in compiled.llvm(optimised=False)
    assert "define void @kernel(" in compiled.llvm()
    assert "kernel:" in compiled.assembly()
    times = compiled.times
    assert 0 < min(times.emit, times.parse, times.optimise, times.generate) < times.total


@pytest.mark.parametrize("tier", ["gang", "lane", "baseline"])
def test_loops_are_not_left_to_a_vectoriser_that_may_end_the_process(tier: Tier) -> None:
    """See `passes`: random kernels found it, of which the least has 160 lines. This one has loops for it to take."""
    shader = tinct.load(Path(__file__).parents[2] / "shaders" / "reduce" / "reduce.wgsl")
    entry = shader.compilation(next(iter(shader.entry_points)), {}).hercules
    assert "vector.body" not in compile_entry(entry, CpuOptions(tier)).llvm()


def test_one_kernel_from_several_threads() -> None:
    compiled = kernel(DOUBLE)
    buffers = [np.full(1001, number, np.uint32) for number in range(8)]
    threads = [threading.Thread(target=compiled.run, args=([it.view(np.uint8)], (250, 1, 1))) for it in buffers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, buffer in enumerate(buffers):
        assert (buffer[1:] == number * number + 1000).all()
