"""Kernels with buffers of our own beside those of the user: for counters, and for records of prints."""

from __future__ import annotations

from collections.abc import Generator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from math import prod
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from .compilation import Compilation
from .origins import Origin
from .pipeline import Job
from .reflection import BindingInfo, EntryPointInfo

if TYPE_CHECKING:
    import numpy.typing as npt

Words: TypeAlias = "npt.NDArray[np.uint32]"

_is_plain: ContextVar[bool] = ContextVar("_is_plain", default=False)


class Instrument(Protocol):
    """What an instrumented kernel does besides: it leaves something in a buffer."""

    @property
    def binding(self) -> BindingInfo | None:
        """Its buffer, whose name is no WGSL name; None if it needs none."""
        ...

    def words(self) -> Words:
        """The content of the buffer before a dispatch."""
        ...

    def take(self, words: Words, entry: str, invocations: int) -> None:
        """Use the content of the buffer after a dispatch of so many invocations; without a buffer, no words."""
        ...


class Instrumentable(Protocol):
    """A kernel in whose place an instrumented one can run."""

    @property
    def info(self) -> EntryPointInfo:
        """Its entry point."""
        ...

    @property
    def bindings(self) -> Sequence[BindingInfo]:
        """The bound variables it uses."""
        ...

    def compilation(self, constants: Mapping[str, Any] | None = None) -> Compilation:
        """Its compilation with values for overrides."""
        ...


class InstrumentedKernel:
    """A kernel with further bindings, which a device runs as any other. `origin` gives the module that uses these."""

    def __init__(self, kernel: Instrumentable, origin: Origin, instruments: Sequence[Instrument]) -> None:
        self._kernel = kernel
        self._origin = origin
        self._instruments = instruments
        self._info = kernel.info
        own = (it.binding for it in instruments)
        self._bindings = (*kernel.bindings, *(it for it in own if it is not None))
        self._compilations: dict[Compilation, Compilation] = {}

    @property
    def info(self) -> EntryPointInfo:
        """The entry point."""
        return self._info

    @property
    def bindings(self) -> tuple[BindingInfo, ...]:
        """The bound variables it uses, those of the instruments included."""
        return self._bindings

    def compilation(self, constants: Mapping[str, Any] | None = None) -> Compilation:
        """Its compilation with values for overrides. Raises InputError."""
        plain = self._kernel.compilation(constants)
        if plain not in self._compilations:
            self._compilations[plain] = Compilation(Job(self._origin, plain.job.entry, plain.job.constants))
        return self._compilations[plain]

    def values(self) -> dict[str, Words]:
        """The values of its own bindings before a dispatch."""
        return {it.binding.name: it.words() for it in self._instruments if it.binding is not None}

    def take(
        self,
        outputs: MutableMapping[str, npt.NDArray[Any]],
        compilation: Compilation,
        workgroups: tuple[int, int, int],
    ) -> None:
        """Take the values of its own bindings out of the outputs of a dispatch, and hand them to the instruments."""
        invocations = prod(workgroups) * prod(compilation.workgroup_size)
        nothing = np.zeros(0, np.uint32)
        taken = [nothing if it.binding is None else outputs.pop(it.binding.name) for it in self._instruments]
        for it, words in zip(self._instruments, taken, strict=True):
            it.take(words, self.info.name, invocations)


@contextmanager
def plain_runs() -> Generator[None]:
    """Run plain kernels in the body of the `with` statement, in this thread: nothing is counted or printed."""
    token = _is_plain.set(True)
    try:
        yield
    finally:
        _is_plain.reset(token)


def runs_are_plain() -> bool:
    """Whether this thread is in `plain_runs`."""
    return _is_plain.get()
