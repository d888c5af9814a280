"""The rates of a GPU in hardware, measured on its own clock.

Its workgroups spread over units that run many vectors at a time, and a vector waits long for what it loads. So bytes
are copied in vectors of four elements: with one element for each invocation, what is under way at a time is too little
to reach the bandwidth of memory (an NVIDIA H200 copies 0.9 TB/s so, and 4.3 with vectors).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from ..backend.gpu import shared_device
from ..devices import adapter_named
from ..ir.source import Source
from ..shader import Shader
from .bench import Job, seconds_of_turn, undisturbed_time
from .rates import BARRIERS, MEASURED_INVOCATIONS, CacheRate, Rates

_COPIED: Final = 1 << 28
"""Bytes that are more than the caches of a GPU have."""
_SIZES: Final = tuple(1 << it for it in range(20, 27))
_FASTER: Final = 1.25
"""What is copied so many times as fast as from memory comes from a cache."""
_NEAR: Final = 1 << 15
"""The bytes of the cache that is closest to a unit: of a small one, since none can be measured by itself."""
_LANES: Final = 32
_REGISTERS: Final = 128
"""More are there, but then too few vectors run at a time to hide each other's latency."""
_ROW: Final = 1 << 15
"""Workgroups along one axis: WebGPU allows at least twice as many."""
_GROUPS: Final = 4096
_SMALL: Final = 16 * MEASURED_INVOCATIONS
_TURNS: Final = 2000
_OPERATIONS_A_TURN: Final = 96
_BARRIERS: Final = 200

_WGSL: Final = (
    BARRIERS
    + """
override turns: u32 = 0;
override width: u32 = 64;
@group(0) @binding(0) var<storage, read> x: array<vec4f>;
@group(0) @binding(1) var<storage, read_write> y: array<vec4f>;

@compute @workgroup_size(256)
fn copied(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) count: vec3u) {
    let at = id.x + id.y * count.x * 256u;
    if at < arrayLength(&y) {
        y[at] = x[at];
    }
}

@compute @workgroup_size(width)
fn operations(@builtin(global_invocation_id) id: vec3u) {
    let f = x[0] * 0.5 + 0.5;
    var a = vec4f(id.xyzx);
    var b = a + 1.0;
    var c = a + 2.0;
    var d = a + 3.0;
    for (var n = 0u; n < turns; n++) {
        a = ((a * f + f) * f + f) * f + f;
        b = ((b * f + f) * f + f) * f + f;
        c = ((c * f + f) * f + f) * f + f;
        d = ((d * f + f) * f + f) * f + f;
    }
    y[id.x % arrayLength(&y)] = (a + b) + (c + d);
}

@compute @workgroup_size(32)
fn waits(@builtin(global_invocation_id) id: vec3u) {
    var at = id.x;
    for (var n = 0u; n < turns; n++) {
        at = (at + 8191u + u32(x[at].x)) % arrayLength(&x);
    }
    y[id.x % arrayLength(&y)] = vec4f(f32(at));
}
"""
)
"""`waits` loads from a place that depends on what was loaded before, in another page: `x` is 0. Much of what a nest
loads is in the largest cache, so that one's latency is what counts.
"""


def rates_of_hardware(device: str) -> Rates:
    """The rates of a GPU. Raises Rejected, ShaderError and DeviceError."""
    return _Measurement(device).rates()


@dataclass(frozen=True)
class _Dispatch:
    """Workgroups of an entry point, on buffers of `size` bytes."""

    entry: str
    groups: int
    constants: Mapping[str, int] = field(default_factory=dict[str, int])
    size: int = _SMALL


class _Measurement:
    def __init__(self, device: str) -> None:
        adapter = adapter_named(device)
        assert adapter is not None
        self._device = device
        self._most = min(_COPIED, shared_device(adapter).adapter().limits["max-storage-buffer-binding-size"])
        self._shader = Shader(Source.from_text(_WGSL))
        self._launch = self._seconds(_Dispatch("operations", 1, {"turns": 0}))

    def rates(self) -> Rates:
        """All of them."""
        peak, one = self._operations(_GROUPS, 64), self._operations(1, _LANES)
        units = max(1, round(peak / one))
        memory = self._bandwidth(self._most)
        cache = self._cache(memory)
        load = units * _LANES / peak
        few = 4 * units
        waits = self._beside_launch(_Dispatch("waits", 1, {"turns": _TURNS}, cache.size // 2))
        return Rates(
            memory=memory,
            cached=cache.bandwidth,
            operations=peak,
            units=units,
            lanes=_LANES,
            registers=_REGISTERS,
            launch=self._launch,
            gather=0.0,
            load=load,
            barrier=self._beside_launch(_Dispatch("barriers", few, {"turns": _BARRIERS}))
            * units
            / (2 * few * _BARRIERS),
            workgroup=self._beside_launch(_Dispatch("operations", _GROUPS, {"turns": 0})) * units / _GROUPS,
            page=0.0,
            caches=(CacheRate(_NEAR, 4 * _LANES / load), CacheRate(cache.size, cache.bandwidth / units)),
            spreads=True,
            latency=waits / _TURNS,
        )

    def _cache(self, memory: float) -> CacheRate:
        """The largest cache: of the bytes that are copied faster than memory the most, with their bandwidth. What is
        copied is there twice, as it is read and as it is written.
        """
        found = CacheRate(_SIZES[0], memory)
        for size in _SIZES:
            rate = self._bandwidth(size // 2)
            if rate > _FASTER * memory:
                found = CacheRate(size, max(found.bandwidth, rate))
        return found

    def _bandwidth(self, size: int) -> float:
        return 2 * size / self._beside_launch(_Dispatch("copied", -(-size // (16 * 256)), size=size))

    def _operations(self, groups: int, width: int) -> float:
        """Operations a second of so many workgroups."""

        def taken(turns: int) -> float:
            return self._beside_launch(_Dispatch("operations", groups, {"turns": turns, "width": width}))

        return _OPERATIONS_A_TURN * width * groups / seconds_of_turn(taken, self._launch)

    def _beside_launch(self, dispatch: _Dispatch) -> float:
        return max(self._seconds(dispatch) - self._launch, 1e-7)

    def _seconds(self, dispatch: _Dispatch) -> float:
        rows = -(-dispatch.groups // _ROW)
        grid = -(-dispatch.groups // rows), rows, 1
        job = Job.of(self._shader.kernel(dispatch.entry), grid, dispatch.constants)
        count = dispatch.size // 4
        return undisturbed_time(self._device, job, {"x": np.zeros(count, np.float32), "y": np.zeros(count, np.float32)})
