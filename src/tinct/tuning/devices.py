"""What identifies a device, so that what was tuned on one is not taken for another."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from ..backend.cpu.machine import processor_name
from ..backend.cpu.target import current_target
from ..backend.cpu.threads import available_processors
from ..base.errors import DeviceError, InputError
from ..devices import adapter_named, check_contract
from ..ir.hints import unknown_name
from .choices import GpuKind


def check_device(device: str, *, contract: bool) -> None:
    """Raise InputError for a device that cannot be tuned for, with or without fused products and sums."""
    if device != "cpu" and adapter_named(device) is None:
        raise InputError(unknown_name(f"tuning is for 'cpu' and 'gpu', not {device!r}", device, ("cpu", "gpu")))
    check_contract(device, contract=contract)


def identity(device: str) -> str:
    """The device in words: the processor with what code is made for it, or the adapter with its driver.

    Raises DeviceError for a GPU that is not there, InputError for an adapter's name that nothing here has.
    """
    adapter = adapter_named(device)
    if adapter is None:
        target = current_target()
        return f"{processor_name()}, {available_processors()} processors, {target.vector_bytes * 8} bits"
    from ..backend.gpu import GpuDevice

    found = GpuDevice.available(adapter)
    if found is None:
        raise DeviceError(GpuDevice.unavailable_reason(adapter) or "no GPU")
    return f"{found.name}, {found.vendor} {found.description}, {found.backend}".replace(" ,", ",")


def has_subgroups(device: str) -> bool:
    """Whether the device has subgroup operations; the CPU does."""
    adapter = adapter_named(device)
    if adapter is None:
        return True
    from ..backend.gpu import GpuDevice

    found = GpuDevice.available(adapter)
    return found is not None and "subgroup" in found.features


def gpu_kind(device: str) -> GpuKind | None:
    """Whether the device is a GPU in hardware, or in software, a driver that computes on the processor; None for what
    is no GPU, or is not there.
    """
    adapter = adapter_named(device)
    if adapter is None:
        return None
    from ..backend.gpu import GpuDevice

    found = GpuDevice.available(adapter)
    if found is None:
        return None
    return "software" if found.is_software else "hardware"


def versions(device: str) -> str:
    """The versions of all that decides how fast code for the device is."""
    packages = ("tinct", "llvmlite" if adapter_named(device) is None else "wgpu")
    return ", ".join(f"{it} {_version(it)}" for it in packages)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"
