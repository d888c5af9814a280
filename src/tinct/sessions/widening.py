"""Storage textures that a kernel samples off the GPU: their texels are widened before each run.

A GPU binds any of them, as WebGPU does. Off the GPU, a sampled texture is memory in the widest format with its type, or
in bytes; storage textures of other formats are written to such a texture by a kernel of ours, on the same device.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache

from ..base.errors import InputError
from ..compilation import Compilation
from ..ir.source import Source
from ..ir.textures import (
    HEADER_BYTES,
    TextureExtent,
    format_of,
    level_starts,
    needs_widening,
    pack_header,
    read_extent,
)
from ..ir.types import Texture
from ..origins import CheckedText, ProgramOrigin
from ..pipeline import Job
from ..reflection import BindingInfo, EntryPointInfo, reflect
from ..texel_kernels import texel_wgsl, widening_name, workgroups_over
from .arguments import Argument
from .calls import Call, Calls, Constants, Options
from .copies import Copy
from .launches import Launch, Plan
from .memory import Ledger, Memory

NewLaunch = Callable[[Call, Sequence[Argument]], Launch]
"""Prepares a dispatch on the host."""


@dataclass(frozen=True, slots=True)
class _Kernel:
    """One of `texel_kernels`, as a session runs it."""

    info: EntryPointInfo
    bindings: tuple[BindingInfo, ...]
    compiled: Compilation

    def compilation(self, constants: Constants | None = None) -> Compilation:
        """Its compilation; it has no overrides."""
        del constants
        return self.compiled


@cache
def _widening_kernel(name: str) -> _Kernel:
    program = CheckedText(Source(name, texel_wgsl(name).encode())).program
    found = reflect(program)
    return _Kernel(found.entry_points[0], found.bindings, Compilation(Job(ProgramOrigin(program), "main", {})))


@dataclass(frozen=True, slots=True)
class _Widened:
    """An argument, and what is bound in its place."""

    narrow: Argument
    wide: Argument

    def copy(self, why: str) -> Copy:
        """The record of one run."""
        return Copy(self.narrow.memory.label, self.wide.size, "cpu", "cpu", why)


def must_widen(argument: Argument) -> bool:
    """Whether the texels of an argument must be widened off the GPU."""
    given, wanted = argument.memory.texture, argument.info.type
    return given is not None and isinstance(wanted, Texture) and needs_widening(given, wanted)


def check_is_bound_as_it_is(arguments: Sequence[Argument], call: Call) -> None:
    """Raise InputError for a texture that a kernel from Hercules IR cannot sample on a GPU."""
    for it in arguments:
        if call.is_via_hercules and must_widen(it):
            raise InputError(
                f"not supported: {it.memory.label}, a {it.memory.texture}, as {it.info.name}, a {it.info.type}, by way "
                "of Hercules IR on a GPU"
            )


class WideningLaunch(Launch):
    """A dispatch on the host, some of whose textures are widened first."""

    def __init__(self, call: Call, plan: Plan, ledger: Ledger, calls: Calls, new: NewLaunch) -> None:
        super().__init__(plan, ledger)
        widened = {number: self._widened(it) for number, it in enumerate(plan.arguments) if must_widen(it)}
        self._widened_arguments = list(widened.values())
        self._first = [self._widening(it, call, calls, new) for it in widened.values()]
        bound = [widened[number].wide if number in widened else it for number, it in enumerate(plan.arguments)]
        self._then = new(call, bound)

    def run(self, timeout: float | None) -> None:
        """Widen, and run. Writing the wide textures changes the ledger, so that `start` is always needed."""
        for first in self._first:
            first.start(timeout)
        for it in self._widened_arguments:
            self.ledger.copies.add(it.copy(f"{self.why(it.narrow)}, which takes texels in another format"))
        self._then.start(timeout)

    def failure(self, error: BaseException) -> BaseException:
        """The error of the dispatch."""
        return self._then.failure(error)

    def _widened(self, narrow: Argument) -> _Widened:
        wanted = narrow.info.type
        assert isinstance(wanted, Texture)
        extent = _extent(narrow)
        texels = level_starts(wanted, extent)[-1]
        size = HEADER_BYTES + texels * format_of(wanted).bytes
        memory = Memory(self.ledger, narrow.memory.label, size, wanted)
        memory.set_host(pack_header(wanted, extent, format_of(wanted)).ljust(size, b"\0"))
        return _Widened(narrow, Argument(narrow.info, memory, 0, size))

    def _widening(self, it: _Widened, call: Call, calls: Calls, new: NewLaunch) -> Launch:
        given = it.narrow.memory.texture
        assert given is not None
        kernel = _widening_kernel(widening_name(given))
        size = workgroups_over(given, _extent(it.narrow))
        infos: dict[str, BindingInfo] = {info.name: info for info in kernel.bindings}
        arguments = [
            replace(it.narrow, info=infos["source_texels"]),
            replace(it.wide, info=infos["target_texels"]),
        ]
        return new(calls.of(kernel, Options(size, None, None, call.device)), arguments)


def _extent(argument: Argument) -> TextureExtent:
    """That of a texture."""
    return read_extent(argument.memory.host().data)
