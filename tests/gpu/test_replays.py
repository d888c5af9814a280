"""Sequences that the GPU's process replays, and indirect dispatches with the kernel that makes their arguments."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, nullcontext

import numpy as np
import pytest

from tinct.backend.gpu import (
    DEFAULT_SECONDS,
    BoundDispatch,
    ClearRange,
    CopyRange,
    GpuDevice,
    GpuError,
    GpuQueue,
    IndirectDispatch,
    Part,
    QueuedStep,
    Resident,
    shared_device,
)
from tinct.backend.gpu.binding_headers import BindingHeader
from tinct.graphs.indirect import (
    ARGUMENT_BYTES,
    ERROR_BYTES,
    INDIRECT_WGSL,
    ExtentWord,
    packed_request,
    refusal,
)

ADD = """
@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> b: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) { b[id.x] = a[id.x] + 1; }
"""
COUNT = """
@group(0) @binding(0) var<storage, read> unused: array<u32>;
@group(0) @binding(1) var<storage, read_write> total: atomic<u32>;
@compute @workgroup_size(1) fn main(@builtin(num_workgroups) n: vec3u) {
    atomicAdd(&total, 1 + 0 * unused[0]);
}
"""
HEADERS: list[BindingHeader] = [
    {"group": 0, "binding": 0, "kind": "read-only-storage"},
    {"group": 0, "binding": 1, "kind": "storage"},
]
SOURCES: list[BindingHeader] = [{"group": 0, "binding": it, "kind": "read-only-storage"} for it in range(4)]
RESULTS: list[BindingHeader] = [{"group": 0, "binding": it, "kind": "storage"} for it in (4, 5)]
WORDS = 64


@pytest.fixture
def queue() -> Generator[GpuQueue]:
    reason = GpuDevice.unavailable_reason()
    if reason is not None:
        pytest.skip(f"no GPU: {reason}")
    made = GpuQueue(shared_device(""))
    yield made
    made.close()


def buffer(queue: GpuQueue, values: np.ndarray) -> Resident:
    return queue.new_buffer(values.nbytes, values.astype(np.uint32).tobytes())


def bound(queue: GpuQueue, wgsl: str, a: Resident, b: Resident, sizes: tuple[int, int]) -> Resident:
    pipeline = queue.pipeline(wgsl, "main", HEADERS, timeout=60)
    return queue.bind(pipeline, (Part(0, 0, a, 0, sizes[0]), Part(0, 1, b, 0, sizes[1])))


def read(queue: GpuQueue, source: Resident, words: int) -> list[int]:
    return np.frombuffer(queue.read(source, 4 * words), np.uint32).tolist()


@pytest.mark.parametrize("executions", [1, 2, 7, 3000])
def test_phases_come_in_turn(queue: GpuQueue, executions: int) -> None:
    a, b = (buffer(queue, np.zeros(WORDS)) for _ in range(2))
    size = 4 * WORDS, 4 * WORDS
    phases = [[BoundDispatch(bound(queue, ADD, *pair, size), (1, 1, 1))] for pair in ((a, b), (b, a))]
    sequence = queue.sequence(phases)
    queue.replay(sequence, executions)
    queue.replay(sequence, 1, phase=executions % 2)
    last = (a, b)[(executions + 1) % 2]
    assert read(queue, last, WORDS) == [executions + 1] * WORDS


def test_a_dispatch_that_the_driver_refuses_is_an_error(queue: GpuQueue) -> None:
    a, b = buffer(queue, np.zeros(WORDS)), buffer(queue, np.zeros(WORDS))
    step = bound(queue, ADD, a, b, (4 * WORDS, 4 * WORDS))
    queue.dispatch(queue.packed(step, (1, 1, 1)))
    queue.dispatch(queue.packed(step, (1 << 20, 1, 1)))
    with pytest.raises(GpuError, match="1048576"):
        queue.wait()


def test_ranges_are_cleared_and_copied_between_dispatches(queue: GpuQueue) -> None:
    a, b = buffer(queue, np.arange(WORDS)), buffer(queue, np.zeros(WORDS))
    steps: list[QueuedStep] = [
        BoundDispatch(bound(queue, ADD, a, b, (4 * WORDS, 4 * WORDS)), (1, 1, 1)),
        CopyRange(b, 0, a, 0, 4 * WORDS),
        ClearRange(a, 8, 16),
    ]
    queue.replay(queue.sequence([steps]), 3)
    queue.clear(a, 4, start=40)
    expected = [*range(3, 3 + WORDS)]
    expected[2:6] = [0] * 4
    expected[10] = 0
    assert read(queue, a, WORDS) == expected


def test_a_sequence_keeps_what_it_uses(queue: GpuQueue) -> None:
    def made() -> tuple[object, Resident]:
        a, b = buffer(queue, np.zeros(WORDS)), buffer(queue, np.zeros(WORDS))
        step = BoundDispatch(bound(queue, ADD, a, b, (4 * WORDS, 4 * WORDS)), (1, 1, 1))
        return queue.sequence([[step, CopyRange(b, 0, a, 0, 4 * WORDS)]]), b

    sequence, b = made()
    queue.wait()
    queue.replay(sequence, 5)  # type: ignore[arg-type]
    assert read(queue, b, 1) == [5]


class Counted:
    """A dispatch that counts its workgroups, with the kernel that makes its arguments."""

    def __init__(self, queue: GpuQueue, source: list[int], *requests: bytes) -> None:
        self.queue, self.source = queue, buffer(queue, np.array(source))
        self.total, self.error = queue.new_buffer(4), queue.new_buffer(ERROR_BYTES)
        dummy = queue.new_buffer(4)
        maker = queue.pipeline(INDIRECT_WGSL, "main", [*SOURCES, *RESULTS], timeout=60)
        self.steps: list[QueuedStep] = []
        for request in requests:
            arguments, packed = queue.new_buffer(ARGUMENT_BYTES), queue.new_buffer(len(request), request)
            parts = [
                *(Part(0, dimension, self.source, 0, 4 * len(source)) for dimension in range(3)),
                Part(0, 3, packed, 0, len(request)),
                Part(0, 4, arguments, 0, ARGUMENT_BYTES),
                Part(0, 5, self.error, 0, ERROR_BYTES),
            ]
            self.steps.append(BoundDispatch(queue.bind(maker, parts), (1, 1, 1)))
            counting = bound(queue, COUNT, dummy, self.total, (4, 4))
            self.steps.append(IndirectDispatch(counting, arguments, 0))

    def run(self, executions: int = 1) -> tuple[int, object]:
        self.queue.replay(self.queue.sequence([self.steps]), executions)
        (total,) = read(self.queue, self.total, 1)
        return total, refusal(self.queue.read(self.error, ERROR_BYTES))


@pytest.mark.parametrize(
    ("source", "extents", "size", "capacity", "expected"),
    [
        ([5, 130], (ExtentWord(1),), (64, 1, 1), None, 3),
        ([5, 128], (ExtentWord(1),), (64, 1, 1), 128, 2),
        ([0], (ExtentWord(0),), (64, 1, 1), 10, 0),
        ([9, 3], (ExtentWord(0), 5, ExtentWord(1)), (4, 2, 1), 9 * 5 * 3, 3 * 3 * 3),
        ([65535], (ExtentWord(0),), (1, 1, 1), None, 65535),
        ([2], (ExtentWord(0, is_signed=True), 2), (1, 1, 1), None, 4),
    ],
)
def test_the_arguments_of_indirect_dispatches(
    queue: GpuQueue,
    source: list[int],
    extents: tuple[int | ExtentWord, ...],
    size: tuple[int, int, int],
    capacity: int | None,
    expected: int,
) -> None:
    request = packed_request(extents, size, capacity, 7)
    assert Counted(queue, source, request).run() == (expected, None)
    assert Counted(queue, source, request).run(3) == (3 * expected, None)


@pytest.mark.parametrize(
    ("source", "extents", "size", "capacity", "read"),
    [
        ([129], (ExtentWord(0),), (64, 1, 1), 128, (129, 1, 1)),
        ([65536], (ExtentWord(0),), (1, 1, 1), None, (65536, 1, 1)),
        ([65535 * 64 + 1], (ExtentWord(0),), (64, 1, 1), None, (65535 * 64 + 1, 1, 1)),
        ([0xFFFFFFFF], (ExtentWord(0), 1), (64, 1, 1), None, (0xFFFFFFFF, 1, 1)),
        ([65536], (ExtentWord(0), ExtentWord(0)), (16, 16, 1), 1000, (65536, 65536, 1)),
        ([0xFFFFFFFF], (ExtentWord(0, is_signed=True),), (0xFFFF, 1, 1), None, (0xFFFFFFFF, 1, 1)),
    ],
)
def test_grids_that_are_too_large_run_nothing_and_say_so(
    queue: GpuQueue,
    source: list[int],
    extents: tuple[int | ExtentWord, ...],
    size: tuple[int, int, int],
    capacity: int | None,
    read: tuple[int, int, int],
) -> None:
    """The first one is named, and nothing runs after it that gets its arguments in this way."""
    fine, wrong = packed_request((2, 3), (1, 1, 1), None, 0), packed_request(extents, size, capacity, 7)
    later = packed_request((1 << 20,), (1, 1, 1), None, 8)
    assert Counted(queue, source, fine, wrong, fine, later).run(2) == (6, (7, read))


@pytest.mark.usefixtures("needs_gpu")
def test_a_limit_counts_from_now(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also for what was sent before, which has the time of the device: no limit is added to that."""
    seconds: list[float] = []

    def alarm(after: float, act: Callable[[], object]) -> AbstractContextManager[None]:
        seconds.append(after)
        return nullcontext()

    queue = GpuQueue(shared_device(""))
    queue.wait()
    monkeypatch.setattr("tinct.backend.gpu.process.ALARMS.set", alarm)
    data = bytes(1 << 20)  # so large that it is sent at once
    queue.new_buffer(len(data), data)
    queue.wait(timeout=3)
    queue.new_buffer(len(data), data)
    queue.wait()
    assert seconds == [DEFAULT_SECONDS, 3, DEFAULT_SECONDS, 2 * DEFAULT_SECONDS]
    queue.close()


def test_a_queue_whose_process_does_not_start_is_dropped_silently(monkeypatch: pytest.MonkeyPatch) -> None:
    device = shared_device("")

    def start() -> None:
        raise GpuError("timeout", "no start")

    unraisable: list[object] = []
    monkeypatch.setattr(device, "start", start)
    monkeypatch.setattr(sys, "unraisablehook", unraisable.append)
    with pytest.raises(GpuError, match="no start"):
        GpuQueue(device)
    gc.collect()
    assert not unraisable
