"""Sessions on a GPU: recording, drivers that end loops early, a process that dies, dispatches that do not end."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

import numpy as np
import pytest

import tinct
from tinct.backend.gpu import faults_of, shared_device

ADD = tinct.load("""
@group(0) @binding(0) var<storage, read_write> a: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x < arrayLength(&a) { a[id.x] += 1; }
}
""")["main"]
LONG = tinct.load("""
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@group(0) @binding(1) var<uniform> count: u32;
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) lane: u32) {
    var state = out[lane] + lane;
    for (var i = 0u; i < count; i++) { state = state * 1664525 + 1013904223; }
    out[lane] = state;
}
""")["main"]
NESTED = tinct.load("""
@group(0) @binding(0) var<storage, read_write> a: array<u32>;
@group(0) @binding(1) var<storage, read> count: array<u32>;
@group(0) @binding(2) var<storage, read_write> sums: array<u32>;
@compute @workgroup_size(8) fn main(@builtin(local_invocation_index) lane: u32) {
    var sum = a[lane];
    for (var i = 0u; i < count[0]; i++) {
        for (var j = 0u; j < count[0]; j++) { sum += i * j + lane; }
    }
    a[lane] = sum;
    sums[lane] ^= sum;
}
""")["main"]
PICTURE = tinct.load("""
@group(0) @binding(0) var picture: texture_storage_2d<r32uint, read_write>;
@group(0) @binding(1) var<uniform> count: u32;
@compute @workgroup_size(4) fn main(@builtin(local_invocation_index) lane: u32) {
    var state = textureLoad(picture, vec2u(lane, 0)).x;
    for (var i = 0u; i < count; i++) { state = state * 5 + 1; }
    textureStore(picture, vec2u(lane, 0), vec4u(state));
}
""")["main"]
WATCHES = "the driver may end loops early"


def is_watched() -> bool:
    return "loop iterations" in faults_of(shared_device("").adapter())


@pytest.mark.parametrize("count", [1000, 100_000, 3_000_000])
def test_long_loops_in_a_sequence_are_right(gpu: str, count: int) -> None:
    expected = np.arange(64, dtype=np.uint32)
    for _ in range(2):
        expected = LONG.run({"out": expected, "count": count}, threads=64)["out"] + np.uint32(1)
    with tinct.Session(gpu) as session:
        out = session.buffer(np.arange(64, dtype=np.uint32))
        for _ in range(2):
            session.run(LONG, {"out": out, "count": count}, threads=64)
            session.run(ADD, {"a": out}, threads=64)
        np.testing.assert_array_equal(out.numpy(), expected)
        assert any(WATCHES in it.why for it in session.copies) == is_watched()


def test_loops_that_no_effort_saves_leave_everything_as_it_was(gpu: str) -> None:
    if not is_watched():
        pytest.skip("the driver ends no loops early")
    with tinct.Session(gpu) as session:
        out = session.buffer(np.arange(64, dtype=np.uint32))
        session.run(ADD, {"a": out}, threads=64)
        with pytest.raises(tinct.DeviceError, match="ends every loop"):
            session.run(LONG, {"out": out, "count": 40_000_000}, threads=64)
        session.run(ADD, {"a": out}, threads=64)
        np.testing.assert_array_equal(out.numpy(), np.arange(64) + 2)


def test_several_written_buffers_start_again_from_their_inputs(gpu: str) -> None:
    count, a, sums = np.array([400], np.uint32), np.arange(8, dtype=np.uint32), np.full(80, 3, np.uint32)
    with tinct.Session(gpu) as session:
        whole = session.buffer(sums)
        values = {"a": session.buffer(a), "count": count, "sums": whole.view(256, shape=16)}
        given = {"a": a, "count": count, "sums": sums[64:]}
        for _ in range(2):
            session.run(NESTED, values, threads=8)
            given |= NESTED.run(given, threads=8)
        np.testing.assert_array_equal(values["a"].numpy(), given["a"])
        np.testing.assert_array_equal(whole.numpy(), np.concatenate([sums[:64], given["sums"]]))


def test_written_textures_start_again_from_their_inputs(gpu: str) -> None:
    start = np.arange(4, dtype=np.uint32).reshape(1, 4)
    with tinct.Session(gpu) as session:
        picture = session.buffer(start, PICTURE.bindings[0])
        session.run(PICTURE, {"picture": picture, "count": 200_000}, threads=4)
        expected = PICTURE.run({"picture": start, "count": 200_000}, threads=4)["picture"]
        np.testing.assert_array_equal(picture.numpy(), expected)


def test_thousands_of_dispatches(gpu: str) -> None:
    with tinct.Session(gpu) as session:
        a = session.buffer(np.zeros(100, np.uint32))
        for _ in range(3000):
            session.run(ADD, {"a": a}, threads=100)
        assert (a.numpy() == 3000).all()
        for _ in range(3000):
            session.run(ADD, {"a": a}, threads=100)
        session.wait()
        assert a.device == gpu
        assert (a.numpy() == 6000).all()
        assert session.copies.total == 3


# Large buffers


@pytest.mark.parametrize("seed", range(3))
def test_large_buffers_are_what_was_written_last(gpu: str, seed: int) -> None:
    """Blobs of all sizes go to the GPU's process one after another, and come back, in memory that is used again."""
    random = np.random.default_rng(seed)
    with tinct.Session(gpu) as session:
        lengths = [int(it) for it in random.choice([1, 16_383, 16_384, 16_385, 300_000, 1 << 20], 12)]
        expected = [random.integers(0, 1 << 32, it, np.uint32) for it in lengths]
        buffers = [session.buffer(it) for it in expected]
        for number in random.integers(0, len(buffers), 40):
            match random.integers(3):
                case 0:
                    session.run(ADD, {"a": buffers[number]}, threads=lengths[number])
                    expected[number] += 1
                case 1:
                    expected[number] = random.integers(0, 1 << 32, lengths[number], np.uint32)
                    buffers[number].write(expected[number])
                case _:
                    np.testing.assert_array_equal(buffers[number].numpy(), expected[number])
        for buffer, it in zip(buffers, expected, strict=True):
            np.testing.assert_array_equal(buffer.numpy(), it)


# A process that dies


def kill() -> None:
    pid = shared_device("").worker_pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)


def test_large_buffers_after_a_death(gpu: str) -> None:
    values = np.arange(1 << 20, dtype=np.uint32)
    with tinct.Session(gpu) as session:
        first = session.buffer(values)
        session.run(ADD, {"a": first}, threads=values.size)
        np.testing.assert_array_equal(first.numpy(), values + 1)
        kill()
        second = session.buffer(values)
        for it in (first, second):
            session.run(ADD, {"a": it}, threads=values.size)
        np.testing.assert_array_equal(first.numpy(), values + 2)
        np.testing.assert_array_equal(second.numpy(), values + 1)


def test_the_next_use_after_a_death_names_what_is_lost(gpu: str) -> None:
    with tinct.Session(gpu) as session:
        lost, kept, other = (session.buffer(np.zeros(4, np.uint32), label=it) for it in ("lost", "kept", "other"))
        for buffer in (lost, kept, other):
            session.run(ADD, {"a": buffer}, threads=4)
        assert (kept.numpy() == 1).all()
        kill()
        with pytest.raises(tinct.DeviceError, match=r"lost, other are lost: .* SIGKILL"):
            session.run(ADD, {"a": lost}, threads=4)
        for _ in range(2):
            with pytest.raises(tinct.DeviceError, match="lost, other are lost"):
                other.numpy()
            session.run(ADD, {"a": kept}, threads=4)
        assert (kept.numpy() == 3).all()
        lost.write(np.full(4, 9, np.uint32))
        session.run(ADD, {"a": lost}, threads=4)
        assert (lost.numpy() == 10).all()


def test_a_death_with_recorded_dispatches(gpu: str) -> None:
    with tinct.Session(gpu) as session:
        a, zero = session.buffer(np.zeros(4, np.uint32), label="a"), session.empty(np.uint32, 4)
        session.run(ADD, {"a": a}, threads=4)
        assert (a.numpy() == 1).all()
        for _ in range(3):
            session.run(ADD, {"a": a}, threads=4)
        kill()
        with pytest.raises(tinct.DeviceError, match="a, whose newest bytes were there, is lost"):
            a.numpy()
        with pytest.raises(tinct.DeviceError, match="a is lost"):
            session.run(ADD, {"a": a}, threads=4, device="cpu")
        session.run(ADD, {"a": zero}, threads=4)
        assert (zero.numpy() == 1).all()


def test_a_death_by_another_request_is_noticed(gpu: str) -> None:
    with tinct.Session(gpu) as session:
        a = session.buffer(np.zeros(4, np.uint32), label="a")
        session.run(ADD, {"a": a}, threads=4)
        session.wait()
        kill()
        np.testing.assert_array_equal(ADD.run({"a": np.zeros(4, np.uint32)}, threads=4, device=gpu)["a"], 1)
        with pytest.raises(tinct.DeviceError, match="a is lost"):
            a.numpy()


def test_an_interrupt_while_the_gpu_is_asked(gpu: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from tinct.backend.gpu.device import GpuDevice

    with tinct.Session(gpu) as session:
        a = session.buffer(np.zeros(4, np.uint32), label="a")
        session.run(ADD, {"a": a}, threads=4)

        def interrupted(*_: object, **__: object) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(GpuDevice, "post_resident", interrupted)
            with pytest.raises(KeyboardInterrupt):
                a.numpy()
        with pytest.raises(tinct.DeviceError, match="a is lost"):
            a.numpy()


def test_the_end_of_a_session_after_a_death(gpu: str) -> None:
    array = np.zeros(4, np.uint32)

    def session_with(end: Callable[[], object]) -> None:
        with tinct.Session(gpu) as session:
            session.run(ADD, {"a": session.adopt(array, label="mine")}, threads=4)
            session.wait()
            kill()
            end()

    with pytest.raises(tinct.DeviceError, match=r"mine.* lost"):
        session_with(lambda: None)
    with pytest.raises(ZeroDivisionError):
        session_with(lambda: 1 // 0)
    with tinct.Session(gpu) as session:
        session.run(ADD, {"a": session.buffer(array)}, threads=4)
        kill()


# Dispatches that do not end in time


def test_a_time_limit_tears_what_was_being_written(gpu: str) -> None:
    with tinct.Session(gpu) as session:
        out, kept = session.buffer(np.zeros(64, np.uint32), label="out"), session.buffer(np.ones(4, np.uint32))
        session.run(ADD, {"a": out}, threads=64)
        session.run(ADD, {"a": kept}, threads=4)
        assert (kept.numpy() == 2).all()
        session.wait()
        with pytest.raises(tinct.DeviceError, match="did not finish"):
            session.run(LONG, {"out": out, "count": 60_000}, workgroups=(65535, 60), timeout=0.3)
        for use in (out.numpy, lambda: session.run(ADD, {"a": out}, threads=1, device="cpu")):
            with pytest.raises(tinct.DeviceError, match="out is torn: 'main'"):
                use()
        session.run(ADD, {"a": kept}, threads=4)
        assert (kept.numpy() == 3).all()
        out.write(np.zeros(64, np.uint32))
        session.run(ADD, {"a": out}, threads=64, timeout=60)
        assert (out.numpy() == 1).all()


def test_a_shader_that_the_engine_refuses_harms_no_buffer(gpu: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import dataclasses

    from tinct.sessions import gpu_launch

    with tinct.Session(gpu) as session:
        a = session.buffer(np.zeros(4, np.uint32))
        session.run(ADD, {"a": a}, threads=4)
        real = gpu_launch.kernel_for
        with monkeypatch.context() as patch:
            patch.setattr(
                gpu_launch, "kernel_for", lambda *a, **k: dataclasses.replace(real(*a, **k), wgsl="fn main() { x }")
            )
            with pytest.raises(tinct.DeviceError):
                session.run(LONG, {"out": a, "count": 3}, threads=4)
        session.run(ADD, {"a": a}, threads=4)
        assert (a.numpy() == 2).all()
