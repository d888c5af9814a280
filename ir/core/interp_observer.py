"""The observer interface of the interpreter, which the sanitizer implements. Without one a run has no overhead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from ..diagnostics import Diagnostic
from . import nodes
from .interp_frame import Memory, Operation


class Observer(Protocol):
    """Is notified when a workgroup starts and when it passes a barrier, and may wrap every operation."""

    def start_workgroup(self, memories: Mapping[nodes.Var, Memory]) -> None:
        """A workgroup begins, with the bound buffers and workgroup memory of its own."""
        ...

    def watched(self, node: nodes.Instruction, arguments: tuple[int, ...], target: int, run: Operation) -> Operation:
        """The operation to run in place of `run`, which does `node` on the slots of its operands and its result."""
        ...

    def pass_barrier(self, node: nodes.BuiltinCall) -> None:
        """All invocations of the workgroup have arrived at the barrier, and resume."""
        ...

    def abandon_workgroup(self, problem: Diagnostic) -> None:
        """The workgroup is abandoned because of `problem`; the dispatch continues with the next one."""
        ...
