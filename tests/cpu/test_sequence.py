"""Sequences: steps that one call into C executes any number of times."""

from __future__ import annotations

import ctypes
import struct
import threading
import time
from collections.abc import Mapping

import numpy as np
import pytest
from tests.interrupting import interrupted

import tinct
from tinct.backend.cpu._pool import Pool
from tinct.backend.cpu.options import CpuOptions
from tinct.backend.cpu.sequence import Sequence
from tinct.backend.cpu.sequence_steps import (
    CopyStep,
    DispatchStep,
    ExtentInMemory,
    FillStep,
    Grid,
    GridFromMemory,
    Range,
    RefusedGrid,
    Step,
)
from tinct.backend.cpu.tiered import TieredKernel
from tinct.base.errors import DeviceError, InputError
from tinct.ir.types import BindingPoint

Numbers = np.ndarray[tuple[int, ...], np.dtype[np.uint32]]

TEXT = """
@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> b: array<u32>;
@group(0) @binding(2) var<storage, read_write> total: atomic<u32>;
@compute @workgroup_size(64) fn add(@builtin(global_invocation_id) id: vec3u) {
  if id.x < arrayLength(&b) { b[id.x] = a[id.x] + 1; }
}
@compute @workgroup_size(64) fn count(@builtin(global_invocation_id) id: vec3u) { atomicAdd(&total, 1u); }
@compute @workgroup_size(4, 2, 1) fn grid(@builtin(num_workgroups) n: vec3u) {
  atomicAdd(&total, n.x * 10000 + n.y * 100 + n.z);
}
@compute @workgroup_size(2, 1, 1) fn mark(@builtin(global_invocation_id) id: vec3u) { b[id.x + 9 * id.y] += 1; }
@compute @workgroup_size(1) fn decrease() { if b[0] > 0 { b[0]--; } b[1] = u32(b[0] == 0); }
@compute @workgroup_size(1) fn endless() { while b[0] != 1 { b[1] += 2; } }
@compute @workgroup_size(1) fn slow() {
  var v = b[0]; for (var n = 0u; n < 20000000u; n++) { v = v * 1664525u + 1013904223u; } b[0] = v;
}
"""


@pytest.fixture
def shader(monkeypatch: pytest.MonkeyPatch) -> tinct.Shader:
    """Each test has kernels that have not run, of all tiers in turn."""
    monkeypatch.setenv("TINCT_CPU_TIER", "auto")
    return tinct.load(TEXT)


def machine_code(shader: tinct.Shader, entry: str) -> TieredKernel:
    return shader[entry].compilation().machine_code


def dispatch(
    shader: tinct.Shader, entry: str, ranges: Mapping[int, Range], grid: Grid = (1, 1, 1), *, written: int
) -> DispatchStep:
    points = {BindingPoint(0, binding): it for binding, it in ranges.items()}
    return DispatchStep(machine_code(shader, entry), points, (BindingPoint(0, written),), grid)


def words(*values: int) -> Numbers:
    return np.array(values, np.uint32)


def run(sequence: Sequence, *memories: Numbers, **options: object) -> tuple[int, tuple[int, ...], RefusedGrid | None]:
    done = sequence.bind([it.view(np.uint8) for it in memories]).run(**options)  # type: ignore[arg-type]
    return done.executions, done.places, done.refused


def chain(shader: tinct.Shader, count: int = 1) -> list[Step]:
    """Steps that add `count` to memory 0, of 256 bytes, by way of memory 1."""
    one, other = Range(0, 0, 256), Range(1, 0, 256)
    there = dispatch(shader, "add", {0: one, 1: other}, written=1)
    return [it for _ in range(count) for it in (there, CopyStep(other, one))]


@pytest.mark.parametrize("executions", [0, 1, 2, 1000])
def test_steps_take_effect_in_order(shader: tinct.Shader, executions: int) -> None:
    a, b = np.zeros(64, np.uint32), np.zeros(64, np.uint32)
    assert run(Sequence(chain(shader, 3), sizes=[256, 256]), a, b, executions=executions) == (executions, (0, 1), None)
    assert a.tolist() == [3 * executions] * 64


@pytest.mark.parametrize("executions", [1, 2, 3, 100, 12345])
def test_swaps_come_between_executions(shader: tinct.Shader, executions: int) -> None:
    """Memories move in a circle of three, while first runs and optimised code take turns."""
    memories = [np.zeros(64, np.uint32) for _ in range(3)]
    step = dispatch(shader, "add", {0: Range(0, 0, 256), 1: Range(1, 0, 256)}, written=1)
    sequence = Sequence([step], sizes=[256] * 3, swaps={0: 1, 1: 2, 2: 0})
    done, places, _ = run(sequence, *memories, executions=executions)
    assert done == executions
    assert places == tuple((number + executions - 1) % 3 for number in range(3))
    assert memories[places[1]].tolist() == [executions] * 64
    assert memories[places[0]].tolist() == [executions - 1] * 64


def test_a_sequence_runs_on_any_memories_of_its_sizes(shader: tinct.Shader) -> None:
    sequence = Sequence(chain(shader), sizes=[256, 256])
    room = np.zeros(300, np.uint8)
    for offset in (0, 3, 7):  # any alignment
        memory = room[offset : offset + 256]
        memory[:] = 0
        sequence.bind([memory, np.zeros(256, np.uint8)]).run(executions=5)
        assert memory.tobytes() == words(*[5] * 64).tobytes()
    with pytest.raises(InputError, match="memories of \\[256, 256\\] bytes are needed, not of \\[256, 4\\]"):
        sequence.bind([np.zeros(256, np.uint8), np.zeros(4, np.uint8)])
    with pytest.raises(InputError, match="memories 0 and 1 overlap, and one is written"):
        sequence.bind([room[:256], room[16:272]])


def test_fills_and_copies_of_parts(shader: tinct.Shader) -> None:
    large = 3 * (1 << 16) + 20  # more than a chunk
    a, b = np.arange(large // 4, dtype=np.uint32), np.zeros(large // 4, np.uint32)
    steps = [CopyStep(Range(0, 4, large - 8), Range(1, 8, large - 8)), FillStep(Range(0, 8, large - 12))]
    run(Sequence(steps, sizes=[large, large]), a, b)
    expected = np.arange(large // 4, dtype=np.uint32)
    assert b.tolist() == [0, 0, *expected[1:-1]]
    assert a.tolist() == [0, 1, *[0] * (len(a) - 3), expected[-1]]


def test_the_first_flag_that_is_set_ends_a_sequence(shader: tinct.Shader) -> None:
    step = dispatch(shader, "decrease", {1: Range(0, 0, 8)}, written=1)
    sequence, flag = Sequence([step], sizes=[8]), Range(0, 4, 4)
    for start, executions in ((1, 1), (7, 7), (5000, 5000), (10000, 6000)):
        state = words(start, 0)
        done, _, _ = run(sequence, state, executions=6000, until=flag)
        assert (done, state[0]) == (executions, start - executions)


def test_a_grid_is_read_when_its_step_begins(shader: tinct.Shader) -> None:
    """The count changes from one execution to the next; a dispatch of none runs nothing."""
    grid = GridFromMemory((ExtentInMemory(0, 0),), (64, 1, 1), capacity=1000)
    steps = [
        dispatch(shader, "count", {2: Range(1, 0, 4)}, grid, written=2),
        dispatch(shader, "decrease", {1: Range(0, 0, 8)}, written=1),
    ]
    state, total = words(130, 0), words(0)
    assert run(Sequence(steps, sizes=[8, 4]), state, total, executions=200)[0] == 200
    assert total[0] == sum(-(-n // 64) * 64 for n in range(131))


@pytest.mark.parametrize("tier", ["baseline", "lane", "gang"])
def test_threads_that_have_several_workgroups(shader: tinct.Shader, tier: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their number is rounded up, and no multiple of the number of workgroups."""
    monkeypatch.setenv("TINCT_CPU_TIER", tier)
    for width, height in ((1, 1), (2, 1), (9, 1), (9, 2), (8, 11), (0, 3)):
        grid = GridFromMemory((ExtentInMemory(0, 0), ExtentInMemory(0, 4)), (2, 1, 1))
        sequence = Sequence([dispatch(shader, "mark", {1: Range(1, 0, 404)}, grid, written=1)], sizes=[8, 404])
        expected, found = np.zeros(101, np.uint32), np.zeros(101, np.uint32)
        for y in range(height):
            expected[9 * y : 9 * y + width + width % 2] += 1
        run(sequence, words(width, height), found)
        np.testing.assert_array_equal(found, expected)


def test_all_extents_reach_the_kernel(shader: tinct.Shader) -> None:
    extents = (ExtentInMemory(0, 4), 5, ExtentInMemory(0, 0, is_signed=True))
    grid = GridFromMemory(extents, (4, 2, 1))
    step = dispatch(shader, "grid", {2: Range(1, 0, 4)}, grid, written=2)
    state, total = words(2, 9), words(0)
    run(Sequence([step], sizes=[8, 4]), state, total)
    assert total[0] == 3 * 3 * 2 * 8 * (3 * 10000 + 3 * 100 + 2)


@pytest.mark.parametrize(
    ("extents", "capacity", "given", "read"),
    [
        ((ExtentInMemory(0, 0),), 100, 101, (101, 1, 1)),
        ((ExtentInMemory(0, 0), 10), 100, 11, (11, 10, 1)),
        ((ExtentInMemory(0, 0),), None, 65535 * 4 + 1, (65535 * 4 + 1, 1, 1)),
        ((1, 1, ExtentInMemory(0, 0)), None, 65536, (1, 1, 65536)),
        ((ExtentInMemory(0, 0, is_signed=True),), None, 0xFFFFFFFF, (0xFFFFFFFF, 1, 1)),
        ((ExtentInMemory(0, 0),) * 3, None, 0xFFFFFFFF, (0xFFFFFFFF,) * 3),
    ],
)
def test_a_grid_that_is_too_large_is_refused(
    shader: tinct.Shader,
    extents: tuple[int | ExtentInMemory, ...],
    capacity: int | None,
    given: int,
    read: tuple[int, int, int],
) -> None:
    refused = dispatch(shader, "grid", {2: Range(1, 0, 4)}, GridFromMemory(extents, (4, 2, 1), capacity), written=2)
    steps = [FillStep(Range(1, 4, 4)), refused, CopyStep(Range(0, 0, 4), Range(1, 4, 4))]
    state, total = words(given), words(0, 9)
    assert run(Sequence(steps, sizes=[4, 8]), state, total, executions=3) == (0, (0, 1), RefusedGrid(1, read))
    assert total.tolist() == [0, 0]


def test_capacity_may_be_reached(shader: tinct.Shader) -> None:
    grid = GridFromMemory((ExtentInMemory(0, 0), 10), (4, 2, 1), 100)
    step = dispatch(shader, "grid", {2: Range(1, 0, 4)}, grid, written=2)
    assert run(Sequence([step], sizes=[4, 4]), words(10), words(0)) == (1, (0, 1), None)


def test_an_empty_array_needs_no_memory(shader: tinct.Shader) -> None:
    step = dispatch(shader, "add", {0: Range(0, 0, 0), 1: Range(1, 0, 256)}, written=1)
    into = dispatch(shader, "add", {0: Range(1, 0, 256), 1: Range(0, 0, 0)}, written=1)
    nothing, b = np.zeros(0, np.uint32), np.zeros(64, np.uint32)
    assert run(Sequence([step, into], sizes=[0, 256]), nothing, b, executions=3)[0] == 3
    assert b.tolist() == [1] * 64


ENTRY = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 2, *[ctypes.c_uint64] * 2, ctypes.c_void_p)


@pytest.mark.parametrize(("beside", "threads"), [(0, 1), (1, 2)])
def test_steps_of_a_level_run_side_by_side(beside: int, threads: int) -> None:
    """Each step is one call of Python, which is no less code than a kernel's, so that it keeps one thread busy."""
    found = list[int]()

    def task(*_: object) -> None:
        found.append(threading.get_ident())
        time.sleep(0.02)

    entry = ENTRY(task)
    address = ctypes.cast(entry, ctypes.c_void_p).value
    assert address is not None
    steps = bytearray()
    for number in range(6):
        steps += struct.pack("18Q4d", 0, address, 0, 0, 0, 1, *(0,) * 10, beside and number, 0, 0.0, 0.0, 0.02, 0.0)
    done = Pool(2).run_sequence(steps, bytearray(24), bytearray(), b"", b"", b"", b"", b"", (), 3, False, None)
    assert done[:3] == (3, False, -1)
    assert len(found) == 3 * 6
    assert len(set(found)) == threads


def test_levels_give_the_same_results(shader: tinct.Shader) -> None:
    steps = [dispatch(shader, "slow", {1: Range(number, 0, 4)}, written=1) for number in range(4)]
    results: list[list[list[int]]] = []
    for levels in ([0] * 4, [0, 0, 1, 1], range(4)):
        memories = [words(number) for number in range(4)]
        run(Sequence(steps, sizes=[4] * 4, levels=levels), *memories, executions=5)
        results.append([it.tolist() for it in memories])
    assert results[0] == results[1] == results[2]


def test_seconds_of_each_step(shader: tinct.Shader) -> None:
    steps = [*chain(shader), dispatch(shader, "slow", {1: Range(2, 0, 4)}, written=1)]
    memories = [np.zeros(256, np.uint8), np.zeros(256, np.uint8), np.zeros(4, np.uint8)]
    sequence = Sequence(steps, sizes=[256, 256, 4], levels=[0, 1, 1])
    start = time.perf_counter()
    bound = sequence.bind(memories)
    seconds = bound.run(timed=True).seconds
    assert 0 < seconds[0] < seconds[2] < time.perf_counter() - start
    assert seconds[1] > 0
    assert bound.run().seconds == ()


def test_first_runs_use_baseline_code_and_later_ones_do_not(shader: tinct.Shader) -> None:
    kernel = machine_code(shader, "add")
    sequence = Sequence(chain(shader), sizes=[256, 256])
    memories = [np.zeros(64, np.uint32), np.zeros(64, np.uint32)]
    run(sequence, *memories)
    assert kernel.has_code(CpuOptions("baseline"))
    assert not kernel.has_code(CpuOptions("gang"))
    run(sequence, *memories, executions=1_000_000)
    assert kernel.has_code(CpuOptions("gang"))
    assert memories[0].tolist() == [1_000_001] * 64


def test_a_first_run_that_takes_too_long_is_done_again(shader: tinct.Shader) -> None:
    """The words that it had written when it was stopped do not count."""
    count = dispatch(shader, "count", {2: Range(1, 0, 4)}, (100, 1, 1), written=2)
    slow = dispatch(shader, "slow", {1: Range(0, 0, 4)}, written=1)
    state, total = words(1), words(0)
    run(Sequence([count, slow], sizes=[4, 4]), state, total)
    assert total[0] == 6400
    expected = words(1)
    tinct.load(TEXT)["slow"].compilation().cpu.run([expected.view(np.uint8)], (1, 1, 1))
    assert state[0] == expected[0]


def test_an_endless_step_is_stopped_by_its_time_limit(shader: tinct.Shader) -> None:
    steps = [dispatch(shader, "endless", {1: Range(0, 0, 8)}, written=1)]
    sequence, start = Sequence(steps, sizes=[8]), time.perf_counter()
    with pytest.raises(DeviceError, match=r"0\.3 s"):
        run(sequence, words(0, 0), timeout=0.3)
    assert time.perf_counter() - start < 5
    assert run(sequence, words(1, 5), timeout=5)[0] == 1


@pytest.mark.parametrize("entry", ["endless", "decrease"])
def test_an_interrupt_ends_a_sequence(shader: tinct.Shader, entry: str) -> None:
    """Both in the middle of a step, and between many short ones."""
    sequence = Sequence([dispatch(shader, entry, {1: Range(0, 0, 8)}, written=1)], sizes=[8])
    run(sequence, words(1, 0))
    memory = words(0, 0)
    with interrupted(lambda: memory[1]):
        run(sequence, memory, executions=1 << 70)
    assert run(sequence, words(1, 0))[0] == 1


def test_many_threads_run_one_sequence(shader: tinct.Shader) -> None:
    grid = GridFromMemory((ExtentInMemory(0, 0),), (64, 1, 1))
    sequence = Sequence([dispatch(shader, "count", {2: Range(1, 0, 4)}, grid, written=2)], sizes=[4, 4])
    found: list[tuple[int, int]] = []

    def count(number: int) -> None:
        total = words(0)
        run(sequence, words(number), total, executions=2000)
        found.append((number, int(total[0])))

    threads = [threading.Thread(target=count, args=(64 * number,)) for number in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [(64 * number, 64 * number * 2000) for number in range(5)]


def test_what_does_not_fit_is_refused(shader: tinct.Shader) -> None:
    inside, sizes = Range(0, 0, 256), [1024, 1024]
    cases: list[tuple[Step, str]] = [
        (FillStep(Range(2, 0, 4)), "there is no memory 2"),
        (FillStep(Range(0, 1000, 25)), "25 bytes from 1000 on are not inside of memory 0, which has 1024"),
        (CopyStep(inside, Range(1, 0, 255)), "256 bytes cannot be copied to 255"),
        (CopyStep(inside, Range(0, 255, 256)), "overlap, and one is written"),
        (dispatch(shader, "add", {0: Range(0, 8, 256), 1: Range(1, 0, 256)}, written=1), "is no multiple of 16"),
        (dispatch(shader, "add", {0: inside, 1: Range(0, 16, 256)}, written=1), "overlap, and one is written"),
    ]
    for step, message in cases:
        with pytest.raises(InputError, match=f"step 1: .*{message}"):
            Sequence([FillStep(inside), step], sizes=sizes)
    with pytest.raises(InputError, match="is no permutation of 2 memories"):
        Sequence([], sizes=sizes, swaps={0: 1})
    with pytest.raises(InputError, match="memory 1 of 8 bytes cannot take the place of 0, of 4"):
        Sequence([], sizes=[4, 8], swaps={0: 1, 1: 0})
