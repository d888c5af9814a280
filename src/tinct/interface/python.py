"""A Python module with numpy dtypes for the structures of a shader, and constants for what it binds."""

from __future__ import annotations

import keyword
from collections.abc import Iterator
from typing import Final

from ..ir import layout
from ..ir.layout_numpy import PADDED_ROW
from ..ir.types import Array, Atomic, Buffer, Matrix, Sampler, Scalar, Struct, Texture, Type, Vector
from ..reflection import BindingInfo, StructInfo
from ..shader import Shader
from .document import default_of
from .names import Names, printable
from .needs import default_workgroup_size

_WORDS: Final = (*keyword.kwlist, "None", "True", "False")
_OWN: Final = ("np", "Any", "Final", "NamedTuple", "Binding", "EntryPoint", "Override")
_SCOPES: Final = ("bindings", "entry_points", "overrides", "int", "str", "tuple")
_NUMBERS: Final = {"f32": "<f4", "f16": "<f2", "i32": "<i4", "u32": "<u4"}
_NO_DTYPE: Final = "numpy has no types of 2 GiB or more"

_HEAD = '''\
"""Layouts and bindings of a WGSL shader.

Each structure is a numpy dtype with the offsets and the size that it has in a buffer. One that ends in a runtime-sized
array is a function of its number of elements. numpy has no gaps inside of arrays: a vector of three that is an element
or a column has a fourth number, which is padding.
"""
# Made by tinct reflect --format python from {source}. Do not edit.
# ruff: noqa

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np


class Binding(NamedTuple):
    """A bound variable. `dtype` is that of one element for a runtime-sized array, a function of the number of elements
    for a structure that ends in one, and None for a texture or a sampler. `size` is None where it depends on that
    number; `stride` is the distance of elements. All sizes are in bytes.
    """

    name: str
    group: int
    binding: int
    space: str
    access: str
    type: str
    size: int | None
    minimum_size: int
    stride: int | None
    dtype: Any


class EntryPoint(NamedTuple):
    """An entry point. `workgroup_size` is None where an override without default value determines it."""

    name: str
    stage: str
    workgroup_size: tuple[int, int, int] | None
    bindings: tuple[str, ...]
    overrides: tuple[str, ...]


class Override(NamedTuple):
    """A pipeline constant: `key` is its name in a pipeline's constants, `default` None if there is none or it depends
    on other overrides.
    """

    key: str
    type: str
    default: bool | float | None
'''


def python_module(shader: Shader) -> str:
    """The text of the module. It needs Python 3.10 and numpy, and nothing of tinct."""
    return "\n".join([_HEAD.format(source=printable(shader.source.name)), *_Module(shader).lines()]) + "\n"


class _Module:
    """The parts that follow from the shader."""

    def __init__(self, shader: Shader) -> None:
        self._shader = shader
        names = Names((*_WORDS, *_OWN, *_SCOPES))
        self._structs = {struct: names.take(struct.name) for struct in shader.program.structs}

    def lines(self) -> Iterator[str]:
        """All lines after the head."""
        for struct in self._shader.program.structs:
            if struct.name in self._shader.structs:
                yield from self._struct(struct, self._shader.structs[struct.name])
        yield from self._scope("bindings", "Bound variables.", map(self._binding, self._shader.bindings.values()))
        yield from self._scope("entry_points", "Entry points.", self._entry_points())
        yield from self._scope("overrides", "Pipeline constants.", self._overrides())

    def _scope(self, name: str, doc: str, items: Iterator[tuple[str, str]]) -> Iterator[str]:
        names = Names((*_WORDS, *_OWN, *self._structs.values()))
        yield from ("", f"class {name}:", f'    """{doc}"""', "")
        for item, value in items:
            yield f"    {names.take(item)}: Final = {value}"

    def _struct(self, struct: Struct, info: StructInfo) -> Iterator[str]:
        name, tail = self._structs[struct], layout.runtime_array(struct)
        yield ""
        if info.dtype is None:
            yield f"{name}: Final = None  # {_NO_DTYPE}"
        elif tail is None:
            yield f"{name}: Final = np.dtype({self._fields(struct, str(info.size))})"
        else:
            offset, array = tail
            size = f"-(-({offset} + {layout.stride_of(array)} * elements) // {info.align}) * {info.align}"
            yield from (
                f"def {name}(elements: int) -> np.dtype[Any]:",
                f'    """{struct.name} with so many elements in `{struct.members[-1].name}`."""',
                f"    return np.dtype({self._fields(struct, size)})",
                "",
            )

    def _fields(self, struct: Struct, size: str) -> str:
        names = ", ".join(repr(it.name) for it in struct.members)
        formats = ", ".join(self._dtype(it.type) for it in struct.members)
        offsets = list(layout.member_offsets(struct))
        return f'{{"names": [{names}], "formats": [{formats}], "offsets": {offsets}, "itemsize": {size}}}'

    def _dtype(self, type: Type) -> str:
        """An expression for what `np.dtype` takes; the runtime-sized array of a structure has `elements`."""
        match type:
            case Scalar() | Atomic(element=Scalar()):
                return repr(_NUMBERS[str(type.element if isinstance(type, Atomic) else type)])
            case Vector(width=width, element=element):
                return f"({_NUMBERS[str(element)]!r}, ({width},))"
            case Matrix(columns=columns):
                return f"({self._padded(type.column)}, ({columns},))"
            case Array(element=element, count=count):
                return f"({self._padded(element)}, ({'elements' if count is None else count},))"
            case Struct():
                return self._structs[type]
            case Buffer(size=size):
                return f"({'<u1'!r}, ({size},))" if isinstance(size, int) else repr("<u1")
            case _:
                raise TypeError(f"{type} is not host-shareable")

    def _padded(self, type: Type) -> str:
        """The dtype of an element, as wide as its stride."""
        if isinstance(type, Vector) and type.width == PADDED_ROW - 1:
            return f"({_NUMBERS[str(type.element)]!r}, ({PADDED_ROW},))"
        return self._dtype(type)

    def _binding(self, info: BindingInfo) -> tuple[str, str]:
        fields = (info.name, info.group, info.binding, info.space, info.access, str(info.type))
        numbers = (info.size, info.minimum_size, info.stride)
        texts = ", ".join(repr(it) for it in (*fields, *numbers))
        return info.name, f"Binding({texts}, {self._dtype_of(info)})"

    def _dtype_of(self, info: BindingInfo) -> str:
        type = info.type
        if isinstance(type, (Texture, Sampler)) or info.dtype is None:
            return "None"
        if isinstance(type, Struct):
            return self._structs[type]
        is_open = isinstance(type, Array) and type.count is None
        return f"np.dtype({self._padded(type.element) if isinstance(type, Array) and is_open else self._dtype(type)})"

    def _entry_points(self) -> Iterator[tuple[str, str]]:
        functions = {it.name: it for it in self._shader.program.entry_points}
        for info in self._shader.entry_points.values():
            size = default_workgroup_size(self._shader, functions[info.name])
            yield info.name, f"EntryPoint({info.name!r}, {info.stage!r}, {size}, {info.bindings}, {info.overrides})"

    def _overrides(self) -> Iterator[tuple[str, str]]:
        for variable in self._shader.program.variables:
            if variable.kind == "override":
                info = self._shader.overrides[variable.name]
                default = default_of(variable, self._shader.program)
                yield info.name, f"Override({info.key!r}, {info.type!r}, {default!r})"
