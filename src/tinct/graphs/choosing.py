"""Chooses the devices of a graph's nodes by measuring, once: `devices="auto"`.

The graph runs as a whole on each device that answers, and the nodes are timed there. A third choice has each node on
the device where it took the least time. The fastest choice as a whole, transfers included, is kept: in this process
and, unless the cache is off, on disk, by the graph, the magnitudes of its inputs, and the machine. So later runs give
the same bits.
"""

from __future__ import annotations

import json
import platform
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias, cast

import numpy as np

from ..base.errors import DeviceError, InputError
from ..instrumented import plain_runs
from ..ir.diagnostics import ShaderError
from ..ir.layout_numbers import is_array
from ..kernel import BufferValue
from .time_limit import seconds_left

if TYPE_CHECKING:
    from .program import GraphProgram

Choice: TypeAlias = "dict[str, str]"
"""The devices of leaves, by their paths, as in `sort.scan`."""

_ROUNDS: Final = 5
_MARGIN: Final = 0.9
"""A choice of several devices has to take at most this share of the time of the best single one: what is copied between
devices depends on more than the graph.
"""
_VERSION: Final = "1"


@dataclass(eq=False, slots=True)
class Chooser:
    """The choices of one graph."""

    graph: GraphProgram
    _known: dict[str, Choice] = field(default_factory=dict[str, Choice])

    def choose(self, inputs: Mapping[str, BufferValue], deadline: float | None) -> Choice:
        """The devices for inputs of these magnitudes. Raises what `run` raises if no device runs the graph, and
        DeviceError if nothing was found by the deadline, a value of `time.monotonic`.
        """
        from ..backend.cpu.disk_cache import default_cache

        key, cache = self._key(inputs), default_cache()
        if key not in self._known:
            stored = None if cache is None else cache.get(key)
            choice = None if stored is None else _parsed(stored)
            if choice is None:
                with plain_runs():
                    choice = self._measured(inputs, deadline)
                if cache is not None:
                    cache.put(key, json.dumps(choice).encode())
            self._known[key] = choice
        return self._known[key]

    def _key(self, inputs: Mapping[str, BufferValue]) -> str:
        from ..backend.cpu.disk_cache import digest

        texts = [it.source.data for _, it in sorted(self.graph.shaders.items())]
        sizes = [f"{name} {_magnitude(inputs[name])}" for name in self.graph.inputs]
        return digest("devices of a graph", _VERSION, str(self.graph), *texts, *sizes, *_machine())

    def _measured(self, inputs: Mapping[str, BufferValue], deadline: float | None) -> Choice:
        seconds: dict[str, dict[str, float]] = {}
        failure: ShaderError | DeviceError | None = None
        for device in devices():
            try:
                self.graph.run(inputs, device=device, timeout=seconds_left(deadline))  # compiles
                timings = self.graph.run_timed(inputs, device=device, timeout=seconds_left(deadline)).timings
            except (ShaderError, DeviceError) as error:
                seconds_left(deadline)  # raises for a device that was stopped, which may be the faster one
                failure = error
            else:
                seconds[device] = {".".join(path): it.run for path, it in timings.items()}
        if not seconds:
            assert failure is not None
            raise failure
        uniform = {device: dict.fromkeys(times, device) for device, times in seconds.items()}
        if len(seconds) == 1:
            return next(iter(uniform.values()))
        paths = next(iter(seconds.values()))
        mixed = {path: min(seconds, key=lambda it: seconds[it].get(path, np.inf)) for path in paths}
        return self._fastest([*uniform.values(), mixed], lambda choice: self._run(inputs, choice, deadline))

    def _run(self, inputs: Mapping[str, BufferValue], choice: Choice, deadline: float | None) -> None:
        self.graph.run(inputs, devices=choice, timeout=seconds_left(deadline))

    def _fastest(self, choices: Sequence[Choice], run: Callable[[Choice], None]) -> Choice:
        """The fastest of some choices, the last of which may use several devices. Their rounds are interleaved."""
        *single, mixed = choices
        different = choices if mixed not in single else single
        samples: list[list[float]] = [[] for _ in different]
        for turn in range(_ROUNDS + 1):
            for choice, taken in zip(different, samples, strict=True):
                start = time.perf_counter()
                run(choice)
                if turn:  # the first one prepares the plan
                    taken.append(time.perf_counter() - start)
        medians = [statistics.median(it) for it in samples]
        best = min(range(len(single)), key=medians.__getitem__)
        is_mixed = len(different) > len(single) and medians[-1] < _MARGIN * medians[best]
        return mixed if is_mixed else single[best]


def devices() -> list[str]:
    """The devices among which is chosen."""
    from ..backend.gpu import GpuDevice

    return ["cpu", "gpu"] if GpuDevice.available() else ["cpu"]


def _machine() -> list[str]:
    from ..backend.cpu.target import current_target
    from ..backend.gpu import GpuDevice, shared_device

    target = current_target()
    adapter = str(shared_device("").adapter()) if GpuDevice.available() else "no GPU"
    return [target.processor, target.features, platform.system(), adapter]


def _magnitude(value: BufferValue) -> int:
    """The binary logarithm of the size of an input: sizes of one magnitude share a choice."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        return len(cast("bytes", value)).bit_length()
    array = value if is_array(value) else np.asarray(cast("object", value), dtype=object)
    return array.size.bit_length()


def _parsed(data: bytes) -> Choice | None:
    """The choice in a file of the cache; None if it is none."""
    try:
        found: object = json.loads(data)
    except ValueError:
        return None
    pairs = cast("dict[object, object]", found).items() if isinstance(found, dict) else ()
    texts = {name: device for name, device in pairs if isinstance(name, str) and isinstance(device, str)}
    return texts if pairs and len(texts) == len(pairs) else None


def check_auto(devices: object) -> None:
    """Raise InputError for a text that is not "auto"."""
    if isinstance(devices, str) and devices != "auto":
        raise InputError(f"devices has a device for some nodes, or is 'auto', not {devices!r}")
