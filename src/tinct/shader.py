"""The public face: load a shader, look at it, run its entry points.

shader = tinct.load("saxpy.wgsl")
result = shader["main"].run({"x": x, "y": y, "params": params}, threads=len(x))
result["y"]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from . import frontend
from .buffers import pack_buffers, unpack_buffers
from .compilation import Compilation, Timing
from .devices import device_named
from .ir.diagnostics import Diagnostic, InputError
from .ir.source import Source
from .ir.types import Stage
from .ir.wgsl.program import Program
from .reflection import (
    BindingInfo,
    EntryPointInfo,
    OverrideInfo,
    StructInfo,
    reflect_bindings,
    reflect_entry_point,
    reflect_overrides,
    reflect_structs,
)

Buffer: TypeAlias = "npt.ArrayLike | bytes | bytearray | memoryview"
Constants: TypeAlias = Mapping[str, float | int | bool]

MAX_WORKGROUPS = 65535
"""WebGPU's default limit `maxComputeWorkgroupsPerDimension`."""


def load(shader: str | Path) -> Shader:
    """A shader from a file or from WGSL text (a str with a line break, `;` or `{` is text).

    Raises ShaderError, which lists everything that is wrong with it, and OSError.
    """
    return Shader(load_source(shader))


def load_source(shader: str | Path) -> Source:
    """The source behind `load`. Raises OSError."""
    if isinstance(shader, str) and any(char in shader for char in "\n;{"):
        return Source.from_text(shader)
    return Source.from_file(Path(shader))


@dataclass(frozen=True, slots=True)
class Run:
    """What a dispatch gave: the written buffers by variable name, and the seconds it took."""

    outputs: dict[str, npt.NDArray[Any]]
    timing: Timing


class Shader:
    """A valid shader. Index it by the name of an entry point."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.program: Program = frontend.load_program(source)
        self._compilations: dict[tuple[str, tuple[tuple[str, float], ...]], Compilation] = {}

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """What is suspicious in it but not wrong."""
        return self.program.warnings

    @cached_property
    def entry_points(self) -> dict[str, EntryPointInfo]:
        """All entry points by name, in the order of the source."""
        functions = sorted(self.program.entry_points, key=lambda function: function.node.span.start)
        return {function.name: reflect_entry_point(self.program, function) for function in functions}

    @cached_property
    def bindings(self) -> dict[str, BindingInfo]:
        """All bound variables by name."""
        return {info.name: info for info in reflect_bindings(self.program)}

    @cached_property
    def overrides(self) -> dict[str, OverrideInfo]:
        """All pipeline constants by name."""
        return {info.name: info for info in reflect_overrides(self.program)}

    @cached_property
    def structs(self) -> dict[str, StructInfo]:
        """All structures that can lie in a buffer, by name."""
        return {info.name: info for info in reflect_structs(self.program)}

    def __getitem__(self, name: str) -> Kernel:
        return self.kernel(name)

    def kernel(self, name: str | None = None) -> Kernel:
        """The compute entry point of that name; without one, the only one there is. Raises InputError."""
        compute = [info.name for info in self.entry_points.values() if info.stage == Stage.COMPUTE.value]
        known = ", ".join(compute) or "none"
        if name is None and len(compute) != 1:
            raise InputError(f"name an entry point: the shader has {known}")
        chosen = compute[0] if name is None else name
        if chosen not in compute:
            raise InputError(f"no compute entry point is named {chosen!r}; the shader has {known}")
        return Kernel(self, self.entry_points[chosen])

    def compilation(self, entry: str, constants: Constants) -> Compilation:
        """The stages from this shader to machine code, each made once. Raises InputError for unknown constants."""
        values = self._constants(constants)
        key = (entry, tuple(sorted(values.items())))
        if key not in self._compilations:
            self._compilations[key] = Compilation(self.program, entry, values)
        return self._compilations[key]

    def _constants(self, constants: Constants) -> dict[str, float]:
        """The constants by override name; an `@id` may be used for the name."""
        names = {info.key: info.name for info in self.overrides.values()}
        names |= {name: name for name in self.overrides}
        values: dict[str, float] = {}
        for key, value in constants.items():
            if key not in names:
                known = ", ".join(self.overrides) or "none"
                raise InputError(f"no override is named {key!r}; the shader has {known}")
            values[names[key]] = value
        return values


class Kernel:
    """A compute entry point, ready to run on any device."""

    def __init__(self, shader: Shader, info: EntryPointInfo) -> None:
        self.shader = shader
        self.info = info

    @property
    def bindings(self) -> tuple[BindingInfo, ...]:
        """The bound variables it uses."""
        return tuple(self.shader.bindings[name] for name in self.info.bindings)

    def workgroup_size(self, constants: Constants | None = None) -> tuple[int, int, int]:
        """Invocations a workgroup along x, y and z."""
        return self.shader.compilation(self.info.name, constants or {}).workgroup_size

    def run(
        self,
        buffers: Mapping[str, Buffer],
        *,
        workgroups: int | Sequence[int] | None = None,
        threads: int | Sequence[int] | None = None,
        constants: Constants | None = None,
        device: str = "cpu",
    ) -> dict[str, npt.NDArray[Any]]:
        """Dispatch on a device and return the writable buffers; the arrays given stay as they are.

        `buffers` has an array (or bytes) for each binding, by variable name, in the layout `BindingInfo.dtype`
        describes. The size of the dispatch is given as `workgroups`, or as `threads`, which is rounded up to whole
        workgroups; one to three numbers for x, y, z. A zero runs nothing. `constants` sets overrides. `device` is one
        of `tinct.DEVICES`.

        Raises InputError for buffers, sizes or names that do not fit, ShaderError for what the device cannot compile,
        DeviceError when the device fails.
        """
        return self.run_timed(
            buffers, workgroups=workgroups, threads=threads, constants=constants, device=device
        ).outputs

    def run_timed(
        self,
        buffers: Mapping[str, Buffer],
        *,
        workgroups: int | Sequence[int] | None = None,
        threads: int | Sequence[int] | None = None,
        constants: Constants | None = None,
        device: str = "cpu",
    ) -> Run:
        """`run` with the seconds that compiling and running took."""
        runner = device_named(device)
        compilation = self.shader.compilation(self.info.name, constants or {})
        count = self._dispatch(workgroups, threads, compilation)
        packed = pack_buffers(self.bindings, buffers)
        timing = runner.run(compilation, self.bindings, packed, count)
        return Run(unpack_buffers(self.bindings, packed, buffers), timing)

    def _dispatch(
        self,
        workgroups: int | Sequence[int] | None,
        threads: int | Sequence[int] | None,
        compilation: Compilation,
    ) -> tuple[int, int, int]:
        if (workgroups is None) == (threads is None):
            raise InputError("give the size of the dispatch either as workgroups or as threads")
        if workgroups is not None:
            count = _three(workgroups, "workgroups")
        else:
            assert threads is not None
            sizes = zip(_three(threads, "threads"), compilation.workgroup_size, strict=True)
            x, y, z = (-(-wanted // size) for wanted, size in sizes)
            count = (x, y, z)
        if max(count) > MAX_WORKGROUPS:
            raise InputError(f"a dispatch of {count} workgroups is over the limit of {MAX_WORKGROUPS} in a dimension")
        return count


def _three(value: int | Sequence[int], what: str) -> tuple[int, int, int]:
    numbers = (int(value),) if isinstance(value, (int, np.integer)) else tuple(int(number) for number in value)
    if not 1 <= len(numbers) <= 3:
        raise InputError(f"{what} are one to three numbers, not {len(numbers)}")
    if min(numbers) < 0:
        raise InputError(f"{what} cannot be negative: {numbers}")
    x, y, z = (*numbers, 1, 1)[:3]
    return x, y, z
