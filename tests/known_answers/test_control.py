"""Control that is easily got wrong: early returns, nested switches, continuing blocks, pointers, order of effects."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from .support import KnownAnswer, check, named


def lanes(function: Callable[[int], int]) -> list[int]:
    return [function(i) & 0xFFFFFFFF for i in range(8)]


def find(i: int) -> int:
    limit = i * 5 + 6
    found = ((a, b) for a in range(1, 20) for b in range(a, 21) if a * b == limit)
    return next((a * 100 + b for a, b in found), 7)


def continued(i: int) -> int:
    total = 0
    for k in range(10):
        kind = (k + i) % 4
        if kind != 0:
            total += 1000 + ((0 if k > 6 else 100) if kind == 1 else 1)
    return total


def broken_in_continuing(i: int) -> int:
    k, n = i, 0
    while True:
        doubled = k * 2
        n += 1
        k += 0 if k % 3 == 2 else 1
        k, n = k + 1 + (doubled >> 2 & 1), n + 10
        if k > 9 or n > 60:
            return k * 100 + n


def shadowed(i: int) -> int:
    total = 0
    for k in range(3):
        inner = k + i
        while inner > 3:
            inner -= 3
            total += inner
    return total * 10 + i


def effects(i: int) -> int:
    """The calls of `next` in order: each gives the count so far and adds one."""
    first, second, third = i, i + 1, i + 2
    chosen = (second < first) and (third > 0)
    return first * 100 + second * 10 + (1 if chosen else 0)


KERNELS = [
    KnownAnswer(
        "early returns from nested loops",
        """fn find(limit: u32) -> u32 {
          for (var a = 1u; a < 20; a++) {
            for (var b = a; ; b++) {
              if b > 20 { break; }
              if a * b == limit { return a * 100 + b; }
              if a * b > limit { break; }
            }
          }
          return 7;
        }
        --- out[i] = find(i * 5 + 6);""",
        lanes(find),
    ),
    KnownAnswer(
        "switches in switches with shared bodies",
        """--- var r = 0u;
        switch i & 3 {
          case 0, 2 {
            switch i >> 2 { case 1 { r = 10; break; } default { r = 20; } }
            r += 1;
          }
          case 3, default { if i > 4 { break; } r = 40 + i; }
        }
        out[i] = r;""",
        [21, 41, 21, 43, 11, 0, 11, 0],
    ),
    KnownAnswer(
        "continue out of a switch in a loop",
        """--- var sum = 0u;
        for (var k = 0u; k < 10; k++) {
          switch (k + i) % 4 { case 0 { continue; } case 1 { if k > 6 { break; } sum += 100; } default { sum += 1; } }
          sum += 1000;
        }
        out[i] = sum;""",
        lanes(continued),
    ),
    KnownAnswer(
        "a continuing block that breaks and sees the variables of the body",
        """--- var k = i; var n = 0u;
        loop {
          let doubled = k * 2;
          n++;
          if k % 3 != 2 { k += 1; }
          continuing { k += 1 + ((doubled >> 2) & 1); n += 10; break if k > 9 || n > 60; }
        }
        out[i] = k * 100 + n;""",
        lanes(broken_in_continuing),
    ),
    KnownAnswer(
        "shadowed names in loops",
        """--- var sum = 0u;
        for (var k = 0u; k < 3; k++) {
          var i = k + i;
          { let k = 3u; while i > k { i -= k; sum += i; } }
        }
        out[i] = sum * 10 + i;""",
        lanes(shadowed),
    ),
    KnownAnswer(
        "the order of calls with effects",
        """var<private> count: u32;
        fn next() -> u32 { count += 1; return count - 1; }
        --- count = i;
        let pair = vec2u(next(), next());
        var flag = 0u;
        if pair.y < pair.x && next() > 0 { flag = 1; }
        out[i] = pair.x * 100 + pair.y * 10 + flag;
        out[i + 8] = count;""",
        [*lanes(effects), *(i + 2 for i in range(8))],
    ),
    KnownAnswer(
        "the place of an assignment comes before its value",
        """var<private> at: u32;
        fn step() -> u32 { at += 1; return at; }
        --- var values = array(0u, 0u, 0u, 0u);
        at = i % 2;
        values[step()] = step() * 10;
        values[step() - 1] += step();
        out[i] = values[1] + values[2] * 100 + values[3] * 10000;""",
        # even: values[1] = 20, values[2] += 4; odd: values[2] = 30, values[3] += 5
        [20 + 400, 3000 + 50000] * 4,
    ),
    KnownAnswer(
        "short circuits that spare a call",
        """var<private> calls: u32;
        fn yes(b: bool) -> bool { calls += 1; return b; }
        --- let a = (yes(i < 4) && yes(i < 2)) || yes(i == 5);
        out[i] = calls * 10 + select(0u, 1u, a);""",
        [21, 21, 30, 30, 20, 21, 20, 20],
    ),
    KnownAnswer(
        "pointers to parts of variables, through functions",
        """struct Pair { left: vec3u, right: array<u32, 3> }
        fn add(to: ptr<function, u32>, what: u32) -> u32 { *to += what; return *to; }
        fn both(pair: ptr<function, Pair>) { pair.left.y = pair.right[2] * 2; (*pair).right[1] += pair.left[0]; }
        --- var pairs: array<Pair, 2>;
        let which = &pairs[i & 1];
        which.right[2] = i;
        which.left = vec3u(i + 1);
        both(which);
        var own = 5u;
        let n = add(&own, i) + add(&own, 1);
        out[i] = which.left.y * 1000 + pairs[i & 1].right[1] * 100 + pairs[1 - (i & 1)].left.x + n + own;""",
        lanes(lambda i: 2 * i * 1000 + (i + 1) * 100 + (5 + i) + (6 + i) + (6 + i)),
    ),
    KnownAnswer(
        "a pointer to an element keeps its index",
        """--- var a = array(1u, 2u, 3u, 4u);
        var k = i % 3;
        let p = &a[k];
        k += 1;
        *p = 50 + k;
        out[i] = a[0] + a[1] * 100 + a[2] * 10000;""",
        lanes(lambda i: [51 + 200 + 30000, 1 + 5200 + 30000, 1 + 200 + 530000][i % 3]),
    ),
    KnownAnswer(
        "pointers to private and workgroup memory as arguments",
        """var<private> own: array<u32, 4>;
        var<workgroup> shared_values: array<atomic<u32>, 2>;
        fn put(at: ptr<private, array<u32, 4>>, n: u32) { for (var k = 0u; k < 4; k++) { at[k] = n + k; } }
        fn count(to: ptr<workgroup, array<atomic<u32>, 2>>, n: u32) { atomicAdd(&to[n & 1], n); }
        --- put(&own, i * 10);
        count(&shared_values, i);
        workgroupBarrier();
        out[i] = own[i & 3] * 100 + atomicLoad(&shared_values[i & 1]);""",
        lanes(lambda i: (i * 10 + (i & 3)) * 100 + (12, 16)[i & 1]),
    ),
    KnownAnswer(
        "a loop that returns in the middle, around a barrier",
        """var<workgroup> tile: array<u32, 8>;
        --- for (var k = 0u; ; k++) {
          tile[i] = i + k;
          workgroupBarrier();
          let next = tile[(i + 1) % 8];
          workgroupBarrier();
          out[i] += next;
          if k == 2 { return; }
        }""",
        lanes(lambda i: 3 * ((i + 1) % 8) + 3),
    ),
    KnownAnswer(
        "a value that lives across barriers, in a struct with an array",
        """struct State { seen: array<u32, 5>, sum: vec2u }
        var<workgroup> one: u32;
        --- var state: State;
        for (var k = 0u; k < 5; k++) {
          if i == k { one = i * i; }
          state.seen[k] = workgroupUniformLoad(&one);
          state.sum += vec2u(state.seen[k], 1);
          workgroupBarrier();
        }
        out[i] = state.sum.x * 100 + state.sum.y * 10 + state.seen[i % 5];""",
        lanes(lambda i: 30 * 100 + 50 + (i % 5) ** 2),
    ),
    KnownAnswer(
        "for without any of its three parts, and while with a call",
        """var<private> left: u32;
        fn more() -> bool { left -= 1; return left > 2; }
        --- left = i + 4;
        while more() { out[i] += 1; }
        for (;;) { if out[i] >= 5 { break; } out[i] += 5; }""",
        lanes(lambda i: i + 1 if i + 1 >= 5 else i + 6),
    ),
    KnownAnswer(
        "a function with a way out in each case, and code behind them",
        """fn kind(n: u32) -> u32 {
          switch n {
            case 0 { return 5; }
            case 1, 2 { if n == 2 { return 6; } }
            case 3 { loop { return 8; } }
            default { }
          }
          return 9 + n;
        }
        --- out[i] = kind(i);""",
        [5, 10, 6, 8, 13, 14, 15, 16],
    ),
    KnownAnswer(
        "several entry points in a module",
        """@group(0) @binding(0) var<storage, read_write> out: array<u32>;
        fn scale() -> u32 { return 3; }
        @compute @workgroup_size(4) fn first(@builtin(local_invocation_index) i: u32) { out[i] = i; }
        @compute @workgroup_size(2, 2) fn second(@builtin(local_invocation_id) i: vec3u) {
          out[i.x + 2 * i.y] = i.y * scale();
        }
        """,
        [0, 0, 3, 3],
        entry="second",
    ),
    KnownAnswer(
        "workgroups and overrides size an array",
        """override width: u32 = 4;
        override last = width - 1;
        var<workgroup> tile: array<u32, width * 2>;
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(width, 2)
        fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) w: vec3u,
            @builtin(num_workgroups) all: vec3u) {
          tile[i] = i * i;
          workgroupBarrier();
          out[w.x * 2 * width + i] = tile[2 * width - 1 - i] + last * 100 + all.x * 1000;
        }""",
        [(5 - i) ** 2 + 200 + 2000 for _ in range(2) for i in range(6)],
        workgroups=2,
        constants={"width": 3},
    ),
]


@pytest.mark.parametrize(("kernel", "device"), named(KERNELS))
def test_control(kernel: KnownAnswer, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check(kernel, device, monkeypatch)


def test_answers_are_not_what_was_there_before() -> None:
    assert all(np.any(np.array(it.expected)) for it in KERNELS)
