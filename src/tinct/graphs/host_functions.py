"""`tinct.host`: Python functions on numpy arrays, as leaves of graphs."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, cast, get_args, get_origin, overload

import numpy as np

from ..arguments import mapping_of
from ..base.errors import InputError
from ..graph_calls import GraphValue, call_on_ports
from ..ir.dataflow.nodes import Access, Host, Port, Type
from ..ir.dataflow.rules.declarations import IDENTIFIER
from ..ir.dataflow.text import parse_type, type_text
from ..ir.dataflow.types import without_atomics
from ..ir.hints import unknown_name
from ..ir.layout_numbers import shown
from ..ir.tokens import TextError
from .wgsl_types import builtin_type

Function = Callable[..., Any]

RESULT: Final = "result"
"""The output of a function whose type is that of its return annotation."""
_SHORT_NAME: Final = re.compile(r"\b(vec[234]|mat[234]x[234])([fiuh])\b")
_ELEMENTS: Final = {"f": "f32", "i": "i32", "u": "u32", "h": "f16"}
_DTYPES: Final = {np.dtype(name): type for name, type in (("f4", "f32"), ("i4", "i32"), ("u4", "u32"), ("f2", "f16"))}


@dataclass(frozen=True)
class HostFunction:
    """A Python function that a graph executes between its kernels; `tinct.host` makes one.

    Calling one calls the function, or, with inputs or ports of a graph among the arguments, adds a node to the graph.
    """

    function: Function
    name: str
    ports: tuple[Port, ...]
    returns_one: bool = field(default=False, compare=False)
    """Whether a call on ports gives the only output itself, and not a dict."""

    def __post_init__(self) -> None:
        for attribute in ("__module__", "__qualname__", "__doc__"):
            object.__setattr__(self, attribute, getattr(self.function, attribute, None))

    def __repr__(self) -> str:
        return f"<HostFunction {self.name}>"

    def __reduce__(self) -> str | tuple[object, ...]:
        """A function under `tinct.host` in a module pickles by its name there, all others by their parts."""
        module, name = str(self.__module__), str(getattr(self, "__qualname__", ""))
        if module != "__main__" and _found(module, name) is self:
            return name
        return HostFunction, (self.function, self.name, self.ports, self.returns_one)

    def __dask_tokenize__(self) -> tuple[object, ...]:
        return "tinct.HostFunction", self.function, str(self.leaf)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """What the function returns for arrays; for ports, those of a new node. Raises InputError."""
        if not any(isinstance(it, GraphValue) for it in (*arguments, *named.values())):
            return self.function(*arguments, **named)
        try:
            given = inspect.signature(self.function).bind(*arguments, **named).arguments
        except TypeError as error:
            raise InputError(f"host function {self.name!r}: {error}") from None
        made = call_on_ports(self, given)
        return made[self.outputs[0]] if self.returns_one else made

    @property
    def leaf(self) -> Host:
        """The leaf that it is in the IR."""
        return Host(self.name, self.ports)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of its inputs."""
        return tuple(it.name for it in self.ports if it.access is not Access.OUT)

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of its outputs."""
        return tuple(it.name for it in self.ports if it.access is not Access.IN)

    def results(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Call the function, and return its outputs by name. Raises InputError if it does not return them all, and what
        the function raises.
        """
        made = self.function(**inputs)
        if not isinstance(made, Mapping):
            if len(self.outputs) != 1:
                wanted = ", ".join(self.outputs) or "none"
                raise InputError(f"{self.name!r} returns a dict of its outputs ({wanted}), not {shown(made)}")
            made = {self.outputs[0]: made}
        found = cast("Mapping[str, Any]", made)
        for name in found:
            if name not in self.outputs:
                raise InputError(unknown_name(f"{self.name!r} has no output named {shown(name)}", name, self.outputs))
        missing = [name for name in self.outputs if found.get(name) is None]
        if missing:
            raise InputError(f"{self.name!r} returned nothing for its output {', '.join(map(repr, missing))}")
        return dict(found)


@overload
def host(
    function: Function, *, inputs: Mapping[str, str] | None = None, outputs: Mapping[str, str] | None = None
) -> HostFunction: ...
@overload
def host(
    function: None = None, *, inputs: Mapping[str, str] | None = None, outputs: Mapping[str, str] | None = None
) -> Callable[[Function], HostFunction]: ...
def host(
    function: Function | None = None,
    *,
    inputs: Mapping[str, str] | None = None,
    outputs: Mapping[str, str] | None = None,
) -> HostFunction | Callable[[Function], HostFunction]:
    """A function on numpy arrays as a leaf of graphs: `@tinct.host`, or `@tinct.host(inputs=…, outputs=…)`.

    The function runs on the host, on every device alike, once for each execution of its node. It gets its inputs by
    name: arrays that are valid and must not be changed during the call, and numpy scalars. It returns a dict of its
    outputs, or the only one, in the forms that `Kernel.run` takes.

    `inputs` and `outputs` have WGSL types, such as "array<f32>", without structures. What is not in `inputs` is taken
    from the annotations of the parameters, which are such types in quotes, numpy's scalar types (`np.float32`) or
    `npt.NDArray[np.float32]`. Without `outputs`, the return annotation is the type of the one output, `result`.

    Raises InputError.
    """
    if function is None:
        return partial(host, inputs=inputs, outputs=outputs)
    if isinstance(function, HostFunction):
        function = function.function
    if not callable(function):
        raise InputError(f"tinct.host is for a function, not {shown(function)}")
    name = _name(function)
    returns_one = outputs is None
    given = {**_annotated_inputs(function, name, inputs or {}), **mapping_of(inputs or {}, "inputs", ("x",))}
    made = {RESULT: _returned(function, name)} if outputs is None else mapping_of(outputs, "outputs", ("mean",))
    types = [{port: _type(text, f"{name!r}: {port!r}") for port, text in part.items()} for part in (given, made)]
    found = HostFunction(function, name, _ports(name, *types), returns_one)
    _check_parameters(found)
    return found


def with_function(leaf: Host, function: object) -> HostFunction:
    """A leaf of a file with its Python function. Raises InputError for one that does not fit."""
    if isinstance(function, HostFunction):
        if set(function.ports) != set(leaf.ports):
            wanted, given = _shown_ports(leaf.ports), _shown_ports(function.ports)
            raise InputError(f"host function {leaf.name!r} has the ports {given}, but in the graph {wanted}")
        return function
    if not callable(function):
        raise InputError(f"the leaf {leaf.name!r} on the host takes a function, not {shown(function)}")
    found = HostFunction(function, leaf.name, leaf.ports)
    _check_parameters(found)
    return found


def _shown_ports(ports: tuple[Port, ...]) -> str:
    return ", ".join(f"{it.access.value} {it.name}: {type_text(it.type)}" for it in ports)


def _found(module: str, name: str) -> object:
    found: object = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def _name(function: Function) -> str:
    name = re.sub(r"\W", "_", getattr(function, "__name__", "host"))
    return name if IDENTIFIER.match(name) else "host"


def _ports(name: str, inputs: Mapping[str, Type], outputs: Mapping[str, Type]) -> tuple[Port, ...]:
    """The ports; a name that is an input and an output is one port."""
    for port in (*inputs, *outputs):
        if not IDENTIFIER.match(port):
            raise InputError(f"host function {name!r}: {shown(port)} is no name of an input or an output")
    for port in inputs.keys() & outputs.keys():
        if inputs[port] != outputs[port]:
            raise InputError(f"host function {name!r}: {port!r} is an input and an output, but their types differ")
    both = [
        Port(Access.INOUT if port in outputs else Access.IN, port, without_atomics(it)) for port, it in inputs.items()
    ]
    return (*both, *(Port(Access.OUT, port, without_atomics(it)) for port, it in outputs.items() if port not in inputs))


def _check_parameters(host_function: HostFunction) -> None:
    """Raise InputError unless the function can be called with its inputs by name."""
    try:
        signature = inspect.signature(host_function.function)
    except (TypeError, ValueError):  # some builtin functions have no signature
        return
    try:
        signature.bind(**dict.fromkeys(host_function.inputs))
    except TypeError as error:
        raise InputError(
            f"host function {host_function.name!r} cannot be called with its inputs "
            f"({', '.join(host_function.inputs) or 'none'}) by name: {error}"
        ) from None


def _annotated_inputs(function: Function, name: str, given: Mapping[str, str]) -> dict[str, str]:
    """The types of the parameters that have no type in `given`; those with a default need none."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return {}
    found: dict[str, str] = {}
    for it in parameters:
        if it.name in given or it.kind in (it.VAR_KEYWORD, it.VAR_POSITIONAL):
            continue
        if it.annotation is it.empty and it.default is it.empty:
            raise InputError(
                f"host function {name!r}: nothing says of what type {it.name!r} is: an annotation or inputs does"
            )
        if it.annotation is not it.empty and it.default is it.empty:
            found[it.name] = _annotated(function, it.annotation, f"host function {name!r}: {it.name!r}")
    return found


def _returned(function: Function, name: str) -> str:
    try:
        annotation = inspect.signature(function).return_annotation
    except (TypeError, ValueError):
        annotation = inspect.Signature.empty
    if annotation is inspect.Signature.empty:
        raise InputError(
            f"host function {name!r}: nothing says what it returns: outputs={{'mean': 'f32'}} does, or its annotation"
        )
    return _annotated(function, annotation, f"host function {name!r}: the result")


def _annotated(function: Function, annotation: object, what: str) -> str:
    """The WGSL type of an annotation. Annotations that Python keeps as text are evaluated unless they are a type."""
    if isinstance(annotation, str) and not _is_type(annotation):
        try:
            annotation = eval(annotation, getattr(function, "__globals__", {}))
        except Exception as error:  # whatever evaluating the user's text raises
            raise InputError(f"{what}: {shown(annotation)} is no WGSL type ({error})") from None
    if isinstance(annotation, str):
        return annotation
    meant = _without_aliases(annotation)
    is_array = get_origin(meant) is np.ndarray
    elements: tuple[object, ...] = get_args(get_args(meant)[-1]) if is_array else (meant,)
    element = elements[0] if elements else None
    scalar = _DTYPES.get(np.dtype(element)) if isinstance(element, type) else None
    if scalar is None:
        raise InputError(
            f"{what}: {shown(annotation)} stands for no WGSL type; write one in quotes, or np.float32, "
            "npt.NDArray[np.float32] and the like"
        )
    return f"array<{scalar}>" if is_array else scalar


def _without_aliases(annotation: object) -> object:
    """What an alias by a `type` statement (PEP 695) stands for, as `npt.NDArray` is from NumPy 2.5 on.

    Any other annotation stays as it is.
    """
    origin = get_origin(annotation)
    alias = annotation if origin is None else origin
    value: Any = getattr(alias, "__value__", None)
    if value is None:
        return annotation
    given = dict(zip(getattr(alias, "__type_params__", ()), get_args(annotation), strict=False))
    wanted = tuple(given.get(it, it) for it in getattr(value, "__parameters__", ()))
    return _without_aliases(value[wanted] if wanted else value)


def _is_type(text: str) -> bool:
    try:
        return builtin_type(parse_type(_SHORT_NAME.sub(_full_name, text))) is not None
    except TextError:
        return False


def _full_name(match: re.Match[str]) -> str:
    return f"{match[1]}<{_ELEMENTS[match[2]]}>"


def _type(text: object, what: str) -> Type:
    if not isinstance(text, str):
        raise InputError(f"host function {what}: a type is a text such as 'array<f32>', not {shown(text)}")
    try:
        found = parse_type(_SHORT_NAME.sub(_full_name, text))
    except TextError as error:
        raise InputError(f"host function {what}: {shown(text)} is no type: {error}") from None
    if builtin_type(found) is None:
        raise InputError(
            f"host function {what}: not supported: {text}; numbers, vectors, matrices and arrays of them are"
        )
    return found
