"""How fast a device is, measured by kernels of our own in about half a second, once, and kept on disk."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from math import inf
from typing import Final

import numpy as np

from ..backend.cpu.threads import available_processors
from ..base.errors import TinctError
from ..devices import adapter_named
from ..ir.source import Source
from ..shader import Shader
from .bench import Bench, Job
from .devices import identity, versions
from .kept import keep_record, read_record, record_name


@dataclass(frozen=True, slots=True)
class Rates:
    """Seconds, bytes a second and operations a second.

    `memory` is the bandwidth of copying what is larger than the caches, reads and writes together, `cached` that of
    what is smaller. `operations` counts additions and products of f32 of the whole device. Each of its `units`
    executes workgroups of its own, in vectors of `lanes`. `registers` is how many vectors an invocation may keep
    without spilling. `launch` is the time of an empty dispatch. `gather` is the time of one unit for a vector whose
    lanes lie apart.
    """

    memory: float
    cached: float
    operations: float
    units: int
    lanes: int
    registers: int
    launch: float
    gather: float


ASSUMED: Final = Rates(2e10, 8e10, 1e11, 2, 8, 16, 1e-5, 1e-8)
"""The rates of a device that cannot be measured."""
_COPIED: Final = 24 << 20
_CACHED: Final = 1 << 20
_TURNS: Final = 2000
_LEAST: Final = 5e-4
"""Seconds that a kernel of operations runs at least, beside an empty dispatch: less is not measured well."""
_GPU_LANES: Final = 32
_GPU_REGISTERS: Final = 64
_AVX512_REGISTERS: Final = 28
_REGISTERS: Final = 14
"""Vector registers of a processor less those that code needs for other things."""
_ROUNDS: Final = 5
_MOST_UNITS: Final = 4096

_WGSL: Final = """
override turns: u32 = 0;
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(256)
fn copied(@builtin(global_invocation_id) id: vec3u) {
    if id.x < arrayLength(&y) {
        y[id.x] = x[id.x];
    }
}

@compute @workgroup_size(64)
fn operations(@builtin(global_invocation_id) id: vec3u) {
    let f = x[0] * 0.5 + 0.5;
    var a = f32(id.x);
    var b = a + 1.0;
    var c = a + 2.0;
    var d = a + 3.0;
    var e = a + 4.0;
    var g = a + 5.0;
    var h = a + 6.0;
    var i = a + 7.0;
    for (var n = 0u; n < turns; n++) {
        a = a * f + 1.0;
        b = b * f + 1.0;
        c = c * f + 1.0;
        d = d * f + 1.0;
        e = e * f + 1.0;
        g = g * f + 1.0;
        h = h * f + 1.0;
        i = i * f + 1.0;
    }
    y[id.x % arrayLength(&y)] = ((a + b) + (c + d)) + ((e + g) + (h + i));
}
"""
_OPERATIONS_A_TURN: Final = 16
_found: dict[str, Rates] = {}
"""What this process has measured or read, by the name of the record."""


def rates_of(device: str) -> Rates:
    """The rates of a device, measured the first time; `ASSUMED` for one that fails to run the kernels."""
    name = record_name("rates", identity(device), versions(device))
    if name not in _found:
        kept = read_record(name)
        is_whole = kept is not None and set(kept) == {it.name for it in fields(Rates)}
        _found[name] = Rates(**kept) if kept is not None and is_whole else _measured_anew(device, name)
    return _found[name]


def _measured_anew(device: str, name: str) -> Rates:
    try:
        found = _measured(device)
    except TinctError:
        return ASSUMED
    keep_record(name, asdict(found), lambda _: True)
    return found


def _measured(device: str) -> Rates:
    shader = Shader(Source.from_text(_WGSL))
    copied, operations = shader.kernel("copied"), shader.kernel("operations")
    is_gpu = adapter_named(device) is not None

    launch = _seconds(device, 64, Job.of(operations, (1, 1, 1), {"turns": 0}))

    def bandwidth(size: int) -> float:
        count = size // 4
        job = Job.of(copied, (-(-count // 256), 1, 1), {})
        return 2 * size / max(_seconds(device, count, job) - launch, 1e-7)

    def rate(workgroups: int) -> float:
        turns = _TURNS
        while True:
            job = Job.of(operations, (workgroups, 1, 1), {"turns": turns})
            taken = _seconds(device, 64, job) - launch
            if taken > max(_LEAST, 4 * launch):
                return _OPERATIONS_A_TURN * turns * 64 * workgroups / taken
            turns *= 4

    whole, one = rate(512 if is_gpu else 64), rate(1)
    memory = bandwidth(_COPIED)
    access, lanes, registers = _of_processor() if not is_gpu else (0.0, _GPU_LANES, _GPU_REGISTERS)
    return Rates(
        memory=memory,
        cached=max(memory, bandwidth(_CACHED)),
        operations=max(whole, one),
        units=max(1, min(_MOST_UNITS, round(whole / one))) if is_gpu else available_processors(),
        lanes=lanes,
        registers=registers,
        launch=launch,
        gather=access,
    )


def _seconds(device: str, count: int, job: Job) -> float:
    values = {"x": np.ones(count, np.float32), "y": np.zeros(count, np.float32)}
    with Bench(device, values) as bench:
        bench.results(job, ["y"], inf)
        return min(bench.by_turns([job], 1)[0] for _ in range(_ROUNDS))


def _of_processor() -> tuple[float, int, int]:
    """The seconds of a gather, the lanes of a vector of f32, and the registers for vectors."""
    from ..backend.cpu.machine import machine_costs
    from ..backend.cpu.target import current_target

    target, access = current_target(), machine_costs().access
    registers = _AVX512_REGISTERS if target.has_avx512 or target.is_arm else _REGISTERS
    return min(access.gather, access.loads) * 1e-9, target.vector_bytes // 4, registers
