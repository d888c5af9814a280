"""A function of Hercules IR: its interface, and running it on arrays."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from ..arguments import count_of, flag_of, mapping_of, name_of, seconds_of
from ..base.cached import cached_property
from ..base.deadline import Deadline
from ..base.errors import InputError
from ..devices import adapter_named
from ..dispatch import Timing
from ..ir.hercules import dynamic
from ..ir.hercules import nodes as h
from ..ir.hercules.layout import align_of, buffer_size
from ..ir.hercules.storage import Value
from ..ir.hercules.text import dynamic_text, type_text
from ..ir.hercules.types import substitute
from ..ir.hints import unknown_name
from ..ir.layout_numbers import shown
from ..outputs import Outputs, summary
from .dtypes import (
    dtype_if_known,
    dtype_of,
    extents,
    field_names,
    has_literal_extents,
    innermost,
    shape_of,
)
from .extents import dynamic_constants
from .machine_code import MachineCode
from .on_gpu import OnGpu
from .results import DeviceResult, Parts, parts_of
from .structures import DynamicConstantInfo, StructureInfo, constants_of, structures_of
from .values import as_argument, blank, from_bytes, to_bytes, to_value

Arrays: TypeAlias = "dict[str, npt.NDArray[Any]]"

Constants: TypeAlias = Mapping[str, int | float]

DEVICES: Final = ("cpu", "gpu", "interp")
"""The devices of functions: `interp` is the interpreter of Hercules IR."""


@dataclass(frozen=True, slots=True)
class PartInfo:
    """A parameter or a part of the result.

    `type` is the type's text, `shape` the extents of the arrays it consists of, outermost first, as expressions of
    dynamic constants. `dtype` is the numpy type of the arrays' elements (see `docs/hercules-functions.md`); None where
    its size depends on dynamic constants. `size` is an expression for the bytes of its buffer, `align` its alignment.
    """

    name: str
    type: str
    shape: tuple[str, ...]
    dtype: np.dtype[Any] | None
    size: str
    align: int


@dataclass(frozen=True, slots=True)
class ParameterInfo(PartInfo):
    """A parameter."""


@dataclass(frozen=True, slots=True)
class ResultInfo(PartInfo):
    """A part of the result."""


@dataclass(frozen=True, slots=True)
class FunctionRun:
    """The result of a run: its parts by name, and the seconds it took."""

    outputs: Arrays
    timing: Timing

    def __repr__(self) -> str:
        return f"<FunctionRun {summary(self.outputs, self.timing)}>"


class HerculesFunction:
    """A function of Hercules IR, ready to run on any device."""

    def __init__(self, function: h.Function) -> None:
        self.function: Final = function
        self._machine_code = MachineCode(function)
        self._on_gpu = OnGpu(function)

    def __repr__(self) -> str:
        return f"<HerculesFunction {self.name}: {', '.join(self.parameters)} -> {', '.join(self.results)}>"

    @property
    def name(self) -> str:
        """The name."""
        return self.function.name

    @cached_property
    def parameters(self) -> dict[str, ParameterInfo]:
        """The parameters by name, in order."""
        pairs = zip(self.function.parameter_names, self.function.parameter_types, strict=True)
        return {name: ParameterInfo(*self._part(name, type)) for name, type in pairs}

    @cached_property
    def results(self) -> dict[str, ResultInfo]:
        """The parts of the result by name, in order."""
        pairs = zip(self._parts.names, self._parts.types, strict=True)
        return {name: ResultInfo(*self._part(name, type)) for name, type in pairs}

    @property
    def structures(self) -> tuple[StructureInfo, ...]:
        """The products and sums in parameters and results: their fields and offsets."""
        return structures_of(self.function)

    @property
    def constants(self) -> tuple[DynamicConstantInfo, ...]:
        """The dynamic constants, and what they are the extents of."""
        return constants_of(self.function)

    @cached_property
    def _parts(self) -> Parts:
        return parts_of(self.function)

    def _part(self, name: str, type: h.Type) -> tuple[str, str, tuple[str, ...], np.dtype[Any] | None, str, int]:
        names = self.function.dynamic_constants
        shape = tuple(dynamic_text(it, names) for it in extents(type))
        size = dynamic_text(buffer_size(type), names)
        dtype = dtype_if_known(type)
        return name, type_text(type, names), shape, dtype, size, align_of(type)

    def dtype_with(self, name: str, constants: Mapping[str, int], *, with_shape: bool) -> np.dtype[Any]:
        """The dtype of the elements of a parameter's arrays, or with their shape that of the parameter, where the
        dynamic constants have these values. Raises InputError if one of those that it depends on is missing.
        """
        names = self.function.dynamic_constants
        type = self.function.parameter_types[self.function.parameter_names.index(name)]
        known = [
            dynamic.literal(constants[it]) if it in constants else h.DynamicParameter(index)
            for index, it in enumerate(names)
        ]
        literal = substitute(type, known)
        if not has_literal_extents(literal if with_shape else innermost(literal)):
            raise InputError(f"{name}: the extents of {type_text(type, names)} are not known: give its shape")
        element = dtype_of(literal)
        return np.dtype((element, shape_of(literal))) if with_shape else element

    def run(
        self,
        arguments: Mapping[str, object],
        *,
        constants: Constants | None = None,
        device: str = "cpu",
        timeout: float | None = None,
        workgroup_size: int | None = None,
        reassociate: bool = False,
    ) -> Arrays:
        """Run on a device; a new array for each part of the result, by name. The arguments stay as they are.

        `arguments` has a value for each parameter, by name: an array, nested lists, or a number; a tuple, a mapping or
        a structured array for products; `{"variant": number, "value": …}` for a sum. Dynamic constants follow from
        the shapes of arguments; `constants` gives those that do not. `device` is one of `DEVICES`, or `gpu:ADAPTER`.
        Compiling that takes longer than `timeout` seconds is stopped, and so is a run that then takes longer.
        `workgroup_size` is for a GPU: how many threads of a grid are a workgroup, 64 by default, at most what the
        adapter allows; where a workgroup runs one thread, it has a size of its own. With `reassociate`, a GPU may add
        and multiply floats in another order, so that results are rounded differently.

        Raises InputError for arguments, shapes or names that do not fit, ShaderError for what the device cannot
        compile, DeviceError when the device fails or the time is over.
        """
        return self.run_timed(
            arguments,
            constants=constants,
            device=device,
            timeout=timeout,
            workgroup_size=workgroup_size,
            reassociate=reassociate,
        ).outputs

    def run_timed(
        self,
        arguments: Mapping[str, object],
        *,
        constants: Constants | None = None,
        device: str = "cpu",
        timeout: float | None = None,
        workgroup_size: int | None = None,
        reassociate: bool = False,
    ) -> FunctionRun:
        """`run` with the seconds that compiling and running took."""
        adapter = self._adapter(name_of(device, "a device", "cpu"))
        seconds = seconds_of(timeout)
        threads = None if workgroup_size is None else count_of(workgroup_size, "the workgroup size")
        if threads is not None and adapter is None:
            raise InputError(f"a workgroup size is for a GPU, not for {device}")
        reassociate = flag_of(reassociate, "reassociate")
        if reassociate and adapter is None:
            raise InputError(f"reassociate is for a GPU, not for {device}")
        given = self._ordered(arguments)
        known = dynamic_constants(self.function, given, {} if constants is None else constants)
        literals = [dynamic.literal(it) for it in known]
        types = [substitute(it, literals) for it in self.function.parameter_types]
        pairs = zip(self.parameters, types, given, strict=True)
        arrays = [as_argument(type, value, name) for name, type, value in pairs]
        returned = [substitute(it, literals) for it in self._parts.types]
        for name, type in zip(self._parts.names, returned, strict=True):
            blank(type, name)
        if device == "interp":
            found, timing = self._interpret(known, types, arrays, returned, seconds)
        else:
            buffers = [to_bytes(*pair) for pair in zip(types, arrays, strict=True)]
            if adapter is None:
                result = self._machine_code.run(known, buffers, seconds)
            else:
                result = self._on_gpu.run(
                    known,
                    buffers,
                    adapter=adapter,
                    timeout=seconds,
                    workgroup_size=threads,
                    reassociate=reassociate,
                )
            found, timing = self._unpacked(result, returned), result.timing
        return FunctionRun(Outputs(zip(self._parts.names, found, strict=True)), timing)

    def value_of(self, outputs: Mapping[str, npt.NDArray[Any]]) -> Value:
        """What the function returned, from the arrays of a run: numbers, lists for arrays and products, and
        `ir.hercules.storage.Variant` for sums.
        """
        values: list[Value] = []
        for name, type in zip(self._parts.names, self._parts.types, strict=True):
            values.append(to_value(type, outputs[name]))
        return values if self._parts.is_product else values[0]

    def _unpacked(self, result: DeviceResult, returned: Sequence[h.Type]) -> list[npt.NDArray[Any]]:
        """The parts of a result that a device gave."""
        if result.is_split or not self._parts.is_product:
            return [from_bytes(*pair) for pair in zip(returned, result.buffers, strict=True)]
        product = h.Product(tuple(returned))
        whole = from_bytes(product, result.buffers[0])
        return [whole[name].copy() for name in field_names(product)]

    def _adapter(self, device: str) -> str | None:
        """The GPU adapter that a device's name asks for; None for another device. Raises InputError."""
        adapter = adapter_named(device)
        if adapter is None and device not in DEVICES:
            raise InputError(unknown_name(f"no device of functions is named {device!r}", device, DEVICES))
        return adapter

    def _ordered(self, arguments: Mapping[str, object]) -> list[object]:
        """The arguments in the order of the parameters. Raises InputError for names that are missing or unknown."""
        known = self.function.parameter_names
        for name in mapping_of(arguments, "arguments", known or ("a",)):
            if name not in known:
                raise InputError(unknown_name(f"{self.name} has no parameter named {shown(name)}", name, known))
        missing = [f"{it.name}: {it.type}" for it in self.parameters.values() if it.name not in arguments]
        if missing:
            raise InputError(f"no value is given for {', '.join(missing)}")
        return [arguments[name] for name in known]

    def _interpret(
        self,
        constants: Sequence[int],
        types: Sequence[h.Type],
        arrays: Sequence[npt.NDArray[Any]],
        returned: Sequence[h.Type],
        timeout: float | None,
    ) -> tuple[list[npt.NDArray[Any]], Timing]:
        from ..ir.hercules.interp import run_in_place

        values = [to_value(*pair) for pair in zip(types, arrays, strict=True)]
        start = time.perf_counter()
        result = run_in_place(self.function, constants, values, deadline=Deadline(timeout))
        seconds = time.perf_counter() - start
        parts: Sequence[Value] = [result]
        if self._parts.is_product:
            assert isinstance(result, list)
            parts = result
        triples = zip(returned, parts, self._parts.names, strict=True)
        return [as_argument(*triple) for triple in triples], Timing(0.0, seconds)
