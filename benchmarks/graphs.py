"""`python -m benchmarks.graphs`: what a dispatch of 64 invocations costs in a session, and in a sequence.

On the CPU, `Session.run` is timed beside a kernel that is bound to its buffers by hand, beside a call of the machine
code through ctypes, and beside a dispatch in a sequence of 20 that is executed many times by one call, or by a call
each. On the GPU, a sequence of 1,000 dispatches that write two buffers in turn is timed from the first `Session.run` to
the numbers of the last one, beside a replay of two dispatches, and beside the same sequence by hand in wgpu-py: one
pass, the pipeline set once, a bind group for each dispatch. Rounds are interleaved; what is shown are medians, and
ratios of medians.
"""

from __future__ import annotations

import ctypes
import json
import random
import statistics
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import click
import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

import tinct
from tinct.backend.cpu.sequence import Sequence
from tinct.backend.cpu.sequence_steps import DispatchStep, Range
from tinct.backend.gpu import BoundDispatch, GpuDevice, GpuQueue, Part, shared_device
from tinct.backend.gpu.binding_headers import BindingHeader
from tinct.ir.types import BindingPoint

from . import machine

SEQUENCE: Final = 1000
"""The dispatches of a sequence on the GPU."""
TURNS: Final = 2000
"""The dispatches of a round on the CPU."""
WARM: Final = 20_000
"""The dispatches after which the CPU uses optimised code."""
STEP: Final = """
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> b: array<f32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) { b[id.x] = a[id.x] + 1; }
"""
START: Final = np.arange(64, dtype=np.float32)

Call = Callable[[], object]


def medians(calls: Mapping[str, Call], rounds: int, each: int) -> dict[str, float]:
    """The median seconds of one of the `each` dispatches in a call, by name, over interleaved rounds."""
    samples: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name in random.sample(list(calls), len(calls)):
            start = time.perf_counter()
            calls[name]()
            samples[name].append((time.perf_counter() - start) / each)
    return {name: statistics.median(found) for name, found in samples.items()}


def repeated(call: Call) -> Call:
    """A call many times over."""

    def turns() -> None:
        for _ in range(TURNS):
            call()

    return turns


def on_cpu(rounds: int) -> dict[str, float]:
    """Seconds of a dispatch on the CPU through each way."""
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
        found = medians({name: repeated(call) for name, call in calls.items()}, rounds, TURNS)
        found |= sequences_on_cpu(rounds)
        check(b.numpy(), START + 1)
        check(arrays[1], START + 1)
    return found


def sequences_on_cpu(rounds: int) -> dict[str, float]:
    """Seconds of a dispatch in a sequence of 20, which write two memories in turn."""
    kernel = tinct.load(STEP)["main"].compilation().machine_code
    points, ranges = (BindingPoint(0, 0), BindingPoint(0, 1)), (Range(0, 0, START.nbytes), Range(1, 0, START.nbytes))
    pairs = [ranges, ranges[::-1]] * 10
    steps = [DispatchStep(kernel, dict(zip(points, it, strict=True)), points[1:], (1, 1, 1)) for it in pairs]
    memories = [START.copy().view(np.uint8), np.zeros(START.nbytes, np.uint8)]
    bound = Sequence(steps, sizes=[START.nbytes] * 2).bind(memories)
    bound.run(executions=WARM)
    calls: dict[str, Call] = {
        "in a sequence, executed by one call": lambda: bound.run(executions=TURNS // len(steps)),
        "in a sequence, a call each": lambda: [bound.run() for _ in range(TURNS // len(steps))],
    }
    found = medians(calls, rounds, TURNS)
    check(memories[0].view(np.float32), START + WARM * len(steps) + 2 * rounds * TURNS)
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


def on_gpu(rounds: int) -> dict[str, float]:
    """Seconds of a dispatch on the GPU in a sequence, through each way."""
    kernel = tinct.load(STEP)["main"]
    by_hand = ByHand()
    with tinct.Session("gpu") as session:
        buffers = [session.buffer(START), session.empty(np.float32, 64)]
        run = session.run

        def in_session() -> np.ndarray:
            a, b = buffers
            for _ in range(SEQUENCE):
                run(kernel, {"a": a, "b": b}, threads=64)
                a, b = b, a
            return a.numpy()

        check(in_session(), START + SEQUENCE)
        check(by_hand.run(), START + SEQUENCE)
        replayed = replay()
        check(replayed(), START + SEQUENCE)
        calls = {"Session.run": in_session, "a replay": replayed, "wgpu-py by hand": by_hand.run}
        found = medians(calls, rounds, SEQUENCE)
        total = START + SEQUENCE * (rounds + 2)
        check(in_session(), total)
        check(replayed(), total)
        check(by_hand.run(), total)
    return found


def replay() -> Callable[[], np.ndarray]:
    """The sequence as two dispatches that the GPU's process replays."""
    queue, size = GpuQueue(shared_device("")), START.nbytes
    buffers = [queue.new_buffer(size, START.tobytes()), queue.new_buffer(size)]
    headers: list[BindingHeader] = [
        {"group": 0, "binding": 0, "kind": "read-only-storage"},
        {"group": 0, "binding": 1, "kind": "storage"},
    ]
    pipeline = queue.pipeline(STEP, "main", headers, timeout=60)
    pairs = [buffers, buffers[::-1]]
    bound = [queue.bind(pipeline, [Part(0, number, it, 0, size) for number, it in enumerate(pair)]) for pair in pairs]
    prepared = queue.sequence([[BoundDispatch(it, (1, 1, 1))] for it in bound])

    def run() -> np.ndarray:
        queue.replay(prepared, SEQUENCE)
        return np.frombuffer(queue.read(buffers[SEQUENCE % 2], size), np.float32)

    return run


class ByHand:
    """The sequence as a program writes it with wgpu-py."""

    def __init__(self) -> None:
        import wgpu

        adapter = next(it for it in wgpu.gpu.enumerate_adapters_sync() if _is_that_of_tinct(it.info))
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
        for number in range(SEQUENCE):
            compute_pass.set_bind_group(0, self.groups[number % 2])
            compute_pass.dispatch_workgroups(1)
        compute_pass.end()
        self.device.queue.submit([encoder.finish()])
        return np.frombuffer(self.device.queue.read_buffer(self.buffers[SEQUENCE % 2]), np.float32)


def _is_that_of_tinct(info: Mapping[str, str]) -> bool:
    adapter = shared_device("").adapter()
    return (info["device"], info["backend_type"]) == (adapter.name, adapter.backend)


def check(found: np.ndarray, expected: np.ndarray) -> None:
    """Fail if a way computes something else."""
    np.testing.assert_array_equal(found, expected)


def table(title: str, found: Mapping[str, float]) -> Table:
    """Microseconds of each way, and how many times longer than it `Session.run` takes."""
    shown = Table(title, "µs", "Session.run takes, times", box=box.SIMPLE)
    for name, seconds in found.items():
        shown.add_row(name, f"{seconds * 1e6:.2f}", f"{found['Session.run'] / seconds:.2f}")
    return shown


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--rounds", type=click.IntRange(1), default=31, show_default=True, help="Rounds of each way.")
@click.option("--json", "json_path", type=click.Path(dir_okay=False, path_type=Path), help="Write all numbers there.")
def main(rounds: int, json_path: Path | None) -> None:
    """Measure what a dispatch of 64 invocations costs in a session."""
    console, about = Console(), machine.describe()
    console.print(f"{about['processor']}, {about['threads']} threads", highlight=False)
    seconds = {"cpu": on_cpu(rounds)}
    console.print(table("on the CPU", seconds["cpu"]))
    reason = GpuDevice.unavailable_reason()
    if reason is None:
        about["adapter"] = shared_device("").adapter().description
        seconds["gpu"] = on_gpu(rounds)
        console.print(table(f"on the GPU, {SEQUENCE:,} in a row ({about['adapter']})", seconds["gpu"]))
    else:
        console.print(f"no GPU: {reason}")
    if json_path is not None:
        ratios = {
            device: {name: found["Session.run"] / it for name, it in found.items()} for device, found in seconds.items()
        }
        content = {"machine": about, "seconds": seconds, "ratios": ratios}
        json_path.write_text(json.dumps(content, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
