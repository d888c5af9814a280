"""Calls in each kind of place, of functions with each kind of parameter, on every device and tier."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from tests.known_answers.support import DEVICES, KnownAnswer, check

from tinct.ir.hercules import nodes as h
from tinct.ir.hercules.verify import check as check_module
from tinct.ir.source import Source
from tinct.shader import Shader

LANES = range(8)


def case(name: str, text: str, expected: Sequence[int]) -> KnownAnswer:
    return KnownAnswer(name, text, [it & 0xFFFFFFFF for it in expected])


def _halvings(n: int) -> int:
    return n.bit_length() - 1


def _swapped(lane: int) -> int:
    a = [it * it for it in range(40)]
    if lane != 3:
        a[lane], a[39 - lane] = a[39 - lane], a[lane]
    a[0], a[lane] = a[lane], a[0]
    return a[lane] * 10000 + a[39 - lane]


def _exchanged(lane: int) -> int:
    own, other = lane * 32, (lane ^ 1) * 32 ^ lane ^ 1
    return (own * 31 + other) ^ other ^ (own * 31 + other)


HALVINGS = """fn halvings(k: u32) -> u32 {
    var n = k; var turns = 0u;
    while n != 1 { n /= 2; turns++; }
    return turns; }"""
CASES = [
    case(
        "in a loop",
        """fn step(a: u32, b: u32) -> u32 { return a * 3 + b; } ---
        var sum = 1u; for (var k = 0u; k < i; k++) { sum = step(sum, k); } out[i] = sum;""",
        [1, 3, 10, 32, 99, 301, 908, 2730],
    ),
    case(
        "only lanes for which the function ends",
        HALVINGS + " --- var turns = 99u; if i > 0 { turns = halvings(i); } out[i] = turns;",
        [99, *(_halvings(it) for it in range(1, 8))],
    ),
    case(
        "after a return of other lanes",
        HALVINGS + " --- if i == 0 || i == 5 { return; } out[i] = 10 + halvings(i);",
        [0 if it in (0, 5) else 10 + _halvings(it) for it in LANES],
    ),
    case(
        "one function that never returns",
        """fn forever(a: u32) -> u32 { var n = a; loop { n *= 2; if false { break; } } return n; }
        fn other(a: u32) -> u32 { if a > 9 { return forever(a); } return a + 1; } ---
        out[i] = other(i);""",
        [it + 1 for it in LANES],
    ),
    case(
        "a pointer written for some",
        """fn put(p: ptr<function, u32>, a: u32) -> bool {
            if a % 3 == 1 { *p = a * 10; return true; } return false; } ---
        var n = 7u; let was_put = put(&n, i); out[i] = n + select(0u, 1000u, was_put);""",
        [it * 10 + 1000 if it % 3 == 1 else 7 for it in LANES],
    ),
    case(
        "the same value by pointer and by value",
        """fn both(p: ptr<function, u32>, a: u32) -> u32 { *p += 5; return a * 100 + *p; } ---
        var n = i; out[i] = both(&n, n) + n * 10000;""",
        [it * 100 + it + 5 + (it + 5) * 10000 for it in LANES],
    ),
    case(
        "a private variable",
        """var<private> total: u32 = 3;
        fn add(a: u32) { total += a; }
        fn add_twice(a: u32) { add(a); if a > 2 { add(a * 10); } } ---
        for (var k = 0u; k < i; k++) { add_twice(k); if k == 5 { break; } } out[i] = total;""",
        [3 + sum(k + (k * 10 if k > 2 else 0) for k in range(min(it, 6))) for it in LANES],
    ),
    case(
        "a large array by pointer",
        """fn swap(a: ptr<function, array<u32, 40>>, x: u32, y: u32) {
            let t = (*a)[x]; (*a)[x] = (*a)[y]; (*a)[y] = t; } ---
        var a: array<u32, 40>; for (var k = 0u; k < 40; k++) { a[k] = k * k; }
        if i != 3 { swap(&a, i, 39 - i); } swap(&a, 0, i); out[i] = a[i] * 10000 + a[39 - i];""",
        [_swapped(it) for it in LANES],
    ),
    case(
        "a large array by value",
        """fn at(a: array<u32, 20>, x: u32) -> u32 { var b = a; b[x] += 1; return b[x] + a[x + 1]; } ---
        var a: array<u32, 20>; for (var k = 0u; k < 20; k++) { a[k] = k * i; } out[i] = at(a, i) + a[i];""",
        [3 * it * it + it + 1 for it in LANES],
    ),
    case(
        "structures in and out",
        """struct Inner { v: vec3u, is_set: bool } struct Outer { inner: Inner, a: array<i32, 2>, m: mat2x2f }
        fn make(n: u32) -> Outer {
            return Outer(Inner(vec3u(n, n + 1, 4), n > 3), array(-i32(n), 9), mat2x2f(1, 2, 3, f32(n))); }
        fn change(o: Outer, p: ptr<function, Outer>) -> u32 {
            (*p).inner.v.y += o.inner.v.x; (*p).a[1] -= o.a[0]; return u32((*p).m[1].y); } ---
        var o = make(i); let y = change(make(i + 1), &o);
        out[i] = o.inner.v.y * 100000 + u32(o.a[1]) * 1000 + y * 10 + u32(o.inner.is_set);""",
        [(2 * it + 2) * 100000 + (it + 10) * 1000 + it * 10 + (it > 3) for it in LANES],
    ),
    case(
        "an answer used after lanes have left the loop",
        """fn square(a: u32) -> u32 { return a * a + 1; } ---
        var last = 0u; var k = 0u; loop { last = square(k); if k == i { break; } k++; } out[i] = last;""",
        [it * it + 1 for it in LANES],
    ),
    case(
        "the same for all lanes in a loop that they leave",
        """fn square(a: u32) -> u32 { return a * a + 1; } ---
        var last = 0u; for (var k = 0u; k < 20; k++) { last = square(k); if k == i * 2 { break; } } out[i] = last;""",
        [4 * it * it + 1 for it in LANES],
    ),
    case(
        "memory that changes around it",
        """fn own(n: u32) -> u32 { return out[n] * 2 + 1; } ---
        out[i] = i; let before = own(i); out[i] = before * 10; out[i] = own(i) + before;""",
        [(it * 2 + 1) * 21 + 1 for it in LANES],
    ),
    case(
        "workgroup memory and lengths",
        """var<workgroup> shared_words: array<u32, 8>;
        fn look(n: u32) -> u32 { return shared_words[n] * arrayLength(&out); } ---
        shared_words[i] = i * i; workgroupBarrier(); let other = look(7 - i); workgroupBarrier();
        out[i] = other + look(i);""",
        [8 * ((7 - it) ** 2 + it * it) for it in LANES],
    ),
    case(
        "between barriers",
        """fn mixed(a: u32, p: ptr<function, u32>) -> u32 { *p = *p * 31 + a; return *p ^ a; }
        var<workgroup> shared_words: array<u32, 8>; ---
        var n = i; var found = mixed(i, &n); shared_words[i] = found; workgroupBarrier();
        found = mixed(shared_words[i ^ 1], &n); out[i] = found ^ n;""",
        [_exchanged(it) for it in LANES],
    ),
    case(
        "in a switch",
        """fn small(a: u32) -> u32 { return a + 100; }
        fn large(a: u32) -> u32 { if a > 5 { return small(a) * 2; } return small(a); } ---
        switch i % 3 { case 0: { out[i] = small(i); } case 1: { out[i] = large(i); }
            default: { out[i] = large(small(i)); } }""",
        [[it + 100, (it + 100) * (2 if it > 5 else 1), (it + 200) * 2][it % 3] for it in LANES],
    ),
    case(
        "halves, floats and signed numbers",
        """enable f16; fn scaled(a: f16, b: f32, c: i32) -> vec2f { return vec2f(f32(a) * b, f32(c)); } ---
        let v = scaled(f16(i) * 0.5, 4, -i32(i)); out[i] = u32(v.x - v.y);""",
        [3 * it for it in LANES],
    ),
]


@pytest.mark.usefixtures("nothing_inlined")
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kernel", CASES, ids=lambda it: it.name)
def test_answers(kernel: KnownAnswer, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check(kernel, device, monkeypatch)


@pytest.mark.usefixtures("nothing_inlined")
@pytest.mark.parametrize("kernel", CASES, ids=lambda it: it.name)
def test_calls_are_made(kernel: KnownAnswer) -> None:
    compilation = Shader(Source.from_text(kernel.wgsl)).compilation("main", {})
    check_module(compilation.hercules_unoptimised.module)
    check_module(compilation.hercules.module)
    assert any(isinstance(it, h.Call) for it in compilation.hercules.function.nodes)


@pytest.mark.usefixtures("nothing_inlined")
def test_calls_for_nothing_are_not_made() -> None:
    text = """fn idle(a: u32) -> u32 { var n = a; while n > 3 { n /= 2; } return n; } ---
        idle(i); _ = idle(3); out[i] = i;"""
    compilation = Shader(Source.from_text(case("", text, LANES).wgsl)).compilation("main", {})
    assert len(compilation.hercules.module.functions) == 1
