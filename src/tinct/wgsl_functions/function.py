"""A WGSL function as a Python function on arrays."""

from __future__ import annotations

import inspect
import keyword
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeAlias, cast

import numpy as np

from ..arguments import mapping_of
from ..base.errors import InputError
from ..base.records import dataclass
from ..ir.hints import unknown_name
from ..ir.layout_numbers import is_array, is_row, shown
from ..ir.limits import MOST_WORKGROUPS
from ..ir.source import DerivedSource, Part, Source
from ..ir.types import AddressSpace
from ..kept import kept
from ..origins import CheckedText
from .signature import Named, Parameter, Signature, own_shape
from .values import Argument, argument_of, common_shape, dtype_of, for_memory, from_memory
from .wrapper import Block, Shape, Wrapper, workgroup_size, wrapper_for

if TYPE_CHECKING:
    import numpy.typing as npt

AnyArray: TypeAlias = "npt.NDArray[Any]"
Axes: TypeAlias = "Sequence[int | Sequence[int]]"

_OPTIONS = ("out", "axes", "buffers", "constants", "device", "timeout")


class Results(tuple[AnyArray, ...]):
    """The results of a function that gives several: a tuple, whose parts have names as well."""

    _names: tuple[str, ...]

    def __new__(cls, names: Sequence[str], arrays: Sequence[AnyArray]) -> Self:
        """The arrays with their names, in the same order."""
        made = super().__new__(cls, arrays)
        made._names = tuple(names)
        return made

    def __getnewargs__(self) -> tuple[tuple[str, ...], tuple[AnyArray, ...]]:
        return self._names, tuple(self)

    @property
    def names(self) -> tuple[str, ...]:
        """The names, unless a result is called `names` itself."""
        return self._names

    if not TYPE_CHECKING:  # so that checkers know what tuples have

        def __getattribute__(self, name: str) -> object:
            """A result, even one that has the name of a tuple's method, such as `count`."""
            found = {} if name.startswith("_") else super().__getattribute__("__dict__")
            if name in (names := found.get("_names", ())):
                return self[names.index(name)]
            return super().__getattribute__(name)

    def __getattr__(self, name: str) -> AnyArray:
        known: tuple[str, ...] = self.__dict__.get("_names", ())
        if name.startswith("__") or name not in known:
            raise AttributeError(f"the results are {', '.join(known)}, none is {name!r}")
        return self[known.index(name)]

    def __repr__(self) -> str:
        return f"Results({', '.join(f'{name}={array!r}' for name, array in zip(self._names, self, strict=True))})"


FunctionResult: TypeAlias = "AnyArray | Results"


class Runnable(Protocol):
    """What runs the entry point: a `Kernel`."""

    def run(
        self,
        buffers: Mapping[str, Any],
        /,
        *,
        threads: tuple[int, ...],
        constants: Mapping[str, float] | None,
        device: str,
        timeout: float | None,
    ) -> Mapping[str, AnyArray]:
        """Dispatch, and return the written buffers by name."""
        ...


@dataclass(frozen=True, slots=True)
class CallOptions:
    """What a call has besides its arguments: see `ShaderFunction.__call__`."""

    out: AnyArray | Sequence[AnyArray] | None = None
    axes: Axes | None = None
    buffers: Mapping[str, Any] | None = None
    constants: Mapping[str, float] | None = None
    device: str = "cpu"
    timeout: float | None = None


class ShaderFunction:
    """A function of a shader. Calling it with arrays calls the WGSL function for each element, on any device.

    A parameter takes the last dimensions of what it is given as its own (a `vec3f` one of 3, a `mat4x3f` two, 4 and 3,
    a structure none); the others are broadcast. `dimensions` shows that, as numpy does: `(3),(3)->(3)`.
    """

    def __init__(self, text: CheckedText, name: str, load: Callable[[Source, str], Runnable]) -> None:
        self._text = text
        self._load = load
        self._runnable: dict[Shape, tuple[Wrapper, Runnable]] = {}
        self._signature = kept(lambda: _declared(text, name), text.source, "signature", name)
        self.__name__ = name
        self.__qualname__ = name
        self.__doc__ = _documentation(self._signature)

    @property
    def __signature__(self) -> inspect.Signature:
        return _python_signature(self._signature)

    @property
    def wgsl(self) -> str:
        """The declaration in WGSL, without the body."""
        return self._signature.wgsl

    @property
    def dimensions(self) -> str:
        """The own dimensions of parameters and results, as in `(3),(3)->(3)`."""
        return self._signature.dimensions

    def __repr__(self) -> str:
        return f"<ShaderFunction {self._signature.wgsl}>"

    def __call__(
        self,
        *arguments: object,
        out: AnyArray | Sequence[AnyArray] | None = None,
        axes: Axes | None = None,
        buffers: Mapping[str, Any] | None = None,
        constants: Mapping[str, float] | None = None,
        device: str = "cpu",
        timeout: float | None = None,
        **named: object,
    ) -> FunctionResult:
        """Call the function for each element of the arguments, which are broadcast.

        Arguments are numbers, lists or arrays, for a structure a structured array or a mapping of its members' names to
        arrays; by position or by the names of parameters. They are converted as buffers are: floats are rounded to
        the parameter's type, every other conversion is exact or an error, so that float64 and int64 may be given.

        Returns an array with the dimensions that were broadcast and the result's own, of bools, 32-bit integers,
        float32, float16, or structures without padding. What pointer parameters point to afterwards is returned after
        the value; several results are `Results`, a tuple with names. `out` has arrays to write them to. `axes` says
        for each parameter, and for each result, which axes are its own. `buffers` has the bound variables that the
        function uses; those it writes are returned, too, last. `constants` sets overrides; `device` and `timeout`
        are those of `Kernel.run`.

        Raises InputError for arguments that do not fit, ShaderError for what a device cannot compile, DeviceError when
        a device fails or the time is over.
        """
        options = CallOptions(out, axes, buffers, constants, device, timeout)
        given = _by_position(self._signature, arguments, named)
        return _Call(self._signature, options, given).run(self._runnable_for)

    def _runnable_for(self, shape: Shape) -> tuple[Wrapper, Runnable]:
        """The entry point for calls of a shape, made once."""
        if shape not in self._runnable:
            facts = "wrapper", self._signature.name, str(shape.has_rows), *sorted(shape.shared)
            wrapper = kept(lambda: wrapper_for(self._text.program, self._signature, shape), self._text.source, *facts)
            source = _with_more(self._text.source, wrapper.text)
            self._runnable[shape] = wrapper, self._load(source, wrapper.entry)
        return self._runnable[shape]


class ShaderFunctions:
    """The functions of a shader by name, in the order of the source, without entry points."""

    def __init__(self, text: CheckedText, names: Sequence[str], load: Callable[[Source, str], Runnable]) -> None:
        self._text = text
        self._load = load
        self._names = names
        self._made: dict[str, ShaderFunction] = {}

    def __getitem__(self, name: str) -> ShaderFunction:
        """The function of that name. Raises InputError, which is no KeyError."""
        if name not in self._names:
            raise self._unknown(name)
        if name not in self._made:
            self._made[name] = ShaderFunction(self._text, name, self._load)
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return f"<functions {', '.join(self)}>"

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    def _unknown(self, name: object) -> InputError:
        if any(it.name == name for it in self._text.program.entry_points):
            return InputError(f"{name} is an entry point, which no function calls: run it as shader[{name!r}]")
        return InputError(unknown_name(f"the shader has no function named {shown(name)}", name, self._names))


def _declared(text: CheckedText, name: str) -> Signature:
    """The signature of a function. Raises InputError for one that cannot be called from Python."""
    from .declared import signature_of

    return signature_of(text.program, next(it for it in text.program.functions if it.name == name))


def _by_position(signature: Signature, arguments: Sequence[object], named: Mapping[str, object]) -> list[object]:
    """The arguments in the order of the parameters. Raises InputError."""
    names = [it.name for it in signature.parameters]
    if len(arguments) > len(names):
        raise InputError(f"{signature.wgsl} takes {_count(len(names))}, but {len(arguments)} are given")
    given: dict[str, object] = dict(zip(names, arguments, strict=False))
    of_python = {it: name for name, it in _python_names(signature).items()}
    for word, value in named.items():
        name = of_python.get(word, word)
        if name not in names:
            message = f"{signature.name} has no parameter named {shown(name)}"
            raise InputError(unknown_name(message, name, [*names, *_OPTIONS]))
        if name in given:
            raise InputError(f"{signature.name}: {name} is given twice, by position and by name")
        given[name] = value
    missing = [it for it in signature.parameters if it.name not in given]
    if missing:
        parts = ", ".join(f"{it.name}: {it.type}" for it in missing)
        raise InputError(f"{signature.name}: nothing is given for {parts}")
    return [given[name] for name in names]


def _count(number: int) -> str:
    return f"{number} argument{'' if number == 1 else 's'}"


@dataclass(slots=True)
class _Call:
    """One call."""

    signature: Signature
    options: CallOptions
    given: list[object]

    def run(self, runnable_for: Callable[[Shape], tuple[Wrapper, Runnable]]) -> FunctionResult:
        """The results."""
        parameters, results = self.signature.parameters, self.signature.results
        axes = _axes(self.signature, self.options.axes)
        moved = [
            _own_last(it.name, value, own)
            for it, value, own in zip(parameters, self.given, axes[: len(parameters)], strict=True)
        ]
        arguments = [argument_of(it, value, it.name) for it, value in zip(parameters, moved, strict=True)]
        shape = common_shape(self.signature.name, arguments)
        buffers = self._buffers()
        found = self._results(arguments, shape, buffers, runnable_for)
        arrays = [
            _own_at(it.name, found[it.name].reshape(shape + found[it.name].shape[1:]), own)
            for it, own in zip(results, axes[len(parameters) :], strict=True)
        ]
        arrays = _into(self.signature, arrays, self.options.out)
        names = [it.name for it in results] + list(self.signature.written)
        arrays += [found[it] for it in self.signature.written]
        if len(arrays) == 1:
            return arrays[0]
        return Results(names, arrays)

    def _buffers(self) -> dict[str, Any]:
        """The values of bound variables. Raises InputError."""
        name, known = self.signature.name, self.signature.bound
        given = mapping_of(self.options.buffers or {}, "buffers", known or ("table",))
        for it in given:
            if it not in known:
                raise InputError(unknown_name(f"{name} uses no bound variable named {shown(it)}", it, known))
        missing = [it for it in known if it not in given]
        if missing:
            raise InputError(
                f"{name} uses the bound variable {missing[0]!r}: give its value, as in buffers={{{missing[0]!r}: …}}"
            )
        return dict(given)

    def _results(
        self,
        arguments: list[Argument],
        shape: tuple[int, ...],
        buffers: dict[str, Any],
        runnable_for: Callable[[Shape], tuple[Wrapper, Runnable]],
    ) -> dict[str, AnyArray]:
        """The results by name, each with one element in its first dimension for each of `shape`."""
        count = prod(shape)
        if count == 0:
            empty = {it.name: np.zeros(0, dtype_of(it.type)) for it in self.signature.results}
            return empty | {it: np.array(buffers[it]) for it in self.signature.written}
        shared = frozenset(it.parameter.name for it in arguments if it.is_shared and not _is_in_place(it.parameter))
        row = min(count, MOST_WORKGROUPS * workgroup_size(self.signature))
        wrapper, runnable = runnable_for(Shape(shared, has_rows=row < count))
        rows = {it.parameter.name: _rows(it, shape, is_shared=it.parameter.name in shared) for it in arguments}
        bound = dict(buffers) | {wrapper.grid: {"count": count, "row": row}}
        bound |= {it.name: _in_block(it, rows) for it in (*wrapper.inputs, *wrapper.places)}
        bound |= {it.name: (None, count) for it in wrapper.results}
        written = runnable.run(
            bound,
            threads=(row, -(-count // row)),
            constants=self.options.constants,
            device=self.options.device,
            timeout=self.options.timeout,
        )
        found = {
            name: from_memory(type, values)
            for block in (*wrapper.places, *wrapper.results)
            for name, type, values in _out_of_block(block, written[block.name])
        }
        return found | {it: written[it] for it in self.signature.written}


def _is_in_place(parameter: Named) -> bool:
    return isinstance(parameter, Parameter) and parameter.space is AddressSpace.STORAGE


def _rows(argument: Argument, shape: tuple[int, ...], *, is_shared: bool) -> AnyArray:
    rows = argument.rows(shape)
    count = prod(shape)
    if not is_shared and len(rows) != count:  # a place of its own for each call
        rows = np.repeat(rows, count, axis=0)
    return for_memory(argument.parameter.type, rows)


def _in_block(block: Block, rows: Mapping[str, AnyArray]) -> AnyArray | dict[str, AnyArray]:
    """The value of a binding."""
    if block.is_shared:
        return {it.name: rows[it.name][0] for it in block.members}
    if len(block.members) == 1:
        return rows[block.members[0].name]
    made = np.empty(
        len(rows[block.members[0].name]),
        np.dtype([(it.name, dtype_of(it.type, in_memory=True)) for it in block.members]),
    )
    for it in block.members:
        made[it.name] = rows[it.name]
    return made


def _out_of_block(block: Block, values: AnyArray) -> Iterator[tuple[str, Any, AnyArray]]:
    for it in block.members:
        yield it.name, it.type, values if len(block.members) == 1 else np.ascontiguousarray(values[it.name])


def _with_more(source: Source, text: str) -> Source:
    """The source of a text that begins with that of another source."""
    return DerivedSource(source.name, text.encode(), (Part(0, source), Part(len(source.data), None)))


# Axes and outputs


def _axes(signature: Signature, given: Axes | None) -> list[tuple[int, ...]]:
    """The own axes of each parameter and each result: the last ones, unless given. Raises InputError."""
    operands = [*signature.parameters, *signature.results]
    usual = [_last(own_shape(it.type)) for it in operands]
    if given is None:
        return usual
    entries: list[object] = list(given) if is_row(given) else []
    if len(entries) not in (len(signature.parameters), len(operands)):
        raise InputError(
            f"axes has an entry for each of {', '.join(it.name for it in operands)}, as in {shown(usual)}, "
            f"not {shown(given)}"
        )
    found = [_own_axes(it, entry) for it, entry in zip(operands, entries, strict=False)]
    return found + usual[len(found) :]


def _own_axes(operand: Named, entry: object) -> tuple[int, ...]:
    own = own_shape(operand.type)
    axes = (entry,) if isinstance(entry, int) else entry
    if not is_row(axes) or len(axes) != len(own) or not all(isinstance(it, int) for it in axes):
        raise InputError(f"axes: {operand.name} has {len(own)} axes of its own, not {shown(entry)}")
    return cast("tuple[int, ...]", tuple(axes))


def _own_last(name: str, value: object, own: tuple[int, ...]) -> object:
    """The value with its own axes at the end."""
    if own == _last(own):
        return value
    array: AnyArray = np.asarray(cast("npt.ArrayLike", value))
    _check_axes(name, array, own)
    return np.moveaxis(array, own, _last(own))


def _own_at(name: str, array: AnyArray, own: tuple[int, ...]) -> AnyArray:
    """An array whose last axes become its own ones."""
    if own == _last(own):
        return array
    _check_axes(name, array, own)
    return np.moveaxis(array, _last(own), own)


def _last(own: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(range(-len(own), 0))


def _check_axes(name: str, array: AnyArray, own: tuple[int, ...]) -> None:
    """Raise InputError for axes that an array does not have, or for one that is given twice."""
    rank = array.ndim
    if any(not -rank <= axis < rank for axis in own) or len({axis % rank for axis in own}) != len(own):
        raise InputError(f"axes: {name} has the shape {array.shape}, in which {own} are not its own axes")


def _into(signature: Signature, arrays: list[AnyArray], out: object) -> list[AnyArray]:
    """The results, in the caller's arrays if there are such."""
    if out is None:
        return [it[()] for it in arrays]
    targets: Sequence[object] = [out] if is_array(out) else out if is_row(out) else []
    if len(targets) != len(arrays):
        names = ", ".join(it.name for it in signature.results)
        raise InputError(f"out is an array for each of {names}, not {shown(out)}")
    found: list[AnyArray] = []
    for result, array, target in zip(signature.results, arrays, targets, strict=True):
        if not is_array(target):
            raise InputError(f"out: {result.name} goes to an array, not {shown(target)}")
        if target.shape != array.shape or not np.can_cast(array.dtype, target.dtype, "same_kind"):
            raise InputError(
                f"out: {result.name} is an array of {array.dtype} of the shape {array.shape}, which does not fit "
                f"one of {target.dtype} of the shape {target.shape}"
            )
        if not target.flags.writeable:
            raise InputError(f"out: the array for {result.name} is read-only")
        target[...] = array
        found.append(target)
    return found


# Documentation


def _documentation(signature: Signature) -> str:
    lines = [signature.wgsl, f"{signature.name}: {signature.dimensions}"]
    if signature.comment:
        lines += ["", signature.comment]
    return "\n".join(lines)


def _python_names(signature: Signature) -> dict[str, str]:
    """The names of parameters in Python: a keyword of Python, such as `in`, gets a `_` at its end."""
    known = [it.name for it in signature.parameters]
    return {name: _python_name(name, known) for name in known}


def _python_name(name: str, known: Sequence[str]) -> str:
    found = name
    while keyword.iskeyword(found) or (found != name and found in known):
        found += "_"
    return found


def _python_signature(signature: Signature) -> inspect.Signature:
    kinds = inspect.Parameter
    is_option = any(it.name in _OPTIONS for it in signature.parameters)
    kind = kinds.POSITIONAL_ONLY if is_option else kinds.POSITIONAL_OR_KEYWORD
    own = [kinds(it, kind) for it in _python_names(signature).values()]
    options = {name: "cpu" if name == "device" else None for name in _OPTIONS if name not in {it.name for it in own}}
    return inspect.Signature(own + [kinds(it, kinds.KEYWORD_ONLY, default=value) for it, value in options.items()])
