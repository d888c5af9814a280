"""Finding the pass that changes an answer, and in it the function.

A shader runs in the interpreter of core IR as it was written, and again after each pass. The first pass after which the
answer is no longer the expected one is at fault. Then all functions but one at a time get their text from before that
pass: each function that makes the answer wrong on its own is named.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from .base.errors import DeviceError, TinctError
from .buffers import pack_buffers, unpack_buffers
from .compare import EXACT, Comparison, Tolerance, compare
from .dispatch import DispatchSize, dispatch_size
from .instrumented import plain_runs
from .ir.core.interp import run
from .ir.core.nodes import Module
from .ir.core.text import parse, print_module
from .ir.core.verifier import VerifyError, verify
from .kernel import BufferValue, Kernel
from .sessions.calls import Constants
from .transforms.passes import Pass

_PATIENCE = 10.0
_TIMES_LONGER = 20

Arrays = Mapping[str, "npt.NDArray[Any]"]


@dataclass(frozen=True, slots=True)
class Dispatch:
    """The dispatch to run. Exactly one of `workgroups` and `threads` is given."""

    kernel: Kernel
    buffers: Mapping[str, BufferValue]
    constants: Constants
    workgroups: DispatchSize | None = None
    threads: DispatchSize | None = None

    def on(self, device: str) -> Arrays:
        """The buffers that a device computes. Nothing is printed."""
        with plain_runs():
            return self.kernel.run_timed(
                self.buffers,
                workgroups=self.workgroups,
                threads=self.threads,
                constants=self.constants,
                device=device,
                trial=False,
            ).outputs

    def interpreted(self, module: Module, timeout: float | None = None) -> Arrays:
        """What the interpreter computes with the entry point of a module. Raises DeviceError after `timeout` s."""
        compilation = self.kernel.shader.compilation(self.kernel.info.name, self.constants)
        packed = pack_buffers(self.kernel.bindings, self.buffers)
        shape = dispatch_size(self.workgroups, self.threads, compilation)
        run(module, compilation.entry, packed, shape, timeout=timeout)
        return unpack_buffers(self.kernel.bindings, packed, self.buffers)

    def module(self) -> Module:
        """A fresh module with the values of overrides substituted, which is the input of the passes."""
        return self._copy(self.kernel.shader.compilation(self.kernel.info.name, self.constants).specialised)

    @staticmethod
    def _copy(module: Module) -> Module:
        return parse(print_module(module))


@dataclass(frozen=True, slots=True)
class Expectation:
    """The right answer, and the tolerance of each buffer; buffers without one must be equal."""

    arrays: Arrays
    tolerances: Mapping[str, Tolerance]

    def fault(self, found: Arrays) -> str | None:
        """What is wrong with an answer; None if nothing is."""
        for name, expected in self.arrays.items():
            comparison = compare(expected, found[name], self.tolerances.get(name, EXACT))
            if not comparison.agrees:
                return _described(name, comparison)
        return None


def _described(name: str, comparison: Comparison) -> str:
    first = "" if comparison.first is None else f", first {name}{comparison.first}"
    return f"{comparison.mismatches} of {comparison.compared} differ{first}"


@dataclass(frozen=True, slots=True)
class Finding:
    """The pass at fault, by its place in the pipeline (None: the answer is wrong before any), and what is wrong.

    `functions` are those that spoil the answer alone; none, if the pass cannot be taken apart.
    """

    position: int | None
    step: Pass[Module] | None
    fault: str
    functions: tuple[str, ...] = ()


def bisect(dispatch: Dispatch, passes: Sequence[Pass[Module]], expected: Expectation) -> Finding | None:
    """The first pass after which the interpreter's answer is wrong; None if there is none.

    A pass that fails, breaks a rule of the IR, or makes the shader run far longer is at fault as well.
    """
    module = dispatch.module()
    start = time.monotonic()
    fault = expected.fault(dispatch.interpreted(module))
    if fault is not None:
        return Finding(None, None, fault)
    trial = _Trial(dispatch, expected, _PATIENCE + _TIMES_LONGER * (time.monotonic() - start))
    for position, step in enumerate(passes, 1):
        before = print_module(module)
        try:
            step.run(module)
        except Exception as error:  # whatever a pass raises is a fault to report
            return Finding(position, step, f"the pass fails: {type(error).__name__}: {error}")
        fault = trial.fault(module)
        if fault is not None:
            return Finding(position, step, fault, tuple(trial.guilty(before, print_module(module))))
    return None


@dataclass(frozen=True, slots=True)
class _Trial:
    """Decides whether a module computes the right answer; `timeout` limits the interpreter, in seconds."""

    dispatch: Dispatch
    expected: Expectation
    timeout: float

    def fault(self, module: Module) -> str | None:
        """What is wrong with a module; None if nothing is."""
        try:
            verify(module)
            return self.expected.fault(self.dispatch.interpreted(module, self.timeout))
        except (VerifyError, TinctError) as error:
            return str(error)

    def guilty(self, before: str, after: str) -> Iterator[str]:
        """The functions that make the answer wrong when only they are changed; invalid mixtures are skipped."""
        old, new = _sections(before), _sections(after)
        for name, text in new.items():
            if not name or name not in old or old[name] == text:
                continue
            mixed = "".join({**old, "": new[""], name: text}.values())
            if self._is_spoiled(mixed):
                yield name

    def _is_spoiled(self, text: str) -> bool:
        try:
            module = parse(text)
            verify(module)
            return self.expected.fault(self.dispatch.interpreted(module, self.timeout)) is not None
        except DeviceError:
            return True
        except (VerifyError, TinctError):
            return False


def _sections(text: str) -> dict[str, str]:
    """The text of each function by its name, and under "" the text before the first."""
    found: dict[str, str] = {"": ""}
    name, pending = "", ""
    for line in text.splitlines(keepends=True):
        if line.startswith("@"):
            pending = line
            continue
        if line.startswith("fn @"):
            name = line[len("fn @") : line.index("(")]
        found[name] = found.get(name, "") + pending + line
        pending = ""
    return found
