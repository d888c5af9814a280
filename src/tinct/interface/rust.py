"""A Rust module with the structures of a shader in `#[repr(C)]`, and constants for what it binds.

Padding is fields of bytes, so that a structure has no implicit padding and can derive `bytemuck::Pod`. Vectors are
arrays; a vector of three that is an element or a column has a fourth number. A structure that ends in a runtime-sized
array becomes its head, the members before the array. Constant assertions compare sizes and offsets with WGSL's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ..base.errors import InputError
from ..frontend.resolve.type_rules import is_host_shareable
from ..ir import layout
from ..ir.layout_numpy import PADDED_ROW
from ..ir.types import F16, Array, Atomic, Buffer, Matrix, Sampler, Scalar, Struct, Texture, Type, Vector
from ..reflection import BindingInfo
from ..shader import Shader
from .document import default_of
from .names import Names, printable
from .needs import default_workgroup_size

_WORDS: Final = """
    as break const continue crate else enum extern false fn for if impl in let loop match mod move mut pub ref return
    self Self static struct super trait true type unsafe use where while async await dyn abstract become box do final
    macro override priv typeof unsized virtual yield try gen _
"""
"""Keywords, also those reserved for later (The Rust Reference, "Keywords")."""
_TYPES: Final = "bool char str i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f16 f32 f64 f128"
_SCOPES: Final = ("bindings", "entry_points", "overrides")
_ALLOW: Final = "#[allow(dead_code, non_camel_case_types, non_snake_case, clippy::all)]"
_PATH: Final = re.compile(r"(::)?[^\W\d]\w*(::[^\W\d]\w*)*")
_NUMBERS: Final = {"f32": ("f32", "0.0"), "f16": ("u16", "0"), "i32": ("i32", "0"), "u32": ("u32", "0")}
"""The types of WGSL's scalars, and their zeros. Rust's stable versions have no f16: its bits are kept."""


def rust_module(shader: Shader, *, derive: Sequence[str] = ()) -> str:
    """The text of the module, for Rust 1.77 and newer. It needs no crate, except for the derive macros whose paths
    `derive` adds to Clone, Copy and Debug. Raises InputError for what is no path.
    """
    for path in derive:
        if not _PATH.fullmatch(path):
            raise InputError(f"{path!r} is no path of a derive macro, such as bytemuck::Pod")
    head = (
        f"// Made by tinct reflect --format rust from {printable(shader.source.name)}. Do not edit.",
        "// The bits of f16 are in u16. A vector of three that is an element or a column has a fourth number, padding.",
    )
    return "\n".join([*head, *_Module(shader, ("Clone", "Copy", "Debug", *derive)).lines()]) + "\n"


@dataclass(frozen=True, slots=True)
class _Field:
    name: str
    type: str
    zero: str
    offset: int


class _Module:
    """The text that follows from the shader."""

    def __init__(self, shader: Shader, derive: Sequence[str]) -> None:
        self._shader = shader
        self._derive = f"#[derive({', '.join(derive)})]"
        self._names = Names((*_WORDS.split(), *_TYPES.split(), *_SCOPES))
        shared = [it for it in shader.program.structs if is_host_shareable(it)]
        whole = [it for it in shared if layout.runtime_array(it) is None]
        self._structs = {it: self._names.take(it.name) for it in whole}
        self._heads = {it: self._names.take(f"{it.name}Head") for it in shared if it not in self._structs}

    def lines(self) -> Iterator[str]:
        """All lines after the head."""
        for struct, name in self._structs.items():
            yield from self._struct(struct, name, layout.size_of(struct))
            yield "}"
        for struct, name in self._heads.items():
            yield from self._head(struct, name)
        yield from _scope("bindings", "Bound variables.", self._bindings())
        yield from _scope("entry_points", "Entry points.", self._entry_points())
        yield from _scope("overrides", "Pipeline constants.", self._overrides())

    def _struct(self, struct: Struct, name: str, size: int) -> Iterator[str]:
        """A structure with the members that have a fixed size, its assertions, and the beginning of its `impl`."""
        fields = list(self._fields(struct, size))
        rust_align = max((_rust_align(it.type) for it in struct.members if not _is_open(it.type)), default=1)
        representation = "C" if size % rust_align == 0 else f"C, packed({_rust_align(F16)})"
        yield from ("", _ALLOW, f"#[repr({representation})]", self._derive, f"pub struct {name} {{")
        yield from (f"    pub {it.name}: {it.type}," for it in fields)
        yield from ("}", "const _: () = {", f"    assert!(::core::mem::size_of::<{name}>() == {size});")
        yield from (f"    assert!(::core::mem::offset_of!({name}, {it.name}) == {it.offset});" for it in fields)
        yield from ("};", _ALLOW, f"impl {name} {{")
        yield "    /// All zeros: `..ZERO` at the end of a structure expression fills the padding."
        yield f"    pub const ZERO: Self = Self {{ {', '.join(f'{it.name}: {it.zero}' for it in fields)} }};"

    def _head(self, struct: Struct, name: str) -> Iterator[str]:
        tail = layout.runtime_array(struct)
        assert tail is not None
        offset, array = tail
        stride, align = layout.stride_of(array), layout.align_of(struct)
        yield from self._struct(struct, name, offset)
        yield from (
            f"    /// Where the elements of `{struct.members[-1].name}` begin, in bytes.",
            f"    pub const TAIL_OFFSET: u64 = {offset};",
            "    /// Bytes from one element to the next.",
            f"    pub const TAIL_STRIDE: u64 = {stride};",
            "    /// The least size of a buffer for the binding, in bytes.",
            f"    pub const MINIMUM_SIZE: u64 = {layout.whole_words(layout.minimum_size(struct))};",
            f"    /// The bytes of `{struct.name}` with this number of elements.",
            "    pub const fn size_with(elements: u64) -> u64 {",
            f"        ({offset} + {stride} * elements).div_ceil({align}) * {align}",
            "    }",
            "}",
            f"pub type {self._names.take(f'{struct.name}Element')} = {self._padded(array.element)[0]};",
        )

    def _fields(self, struct: Struct, size: int) -> Iterator[_Field]:
        """The members of fixed size, and the bytes of padding between and after them."""
        names, end = Names(_WORDS.split()), 0
        placed = zip(struct.members, layout.member_offsets(struct), strict=True)
        members = [(names.take(member.name), member.type, offset) for member, offset in placed]
        for name, type, offset in members:
            yield from _padding(names, end, offset)
            if not _is_open(type):
                yield _Field(name, *self._type(type), offset)
                end = offset + layout.size_of(type)
            else:
                end = offset
        yield from _padding(names, end, size)

    def _type(self, type: Type) -> tuple[str, str]:
        """The Rust type of a type, and its zero."""
        match type:
            case Scalar():
                return _NUMBERS[str(type)]
            case Atomic(element=element):
                return _NUMBERS[str(element)]
            case Vector(width=width, element=element):
                return _array(_NUMBERS[str(element)], width)
            case Matrix(columns=columns):
                return _array(self._padded(type.column), columns)
            case Array(element=element, count=int() as count):
                return _array(self._padded(element), count)
            case Struct():
                return self._structs[type], f"{self._structs[type]}::ZERO"
            case Buffer(size=int() as size):
                return _array(("u8", "0"), size)
            case _:
                raise TypeError(f"{type} has no fixed size")

    def _padded(self, type: Type) -> tuple[str, str]:
        """The type of an element, as wide as its stride."""
        if isinstance(type, Vector) and type.width == PADDED_ROW - 1:
            return _array(_NUMBERS[str(type.element)], PADDED_ROW)
        return self._type(type)

    def _bindings(self) -> Iterator[tuple[str, list[str]]]:
        for info in self._shader.bindings.values():
            constants = [f"pub const GROUP: u32 = {info.group};", f"pub const BINDING: u32 = {info.binding};"]
            if not isinstance(info.type, (Texture, Sampler)):
                constants.append(f"pub const MINIMUM_SIZE: u64 = {info.minimum_size};")
                constants += [f"pub type {name} = {text};" for name, text in self._aliases(info)]
            yield info.name, constants

    def _aliases(self, info: BindingInfo) -> Iterator[tuple[str, str]]:
        """Types in the module of a binding, two levels below those of the structures."""
        tail = layout.runtime_array(info.type)
        if isinstance(info.type, Buffer):
            yield "Element", "u8"
        elif tail is None:
            yield "Value", self._from_below(info.type, self._type(info.type)[0])
        else:
            if isinstance(info.type, Struct):
                yield "Head", f"super::super::{self._heads[info.type]}"
            yield "Element", self._from_below(tail[1].element, self._padded(tail[1].element)[0])

    def _from_below(self, type: Type, text: str) -> str:
        while isinstance(type, Array):
            type = type.element
        if not isinstance(type, Struct):
            return text
        name = self._structs[type]
        return re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", f"super::super::{name}", text, count=1)

    def _entry_points(self) -> Iterator[tuple[str, list[str]]]:
        functions = {it.name: it for it in self._shader.program.entry_points}
        for info in self._shader.entry_points.values():
            constants = [f'pub const NAME: &str = "{info.name}";']
            size = default_workgroup_size(self._shader, functions[info.name])
            if size is not None:
                constants.append(f"pub const WORKGROUP_SIZE: [u32; 3] = {list(size)};")
            places = [self._shader.bindings[it] for it in info.bindings]
            pairs = ", ".join(f"({it.group}, {it.binding})" for it in places)
            constants.append(f"pub const BINDINGS: [(u32, u32); {len(places)}] = [{pairs}];")
            yield info.name, constants

    def _overrides(self) -> Iterator[tuple[str, list[str]]]:
        for variable in self._shader.program.variables:
            if variable.kind != "override":
                continue
            constants = [f'pub const KEY: &str = "{self._shader.overrides[variable.name].key}";']
            default = default_of(variable, self._shader.program)
            if default is not None:
                constants.append(f"pub const DEFAULT: f64 = {float(default)!r};")
            yield variable.name, constants


def _scope(name: str, doc: str, items: Iterable[tuple[str, list[str]]]) -> Iterator[str]:
    names = Names(_WORDS.split())
    yield from ("", f"/// {doc}", _ALLOW, f"pub mod {name} {{")
    for item, constants in items:
        yield f"    pub mod {names.take(item)} {{"
        yield from (f"        {it}" for it in constants)
        yield "    }"
    yield "}"


def _padding(names: Names, start: int, end: int) -> Iterator[_Field]:
    if end > start:
        yield _Field(names.take(f"_pad_{start}"), *_array(("u8", "0"), end - start), start)


def _array(element: tuple[str, str], count: int) -> tuple[str, str]:
    """The type and the zero of an array."""
    type, zero = element
    return f"[{type}; {count}]", f"[{zero}; {count}]"


def _is_open(type: Type) -> bool:
    return layout.runtime_array(type) is not None


def _rust_align(type: Type) -> int:
    """The alignment of the Rust type: that of its largest number."""
    match type:
        case Struct(members=members):
            return max((_rust_align(it.type) for it in members), default=1)
        case Array(element=element) | Vector(element=element) | Matrix(element=element) | Atomic(element=element):
            return _rust_align(element)
        case Scalar():
            return layout.align_of(type)
        case _:
            return 1
