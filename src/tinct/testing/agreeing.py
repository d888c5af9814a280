"""Whether devices agree about a kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ..arguments import mapping_of
from ..base.errors import DeviceError, InputError
from ..compare import EXACT, Tolerance
from ..compared_dispatch import ComparedDispatch
from ..devices import DEVICES, adapter_named
from ..dispatch import DispatchSize
from ..ir.hints import unknown_name
from ..ir.layout_numbers import shown
from ..ir.textures import format_of
from ..ir.types import Texture, Type
from ..kernel import BufferValues, Kernel
from ..sample_allowance import isotropic
from ..sessions.calls import Constants

GPU_TOLERANCE: Final = Tolerance(ulp=16, absolute=1e-6)
"""What a GPU's floats may be off, unless a test says it. WGSL's basic operations are correctly rounded, or within 2.5
ULP for a division, but may be fused and reassociated ("Floating Point Accuracy"); what that comes to in a whole kernel
is for the author of the kernel to say.
"""
NORMALISED_TOLERANCE: Final = replace(GPU_TOLERANCE, steps=1)
"""The same for texels of a normalised format: such floats, if they lie half way between two steps, become either."""

Expected = Mapping[str, npt.ArrayLike]


def devices_that_answer() -> list[str]:
    """`cpu`, `gpu` where an adapter answers, and the interpreters."""
    from ..backend.gpu import GpuDevice

    return [it for it in DEVICES if it != "gpu" or GpuDevice.available()]


def assert_agrees(
    kernel: Kernel,
    buffers: BufferValues,
    *,
    threads: DispatchSize | None = None,
    workgroups: DispatchSize | None = None,
    constants: Constants | None = None,
    devices: Sequence[str] | None = None,
    tolerance: Tolerance | Mapping[str, Tolerance] | None = None,
    expected: Expected | None = None,
    timeout: float | None = None,
) -> dict[str, npt.NDArray[Any]]:
    """Run a kernel on all devices that answer, or on those of `devices`, and compare what it writes.

    `expected` has outputs that are known; others are compared with those of the first device. `tolerance` is for all
    outputs, or has one for each output by name. Without one, results of the CPU and the interpreters must be equal, bit
    for bit but for NaN, and those of a GPU within `GPU_TOLERANCE`, or `NORMALISED_TOLERANCE` for normalised texels; so
    must be what is `expected`. If they are not, and the kernel calls functions such as `sin` or `pow`, what WGSL lets
    the results of these be off is estimated for each element, as `docs/accuracy.md` says. So is, with any tolerance,
    what samplers add on a GPU; their `max_anisotropy` is taken to be 1.

    Returns the outputs of the first device. Raises AssertionError, which lists each output of each device that differs,
    with the first difference, and what `Kernel.run` raises, with a note that names the device.
    """
    names = devices_that_answer() if devices is None else list(devices)
    if not names:
        raise InputError("devices names one or more devices")
    _check_names(kernel, tolerance, expected)
    known = {name: np.asarray(value) for name, value in (expected or {}).items()}
    buffers = isotropic(mapping_of(buffers, "buffers", kernel.info.bindings))
    dispatch = ComparedDispatch(kernel, buffers, workgroups, threads, constants, timeout)
    first: dict[str, npt.NDArray[Any]] = {}
    wrong: list[str] = []
    for device in names:
        outputs = _run(kernel, buffers, threads, workgroups, constants, device, timeout)
        references = {**first, **known}
        for name in outputs:
            if name in references:
                against = "expected" if name in known else names[0]
                is_exact = name not in known and adapter_named(device) is None
                usual = EXACT if is_exact else _usual(kernel.shader.bindings[name].type)
                given = tolerance if isinstance(tolerance, Tolerance) else (tolerance or {}).get(name)
                compared = device, *([] if name in known else names[:1])
                found = _difference(dispatch, name, (references[name], outputs[name]), (given, usual), compared)
                wrong += [f"  {name}, {device} against {against}{it}" for it in found]
        first = first or outputs
    if wrong:
        raise AssertionError(f"{kernel.info.name} of {kernel.shader.source.name}:\n" + "\n".join(wrong))
    return first


def _run(
    kernel: Kernel,
    buffers: BufferValues,
    threads: DispatchSize | None,
    workgroups: DispatchSize | None,
    constants: Constants | None,
    device: str,
    timeout: float | None,
) -> dict[str, npt.NDArray[Any]]:
    try:
        return kernel.run(
            buffers, threads=threads, workgroups=workgroups, constants=constants, device=device, timeout=timeout
        )
    except (InputError, DeviceError) as error:
        error.add_note(f"on the device {device!r}")
        raise


def _check_names(kernel: Kernel, tolerance: object, expected: Expected | None) -> None:
    """Raise InputError for names that are no outputs of the kernel."""
    written = [it.name for it in kernel.bindings if it.is_written]
    given = [("expected", expected or {})]
    if not (tolerance is None or isinstance(tolerance, Tolerance)):
        given.append(("tolerance", mapping_of(tolerance, "tolerance", written)))
    for what, names in given:
        for name in mapping_of(names, what, written):
            if name not in written:
                raise InputError(unknown_name(f"{what}: the kernel writes no {shown(name)}", name, written))


def _usual(type: Type) -> Tolerance:
    """The tolerance for results of a GPU, and for what is known, of an output of a type."""
    if not isinstance(type, Texture):
        return GPU_TOLERANCE
    form = format_of(type)
    return NORMALISED_TOLERANCE if form.is_normalised and not form.is_packed else GPU_TOLERANCE


def _difference(
    dispatch: ComparedDispatch,
    name: str,
    values: tuple[npt.NDArray[Any], npt.NDArray[Any]],
    tolerances: tuple[Tolerance | None, Tolerance],
    devices: Sequence[str],
) -> list[str]:
    """What is wrong with an output, given what is expected and what is there, and the tolerance that was given with
    the usual one.
    """
    given, usual = tolerances
    try:
        if given is not None:
            found, allowed = dispatch.compare(name, *values, given, *devices), str(given)
        else:
            found, allowed = dispatch.compare_by_rules(name, *values, usual, *devices), str(usual)
            allowed += _allowed_by(dispatch.bounded_functions)
    except ValueError as error:
        return [f": {error}"]
    return [] if found.agrees else [f" ({allowed}): {found}"]


def _allowed_by(functions: Sequence[str]) -> str:
    return f", and what WGSL allows {', '.join(functions)}" if functions else ""
