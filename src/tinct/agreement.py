"""The cases of kernels on several devices, each answer compared with the reference's."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

import numpy.typing as npt

from .base.errors import DeviceError, InputError
from .cases import Case, Input
from .compare import Comparison, Tolerance, compare
from .compared_dispatch import ComparedDispatch
from .devices import adapter_named
from .functions import DEVICES as FUNCTION_DEVICES
from .functions import FunctionRun, HerculesFile, load_hercules
from .ir.diagnostics import ShaderError
from .kernel import BufferValue, Run
from .sample_allowance import isotropic
from .shader import Shader, load

Arrays = Mapping[str, "npt.NDArray[Any]"]
Status = Literal["agrees", "differs", "reference", "skipped", "failed"]
INTERPRETERS = ("interp", "hercules")


@dataclass(frozen=True, slots=True)
class Answer:
    """The outcome of one case on one device.

    `against` is what it was compared with: "numpy", or the first device. `detail` says what was wrong, or why the case
    was skipped. `comparisons` has each output that was compared. `is_device_fault`: the device failed, not the shader.
    """

    kernel: str
    case: str
    device: str
    status: Status
    against: str = ""
    detail: str = ""
    comparisons: Mapping[str, Comparison] = field(default_factory=dict[str, Comparison])
    compile: float = 0.0
    run: float = 0.0
    is_device_fault: bool = False
    outputs: Arrays = field(default_factory=dict[str, "npt.NDArray[Any]"], repr=False)

    @property
    def is_wrong(self) -> bool:
        """Whether the answer is wrong or missing."""
        return self.status in ("differs", "failed")

    @property
    def worst_ulp(self) -> float | None:
        """The greatest distance in units in the last place, over all outputs; None where nothing was compared."""
        return max((it.worst_ulp for it in self.comparisons.values()), default=None)

    @property
    def worst_absolute(self) -> float | None:
        """The greatest absolute distance, over all outputs; None where nothing was compared."""
        return max((it.worst_absolute for it in self.comparisons.values()), default=None)


def load_kernels(path: Path) -> Shader | HerculesFile:
    """The shader, or the functions of Hercules IR, that cases are for. Raises ShaderError, InputError and OSError."""
    return load_hercules(path) if path.suffix == ".hir" else load(path)


def answers(
    kernels: Shader | HerculesFile, case: Case, devices: Sequence[str], skip: Mapping[str, str]
) -> Iterator[Answer]:
    """The answer of each device, in order; `skip` has reasons to leave devices out.

    The outputs that the case's numpy reference gives are compared with it, the others with the first device's.
    Raises InputError for a case that does not fit its kernel.
    """
    inputs, run, comparer = _of_shader(kernels, case) if isinstance(kernels, Shader) else _of_function(kernels, case)
    known = dict(case.expected(inputs) or {})
    expected, first = known, ""
    for device in devices:
        reason = skip.get(device) or _reason_to_skip(case, device)
        if reason is not None:
            yield Answer(case.kernel, case.name, device, "skipped", detail=reason)
            continue
        others = {name: first for name in expected if name not in known}
        answer = _answer(run, comparer, case, device, expected, others)
        yield answer
        if answer.status != "failed" and not first:
            first = device
            expected = {**answer.outputs, **known}


_Runner: TypeAlias = Callable[[str], Run | FunctionRun]
"""Runs a case on a device."""


class _Comparer(Protocol):
    """Compares an output of a case, which devices gave. Raises ValueError when shapes or fields differ."""

    def __call__(
        self,
        output: str,
        expected: npt.NDArray[Any],
        actual: npt.NDArray[Any],
        tolerance: Tolerance,
        /,
        *devices: str,
    ) -> Comparison: ...


def _of_shader(shader: Shader, case: Case) -> tuple[Mapping[str, Input], _Runner, _Comparer]:
    """The inputs of a case of an entry point, how it runs, and how its outputs are compared."""
    kernel = shader.kernel(case.entry)
    inputs = case.inputs_of(kernel.bindings)
    values: dict[str, BufferValue] = {**inputs, **case.samplers}
    given = isotropic(values)

    def run(device: str) -> Run:
        return kernel.run_timed(
            given,
            workgroups=case.workgroups,
            threads=case.threads,
            constants=case.constants,
            device=device,
            trial=False,
        )

    sampled = ComparedDispatch(kernel, given, case.workgroups, case.threads, case.constants)
    return inputs, run, sampled.compare


def _of_function(file: HerculesFile, case: Case) -> tuple[Mapping[str, Input], _Runner, _Comparer]:
    """The inputs of a case of a function, how it runs, and how its outputs are compared."""
    function = file.function(case.entry)
    known = {**case.sizes, **{name: int(value) for name, value in case.constants.items()}}
    dtypes = {
        name: function.dtype_with(name, known, with_shape=not plan.shape)
        for name, plan in case.plans.items()
        if name in function.parameters
    }
    inputs = case.inputs(dtypes, function.results)

    def run(device: str) -> FunctionRun:
        return function.run_timed(inputs, constants=case.constants, device=device)

    def compared(
        output: str, expected: npt.NDArray[Any], actual: npt.NDArray[Any], tolerance: Tolerance, *devices: str
    ) -> Comparison:
        del output, devices
        return compare(expected, actual, tolerance)

    return inputs, run, compared


def _reason_to_skip(case: Case, device: str) -> str | None:
    if case.is_of_function and device not in FUNCTION_DEVICES and adapter_named(device) is None:
        return "functions of Hercules IR run on interp"
    return "too large for an interpreter" if device in INTERPRETERS and not case.interp else None


def _answer(
    runner: _Runner, comparer: _Comparer, case: Case, device: str, expected: Arrays, others: Mapping[str, str]
) -> Answer:
    """The answer of a device. `others` has the devices that gave those outputs which the reference does not have."""
    try:
        return _judged(case, device, runner(device), comparer, expected, others)
    except (ShaderError, DeviceError) as error:
        fault = isinstance(error, DeviceError)
        return Answer(case.kernel, case.name, device, "failed", detail=str(error), is_device_fault=fault)


def _judged(
    case: Case,
    device: str,
    run: Run | FunctionRun,
    comparer: _Comparer,
    expected: Arrays,
    others: Mapping[str, str],
) -> Answer:
    compared = [name for name in case.outputs if name in expected]
    missing = set(compared) - run.outputs.keys()
    if missing:
        raise InputError(f"{case.file}: case '{case.name}': '{min(missing)}' is no buffer that the kernel writes")
    comparisons = {
        name: _compare(case, comparer, name, (expected[name], run.outputs[name]), _devices(device, others, name))
        for name in compared
    }
    wrong = {name: comparison for name, comparison in comparisons.items() if not comparison.agrees}
    status: Status = "differs" if wrong else "agrees" if comparisons else "reference"
    return Answer(
        kernel=case.kernel,
        case=case.name,
        device=device,
        status=status,
        against=("numpy" if case.reference else next(iter(others.values()), "")) if comparisons else "",
        detail="; ".join(_place(name, comparison) for name, comparison in wrong.items()),
        comparisons=comparisons,
        compile=run.timing.compile,
        run=run.timing.run,
        outputs=run.outputs,
    )


def _devices(device: str, others: Mapping[str, str], output: str) -> list[str]:
    """The devices that gave an output, and what it is compared with."""
    return [device, others[output]] if output in others else [device]


def _compare(
    case: Case, comparer: _Comparer, name: str, pair: tuple[npt.NDArray[Any], npt.NDArray[Any]], devices: Sequence[str]
) -> Comparison:
    try:
        return comparer(name, *pair, case.outputs[name], *devices)
    except ValueError as error:
        raise InputError(f"{case.file}: case '{case.name}': '{name}' and its reference: {error}") from None


def _place(name: str, comparison: Comparison) -> str:
    first = "" if comparison.first is None else f", first {name}{comparison.first}"
    return f"{comparison.mismatches} of {comparison.compared} differ{first}"
