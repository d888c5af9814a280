"""The options of a dispatch, checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Protocol, TypeAlias, runtime_checkable

from ..arguments import flag_of, name_of
from ..base.errors import InputError
from ..base.records import dataclass
from ..compilation import Compilation
from ..devices import adapter_named, check_contract, device_named, routed
from ..dispatch import DispatchSize, dispatch_size
from ..ir.hints import unknown_name
from ..ir.layout_numbers import shown
from ..reflection import BindingInfo, EntryPointInfo

Constants: TypeAlias = Mapping[str, float | int | bool]

_EXTRA = ("refuse", "ignore")
_MOST: Final = 256
"""The number of calls that a session remembers."""


class Held:
    """The base of what a session holds: apart from `Buffer`, so that a dispatch without any imports no sessions."""


@runtime_checkable
class KernelLike(Protocol):
    """A kernel, as a session runs it: `tinct.Kernel` is one."""

    @property
    def info(self) -> EntryPointInfo:
        """Its entry point."""
        ...

    @property
    def bindings(self) -> Sequence[BindingInfo]:
        """The bound variables it uses."""
        ...

    def compilation(self, constants: Constants | None = None) -> Compilation:
        """Its compilation with values for overrides."""
        ...


@dataclass(frozen=True, slots=True)
class Options:
    """The options of `Session.run`; `is_trial` as `Kernel.run_timed` has it."""

    workgroups: DispatchSize | None
    threads: DispatchSize | None
    constants: Constants | None
    device: str
    via: str | None = None
    contract: bool = False
    extra: str = "refuse"
    is_trial: bool = True


@dataclass(frozen=True, slots=True)
class Call:
    """What is run, where, and how often. `device` is a name that `device_named` takes."""

    compilation: Compilation
    device: str
    workgroups: tuple[int, int, int]
    contract: bool
    is_trial: bool

    gpu: str
    """The device's name, without the way to it."""
    is_via_hercules: bool

    @property
    def adapter(self) -> str | None:
        """Which GPU (see `devices.adapter_named`)."""
        return adapter_named(self.device)


class Calls:
    """The calls that options describe, each checked once."""

    def __init__(self) -> None:
        self._found: dict[object, Call] = {}

    def of(self, kernel: KernelLike, options: Options) -> Call:
        """The call of a kernel. Raises InputError and ShaderError."""
        key = kernel, options
        try:
            found = self._found.get(key)
        except TypeError:  # constants, or sizes that are lists
            return checked_call(kernel, options)
        if found is None:
            if len(self._found) >= _MOST:
                self._found.clear()
            found = self._found[key] = checked_call(kernel, options)
        return found


def checked_call(kernel: KernelLike, options: Options) -> Call:
    """The call that the options describe. Raises InputError and ShaderError."""
    if not _is_kernel(kernel):
        raise InputError(f"a session runs a kernel, such as tinct.load(path)['main'], not {shown(kernel)}")
    device = name_of(options.device, "a device", "cpu")
    way = None if options.via is None else name_of(options.via, "a way", "hercules")
    route = routed(device, way)
    device_named(route)
    contract = flag_of(options.contract, "contract")
    check_contract(device, contract=contract)
    if options.extra not in _EXTRA:
        raise InputError(unknown_name(f"extra cannot be {options.extra!r}", options.extra, _EXTRA))
    compilation = kernel.compilation(options.constants)
    compilation.check_runnable_on(device)
    count = dispatch_size(options.workgroups, options.threads, compilation)
    return Call(compilation, route, count, contract, options.is_trial, device, route != device)


def _is_kernel(value: object) -> bool:
    return isinstance(value, KernelLike)
