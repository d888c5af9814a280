"""The observer interface of the interpreter, which the sanitizer implements. Without one a run has no overhead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from ..diagnostics import Diagnostic
from . import nodes
from .interp_frame import Memory, Operation


class Observer(Protocol):
    """Hears of memory when a workgroup starts, of each barrier it passes, and may wrap every operation."""

    def start_workgroup(self, memories: Mapping[nodes.Var, Memory]) -> None:
        """A workgroup begins, with the bound buffers and workgroup memory of its own."""
        ...

    def watched(self, node: nodes.Instruction, arguments: tuple[int, ...], target: int, run: Operation) -> Operation:
        """The operation to run in place of `run`, which does `node` on the slots of its operands and its result."""
        ...

    def pass_barrier(self, node: nodes.BuiltinCall) -> None:
        """All invocations of the workgroup have arrived there and go on."""
        ...

    def abandon_workgroup(self, problem: Diagnostic) -> None:
        """The workgroup cannot go on; the next one will."""
        ...
