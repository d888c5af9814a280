"""The interpreter: what shaders compute, and what it says about input that does not fit."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
import pytest

from tinct.base.errors import InputError
from tinct.frontend import load_program
from tinct.ir.constants import RawValue
from tinct.ir.core import Module, parse, run, verify
from tinct.ir.diagnostics import ShaderError
from tinct.ir.source import Source
from tinct.ir.types import BindingPoint
from tinct.transforms.from_wgsl import build

DATA = BindingPoint(0, 0)


def module_of(text: str) -> Module:
    module = build(load_program(Source.from_text(text)))
    verify(module)
    return module


def dispatch(
    text: str,
    arrays: list[np.ndarray],
    workgroups: tuple[int, int, int] = (1, 1, 1),
    overrides: Mapping[str, RawValue] | None = None,
    entry: str = "main",
) -> list[np.ndarray]:
    """The arrays after a dispatch; array n is bound at group 0, binding n."""
    buffers = [bytearray(array.tobytes()) for array in arrays]
    bindings = {BindingPoint(0, number): buffer for number, buffer in enumerate(buffers)}
    run(module_of(text), entry, bindings, workgroups, overrides or {}, step_limit=10_000_000)
    return [np.frombuffer(buffer, array.dtype) for buffer, array in zip(buffers, arrays, strict=True)]


def test_saxpy() -> None:
    x = np.linspace(-3, 5, 100, dtype=np.float32)
    y = np.cos(x).astype(np.float32)
    _, found = dispatch(
        """
        override a: f32 = 1;
        @group(0) @binding(0) var<storage> x: array<f32>;
        @group(0) @binding(1) var<storage, read_write> y: array<f32>;
        @compute @workgroup_size(32)
        fn main(@builtin(global_invocation_id) id: vec3u) {
          if id.x < arrayLength(&y) { y[id.x] = a * x[id.x] + y[id.x]; }
        }""",
        [x, y],
        (4, 1, 1),
        {"a": 2.5},
    )
    np.testing.assert_array_equal(found, np.float32(2.5) * x + y)


def test_tree_reduction_with_barriers() -> None:
    values = np.arange(64, dtype=np.uint32)
    (found,) = dispatch(
        """
        @group(0) @binding(0) var<storage, read_write> data: array<u32>;
        var<workgroup> sums: array<u32, 32>;
        fn halve(i: u32, step: u32) {
          if i < step { sums[i] += sums[i + step]; }
          workgroupBarrier();
        }
        @compute @workgroup_size(32)
        fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) w: vec3u) {
          sums[i] = data[w.x * 32 + i];
          workgroupBarrier();
          for (var step = 16u; step > 0; step /= 2) { halve(i, step); }
          data[w.x * 32 + i] = sums[0];
        }""",
        [values],
        (2, 1, 1),
    )
    assert found[:32].tolist() == [sum(range(32))] * 32
    assert found[32:].tolist() == [sum(range(32, 64))] * 32


def test_each_workgroup_begins_with_zeros() -> None:
    (found,) = dispatch(
        """
        @group(0) @binding(0) var<storage, read_write> data: array<u32>;
        var<workgroup> count: atomic<u32>;
        var<private> own = 5u;
        @compute @workgroup_size(4)
        fn main(@builtin(workgroup_id) w: vec3u, @builtin(local_invocation_index) i: u32) {
          own += 1;
          atomicAdd(&count, own);
          workgroupBarrier();
          if i == 0 { data[w.x] = atomicLoad(&count); }
        }""",
        [np.zeros(3, np.uint32)],
        (3, 1, 1),
    )
    assert found.tolist() == [24, 24, 24]


def test_indices_are_clamped() -> None:
    """Unsigned, to the last element: everywhere the same."""
    data = np.arange(8, dtype=np.int32)
    (found,) = dispatch(
        """
        struct S { head: array<i32, 4>, tail: array<i32> }
        @group(0) @binding(0) var<storage, read_write> s: S;
        @compute @workgroup_size(1)
        fn main(@builtin(local_invocation_index) zero: u32) {
          let far = i32(zero) - 1;
          s.tail[zero + 99] = 40 + s.tail[far];
          s.head[far] = s.head[zero + 4];
          var v = vec3i(1, 2, 3);
          v[far] = 30;
          let w = v;
          s.head[0] = w[zero + 17];
          s.head[1] = array(7, 8, 9)[far];
        }""",
        [data],
    )
    assert found.tolist() == [30, 9, 2, 3, 4, 5, 6, 47]


def test_an_empty_runtime_array_reads_zero() -> None:
    module = parse(
        """
        struct S { count: u32  tail: array<u32> }
        root { %s: ptr<storage, S, read_write> = var @group(0) @binding(0) }
        @compute @workgroup_size(1u) @resources(%s)
        fn @main() -> void {
          b0: {
            %p: ptr<storage, u32, read_write> = access %s, 1u, 3u
            store %p, 9u
            %v: u32 = load %p
            %c: ptr<storage, u32, read_write> = access %s, 0u
            store %c, %v
            return
          }
        }"""
    )
    buffer = bytearray(b"abcd")
    run(module, "main", {DATA: buffer}, (1, 1, 1))
    assert buffer == bytes(4)
    with pytest.raises(InputError, match="has 3 bytes, and needs 4"):
        run(module, "main", {DATA: bytearray(3)}, (1, 1, 1))


def test_bits_pass_through() -> None:
    """Integers that are NaNs as floats, and NaN payloads in f32 loads and stores of whole words."""
    words = np.array([0x7FC01234, 0xFFFFFFFF, 0x80000000, 1], np.uint32)
    found, copied = dispatch(
        """
        @group(0) @binding(0) var<storage, read_write> a: vec4u;
        @group(0) @binding(1) var<storage, read_write> b: vec4f;
        @compute @workgroup_size(1) fn main() { b = bitcast<vec4f>(vec4u(a.w, a.zz, a.w)); a = a.wzyx; }""",
        [words, np.zeros(4, np.float32)],
    )
    assert found.tolist() == words[::-1].tolist()
    assert copied.view(np.uint32).tolist() == [1, 0x80000000, 0x80000000, 1]


def test_control_flow() -> None:
    (found,) = dispatch(
        """
        @group(0) @binding(0) var<storage, read_write> out: array<i32>;
        fn collatz(start: i32) -> i32 {
          var n = start; var steps = 0;
          while n != 1 { if n % 2 == 0 { n /= 2; } else { n = 3 * n + 1; } steps++; }
          return steps;
        }
        fn name(i: i32) -> i32 {
          switch i { case 0, 1: { return 10; } case 2: { if i == 2 { break; } return 0; } default: { return 30; } }
          return 20;
        }
        fn odd_sum(limit: i32) -> i32 {
          var sum = 0; var i = 0;
          loop {
            if i % 2 == 0 { continue; }
            sum += i;
            continuing { i++; break if i >= limit; }
          }
          return sum;
        }
        @compute @workgroup_size(1) fn main() {
          out[0] = collatz(27); out[1] = name(1); out[2] = name(2); out[3] = name(9); out[4] = odd_sum(10);
          var count = 0;
          let both = bump(&count, false) && bump(&count, true);
          let either = bump(&count, true) || bump(&count, true);
          out[5] = count; out[6] = select(0, 1, either) + select(0, 2, both);
        }
        fn bump(p: ptr<function, i32>, answer: bool) -> bool { *p += 1; return answer; }""",
        [np.zeros(7, np.int32)],
    )
    assert found.tolist() == [111, 10, 20, 30, 25, 2, 1]


def test_builtin_inputs() -> None:
    text = """
        struct In { @builtin(global_invocation_id) g: vec3u, @builtin(num_workgroups) n: vec3u }
        @group(0) @binding(0) var<storage, read_write> out: array<vec4u>;
        @compute @workgroup_size(2, 3, 1)
        fn main(in: In, @builtin(local_invocation_index) i: u32, @builtin(workgroup_id) w: vec3u,
                @builtin(local_invocation_id) l: vec3u) {
          let size = in.n * vec3u(2, 3, 1);
          let place = (in.g.z * size.y + in.g.y) * size.x + in.g.x;
          out[place] = vec4u(i, w.x + 10 * w.y + 100 * w.z, l.x + 10 * l.y, place);
        }"""
    (found,) = dispatch(text, [np.zeros(4 * 4 * 6 * 2, np.uint32)], (2, 2, 2))
    rows = found.reshape(2, 6, 4, 4)
    assert rows[1, 4, 3].tolist() == [3, 111, 11, (1 * 6 + 4) * 4 + 3]
    assert rows[0, 0, 2].tolist() == [0, 1, 0, 2]


def test_atomics() -> None:
    (found,) = dispatch(
        """
        @group(0) @binding(0) var<storage, read_write> a: array<atomic<i32>, 9>;
        @compute @workgroup_size(1) fn main() {
          var old = atomicAdd(&a[0], 5); old += atomicSub(&a[1], 5); old += atomicMax(&a[2], -3);
          old += atomicMin(&a[3], -3); old += atomicAnd(&a[4], 6); old += atomicOr(&a[5], 6);
          old += atomicXor(&a[6], -1); old += atomicExchange(&a[7], 77);
          let r = atomicCompareExchangeWeak(&a[8], 1, 9);
          let q = atomicCompareExchangeWeak(&a[8], 1, 11);
          atomicStore(&a[0], old * 100 + select(0, 10, r.exchanged) + q.old_value);
        }""",
        [np.array([1, 1, 1, 1, 3, 1, 1, 1, 1], np.int32)],
    )
    assert found.tolist() == [1019, -4, 1, -3, 2, 7, -2, 77, 9]


def test_array_sizes_by_override() -> None:
    text = """
        override n: u32;
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        var<workgroup> row: array<u32, n * 2>;
        @compute @workgroup_size(n) fn main(@builtin(local_invocation_index) i: u32) {
          row[99] = i + 1;
          workgroupBarrier();
          out[i] = row[n * 2 - 1];
        }"""
    (found,) = dispatch(text, [np.zeros(4, np.uint32)], overrides={"n": 3})
    assert found[:3].tolist() == [3, 3, 3]
    with pytest.raises(InputError, match="override 'n' needs a value"):
        dispatch(text, [np.zeros(4, np.uint32)])
    with pytest.raises(InputError, match="must be positive"):
        dispatch(text, [np.zeros(4, np.uint32)], overrides={"n": 0})


def test_short_circuit_of_overrides() -> None:
    """The side that is not taken has no say."""
    text = """
        override n: u32 = 0;
        override good = n != 0 && 10 / n > 1;
        @group(0) @binding(0) var<storage, read_write> out: u32;
        @compute @workgroup_size(1) fn main() { out = select(1u, 2u, good); }"""
    assert dispatch(text, [np.zeros(1, np.uint32)])[0].tolist() == [1]
    assert dispatch(text, [np.zeros(1, np.uint32)], overrides={"n": 3})[0].tolist() == [2]


def test_subgroups() -> None:
    (found,) = dispatch(
        """
        enable subgroups;
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(8) fn main(@builtin(local_invocation_index) i: u32) {
          out[i] = subgroupAdd(i);
          out[8 + i] = subgroupInclusiveAdd(i);
          out[16 + i] = subgroupExclusiveMul(i + 1);
          out[24 + i] = subgroupShuffleXor(i, 1);
          out[32 + i] = subgroupBallot(i > 4).x;
          out[40 + i] = u32(subgroupElect()) + 2 * subgroupBroadcast(i, 3) + subgroupMax(i);
          out[48 + i] = quadSwapDiagonal(i);
        }""",
        [np.zeros(56, np.uint32)],
    )
    rows = found.reshape(7, 8)
    assert rows[0].tolist() == [28] * 8
    assert rows[1].tolist() == np.cumsum(range(8)).tolist()
    assert rows[2].tolist() == [1, 1, 2, 6, 24, 120, 720, 5040]
    assert rows[3].tolist() == [1, 0, 3, 2, 5, 4, 7, 6]
    assert rows[4].tolist() == [0b11100000] * 8
    assert rows[5].tolist() == [14] + [13] * 7
    assert rows[6].tolist() == [3, 2, 1, 0, 7, 6, 5, 4]


def test_barrier_that_some_do_not_reach() -> None:
    module = parse(
        """
        @compute @workgroup_size(4u)
        fn @main(%i: u32 @builtin(local_invocation_index)) -> void {
          b0: {
            %c: bool = less %i, 2u
            if %c [true: b1, false: b2, merge: b3]
          }
            b1: { builtin workgroupBarrier()
                  branch b3 }
            b2: { branch b3 }
          b3: { return }
        }"""
    )
    verify(module)
    with pytest.raises(ShaderError, match="wait at a barrier that others do not reach"):
        run(module, "main", {}, (1, 1, 1))


SMALL = """
    @group(0) @binding(0) var<storage, read_write> data: array<vec4f, 1>;
    override n: i32 = 1;
    @compute @workgroup_size(1) fn main() { loop { if data[0].x > f32(n) { break; } } }
    @compute @workgroup_size(1) fn other() { _ = n; }
    @vertex fn draw() -> @builtin(position) vec4f { return vec4f(); }
"""


@pytest.mark.parametrize(
    ("entry", "bindings", "overrides", "message"),
    [
        ("nothing", {}, {}, "no entry point is named 'nothing'; there are main, other, draw"),
        ("draw", {}, {}, "the entry point 'draw' is not a compute shader"),
        ("main", {}, {}, "the buffer of 'data' at group 0, binding 0 is missing"),
        ("main", {DATA: bytearray(15)}, {}, "the buffer of 'data' at group 0, binding 0 has 15 bytes, and needs 16"),
        ("main", {DATA: memoryview(bytes(16))}, {}, "the buffer of 'data' at group 0, binding 0 must be writable"),
        ("main", {DATA: bytearray(16)}, {"m": 1}, "no override is named 'm'; there is n"),
        ("main", {DATA: bytearray(16)}, {"n": 2**31}, "override 'n' cannot be 2147483648: it does not fit 'i32'"),
        ("main", {DATA: bytearray(16)}, {}, "the shader takes more than 1000 steps"),
    ],
)
def test_input_that_does_not_fit(
    entry: str,
    bindings: Mapping[BindingPoint, bytearray | memoryview],
    overrides: Mapping[str, RawValue],
    message: str,
) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        run(module_of(SMALL), entry, bindings, (1, 1, 1), overrides, step_limit=1000)


def test_no_workgroups_run_nothing() -> None:
    run(module_of(SMALL), "main", {DATA: bytearray(16)}, (0, 1, 1), step_limit=10)
    with pytest.raises(InputError, match="must not be negative"):
        run(module_of(SMALL), "main", {DATA: bytearray(16)}, (-1, 1, 1))
