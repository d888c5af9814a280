"""Steps of a session that are replayed on a GPU: their effects, time limits, and a process that dies."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest

import tinct
from tinct.backend.gpu import faults_of, shared_device
from tinct.sessions import Buffer
from tinct.sessions.arguments import Argument
from tinct.sessions.calls import Options, checked_call
from tinct.sessions.gpu_launch import GpuLaunch
from tinct.sessions.gpu_replay import ClearStep, CopyStep, DispatchStep, GpuReplay
from tinct.sessions.gpu_side import GpuSide
from tinct.sessions.launches import Plan

SHADER = tinct.load("""
@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> b: array<u32>;
@group(0) @binding(2) var<storage, read_write> total: atomic<u32>;
@compute @workgroup_size(64) fn add(@builtin(global_invocation_id) id: vec3u) { b[id.x] = a[id.x] + 1; }
@compute @workgroup_size(1) fn count() { atomicAdd(&total, 1); }
@compute @workgroup_size(64) fn long(@builtin(local_invocation_index) lane: u32) {
    var state = b[lane] + lane;
    for (var i = 0u; i < a[0]; i++) { state = state * 1664525 + 1013904223; }
    b[lane] = state;
}
""")


def launch(session: tinct.Session, side: GpuSide, entry: str, **buffers: Buffer) -> GpuLaunch:
    kernel = SHADER[entry]
    call = checked_call(kernel, Options((1, 1, 1), None, None, "gpu"))
    arguments = [
        Argument(info, it.memory, it.offset, it.nbytes) for info in kernel.bindings for it in [buffers[info.name]]
    ]
    ledger = session._ledger
    return GpuLaunch(Plan(call.compilation, arguments, call.workgroups), ledger, side, via_hercules=False)


def side_of(session: tinct.Session) -> GpuSide:
    """The GPU of a session that has run something there."""
    session.run(SHADER["count"], {"total": session.empty(np.uint32)}, threads=1, device="gpu")
    return session._sides["gpu"]


def swapping(session: tinct.Session) -> tuple[GpuReplay, Buffer, Buffer]:
    """Each execution adds one to what is in one buffer, into the other."""
    a, b = session.buffer(np.arange(64, dtype=np.uint32), label="a"), session.empty(np.uint32, 64, label="b")
    side = side_of(session)
    there, back = launch(session, side, "add", a=a, b=b), launch(session, side, "add", a=b, b=a)
    return GpuReplay(side, "the sequence", [[DispatchStep(there)], [DispatchStep(back)]]), a, b


def test_replays_and_dispatches_take_effect_in_order(gpu: str) -> None:
    with tinct.Session(gpu) as session:
        replay, a, b = swapping(session)
        for start in (0, 100):
            a.write(np.arange(start, start + 64, dtype=np.uint32))
            assert replay.prepare()
            replay.run(5)
            session.run(SHADER["add"], {"a": b, "b": a}, threads=64)
            assert a.numpy().tolist() == [*range(start + 6, start + 70)]
            assert replay.prepare()
            replay.run(2, phase=1, timeout=60)
            assert b.device == "gpu"
            np.testing.assert_array_equal(a.numpy(), b.numpy() - np.uint32(1))


def test_executions_are_timed(gpu: str) -> None:
    """They take effect, after what was recorded before, and more of them take longer."""
    with tinct.Session(gpu) as session:
        replay, a, b = swapping(session)
        assert replay.prepare()
        replay.run(1)
        assert replay.prepare()
        assert replay.seconds(2, timeout=60) > 0
        assert (a.device, b.device) == ("gpu", "gpu")
        assert (a.numpy().tolist(), b.numpy().tolist()) == ([*range(2, 66)], [*range(1, 65)])
        few, many = replay.seconds(10), replay.seconds(2000)
        assert 0 < few < many


def test_clears_copies_and_arguments_in_a_buffer(gpu: str) -> None:
    with tinct.Session(gpu) as session:
        total, grid = session.empty(np.uint32, label="total"), session.buffer(np.array([2, 3, 4], np.uint32))
        copy = session.empty(np.uint32, 4)
        side = side_of(session)
        steps = [
            ClearStep(total.memory, 0, 4),
            DispatchStep(launch(session, side, "count", total=total), grid.memory, 0),
            CopyStep(total.memory, 0, copy.memory, 8, 4),
        ]
        replay = GpuReplay(side, "the sequence", [steps])
        for values in ((2, 3, 4), (5, 1, 1), (0, 7, 1)):
            grid.write(np.array(values, np.uint32))
            assert replay.prepare()
            replay.run(3)
            assert copy.numpy().tolist() == [0, 0, np.prod(values), 0]


def test_a_process_that_dies_loses_what_was_written(gpu: str) -> None:
    with tinct.Session(gpu) as session:
        replay, a, b = swapping(session)
        assert replay.prepare()
        replay.run(2)
        session.wait()
        pid = shared_device("").worker_pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        with pytest.raises(tinct.DeviceError, match=r"b .* lost"):
            b.numpy()
        a.write(np.zeros(64, np.uint32))
        b.write(np.zeros(64, np.uint32))
        assert replay.prepare()
        replay.run(3)
        assert b.numpy().tolist() == [3] * 64


def test_steps_whose_loops_may_be_cut_are_not_replayed(gpu: str) -> None:
    with tinct.Session(gpu) as session:
        a, b = session.buffer(np.full(64, 1000, np.uint32)), session.empty(np.uint32, 64)
        side = side_of(session)
        replay = GpuReplay(side, "the sequence", [[DispatchStep(launch(session, side, "long", a=a, b=b))]])
        assert replay.prepare() == ("loop iterations" not in faults_of(shared_device("").adapter()))
