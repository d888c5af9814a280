"""One kernel at one size: its buffers, its dispatch, and the expected output."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tinct
from tinct.buffers import pack_buffers, unpack_buffers
from tinct.cases import Case, load_cases
from tinct.compare import compare
from tinct.ir import layout
from tinct.reflection import BindingInfo

Bytes = NDArray[np.uint8]

CASES = Path(__file__).parent / "cases"
_ALIGN = 64


class WrongAnswer(Exception):
    """A peer's output is not what the NumPy reference says."""


@dataclass(eq=False)
class Problem:
    """A case with its data in memory. All peers of this process share the buffers; `restore` undoes what one did."""

    case: Case

    def __post_init__(self) -> None:
        self.name = f"{self.case.kernel}" + (f" {self.case.name.split(', ')[1]}" if ", " in self.case.name else "")
        self.kernel = tinct.load(self.case.kernel_path).kernel(self.case.entry)
        self.bindings: tuple[BindingInfo, ...] = tuple(sorted(self.kernel.bindings, key=lambda b: (b.group, b.binding)))
        dtypes = {info.name: info.dtype for info in self.bindings if info.dtype is not None}
        self.inputs = self.case.inputs(dtypes)
        packed = pack_buffers(self.bindings, self.inputs)
        self._pristine = {b.name: np.frombuffer(packed[b.point], np.uint8) for b in self.bindings}
        self.buffers = {name: _aligned(data) for name, data in self._pristine.items()}

    @cached_property
    def expected(self) -> dict[str, NDArray[Any]]:
        """The reference's outputs."""
        expected = self.case.expected(self.inputs)
        assert expected is not None, f"{self.case.file} names no reference"
        return expected

    @property
    def workgroups(self) -> tuple[int, int, int]:
        """How many workgroups the dispatch has."""
        if self.case.workgroups is not None:
            return self.case.workgroups
        assert self.case.threads is not None
        sizes = zip(self.case.threads, self.workgroup_size, strict=True)
        x, y, z = (-(-threads // size) for threads, size in sizes)
        return x, y, z

    @cached_property
    def workgroup_size(self) -> tuple[int, int, int]:
        """How many invocations a workgroup has."""
        return self.kernel.workgroup_size(self.case.constants)

    @property
    def lengths(self) -> list[int]:
        """The element counts of the runtime-sized arrays, in the order of their bindings."""
        return [
            layout.runtime_count(b.type, self.buffers[b.name].nbytes)
            for b in self.bindings
            if layout.runtime_array(b.type) is not None
        ]

    @property
    def traffic(self) -> int:
        """Least number of bytes that must move: every buffer once, and twice where inputs are overwritten."""
        total = sum(buffer.nbytes for buffer in self.buffers.values())
        return total + sum(self._pristine[b.name].nbytes for b in self.bindings if self._is_updated(b))

    def _is_updated(self, info: BindingInfo) -> bool:
        return info.is_written and bool(self._pristine[info.name].any())

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The shared buffers as typed arrays in the shape of their inputs, by variable name."""
        return {
            name: self.buffers[name][: given.nbytes].view(given.dtype).reshape(given.shape)
            for name, given in self.inputs.items()
        }

    def arguments(self) -> dict[str, Any]:
        """What a Python kernel may take by name: arrays, sizes, constants, single values, the fields of structures."""
        available: dict[str, Any] = {**self.case.sizes, **self.case.constants}
        for name, array in self.arrays().items():
            available[name] = array
            info = next(b for b in self.bindings if b.name == name)
            if info.space == "uniform" and array.ndim == 0:
                fields: Mapping[str, Any] = {field: array[field] for field in array.dtype.names or ()}
                available |= {field: value for field, value in fields.items() if field not in available}
                available[name] = array if array.dtype.names else array[()]
        return available

    def restore(self) -> None:
        """Puts the inputs back wherever a kernel may have written."""
        for info in self.bindings:
            if info.is_written:
                self.buffers[info.name][:] = self._pristine[info.name]

    def check(self) -> None:
        """Raises WrongAnswer unless the shared buffers hold the reference's outputs, within the case's tolerance."""
        packed = {b.point: bytearray(self.buffers[b.name].data) for b in self.bindings if b.is_written}
        outputs = unpack_buffers([b for b in self.bindings if b.is_written], packed, self.inputs)
        for name, tolerance in self.case.outputs.items():
            verdict = compare(self.expected[name], outputs[name], tolerance)
            if not verdict.agrees:
                raise WrongAnswer(f"{name}: {verdict}")


def load_problems(names: tuple[str, ...], size: str) -> list[Case]:
    """The cases of a size ("tiny", "quick", "full") of the kernels named, or of all. KeyError for an unknown kernel."""
    kernels = {kernel.name: kernel for kernel in load_cases(CASES)}
    chosen = [kernels[name] for name in names] if names else list(kernels.values())
    return [case for kernel in chosen for case in kernel.cases if case.name.split(", ")[0] == size]


def _aligned(data: Bytes) -> Bytes:
    """A copy that starts at a multiple of a cache line."""
    memory = np.zeros(data.nbytes + _ALIGN, np.uint8)
    start = -memory.ctypes.data % _ALIGN
    copy = memory[start : start + data.nbytes]
    copy[:] = data
    return copy
