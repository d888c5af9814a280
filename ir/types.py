"""The types of WGSL ("Types"), interned: two equal types are one object, compared with `is`.

Make them with the functions at the end (`vector(3, F32)`, `array(U32, None)`, `pointer(...)`), never with the
classes. A structure is equal only to itself. `str(type)` is its WGSL spelling.
"""

from __future__ import annotations

import copyreg
import enum
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import TypeAlias, cast

from ..base.records import dataclass


class AddressSpace(enum.Enum):
    """The address space of a variable (WGSL, "Address Spaces"). HANDLE holds textures and samplers and cannot be
    written in WGSL.
    """

    FUNCTION = "function"
    PRIVATE = "private"
    WORKGROUP = "workgroup"
    UNIFORM = "uniform"
    STORAGE = "storage"
    IMMEDIATE = "immediate"
    HANDLE = "handle"


class Access(enum.Enum):
    """Access modes (WGSL, "Memory Access Mode")."""

    READ = "read"
    WRITE = "write"
    READ_WRITE = "read_write"


class Stage(enum.Enum):
    """Shader stages of entry points."""

    COMPUTE = "compute"
    VERTEX = "vertex"
    FRAGMENT = "fragment"


class ScalarKind(enum.Enum):
    """The scalar types, the two abstract ones included."""

    BOOL = "bool"
    I32 = "i32"
    U32 = "u32"
    F32 = "f32"
    F16 = "f16"
    ABSTRACT_INT = "abstract-int"
    ABSTRACT_FLOAT = "abstract-float"


@dataclass(frozen=True, slots=True)
class BindingPoint:
    """`@group(group) @binding(binding)`."""

    group: int
    binding: int


@dataclass(frozen=True, slots=True)
class IoAttributes:
    """Attributes of stage inputs and outputs (WGSL, "Input-output attributes").

    `interpolate` is the type and the sampling. `depth_mode` is the guarantee of `builtin(frag_depth, …)`: `less` or
    `greater`.
    """

    builtin: str | None = None
    location: int | None = None
    blend_src: int | None = None
    color: int | None = None
    interpolate: tuple[str, ...] = ()
    invariant: bool = False
    depth_mode: str | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Scalar:
    """A scalar type."""

    kind: ScalarKind

    @property
    def is_abstract(self) -> bool:
        """AbstractInt or AbstractFloat."""
        return self.kind in (ScalarKind.ABSTRACT_INT, ScalarKind.ABSTRACT_FLOAT)

    @property
    def is_integer(self) -> bool:
        """i32, u32 or AbstractInt."""
        return self.kind in (ScalarKind.I32, ScalarKind.U32, ScalarKind.ABSTRACT_INT)

    @property
    def is_float(self) -> bool:
        """f32, f16 or AbstractFloat."""
        return self.kind in (ScalarKind.F32, ScalarKind.F16, ScalarKind.ABSTRACT_FLOAT)

    @property
    def is_numeric(self) -> bool:
        """Anything but bool."""
        return self.kind is not ScalarKind.BOOL

    def __str__(self) -> str:
        return self.kind.value

    __repr__ = __str__


@dataclass(frozen=True, eq=False, slots=True)
class Void:
    """The type of operations and functions without a value."""

    def __str__(self) -> str:
        return "void"

    __repr__ = __str__


@dataclass(frozen=True, eq=False, slots=True)
class Vector:
    """`vecN<element>`, `width` 2 to 4."""

    width: int
    element: Scalar

    def __str__(self) -> str:
        return f"vec{self.width}<{self.element}>"

    __repr__ = __str__


@dataclass(frozen=True, eq=False, slots=True)
class Matrix:
    """`matCxR<element>`: `columns` column vectors of `rows` components."""

    columns: int
    rows: int
    element: Scalar

    @property
    def column(self) -> Vector:
        """The type of a column."""
        return vector(self.rows, self.element)

    def __str__(self) -> str:
        return f"mat{self.columns}x{self.rows}<{self.element}>"

    __repr__ = __str__


@dataclass(frozen=True, slots=True)
class OverrideCount:
    """An element count, or a buffer's size, known only when overrides have values. Counts of the same `name` and `key`
    are equal.

    `name` is the override's, or, for an expression of overrides, the expression's WGSL spelling; `key` distinguishes
    the counts of separate expressions with the same spelling (WGSL, "Array Types").
    """

    name: str
    key: int = 0

    def __str__(self) -> str:
        return self.name


Extent: TypeAlias = int | OverrideCount
"""A count: a literal, or an expression of overrides."""


@dataclass(frozen=True, eq=False, slots=True)
class Array:
    """`array<element, count>`; `count` is None for a runtime-sized array."""

    element: Type
    count: int | OverrideCount | None

    def __str__(self) -> str:
        return f"array<{self.element}>" if self.count is None else f"array<{self.element}, {self.count}>"

    __repr__ = __str__


@dataclass(frozen=True, eq=False, slots=True)
class StructMember:
    """One member. `align` and `size` are the values of its `@align` and `@size` attributes, in bytes."""

    name: str
    type: Type
    align: int | None = None
    size: int | None = None
    io: IoAttributes = IoAttributes()


@dataclass(eq=False, slots=True)
class Struct:
    """A structure, equal only to itself."""

    name: str
    members: tuple[StructMember, ...]

    def member_index(self, name: str) -> int | None:
        """The index of the member of that name."""
        return next((index for index, member in enumerate(self.members) if member.name == name), None)

    def __str__(self) -> str:
        return self.name

    __repr__ = __str__


@dataclass(frozen=True, eq=False, slots=True)
class Atomic:
    """`atomic<element>`, element i32 or u32."""

    element: Scalar

    def __str__(self) -> str:
        return f"atomic<{self.element}>"

    __repr__ = __str__


@dataclass(frozen=True, eq=False, slots=True)
class Buffer:
    """`buffer<size>`: `size` bytes that a shader views as other types; None for a runtime-sized buffer."""

    size: int | OverrideCount | None

    def __str__(self) -> str:
        return "buffer" if self.size is None else f"buffer<{self.size}>"

    __repr__ = __str__


@dataclass(frozen=True, eq=False, slots=True)
class Pointer:
    """`ptr<space, store, access>`: a value that designates memory."""

    space: AddressSpace
    store: Type
    access: Access

    def __str__(self) -> str:
        return _memory_view("ptr", self.space, self.store, self.access)

    __repr__ = __str__


@dataclass(frozen=True, eq=False, slots=True)
class Reference:
    """`ref<space, store, access>`: the type of an expression that names memory. Only the resolver uses it."""

    space: AddressSpace
    store: Type
    access: Access

    def __str__(self) -> str:
        return _memory_view("ref", self.space, self.store, self.access)

    __repr__ = __str__


class TextureKind(enum.Enum):
    """The kinds of texture types."""

    SAMPLED = "texture"
    MULTISAMPLED = "texture_multisampled"
    DEPTH = "texture_depth"
    DEPTH_MULTISAMPLED = "texture_depth_multisampled"
    STORAGE = "texture_storage"
    EXTERNAL = "texture_external"


@dataclass(frozen=True, eq=False, slots=True)
class Texture:
    """A texture type: `dimension` is `1d`, `2d`, `2d_array`, `3d`, `cube` or `cube_array`.

    `sampled` is the sampled scalar type; `format` (a texel format name) and `access` belong to storage textures.
    """

    kind: TextureKind
    dimension: str
    sampled: Scalar | None = None
    format: str | None = None
    access: Access | None = None

    def __str__(self) -> str:
        if self.kind is TextureKind.EXTERNAL:
            return "texture_external"
        name = f"{self.kind.value}_{self.dimension}"
        if self.kind is TextureKind.STORAGE and self.access is not None:
            return f"{name}<{self.format}, {self.access.value}>"
        return name if self.sampled is None else f"{name}<{self.sampled}>"

    __repr__ = __str__


@dataclass(frozen=True, eq=False, slots=True)
class Sampler:
    """`sampler` or `sampler_comparison`."""

    comparison: bool

    def __str__(self) -> str:
        return "sampler_comparison" if self.comparison else "sampler"

    __repr__ = __str__


Type: TypeAlias = (
    Scalar | Void | Vector | Matrix | Array | Struct | Atomic | Buffer | Pointer | Reference | Texture | Sampler
)

BOOL = Scalar(ScalarKind.BOOL)
I32 = Scalar(ScalarKind.I32)
U32 = Scalar(ScalarKind.U32)
F32 = Scalar(ScalarKind.F32)
F16 = Scalar(ScalarKind.F16)
ABSTRACT_INT = Scalar(ScalarKind.ABSTRACT_INT)
ABSTRACT_FLOAT = Scalar(ScalarKind.ABSTRACT_FLOAT)
VOID = Void()

SCALARS: dict[str, Scalar] = {str(scalar): scalar for scalar in (BOOL, I32, U32, F32, F16)}


@cache
def vector(width: int, element: Scalar) -> Vector:
    """`vec{width}<element>`."""
    return Vector(width, element)


@cache
def matrix(columns: int, rows: int, element: Scalar) -> Matrix:
    """`mat{columns}x{rows}<element>`."""
    return Matrix(columns, rows, element)


@cache
def array(element: Type, count: int | OverrideCount | None) -> Array:
    """`array<element, count>`."""
    return Array(element, count)


@cache
def atomic(element: Scalar) -> Atomic:
    """`atomic<element>`."""
    return Atomic(element)


@cache
def buffer(size: int | OverrideCount | None) -> Buffer:
    """`buffer<size>`."""
    return Buffer(size)


@cache
def pointer(space: AddressSpace, store: Type, access: Access) -> Pointer:
    """`ptr<space, store, access>`."""
    return Pointer(space, store, access)


@cache
def reference(space: AddressSpace, store: Type, access: Access) -> Reference:
    """`ref<space, store, access>`."""
    return Reference(space, store, access)


def texture(
    kind: TextureKind,
    dimension: str,
    sampled: Scalar | None = None,
    format: str | None = None,
    access: Access | None = None,
) -> Texture:
    """A texture type."""
    return _texture(kind, dimension, sampled, format, access)


@cache
def _texture(
    kind: TextureKind, dimension: str, sampled: Scalar | None, format: str | None, access: Access | None
) -> Texture:
    """All arguments are positional, since `cache` has different keys for positional and keyword arguments."""
    return Texture(kind, dimension, sampled, format, access)


@cache
def sampler(*, comparison: bool) -> Sampler:
    """`sampler` or `sampler_comparison`."""
    return Sampler(comparison)


def _only_scalar(kind: ScalarKind) -> Scalar:
    return next(it for it in (*SCALARS.values(), ABSTRACT_INT, ABSTRACT_FLOAT) if it.kind is kind)


def _only_void() -> Void:
    return VOID


def _only_sampler(comparison: bool) -> Sampler:
    return sampler(comparison=comparison)


_FACTORIES: Mapping[type[object], Callable[..., object]] = {
    Scalar: _only_scalar,
    Void: _only_void,
    Vector: vector,
    Matrix: matrix,
    Array: array,
    Atomic: atomic,
    Buffer: buffer,
    Pointer: pointer,
    Reference: reference,
    Texture: _texture,
    Sampler: _only_sampler,
}
"""What makes the one object of an interned type from its fields."""


def _reduced(type: object) -> tuple[Callable[..., object], tuple[object, ...]]:
    names = cast("tuple[str, ...]", getattr(type, "__match_args__"))  # noqa: B009 (its class is not known)
    return _FACTORIES[type.__class__], tuple(getattr(type, name) for name in names)


for _interned in _FACTORIES:
    copyreg.pickle(_interned, _reduced)  # copies and unpickled types are interned, too


def default_access(space: AddressSpace) -> Access:
    """The access mode where none is written (WGSL, "Address Spaces")."""
    return Access.READ if space in _READ_BY_DEFAULT else Access.READ_WRITE


_READ_BY_DEFAULT = (AddressSpace.UNIFORM, AddressSpace.STORAGE, AddressSpace.IMMEDIATE, AddressSpace.HANDLE)


def scalar_of(type: Type) -> Scalar | None:
    """The scalar of a scalar, vector or matrix; None for others."""
    match type:
        case Scalar():
            return type
        case Vector(element=element) | Matrix(element=element):
            return element
        case _:
            return None


def with_scalar(type: Scalar | Vector | Matrix, scalar: Scalar) -> Scalar | Vector | Matrix:
    """The same shape over another scalar."""
    match type:
        case Scalar():
            return scalar
        case Vector(width=width):
            return vector(width, scalar)
        case Matrix(columns=columns, rows=rows):
            return matrix(columns, rows, scalar)


def element_type(type: Type, index: int = 0) -> Type | None:
    """The type of the element, column, component or member at `index`; None for a type without elements."""
    match type:
        case Vector(element=element) | Array(element=element):
            return element
        case Matrix():
            return type.column
        case Struct(members=members):
            return members[index].type if 0 <= index < len(members) else None
        case _:
            return None


def element_count(type: Type) -> int | OverrideCount | None:
    """The number of elements, columns, components or members; None for a runtime-sized array or a type without
    elements.
    """
    match type:
        case Vector(width=width):
            return width
        case Matrix(columns=columns):
            return columns
        case Array(count=count):
            return count
        case Struct(members=members):
            return len(members)
        case _:
            return None


def walk(type: Type) -> Iterator[Type]:
    """The type and all types in it, outermost first, each once: a structure may hold another many times."""
    pending = [type]
    seen: set[Type] = set()
    while pending:
        current = pending.pop()
        if current in seen:
            continue
        seen.add(current)
        yield current
        match current:
            case Vector(element=element) | Matrix(element=element) | Atomic(element=element) | Array(element=element):
                pending.append(element)
            case Struct(members=members):
                pending.extend(member.type for member in reversed(members))
            case Pointer(store=store) | Reference(store=store):
                pending.append(store)
            case _:
                pass


def is_constructible(type: Type) -> bool:
    """Whether values can be constructed, loaded, stored, passed and returned (WGSL, "Constructible Types")."""
    if isinstance(type, (Scalar, Vector, Matrix)):
        return True
    return all(
        isinstance(part, (Scalar, Vector, Matrix, Struct)) or (isinstance(part, Array) and isinstance(part.count, int))
        for part in walk(type)
    )


def has_no_name(type: Type) -> bool:
    """Whether no program can name the type: a result of `frexp`, `modf` or an atomic, or an array of these."""
    while isinstance(type, Array):
        type = type.element
    return isinstance(type, Struct) and type.name.startswith("__")


def contains_atomic(type: Type) -> bool:
    """Whether the type is or contains an atomic."""
    return any(isinstance(part, Atomic) for part in walk(type))


def contains_runtime_array(type: Type) -> bool:
    """Whether the type is or contains a runtime-sized array."""
    return any(isinstance(part, Array) and part.count is None for part in walk(type))


def _memory_view(word: str, space: AddressSpace, store: Type, access: Access) -> str:
    """The spelling of a pointer or reference type, with an access mode for storage only: elsewhere WGSL forbids one."""
    if space is AddressSpace.STORAGE:
        return f"{word}<storage, {store}, {access.value}>"
    return f"{word}<{space.value}, {store}>"
