"""Kernels that run in place of another, with counters or with records of prints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from ..arguments import mapping_of
from ..instrumented import InstrumentedKernel
from .buffer import Buffer
from .calls import KernelLike, Options, checked_call
from .resolving import Values

if TYPE_CHECKING:
    from .session import Session


@runtime_checkable
class HasTwin(Protocol):
    """A kernel in whose place another may run: `tinct.Kernel` is one."""

    def twin(self) -> InstrumentedKernel | None:
        """The kernel to run now, if it is another."""
        ...


def twin_of(kernel: KernelLike) -> InstrumentedKernel | None:
    """The kernel that runs in place of this one, if there is one."""
    return kernel.twin() if isinstance(kernel, HasTwin) else None


def run_twin(
    session: Session, kernel: InstrumentedKernel, bindings: Values, options: Options, timeout: float | None
) -> dict[str, Buffer]:
    """`Session.run_with` for a kernel whose own buffers are read back at once. Raises what that raises."""
    call = checked_call(kernel, options)
    infos = {it.name: it for it in kernel.bindings}
    own = {name: session.buffer(it, infos[name], label=name) for name, it in kernel.values().items()}
    given: Mapping[Any, Any] = mapping_of(bindings, "buffers", kernel.info.bindings)
    made = session.run_with(kernel, {**given, **own}, options, timeout)
    kernel.take({name: it.numpy() for name, it in own.items()}, call.compilation, call.workgroups)
    return made
