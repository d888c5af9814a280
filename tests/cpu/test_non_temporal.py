"""Stores past the caches: where they are made, and that they store the same."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

from tinct.backend.cpu import CompiledKernel, compile_entry
from tinct.backend.cpu.emitted import NEVER
from tinct.backend.cpu.function import RunParameters
from tinct.backend.cpu.machine import MachineCosts
from tinct.backend.cpu.target import current_target
from tinct.frontend import load_program
from tinct.ir.source import Source
from tinct.transforms.from_wgsl import build
from tinct.transforms.to_hercules import translate

HEAD = """
enable f16;
struct Record { a: f32, b: u32, c: vec2f }
struct Behind { head: vec4u, tail: array<u32> }
@group(0) @binding(0) var<storage> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<TYPE>;
@group(0) @binding(2) var<storage, read_write> behind: Behind;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
"""
COUNT = 64 * 5


@pytest.fixture
def store_from(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Has stores go past the caches from so many bytes on, also those that are apart."""

    def set_limit(size: int) -> None:
        for name in ("cached_bytes", "cached_bytes_apart"):
            monkeypatch.setattr(MachineCosts, name, size)

    return set_limit


def kernel(type: str, body: str) -> CompiledKernel:
    text = HEAD.replace("TYPE", type) + body + "}"
    return compile_entry(translate(build(load_program(Source("test.wgsl", text.encode()))), "main"))


def results(compiled: CompiledKernel, offset: int) -> list[bytes]:
    rng = np.random.default_rng(5)
    memory = [np.zeros(16 * COUNT + 128, np.uint8) for _ in range(3)]
    buffers = [it[-it.ctypes.data % 64 + offset :][: 16 * COUNT] for it in memory]
    buffers[0][:] = rng.integers(0, 256, 16 * COUNT, np.uint8)
    compiled.run(buffers[: len(compiled.slots)], (5, 1, 1), workers=2)
    return [it.tobytes() for it in buffers]


@pytest.mark.parametrize("cpu_target", ["x86-64-v2", "x86-64-v3", "x86-64-v4"], indirect=True)
@pytest.mark.parametrize(
    ("type", "body"),
    [
        ("u32", "y[id.x] = x[id.x];"),
        ("f16", "y[id.x] = f16(x[id.x] % 100u);"),
        ("vec4u", "y[id.x] = vec4u(x[id.x], id.x, 7u, x[id.x] * 3u);"),
        ("vec2f", "y[id.x] = vec2f(f32(id.x), 2);"),
        ("Record", "y[id.x] = Record(f32(id.x), x[id.x], vec2f(1, 2));"),
        ("u32", "behind.tail[id.x] = x[id.x] + 1u;"),
    ],
)
@pytest.mark.usefixtures("cpu_target")
def test_stores_are_the_same(type: str, body: str, store_from: Callable[[int], None]) -> None:
    compiled = kernel(type, body)
    assert "!nontemporal" in compiled.llvm(optimised=False)
    for offset in (0, 16):
        store_from(1 << 60)
        expected = results(kernel(type, body), offset)
        store_from(0)
        assert results(compiled, offset) == expected


@pytest.mark.parametrize("cpu_target", ["x86-64-v4"], indirect=True)
@pytest.mark.parametrize(("row", "is_tested_alone"), [(192, False), (80, False), (81, True)])
@pytest.mark.usefixtures("cpu_target")
def test_rows_of_whole_lines_have_one_test(row: int, is_tested_alone: bool, store_from: Callable[[int], None]) -> None:
    """Where rows are whole lines, no test of a store depends on its row; whatever number that has, in 32 bits."""
    store_from(0)
    stores = " ".join(f"y[(x[0] + {at}u) * {row}u + id.x] = id.x + {at}u;" for at in range(4))
    compiled = kernel("u32", f"if id.x < 64u {{ {stores} }}")
    text = compiled.llvm()
    masked, pointers = set(re.findall(r"and i64 %(\S+), 63", text)), set(re.findall(r"%(\S+) = ptrtoint", text))
    assert masked
    assert (masked <= pointers) is not is_tested_alone
    for first in (0, 1, (1 << 32) - 1):
        x, y = np.array([first, 0], np.uint32), np.zeros(row * 8, np.uint32)
        compiled.run([x.view(np.uint8), y.view(np.uint8)], (1, 1, 1))
        expected = np.zeros_like(y)
        for at in range(4):
            places = np.minimum(((first + at) * row + np.arange(64)) % (1 << 32), y.size - 1)
            expected[places] = np.arange(64) + at
        np.testing.assert_array_equal(y, expected)


@pytest.mark.parametrize("cpu_target", ["x86-64-v3"], indirect=True)
@pytest.mark.usefixtures("cpu_target")
def test_one_line_is_begun_at_a_time() -> None:
    """Eight lanes of u32 are half of a line, of vec4u two lines."""

    def is_used(type: str, planes: int) -> bool:
        values = (f"y[id.x + {number * COUNT}u] = {type}(x[id.x + {number}u]);" for number in range(planes))
        return "!nontemporal" in kernel(type, " ".join(values)).llvm(optimised=False)

    assert is_used("u32", 1)
    assert not is_used("u32", 2)
    assert is_used("vec4u", 5)


@pytest.mark.parametrize("cpu_target", ["x86-64-v2", "x86-64-v3", "x86-64-v4"], indirect=True)
@pytest.mark.parametrize("value", ["x[id.x]", "x[id.x + 1u] * 3u + x[id.x + 70u]", "x[id.y * 7u + id.x] ^ 5u"])
@pytest.mark.usefixtures("cpu_target")
def test_gangs_store_whole_lines(value: str) -> None:
    """Where a vector is less than a line, the stores of several follow one another, at least in one version."""
    stored: list[int] = []
    is_behind = False
    for line in kernel("u32", f"if id.x < 300u {{ y[id.x] = {value}; }}").assembly().splitlines():
        found = re.search(r"\bv?movnt\w+\s+%([xyz])mm", line)
        if found is not None:
            stored = stored if is_behind else [*stored, 0]
            stored[-1] += {"x": 16, "y": 32, "z": 64}[found[1]]
        is_behind = found is not None
    assert any(it % 64 == 0 for it in stored)


@pytest.mark.parametrize(
    ("cpu_target", "expected"), [("x86-64-v3", False), ("x86-64-v4", True)], indirect=["cpu_target"]
)
@pytest.mark.usefixtures("cpu_target")
def test_a_loop_that_begins_a_line_in_each_turn(expected: bool) -> None:
    """The other half of each of them is stored by the next gang, after all turns. A gang of several vectors stores
    whole lines, but this body has too many operations for that.
    """
    taps = " + ".join(f"x[id.x + i * {number + 7}u] / {number + 3}u" for number in range(24))
    body = f"for (var i = 0u; i < x[0] % 7u; i++) {{ y[i * 64u + id.x] = {taps}; }}"
    assert ("!nontemporal" in kernel("u32", body).llvm(optimised=False)) is expected


@pytest.mark.parametrize("cpu_target", ["x86-64-v3"], indirect=True)
@pytest.mark.usefixtures("cpu_target")
def test_atomic_operations_wait_for_no_stores() -> None:
    """Those whose old values are used. Counts are made in copies for each worker."""

    def is_used(body: str) -> bool:
        counts = "@group(0) @binding(3) var<storage, read_write> counts: array<atomic<u32>>;\n"
        head = HEAD.replace("TYPE", "u32").replace("@compute", counts + "@compute")
        source = Source("test.wgsl", (head + body + "}").encode())
        compiled = compile_entry(translate(build(load_program(source)), "main"))
        return "!nontemporal" in compiled.llvm(optimised=False)

    assert is_used("atomicAdd(&counts[x[id.x]], 1u); y[id.x] = id.x;")
    assert not is_used("y[id.x] = atomicAdd(&counts[x[id.x]], 1u);")


@pytest.mark.parametrize("cpu_target", ["x86-64-v3"], indirect=True)
@pytest.mark.usefixtures("cpu_target")
def test_rows_fill_lines() -> None:
    """A row of 8 invocations in a workgroup stores half of a line; the other half follows many stores later."""

    def is_used(size: str) -> bool:
        text = HEAD.replace("TYPE", "u32").replace("64", size)
        body = "var v = 0u; for (var k = 0u; k < x[0]; k++) { v += x[k + id.x]; } y[id.y * 80u + id.x] = v; }"
        source = Source("test.wgsl", (text + body).encode())
        compiled = compile_entry(translate(build(load_program(source)), "main"))
        return "!nontemporal" in compiled.llvm(optimised=False)

    assert is_used("16, 4")
    assert not is_used("8, 8")


def test_they_are_what_the_processor_has() -> None:
    name = "vmovnt" if current_target().vector_bytes > 16 else "movnt"
    assert name in kernel("vec4u", "y[id.x] = vec4u(x[id.x]);").assembly()


@pytest.mark.parametrize(
    "body",
    [
        "for (var i = 0u; i < x[0] % 7u; i++) { y[i * (x[1] % 3u * 64u) + id.x] = x[i]; }",
        "for (var i = 0u; i < x[0] % 7u; i++) { y[i * 64u + id.x] = x[id.x]; }",
        "for (var i = 0u; i < x[0] % 7u; i += 64u) { y[i + id.x] = x[i]; }",
        "for (var i = 3u; i < x[0] % 7u; i++) { for (var k = 0u; k < 9u; k++) { y[(i * x[1] + k) * 64 + id.x] = k; } }",
        "var at = id.x; for (var i = 0u; i < x[0] % 7u; i++) { y[at] = x[i]; at += 128u; }",
        "for (var i = 0u; i < x[0] % 7u; i++) { if i * 64u + id.x < x[1] % 500u { y[i * 64u + id.x] = x[i]; } }",
    ],
)
@pytest.mark.parametrize("cpu_target", ["x86-64-v3", "x86-64-v4"], indirect=True)
@pytest.mark.usefixtures("cpu_target")
def test_loops_that_move_on_store_past_the_caches(body: str, store_from: Callable[[int], None]) -> None:
    compiled = kernel("u32", body)
    assert "!nontemporal" in compiled.llvm(optimised=False)
    store_from(1 << 60)
    expected = results(kernel("u32", body), 0)
    store_from(0)
    assert results(compiled, 0) == expected


@pytest.mark.parametrize(
    "body",
    [
        "for (var i = 0u; i < x[0]; i++) { y[i + id.x] = x[i]; }",
        "for (var i = 0u; i < x[0]; i++) { y[(i % 4u) * 64u + id.x] = x[i]; }",
        "for (var k = 0u; k < 9u; k++) { for (var i = 3u; i < x[0]; i++) { y[i * 64u + id.x] = k; } }",
        "y[id.x] = y[id.x] + x[id.x];",
        "y[id.x] = x[id.x]; if y[0] == 5u { behind.head.x = 1u; }",
        "for (var i = 0u; i < x[0]; i++) { y[id.x] = x[i]; }",
        "y[id.x * 3u] = x[id.x];",
    ],
)
def test_what_is_looked_at_or_written_again_stays_in_the_caches(body: str) -> None:
    assert "!nontemporal" not in kernel("u32", body).llvm(optimised=False)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("y[(group.x * 16u + id.y) * x[0] + group.y * 16u + id.x] = v;", True),
        ("let at = id + group.yx * 16u; y[at.x + x[0] * at.y] = v;", True),
        ("y[group.x * 16384u + id.y * 1024u + group.y * 16u + id.x] = v;", True),
        ("for (var k = 0u; k < 2u; k++) { y[(group.x * 32u + k * 16u + id.y) * x[0] + id.x] = v; }", True),
        ("y[(group.y * 16u + id.y) * x[0] + group.x * 16u + id.x] = v;", False),
        ("y[group.x * 256u + id.y * 16u + id.x] = v;", False),
        ("y[group.x * 1024u + id.y * 64u + id.x] = v; y[group.x * 1024u + id.y * 64u + 16u + id.x] = v;", False),
        ("for (var k = 0u; k < x[1]; k += 256u) { y[(group.x * 16u + id.y) * x[0] + k + id.x] = v; }", False),
    ],
    ids=["transposed", "by vectors", "constant sizes", "rows in a loop", "copied", "tiles", "wide rows", "whole rows"],
)
@pytest.mark.parametrize("cpu_target", ["x86-64-v4"], indirect=True)
@pytest.mark.usefixtures("cpu_target")
def test_lines_far_apart(body: str, expected: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """They have a limit of their own: here it is always reached, and that of other stores never."""
    monkeypatch.setattr(MachineCosts, "cached_bytes", 1 << 60)
    monkeypatch.setattr(MachineCosts, "cached_bytes_apart", 0)
    text = """
@group(0) @binding(0) var<storage> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@compute @workgroup_size(16, 16)
fn main(@builtin(workgroup_id) groups: vec3u, @builtin(local_invocation_id) ids: vec3u) {
    let group = groups.xy; let id = ids.xy; let v = x[id.x];
"""
    source = Source("test.wgsl", (text + body + "}").encode())
    compiled = compile_entry(translate(build(load_program(source)), "main"))
    constants = [1] * 5  # three numbers of workgroups, two lengths
    words = RunParameters.of(compiled.function.interface, constants).words
    read = set(map(int, re.findall(r"ptr %dynamic, i64 (\d+)", compiled.llvm(optimised=False))))
    assert [words[it] for it in read if it >= len(constants)] == [0 if expected else NEVER]
