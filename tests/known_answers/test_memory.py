"""Memory that is easily got wrong: atomics, workgroup memory, runtime arrays in structures, subgroups, textures."""

from __future__ import annotations

import numpy as np
import pytest

from .support import KnownAnswer, check, named

BIN = np.dtype(
    {
        "names": ["count", "range", "peak"],
        "formats": ["u4", ("u4", 2), "i4"],
        "offsets": [0, 8, 16],
        "itemsize": 24,
    }
)


def words(count: int) -> np.ndarray:
    return np.zeros(count, np.uint32)


KERNELS = [
    KnownAnswer(
        "compare and exchange gives the old value and whether it was the one",
        """struct Cell { lock: atomic<i32>, wins: atomic<u32> }
        var<workgroup> cell: Cell;
        --- let r = atomicCompareExchangeWeak(&cell.lock, 0, i32(i) + 1);
        if r.exchanged { atomicAdd(&cell.wins, 1); out[8] = u32(r.old_value); }
        workgroupBarrier();
        out[i] = atomicLoad(&cell.wins) * 10 + select(0u, 1u, atomicLoad(&cell.lock) > 0);""",
        [*[11] * 8, 0],
    ),
    KnownAnswer(
        "a spin on compare and exchange counts every invocation once",
        """var<workgroup> total: atomic<u32>;
        --- var seen = 0u;
        for (var turn = 0u; turn < 1000; turn++) {
          let r = atomicCompareExchangeWeak(&total, seen, seen + i);
          if r.exchanged { break; }
          seen = r.old_value;
        }
        workgroupBarrier();
        out[i] = atomicLoad(&total);""",
        [28] * 8,
    ),
    KnownAnswer(
        "each kind of atomic on signed and unsigned numbers",
        """var<workgroup> s: array<atomic<i32>, 6>;
        var<workgroup> u: array<atomic<u32>, 4>;
        --- let n = i32(i) - 4;
        atomicMin(&s[0], n); atomicMax(&s[1], n); atomicSub(&s[2], n); atomicAdd(&s[3], n);
        atomicOr(&u[0], 1u << i); atomicXor(&u[1], 3u << i); atomicMax(&u[2], bitcast<u32>(n));
        if i == 0 { atomicStore(&u[3], 0xFFu); }
        workgroupBarrier();
        atomicAnd(&u[3], ~(1u << i));
        workgroupBarrier();
        if i < 4 { out[i] = bitcast<u32>(atomicLoad(&s[i])); } else { out[i] = atomicLoad(&u[i - 4]); }""",
        [2**32 - 4, 3, 4, 2**32 - 4, 0xFF, 0x101, 2**32 - 1, 0],
    ),
    KnownAnswer(
        "atomics inside an array of structures in storage",
        """struct Bin { count: atomic<u32>, range: vec2u, peak: atomic<i32> }
        @group(0) @binding(0) var<storage, read_write> bins: array<Bin>;
        @compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3u) {
          let bin = &bins[id.x % arrayLength(&bins)];
          if atomicAdd(&(*bin).count, 1) == 0 { bin.range = vec2u(7, 9); }
          atomicMax(&bin.peak, i32(id.x));
        }""",
        {"bins": np.array([(6, [7, 9], 15), (5, [7, 9], 13), (5, [7, 9], 14)], BIN)},
        {"bins": np.zeros(3, BIN)},
        workgroups=2,
    ),
    KnownAnswer(
        "a runtime-sized array at the end of a structure",
        """struct List { n: atomic<u32>, items: array<vec3u> }
        @group(0) @binding(0) var<storage, read_write> list: List;
        @group(0) @binding(1) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3u) {
          if id.x % 3 == 1 {
            let at = atomicAdd(&list.n, 1);
            if at < arrayLength(&list.items) { list.items[at].y = 5; }
          }
          storageBarrier();
          if id.x == 0 { out[0] = arrayLength(&list.items) * 100 + list.items[2].y + atomicLoad(&list.n) * 1000; }
        }""",
        {"out": [3305]},
        {"list": np.zeros(64, np.uint8).tobytes(), "out": words(1)},
    ),
    KnownAnswer(
        "workgroup memory begins at zero in each workgroup",
        """var<workgroup> tile: array<vec3u, 8>;
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(8)
        fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) w: vec3u) {
          let before = tile[7 - i].z;
          workgroupBarrier();
          tile[i].z = 50 + i;
          workgroupBarrier();
          out[w.x * 8 + i] = before * 1000 + tile[7 - i].z + tile[i].x;
        }""",
        [57 - i for _ in range(3) for i in range(8)],
        workgroups=3,
    ),
    KnownAnswer(
        "workgroupUniformLoad of a whole structure, while lanes go on to write it",
        """struct Task { at: u32, sides: vec2u, table: array<u32, 3> }
        var<workgroup> task: Task;
        --- var sum = 0u;
        for (var k = 0u; k < 4; k++) {
          if i == k { task = Task(k, vec2u(k + 1, 2), array(k, k * 2, k * 3)); }
          let now = workgroupUniformLoad(&task);
          sum += now.sides.x * 100 + now.table[2] * 10 + now.at;
        }
        out[i] = sum;""",
        [100 * (1 + 2 + 3 + 4) + 10 * (0 + 3 + 6 + 9) + 6] * 8,
    ),
    KnownAnswer(
        "a copy of an array is not the array",
        """var<workgroup> tile: array<u32, 40>;
        --- var mine: array<u32, 40>;
        for (var k = i; k < 40; k += 8) { tile[k] = k; mine[k] = k + 100; }
        workgroupBarrier();
        var before = tile;
        let kept = mine;
        workgroupBarrier();
        tile[39 - i] = 7;
        mine[i] = 3;
        before[39 - i] += 1;
        mine = before;
        out[i] = kept[i] * 1000 + mine[39 - i] + before[i];""",
        [(100 + i) * 1000 + (40 - i) + i for i in range(8)],
    ),
    KnownAnswer(
        "positions out of range stay in the binding",
        """@group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @group(0) @binding(1) var<storage, read_write> rows: array<array<u32, 4>, 2>;
        @compute @workgroup_size(8) fn main(@builtin(local_invocation_index) i: u32) {
          let far = i * 0x40000000u + 100;
          out[i] = rows[min(far, 1)][i % 4] + u32(rows[far][far] < 100);
        }""",
        {"out": [10 + i % 4 + 1 for i in range(8)], "rows": [[0, 1, 2, 3], [10, 11, 12, 13]]},
        {"out": words(8), "rows": np.array([[0, 1, 2, 3], [10, 11, 12, 13]], np.uint32)},
    ),
    KnownAnswer(
        "vectors, their padding, and matrices in a uniform buffer",
        """struct Inner { a: vec3f, b: f32, m: mat2x2f }
        struct Outer { first: f32, @align(16) inner: array<Inner, 2>, @size(32) last: vec2u }
        @group(0) @binding(0) var<uniform> outer: Outer;
        @group(0) @binding(1) var<storage, read_write> out: array<f32>;
        @compute @workgroup_size(2) fn main(@builtin(local_invocation_index) i: u32) {
          let inner = outer.inner[i];
          out[i] = outer.first + inner.a.z + inner.b * 10 + (inner.m * vec2f(1, 2)).y + f32(outer.last.y);
        }""",
        {"out": np.array([1 + 6 + 70 + (9 + 22) + 21, 1 + 14 + 150 + (17 + 38) + 21], np.float32)},
        {
            "outer": np.array([1, 0, 0, 0, *range(4, 20)], np.float32).tobytes()
            + np.array([20, 21, 0, 0, 0, 0, 0, 0], np.uint32).tobytes(),
            "out": np.zeros(2, np.float32),
        },
    ),
    KnownAnswer(
        "subgroup sums, ballots and shuffles, by the size the device has",
        """enable subgroups;
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(32)
        fn main(@builtin(local_invocation_index) i: u32, @builtin(subgroup_size) size: u32,
            @builtin(subgroup_invocation_id) lane: u32) {
          let first = i - lane;
          let count = min(size, 32u);
          let sum = subgroupAdd(i);
          let right = sum == count * first + count * (count - 1) / 2;
          let before = subgroupExclusiveAdd(1u) == lane;
          let top = subgroupMax(lane) == count - 1;
          let neighbour = subgroupShuffleXor(i, 1) == (i ^ 1);
          let leader = subgroupBroadcastFirst(i) == first;
          let any = subgroupAny(i > 40);
          let all = subgroupAll(i < 32) && !any;
          let ballot = countOneBits(subgroupBallot(lane % 2 == 0).x) == (min(count, 32u) + 1) / 2;
          out[i] = u32(right) + 2 * u32(before) + 4 * u32(top) + 8 * u32(neighbour) + 16 * u32(leader) + 32 * u32(all)
            + 64 * u32(ballot);
        }""",
        [127] * 32,
    ),
    KnownAnswer(
        "subgroup operations in uniform control flow and in loops",
        """enable subgroups;
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(16)
        fn main(@builtin(local_invocation_index) i: u32, @builtin(subgroup_invocation_id) lane: u32,
            @builtin(subgroup_size) size: u32, @builtin(workgroup_id) w: vec3u) {
          var n = lane;
          for (var k = 0u; k < 3; k++) { if w.x == k { n = subgroupMax(n) + lane; } n = subgroupMin(n) + k; }
          out[w.x * 16 + i] = u32(n == select(3u, min(size, 16u) + 2, w.x == 0));
        }""",
        [1] * 16,
    ),
    KnownAnswer(
        "textures are loaded, stored and measured",
        """@group(0) @binding(0) var source: texture_2d<f32>;
        @group(0) @binding(1) var target_image: texture_storage_2d<rgba8unorm, write>;
        @group(0) @binding(2) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(4, 2) fn main(@builtin(global_invocation_id) id: vec3u) {
          let size = textureDimensions(source);
          let at = vec2u(size.x - 1 - id.x, id.y);
          let texel = textureLoad(source, at, 0);
          textureStore(target_image, id.xy, vec4f(texel.x, 1, 0, texel.x * 0.5));
          out[id.x + id.y * size.x] = u32(texel.x * 4) + size.x * 10 + textureDimensions(target_image).y * 100;
        }""",
        {
            "out": [243, 242, 241, 240, 244, 244, 244, 240],
            "target_image": [
                [[round(255 * x), 255, 0, round(127.5 * x + 0.01)] for x in row[::-1]]
                for row in ([0, 0.25, 0.5, 0.75], [0, 1, 1, 1])
            ],
        },
        {
            "source": np.array([[0, 0.25, 0.5, 0.75], [0, 1, 1, 1]], np.float32)[..., None],
            "target_image": np.zeros((2, 4, 4), np.uint8),
            "out": words(8),
        },
    ),
]


@pytest.mark.parametrize(("kernel", "device"), named(KERNELS))
def test_memory(kernel: KnownAnswer, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check(kernel, device, monkeypatch)
