"""The sanitizer: a run of the interpreter that reports races and other behaviour that WGSL leaves undefined.

- `data-race`: two invocations access the same scalar, at least one writes, and nothing orders them (WGSL, "Memory
  Model"). Within a workgroup only a barrier of the scalar's address space does; between workgroups nothing does. Atomic
  functions do not race with one another, and nothing else reaches atomic memory. A write of one component of a vector
  counts as a write of the vector (WGSL, "Vector Single Component Selection").
- `uninitialized-workgroup-read`: a read of workgroup memory that was never written. The memory is zero, so this is a
  warning: usually the reader was too early, or read past the elements that its neighbours wrote.
- `out-of-bounds-access`: an index outside of its array, matrix or vector, which a device replaces by a valid one, or a
  texel outside of its texture.
- `non-uniform-barrier`: a barrier that some invocations of the workgroup do not reach, or instead of which they reach
  another.

A race is found in any order of execution, not only where it changes the result. Code that a run does not execute is not
checked. A pair of places in the source is reported once, with the first two invocations that raced there.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...diagnostics import Diagnostic
from ...overrides import Number
from ...types import BindingPoint
from .. import nodes
from ..interp import Triple, run
from .watch import Sanitizer

__all__ = ["sanitize"]

_NO_OVERRIDES: Mapping[str, Number] = {}


def sanitize(
    module: nodes.Module,
    entry: str,
    bindings: Mapping[BindingPoint, bytearray | memoryview],
    workgroups: Triple,
    overrides: Mapping[str, Number] = _NO_OVERRIDES,
    *,
    step_limit: int | None = None,
    timeout: float | None = None,
) -> tuple[Diagnostic, ...]:
    """The findings of a dispatch, which runs like `interp.run` and raises the same errors."""
    sanitizer = Sanitizer(module, overrides)
    run(
        module,
        entry,
        bindings,
        workgroups,
        overrides,
        step_limit=step_limit,
        timeout=timeout,
        observer=sanitizer,
    )
    return sanitizer.findings()
