"""Dispatches that are prepared once, on the CPU or an interpreter, and run any number of times."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import ref

from ..base.errors import InputError
from ..compilation import Compilation
from ..devices import device_named
from ..dispatch import Dispatch, handle_facts
from ..ir.diagnostics import ShaderError
from ..ir.types import BindingPoint
from .arguments import Argument
from .memory import HOST, Ledger, Memory

if TYPE_CHECKING:
    from ..backend.cpu.bound_dispatch import BoundDispatch


@dataclass(frozen=True, slots=True)
class Plan:
    """What a launch is of: a kernel with its arguments and its number of workgroups."""

    compilation: Compilation
    arguments: Sequence[Argument]
    workgroups: tuple[int, int, int]

    @property
    def written(self) -> tuple[Memory, ...]:
        """The memories that the kernel may write."""
        return tuple(it.memory for it in self.arguments if it.is_written)


class Launch(ABC):
    """A dispatch in a session. `epoch` is that of the ledger after `start`: while it is the same, all that `start`
    checks and copies still holds, and `go` is enough. It is -1 where `start` is always needed.
    """

    def __init__(self, plan: Plan, ledger: Ledger) -> None:
        self.plan = plan
        self.ledger = ledger
        self.epoch = -1
        self.go: Callable[[], None] = _not_started
        """Runs on memories that `start` has checked, and refers to no launch. `failure` takes what it raises."""

    def start(self, timeout: float | None) -> None:
        """Check all memories, copy what is stale, and run. Raises InputError, ShaderError and DeviceError."""
        for argument in self.plan.arguments:
            argument.memory.check()
        self.run(timeout)

    @abstractmethod
    def run(self, timeout: float | None) -> None:
        """Copy what is stale, and run."""

    def again(self) -> None:
        """Run without a limit, as cheaply as can be. Raises what `start` raises."""
        if self.epoch != self.ledger.epoch:
            self.start(None)
            return
        try:
            self.go()
        except BaseException as error:
            raise self.failure(error) from None

    def failure(self, error: BaseException) -> BaseException:
        """The error to raise for one that `go` has raised: what is torn or lost is marked."""
        _tear(self, error)
        return error

    def why(self, argument: Argument) -> str:
        """The reason for copying the memory of an argument."""
        return f"'{self.plan.compilation.entry}' needs it as {argument.info.name}"


class EmptyLaunch(Launch):
    """A dispatch of no workgroup."""

    def run(self, timeout: float | None) -> None:
        """Do nothing."""


class HostLaunch(Launch):
    """A dispatch on the host's memory. One that is stopped leaves what it writes torn."""

    def run(self, timeout: float | None) -> None:
        """Have all memories on the host, and run."""
        for argument in self.plan.arguments:
            argument.memory.need(HOST, self.why(argument))
        self.prepare(timeout)
        with _Torn(self):
            self.run_on_host(timeout)
        for memory in self.plan.written:
            memory.wrote(HOST)

    def prepare(self, timeout: float | None) -> None:
        """What may fail before anything is written."""

    @abstractmethod
    def run_on_host(self, timeout: float | None) -> None:
        """Run, and wait for the end."""


class CpuLaunch(HostLaunch):
    """Machine code that works on the host's memory in place."""

    def __init__(self, plan: Plan, ledger: Ledger, *, contract: bool, trial: bool) -> None:
        from ..backend.cpu.bound_dispatch import BoundDispatch
        from ..backend.cpu.tiered import CpuDispatch

        super().__init__(plan, ledger)
        buffers = {it.info.point: it.host().data for it in plan.arguments}
        written = [it.info.point for it in plan.arguments if it.is_written]
        job = CpuDispatch(buffers, written, plan.workgroups, contract=contract, is_trial=trial)
        suited = plan.compilation.suited_to(handle_facts([it.info for it in plan.arguments], buffers))
        self._bound: BoundDispatch = BoundDispatch(suited.machine_code, job)

    def prepare(self, timeout: float | None) -> None:
        """Compile, and bind."""
        self._bound.prepare(timeout)

    def run(self, timeout: float | None) -> None:
        """Run, after which `go` is enough."""
        super().run(timeout)
        self.go = self._bound.runner(_expiry(self))
        self.epoch = self.ledger.epoch

    def run_on_host(self, timeout: float | None) -> None:
        """Run, and wait for the end."""
        self._bound.run(timeout)


class InterpretedLaunch(HostLaunch):
    """An interpreter, which works on copies: slow and exact."""

    def __init__(self, plan: Plan, ledger: Ledger, device: str) -> None:
        super().__init__(plan, ledger)
        self._device = device_named(device)

    def run_on_host(self, timeout: float | None) -> None:
        """Run on copies, and write back what may have changed."""
        arguments = self.plan.arguments
        copies: dict[BindingPoint, bytearray] = {it.info.point: bytearray(it.host().data) for it in arguments}
        bindings = [it.info for it in arguments]
        self._device(Dispatch(self.plan.compilation, bindings, copies, self.plan.workgroups, timeout))
        for argument in arguments:
            if argument.is_written:
                argument.host().data[:] = copies[argument.info.point]


def _not_started() -> None:
    raise AssertionError("the launch was not started")


def _expiry(launch: Launch) -> Callable[[], None]:
    """A function after which `start` is needed again. A weak reference: memories are freed with their last launch."""
    found = ref(launch)

    def expire() -> None:
        living = found()
        if living is not None:
            living.epoch = -1

    return expire


class _Torn:
    """Marks what a launch writes as torn if the body of the `with` statement is left by an error."""

    def __init__(self, launch: Launch) -> None:
        self._launch = launch

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is not None:
            _tear(self._launch, error)


def _tear(launch: Launch, error: BaseException) -> None:
    """Mark what a dispatch was writing, unless the error came before it ran."""
    if isinstance(error, (ShaderError, InputError)):
        return
    reason = str(error) or type(error).__name__
    for memory in launch.plan.written:
        memory.fail(
            f"{memory.label} is torn: '{launch.plan.compilation.entry}', which writes it, was stopped: {reason}"
        )
