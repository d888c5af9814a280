"""The rates of a GPU in software, a driver that computes on the processor, such as Mesa's llvmpipe.

It executes a workgroup vector by vector, and loads each lane by itself: however far lanes are apart, a load takes as
long as tens of operations, or hundreds (on an AMD EPYC, Zen 3, llvmpipe loads a vector of eight lanes in 65 ns, where a
product and a sum take 0.5). Caches and memory are those of the processor.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from ..backend.cpu.threads import available_processors
from ..ir.source import Source
from ..shader import Shader
from .bench import Job, seconds_of_turn, undisturbed_time
from .rates import BARRIERS, Rates

_GROUPS: Final = 64
_MANY_GROUPS: Final = 4096
_WIDTHS: Final = (4, 8, 16, 32)
_ROUNDS: Final = 3
"""Invocations of the workgroups by which the lanes of a vector are found, and how often each is measured."""
_AS_LONG: Final = 1.5
"""As many invocations fill a vector as take each at most so many times as long as those of any larger workgroup."""
_OPERATIONS_A_TURN: Final = 48
_LOADS_A_TURN: Final = 4
_BARRIERS: Final = 200
_ELEMENTS: Final = 2048
"""Of the arrays that are loaded, which are in the first cache."""
_STORED: Final = 1 << 16
"""Elements that are stored: those of different units are in different lines of a cache."""

_WGSL: Final = (
    BARRIERS
    + """
override turns: u32 = 0;
override width: u32 = 1;
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<storage, read> v: array<vec4f>;

@compute @workgroup_size(width)
fn operations(@builtin(global_invocation_id) id: vec3u) {
    let f = x[0] * 0.5 + 0.5;
    var a = f32(id.x);
    var b = a + 1.0;
    var c = a + 2.0;
    var d = a + 3.0;
    for (var n = 0u; n < turns; n++) {
        a = (((((a * f + f) * f + f) * f + f) * f + f) * f + f) * f + f;
        b = (((((b * f + f) * f + f) * f + f) * f + f) * f + f) * f + f;
        c = (((((c * f + f) * f + f) * f + f) * f + f) * f + f) * f + f;
        d = (((((d * f + f) * f + f) * f + f) * f + f) * f + f) * f + f;
    }
    y[id.x % arrayLength(&y)] = (a + b) + (c + d);
}

@compute @workgroup_size(width)
fn loads(@builtin(local_invocation_index) at: u32) {
    var a = 0.0;
    var b = 0.0;
    var c = 0.0;
    var d = 0.0;
    for (var n = 0u; n < turns; n++) {
        let i = (n % 16u) * 16u + at;
        a += x[i];
        b += x[i + 256u];
        c += x[i + 512u];
        d += x[i + 768u];
    }
    y[at % arrayLength(&y)] = (a + b) + (c + d);
}

@compute @workgroup_size(width)
fn loads_of_four(@builtin(local_invocation_index) at: u32) {
    var a = vec4f(0.0);
    var b = vec4f(0.0);
    var c = vec4f(0.0);
    var d = vec4f(0.0);
    for (var n = 0u; n < turns; n++) {
        let i = (n % 16u) * 4u + at;
        a += v[i];
        b += v[i + 64u];
        c += v[i + 128u];
        d += v[i + 192u];
    }
    y[at % arrayLength(&y)] = dot((a + b) + (c + d), vec4f(1.0));
}
"""
)


def rates_of_software(device: str, processor: Rates) -> Rates:
    """The rates of a GPU in software, on a processor of which the rates are known. Raises Rejected, ShaderError and
    DeviceError.
    """
    return _Measurement(device, processor).rates()


@dataclass(frozen=True)
class _Dispatch:
    """Workgroups of an entry point."""

    entry: str
    groups: int
    constants: Mapping[str, int] = field(default_factory=dict[str, int])


class _Measurement:
    def __init__(self, device: str, processor: Rates) -> None:
        self._device, self._processor = device, processor
        self._shader = Shader(Source.from_text(_WGSL))
        self._launch = self._seconds(_Dispatch("operations", 1, {"turns": 0}))

    def rates(self) -> Rates:
        """All of them."""
        lanes, operations = self._lanes()
        units = available_processors()
        load, of_four = (units * self._each_turn(it, lanes, _GROUPS) for it in ("loads", "loads_of_four"))
        few = 4 * units
        barriers = self._beside_launch(_Dispatch("barriers", few, {"turns": _BARRIERS}))
        workgroups = self._beside_launch(_Dispatch("operations", _MANY_GROUPS, {"turns": 0, "width": lanes}))
        return Rates(
            memory=self._processor.memory,
            cached=self._processor.cached,
            operations=_OPERATIONS_A_TURN * lanes / operations,
            units=units,
            lanes=lanes,
            registers=self._processor.registers,
            launch=self._launch,
            gather=load / _LOADS_A_TURN,
            load=load / _LOADS_A_TURN,
            barrier=barriers * units / (2 * few * _BARRIERS),
            workgroup=workgroups * units / _MANY_GROUPS,
            page=self._processor.page,
            caches=self._processor.caches,
            is_software=True,
            of_four=of_four / load,
        )

    def _lanes(self) -> tuple[int, float]:
        """How many invocations fill a vector, and the seconds of a turn of theirs. Other work on the machine changes
        what a width takes more than the width does: they are measured by turns.
        """
        rounds = [{it: self._each_turn("operations", it, _GROUPS) for it in _WIDTHS} for _ in range(_ROUNDS)]
        found = {it: min(one[it] for one in rounds) for it in _WIDTHS}
        least = min(seconds / width for width, seconds in found.items())
        return next((width, seconds) for width, seconds in found.items() if seconds / width <= _AS_LONG * least)

    def _each_turn(self, entry: str, width: int, groups: int) -> float:
        """The seconds of a turn of one of so many workgroups."""

        def taken(turns: int) -> float:
            return self._beside_launch(_Dispatch(entry, groups, {"turns": turns, "width": width}))

        return seconds_of_turn(taken, self._launch) / groups

    def _beside_launch(self, dispatch: _Dispatch) -> float:
        return max(self._seconds(dispatch) - self._launch, 1e-7)

    def _seconds(self, dispatch: _Dispatch) -> float:
        job = Job.of(self._shader.kernel(dispatch.entry), (dispatch.groups, 1, 1), dispatch.constants)
        zeros = np.zeros(_ELEMENTS, np.float32)
        return undisturbed_time(self._device, job, {"x": zeros, "v": zeros, "y": np.zeros(_STORED, np.float32)})
