"""Dispatches in a session whose blocks are counted, because somebody measures coverage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from ..arguments import mapping_of
from ..counting.recorders import Recorder
from .buffer import Buffer
from .calls import KernelLike, Options, checked_call
from .resolving import Values

if TYPE_CHECKING:
    from ..counting.kernel import CountedKernel
    from .session import Session


@runtime_checkable
class Counts(Protocol):
    """A kernel that has a twin with counters: `tinct.Kernel` is one."""

    @property
    def counted(self) -> CountedKernel:
        """The kernel with counters."""
        ...


def twin_of(kernel: KernelLike) -> CountedKernel | None:
    """The kernel with counters, if there is one."""
    return kernel.counted if isinstance(kernel, Counts) else None


def run_counted(
    session: Session,
    kernel: CountedKernel,
    bindings: Values,
    options: Options,
    timeout: float | None,
    recorders: Sequence[Recorder],
) -> dict[str, Buffer]:
    """`Session.run_with` for a kernel with counters, which are read back at once. Raises what that raises."""
    call = checked_call(kernel, options)
    infos = {it.name: it for it in kernel.bindings}
    own = {name: session.buffer(it, infos[name], label=name) for name, it in kernel.values().items()}
    given = mapping_of(bindings, "buffers", kernel.info.bindings)
    made = session.run_with(kernel, {**given, **own}, options, timeout)
    words = {name: it.numpy() for name, it in own.items()}
    kernel.take_counts(words, call.compilation, call.workgroups, recorders)
    return made
