"""`--buffer NAME=SPEC` and `--arg NAME=SPEC`: arrays from files, generators and JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

import numpy as np
import numpy.typing as npt

from ..base.errors import InputError
from ..cases.expressions import ExpressionError
from ..cases.generators import Arange, Generator, Integers, Request, Uniform, Value
from ..functions import HerculesFunction, ParameterInfo
from ..graphs import EmittedPlan, GraphProgram
from ..ir.hints import unknown_name
from ..ir.samplers import sampler_from
from ..ir.types import Array, Sampler, Struct, Texture, Type, Vector
from ..kernel import BufferValue, Kernel
from ..reflection import BindingInfo
from ..textures import shape_text, texel_dtype
from .options import map_parts, parse_shape

_SPECIAL_NUMBERS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def make_buffers(kernel: Kernel, specs: tuple[str, ...], seed: int) -> dict[str, BufferValue]:
    """The buffers that `--buffer NAME=SPEC` describes. Raises InputError, or OSError for a file."""
    known = {info.name: info for info in kernel.bindings}
    return _made(_Option("--buffer", "the entry point uses no buffer named", known), specs, seed, _buffer)


def make_inputs(graph: GraphProgram | EmittedPlan, specs: tuple[str, ...], seed: int) -> dict[str, BufferValue]:
    """The inputs of a graph or a plan that `--buffer NAME=SPEC` describes. Raises InputError, or OSError for a file."""
    option = _Option("--buffer", f"graph {graph.name!r} has no input named", graph.inputs)
    return _made(option, specs, seed, _buffer)


def make_arguments(function: HerculesFunction, specs: tuple[str, ...], seed: int) -> dict[str, object]:
    """The arguments of a function that `--arg NAME=SPEC` describes. Raises InputError, or OSError for a file."""
    option = _Option("--arg", f"{function.name} has no parameter named", function.parameters)
    return _made(option, specs, seed, _argument)


T = TypeVar("T")
Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class _Option(Generic[T]):
    """An option, what its message about an unknown name begins with, and what has a name."""

    name: str
    complaint: str
    known: Mapping[str, T]


def _made(
    option: _Option[T], specs: tuple[str, ...], seed: int, make: Callable[[T, str, np.random.Generator], Made]
) -> dict[str, Made]:
    made: dict[str, Made] = {}
    for number, spec in enumerate(specs):
        name, separator, text = spec.partition("=")
        if not separator:
            raise InputError(f"{option.name} takes NAME=SPEC, not {spec!r}")
        if name not in option.known:
            raise InputError(unknown_name(f"{option.complaint} {name!r}", name, option.known))
        if name in made:
            raise InputError(f"{option.name} {name} is given twice")
        try:
            made[name] = make(option.known[name], text, np.random.default_rng([seed, number]))
        except InputError as error:
            raise InputError(f"{option.name} {spec}: {error}") from None
        except (ExpressionError, ValueError, OverflowError) as error:
            raise InputError(f"{option.name} {spec}: {error}") from error
    return made


def _argument(info: ParameterInfo, text: str, random: np.random.Generator) -> object:
    path = Path(text)
    if path.suffix == ".npy":
        return _load(path)
    generated = _generator(text)
    if generated is None:
        return _literal(text)
    if info.dtype is None:
        raise InputError(f"nothing generates a value for {info.type}")
    shape, generator = generated
    left = info.shape[len(shape) :]
    if len(shape) > len(info.shape) or not all(it.isdigit() for it in left):
        raise InputError(f"{info.type} takes a shape of {len(info.shape)} numbers")
    return _filled(info.dtype, (*shape, *map(int, left)), generator, random)


def _buffer(info: BindingInfo, text: str, random: np.random.Generator) -> BufferValue:
    if isinstance(info.type, Sampler):
        return _sampler(text)
    path = Path(text)
    if path.suffix == ".npy":
        return _load(path)
    if path.suffix == ".bin":
        return path.read_bytes()
    generated = _generator(text)
    if generated is None:
        return _literal(text)
    if info.dtype is None:
        raise InputError(f"nothing generates an array for {info.type}")
    shape, generator = generated
    if isinstance(info.type, Texture):
        return _fill_texture(info.type, shape, generator, random)
    return _fill(info, shape, generator, random)


def _sampler(text: str) -> BufferValue:
    try:
        fields: object = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        raise InputError("""a sampler is JSON, such as {"mag_filter": "linear"}; {} is one with WebGPU's defaults""")
    made: BufferValue = sampler_from(cast("dict[str, Any]", fields))
    return made


def _load(path: Path) -> npt.NDArray[Any]:
    try:
        loaded: Any = np.load(path, allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise InputError(f"{path} is no array that numpy can read: {error}") from None
    if not isinstance(loaded, np.ndarray):
        raise InputError(f"{path} holds no single array")
    return cast("npt.NDArray[Any]", loaded)


def _generator(text: str) -> tuple[tuple[int, ...], Generator] | None:
    """A shape and the generator that fills it; None if the text is no generator."""
    kind, *parts = text.split(":")
    counts = {"zeros": (0,), "arange": (0,), "uniform": (0, 2), "integers": (2,)}
    if kind not in counts:
        return None
    shape = parse_shape(parts[0], "a shape") if parts and parts[0] else ()
    limits = parts[1:]
    if len(limits) not in counts[kind]:
        raise InputError(f"{kind} takes a shape" + (", the lowest number and the end" if 2 in counts[kind] else ""))
    match kind:
        case "zeros":
            return shape, Value(0)
        case "arange":
            return shape, Arange(0, 1)
        case "uniform":
            low, high = limits or ("0", "1")
            return shape, Uniform(low, high)
        case _:
            return shape, Integers(*limits)


def _fill(info: BindingInfo, shape: tuple[int, ...], generator: Generator, random: np.random.Generator) -> BufferValue:
    assert info.dtype is not None
    dtype = info.dtype
    if isinstance(info.type, Struct) and info.size is None:
        if len(shape) != 1:
            raise InputError(
                f"{info.type} ends in a runtime-sized array: its number of elements is needed, as in zeros:8"
            )
        dtype, shape = info.dtype_with(shape[0]), ()
    elif info.size is None and not shape:
        raise InputError(f"{info.type} is runtime-sized: a shape is needed, as in zeros:1024")
    elif info.size is not None and shape:
        raise InputError(f"{info.type} has a fixed size: leave the shape out")
    array = _filled(dtype, shape, generator, random)
    return array[..., :3] if _is_padded(info.type) else array


def _fill_texture(
    type: Texture, shape: tuple[int, ...], generator: Generator, random: np.random.Generator
) -> BufferValue:
    if not shape:
        raise InputError(f"a {type} needs the shape {shape_text(type)}, as in zeros:16x16x4")
    return generator.fill(Request(shape, texel_dtype(type), {}, random))


def _filled(
    dtype: np.dtype[Any], shape: tuple[int, ...], generator: Generator, random: np.random.Generator
) -> npt.NDArray[Any]:
    """An array whose numbers, also those inside structures, come from the generator."""
    if dtype.subdtype is not None:
        base, inner = dtype.subdtype
        return _filled(base, (*shape, *inner), generator, random)
    if dtype.names is None:
        return generator.fill(Request(shape, dtype, {}, random))
    array = np.zeros(shape, dtype)
    for name in dtype.names:
        array[name] = _filled(dtype[name], shape, generator, random)
    return array


def _is_padded(type: Type) -> bool:
    """Whether an array holds vectors of three, whose dtype has a fourth, padding number."""
    return isinstance(type, Array) and isinstance(type.element, Vector) and type.element.width == 3


def _literal(text: str) -> BufferValue:
    try:
        buffer: BufferValue = _json(text)
    except (json.JSONDecodeError, RecursionError):
        raise InputError("neither a file (.npy, .bin), a generator nor JSON; see tinct run --help") from None
    return buffer


def parse_literal(option: str, text: str) -> object:
    """The value of an option that takes JSON. Raises InputError."""
    try:
        value: object = _json(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise InputError(f"{option} is not JSON: {error}") from None
    return value


def _json(text: str) -> Any:
    return _with_special_numbers(json.loads(text))


def _with_special_numbers(value: Any) -> Any:
    if isinstance(value, str):
        if value not in _SPECIAL_NUMBERS:
            raise InputError(f"{value!r} is no number")
        return _SPECIAL_NUMBERS[value]
    return map_parts(_with_special_numbers, value)
