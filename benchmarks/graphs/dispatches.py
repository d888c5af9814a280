"""What a dispatch of 64 invocations costs in a session, and in a sequence.

On the CPU, `Session.run` is timed beside a kernel that is bound to its buffers by hand, beside a call of the machine
code through ctypes, and beside a dispatch in a sequence of 20 that is executed many times by one call, or by a call
each. On the GPU, a sequence of 1,000 dispatches that write two buffers in turn is timed from the first `Session.run` to
the numbers of the last one, beside a replay of two dispatches, and beside the same sequence by hand in wgpu-py: one
pass, the pipeline set once, a bind group for each dispatch. Rounds are interleaved; what is shown are medians, and
ratios of medians.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import numpy as np

import tinct
from tinct.backend.cpu.sequence import Sequence
from tinct.backend.cpu.sequence_steps import DispatchStep, Range
from tinct.backend.gpu import BoundDispatch, GpuDevice, GpuQueue, shared_device
from tinct.backend.gpu import Part as BufferPart
from tinct.backend.gpu.binding_headers import BindingHeader
from tinct.ir.types import BindingPoint

from .measuring import Bar, Call, Comparison, Effort, Part, medians

SEQUENCE: Final = 1000
"""The dispatches of a sequence on the GPU."""
TURNS: Final = 2000
"""The dispatches of a round on the CPU."""
WARM: Final = 20_000
"""The dispatches after which the CPU uses optimised code."""
IN_SEQUENCE: Final = "in a sequence, executed by one call"
STEP: Final = """
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> b: array<f32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) { b[id.x] = a[id.x] + 1; }
"""
START: Final = np.arange(64, dtype=np.float32)


def repeated(call: Call, times: int) -> Call:
    """A call many times over."""

    def turns() -> None:
        for _ in range(times):
            call()

    return turns


def on_cpu(effort: Effort) -> Iterator[Comparison]:
    """Seconds of a dispatch on the CPU through each way."""
    turns = effort.pick(TURNS, tiny=3)
    kernel = tinct.load(STEP)["main"]
    compiled = kernel.compilation().cpu
    arrays = [START.copy(), np.zeros(64, np.float32)]
    bound = compiled.bind([it.view(np.uint8) for it in arrays], (1, 1, 1))
    with tinct.Session() as session:
        a, b = map(session.buffer, arrays)
        run = session.run
        for _ in range(WARM):
            run(kernel, {"a": a, "b": b}, threads=64)
        calls: dict[str, Call] = {
            "Session.run": lambda: run(kernel, {"a": a, "b": b}, threads=64),
            "BoundKernel.run": bound.run,
            "ctypes": machine_call(bound),
        }
        found = medians({name: repeated(call, turns) for name, call in calls.items()}, effort.rounds, turns)
        found |= sequences_on_cpu(effort)
        check(b.numpy(), START + 1)
        check(arrays[1], START + 1)
    bars = (
        Bar("microseconds of Session.run with a dict", found["Session.run"] * 1e6, "at most", 4),
        Bar("microseconds of a dispatch in a sequence", found[IN_SEQUENCE] * 1e6, "at most", 1.5),
    )
    yield Comparison("64 invocations on the CPU", found, "Session.run", bars)


def sequences_on_cpu(effort: Effort) -> dict[str, float]:
    """Seconds of a dispatch in a sequence of 20, which write two memories in turn."""
    turns = effort.pick(TURNS // 20, tiny=1)
    kernel = tinct.load(STEP)["main"].compilation().machine_code
    points, ranges = (BindingPoint(0, 0), BindingPoint(0, 1)), (Range(0, 0, START.nbytes), Range(1, 0, START.nbytes))
    pairs = [ranges, ranges[::-1]] * 10
    steps = [DispatchStep(kernel, dict(zip(points, it, strict=True)), points[1:], (1, 1, 1)) for it in pairs]
    memories = [START.copy().view(np.uint8), np.zeros(START.nbytes, np.uint8)]
    bound = Sequence(steps, sizes=[START.nbytes] * 2).bind(memories)
    bound.run(executions=WARM)
    calls: dict[str, Call] = {
        IN_SEQUENCE: lambda: bound.run(executions=turns),
        "in a sequence, a call each": lambda: [bound.run() for _ in range(turns)],
    }
    found = medians(calls, effort.rounds, turns * len(steps))
    check(memories[0].view(np.float32), START + (WARM + 2 * effort.rounds * turns) * len(steps))
    return found


def machine_call(bound: Any) -> Call:
    """The machine code of a bound kernel, called for all threads on this one."""
    function = bound.function
    parameters = function.parameters
    kernel = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 2, *[ctypes.c_uint64] * 2, ctypes.c_void_p)(
        function.function.code.address
    )
    bindings = ctypes.create_string_buffer(function._packed)
    numbers = ctypes.create_string_buffer(parameters.numbers)
    scratch = ctypes.create_string_buffer(parameters.scratch + 64)
    room = -(-ctypes.addressof(scratch) // 64) * 64
    arguments = (ctypes.addressof(bindings), ctypes.addressof(numbers), 0, parameters.threads, room)

    def call(_kept: object = (bindings, numbers, scratch)) -> None:
        kernel(*arguments)

    return call


def on_gpu(effort: Effort) -> Iterator[Comparison]:
    """Seconds of a dispatch on the GPU in a sequence, through each way."""
    kernel, length, rounds = tinct.load(STEP)["main"], effort.pick(SEQUENCE, tiny=10), effort.rounds
    by_hand = ByHand(length)
    with tinct.Session("gpu") as session:
        buffers = [session.buffer(START), session.empty(np.float32, 64)]
        run = session.run

        def in_session() -> np.ndarray:
            a, b = buffers
            for _ in range(length):
                run(kernel, {"a": a, "b": b}, threads=64)
                a, b = b, a
            return a.numpy()

        check(in_session(), START + length)
        check(by_hand.run(), START + length)
        replayed = replay(length)
        check(replayed(), START + length)
        calls = {"Session.run": in_session, "a replay": replayed, "wgpu-py by hand": by_hand.run}
        found = medians(calls, rounds, length)
        total = START + length * (rounds + 2)
        check(in_session(), total)
        check(replayed(), total)
        check(by_hand.run(), total)
    bar = Bar(
        "Session.run relative to wgpu-py by hand", found["Session.run"] / found["wgpu-py by hand"], "at most", 1.1
    )
    yield Comparison(f"{length:,} dispatches in a row on the GPU", found, "Session.run", (bar,))


def replay(length: int) -> Callable[[], np.ndarray]:
    """A sequence of that length as two dispatches that the GPU's process replays."""
    queue, size = GpuQueue(shared_device("")), START.nbytes
    buffers = [queue.new_buffer(size, START.tobytes()), queue.new_buffer(size)]
    headers: list[BindingHeader] = [
        {"group": 0, "binding": 0, "kind": "read-only-storage"},
        {"group": 0, "binding": 1, "kind": "storage"},
    ]
    pipeline = queue.pipeline(STEP, "main", headers, timeout=60)
    pairs = [buffers, buffers[::-1]]
    bound = [
        queue.bind(pipeline, [BufferPart(0, number, it, 0, size) for number, it in enumerate(pair)]) for pair in pairs
    ]
    prepared = queue.sequence([[BoundDispatch(it, (1, 1, 1))] for it in bound])

    def run() -> np.ndarray:
        queue.replay(prepared, length)
        return np.frombuffer(queue.read(buffers[length % 2], size), np.float32)

    return run


class ByHand:
    """The sequence as a program writes it with wgpu-py."""

    def __init__(self, length: int) -> None:
        import wgpu

        self.length = length
        adapter = next(it for it in wgpu.gpu.enumerate_adapters_sync() if is_that_of_tinct(it.info))
        self.device = adapter.request_device_sync()
        usage = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC
        self.buffers = [
            self.device.create_buffer_with_data(data=data, usage=usage) for data in (START, np.zeros_like(START))
        ]
        module = self.device.create_shader_module(code=STEP)
        self.pipeline = self.device.create_compute_pipeline(
            layout="auto", compute={"module": module, "entry_point": "main"}
        )
        layout = self.pipeline.get_bind_group_layout(0)
        self.groups = [
            self.device.create_bind_group(
                layout=layout,
                entries=[
                    {"binding": number, "resource": {"buffer": buffer, "offset": 0, "size": buffer.size}}
                    for number, buffer in enumerate(pair)
                ],
            )
            for pair in (self.buffers, self.buffers[::-1])
        ]

    def run(self) -> np.ndarray:
        """Encode all dispatches, submit them, and read the last buffer."""
        encoder = self.device.create_command_encoder()
        compute_pass = encoder.begin_compute_pass()
        compute_pass.set_pipeline(self.pipeline)
        for number in range(self.length):
            compute_pass.set_bind_group(0, self.groups[number % 2])
            compute_pass.dispatch_workgroups(1)
        compute_pass.end()
        self.device.queue.submit([encoder.finish()])
        return np.frombuffer(self.device.queue.read_buffer(self.buffers[self.length % 2]), np.float32)


def is_that_of_tinct(info: Mapping[str, str]) -> bool:
    """Whether an adapter of wgpu is the one that the device `gpu` has."""
    adapter = shared_device("").adapter()
    return (info["device"], info["backend_type"]) == (adapter.name, adapter.backend)


def check(found: np.ndarray, expected: np.ndarray) -> None:
    """Fail if a way computes something else."""
    np.testing.assert_array_equal(found, expected)


ON_CPU: Final = Part("dispatch", "a dispatch of 64 invocations on the CPU", on_cpu)
ON_GPU: Final = Part("sequence", "a sequence of dispatches on the GPU", on_gpu, GpuDevice.unavailable_reason)
