"""How fast a device is, measured by kernels of our own, once, and kept on disk. A processor takes about half a second.

GPUs are measured in `hardware_rates` and in `software_rates`.
"""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Final

import numpy as np

from ..backend.cpu.machine import machine_costs
from ..backend.cpu.target import current_target
from ..backend.cpu.threads import available_processors
from ..base.errors import TinctError
from ..ir.source import Source
from ..kernel import Kernel
from ..shader import Shader
from .bench import Job, seconds_of_turn, undisturbed_time
from .choices import DEFAULT_LANES
from .devices import gpu_kind, identity, versions
from .hardware_rates import rates_of_hardware
from .kept import Record, keep_record, read_record, record_name
from .rates import ASSUMED, BARRIERS, CacheRate, Rates
from .rejected import Rejected
from .software_rates import rates_of_software

_COPIED: Final = 24 << 20
_CACHED: Final = 1 << 20

_WGSL: Final = (
    BARRIERS
    + """
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

@compute @workgroup_size(64)
fn few_operations(@builtin(global_invocation_id) id: vec3u) {
    let f = x[0] * 0.5 + 0.5;
    var a = f32(id.x);
    var b = a + 1.0;
    var c = a + 2.0;
    for (var n = 0u; n < turns; n++) {
        a = a * f + 1.0;
        b = b * f + 1.0;
        c = c * f + 1.0;
    }
    y[id.x % arrayLength(&y)] = (a + b) + c;
}

@compute @workgroup_size(16)
fn pages(@builtin(global_invocation_id) id: vec3u) {
    let rows = arrayLength(&x) / 1040u;
    var sum = 0.0;
    for (var n = 0u; n < rows; n++) {
        sum += x[n * 1040u + id.x];
    }
    y[id.x % arrayLength(&y)] = sum;
}
"""
)
_OPERATIONS_A_TURN: Final = 16
_FEW_A_TURN: Final = 6
"""Operations of a turn: of eight variables, which overlap more, and of three, which fit in registers where gangs have
four vectors and a processor has 16.
"""
_PAGE_ROW: Final = 1040
_PAGE_TURNS: Final = 64
"""Elements from the part of a page that is read to that of the next page, and workgroups that read a part each."""
_SOME_WORKGROUPS: Final = 64
_MANY_WORKGROUPS: Final = 4096
_found: dict[str, Rates] = {}
"""What this process has measured or read, by the name of the record."""


def rates_of(device: str) -> Rates:
    """The rates of a device, measured the first time; `ASSUMED` for one that fails to run the kernels."""
    name = record_name("rates", identity(device), versions(device))
    if name not in _found:
        kept = read_record(name)
        is_whole = kept is not None and set(kept) == {it.name for it in fields(Rates)}
        _found[name] = _read(kept) if kept is not None and is_whole else _measured_anew(device, name)
    return _found[name]


def block_lanes(device: str) -> int:
    """The invocations that blocks have beside each other, or some times as many: those of a vector, but on a GPU in
    hardware.
    """
    match gpu_kind(device):
        case "hardware":
            return DEFAULT_LANES
        case "software":
            return rates_of(device).lanes
        case None:
            return current_target().vector_bytes // 4


def _read(record: Record) -> Rates:
    others = {name: it for name, it in record.items() if name != "caches"}
    return Rates(**others, caches=tuple(CacheRate(**it) for it in record["caches"]))


def _measured_anew(device: str, name: str) -> Rates:
    try:
        found = _measured(device)
    except (TinctError, Rejected):
        return ASSUMED
    keep_record(name, asdict(found), lambda _: True)
    return found


def _measured(device: str) -> Rates:
    match gpu_kind(device):
        case "hardware":
            return rates_of_hardware(device)
        case "software":
            return rates_of_software(device, rates_of("cpu"))
        case None:
            return _rates_of_processor()


def _rates_of_processor() -> Rates:
    shader = Shader(Source.from_text(_WGSL))
    copied, operations, few_operations, barriers = map(
        shader.kernel, ("copied", "operations", "few_operations", "barriers")
    )
    target, costs, units = current_target(), machine_costs(), available_processors()
    first = min(costs.caches, key=lambda it: it.level, default=None)
    launch = _seconds(64, Job.of(operations, (1, 1, 1), {"turns": 0}))

    def bandwidth(size: int) -> float:
        count = size // 4
        job = Job.of(copied, (-(-count // 256), 1, 1), {})
        return 2 * size / max(_seconds(count, job) - launch, 1e-7)

    def turn(kernel: Kernel, workgroups: int, *, contract: bool = False) -> float:
        def taken(turns: int) -> float:
            return _seconds(64, Job.of(kernel, (workgroups, 1, 1), {"turns": turns}), contract=contract) - launch

        return seconds_of_turn(taken, launch)

    def rate(workgroups: int) -> float:
        return _OPERATIONS_A_TURN * 64 * workgroups / turn(operations, workgroups)

    def rate_of_few(*, contract: bool) -> float:
        return _FEW_A_TURN * 64 * _SOME_WORKGROUPS / turn(few_operations, _SOME_WORKGROUPS, contract=contract)

    def workgroup() -> float:
        """The seconds of one unit for beginning a workgroup. Each stores elements of its own: units would wait for each
        other's lines of a cache.
        """
        job = Job.of(operations, (_MANY_WORKGROUPS, 1, 1), {"turns": 0})
        return max(_seconds(64 * _MANY_WORKGROUPS, job) - launch, 1e-7) * units / _MANY_WORKGROUPS

    def page() -> float:
        """Those of the first bytes of a page: a row of them is in each."""
        count = _COPIED // 4
        job = Job.of(shader.kernel("pages"), (_PAGE_TURNS, 1, 1), {"turns": 0})
        return max(_seconds(count, job) - launch, 0.0) * units / (_PAGE_TURNS * (count // _PAGE_ROW))

    few = 4 * units
    closest = (costs.bandwidth if first is None else first.bandwidth) * 1e9
    # nothing is copied faster than units read their closest cache
    memory, cached = (min(bandwidth(it), closest * units) for it in (_COPIED, _CACHED))
    return Rates(
        memory=memory,
        cached=max(memory, cached),
        operations=max(rate(_SOME_WORKGROUPS), rate(1), rate_of_few(contract=False)),
        units=units,
        lanes=target.vector_bytes // 4,
        registers=target.vector_registers,
        launch=launch,
        gather=min(costs.access.gather, costs.access.loads) * 1e-9,
        load=target.vector_bytes / closest,
        barrier=turn(barriers, few) * units / (2 * few),
        workgroup=workgroup(),
        page=page(),
        caches=tuple(CacheRate(it.size, it.bandwidth * 1e9) for it in costs.faster_caches),
        fused=rate_of_few(contract=True) / 2,
    )


def _seconds(count: int, job: Job, *, contract: bool = False) -> float:
    values = {"x": np.ones(count, np.float32), "y": np.zeros(count, np.float32)}
    return undisturbed_time("cpu", job, values, contract=contract)
