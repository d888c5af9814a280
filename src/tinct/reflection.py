"""The interface of a shader: entry points, bindings, overrides, and the layout of every type."""

from __future__ import annotations

from functools import partial
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np

from .base.errors import InputError
from .base.records import dataclass
from .ir import layout
from .ir.binding_points import free_point
from .ir.layout_numbers import shown
from .ir.layout_numpy import numpy_dtype
from .ir.textures import is_loadable, is_written
from .ir.types import (
    U32,
    Access,
    AddressSpace,
    Array,
    BindingPoint,
    Buffer,
    Sampler,
    Struct,
    StructMember,
    Texture,
    Type,
    array,
    atomic,
)
from .textures import texel_dtype

if TYPE_CHECKING:
    from .ir.wgsl.program import FunctionInfo, Program, Variable


@dataclass(frozen=True, slots=True)
class MemberInfo:
    """A structure's member: `offset`, `size` and `align` in bytes; `size` is None for a runtime-sized array.

    `size` is what the member takes, with a `@size` attribute; `dtype` is the numpy type of its value, of one element
    for a runtime-sized array, and None for a value of 2 GiB or more, for which numpy has no type.
    """

    name: str
    type: str
    offset: int
    size: int | None
    align: int
    dtype: np.dtype[Any] | None


@dataclass(frozen=True, slots=True)
class StructInfo:
    """A structure in memory. One that `ends_open`, in a runtime-sized array, has its `size` and `dtype` with one
    element in it. `dtype` is None from 2 GiB on.
    """

    name: str
    size: int
    align: int
    ends_open: bool
    members: tuple[MemberInfo, ...]
    dtype: np.dtype[Any] | None


@dataclass(frozen=True, slots=True)
class BindingInfo:
    """A bound variable. `minimum_size` is the least number of bytes a buffer for it may have, a multiple of 4.

    `size` is None where it is or ends in a runtime-sized array; `stride` is the bytes from one element of an array (or
    of that array) to the next. `dtype` is the numpy type of the variable; of one element of a runtime-sized array,
    and with one element of it for a structure that ends in one (see `numpy_dtype`); None from 2 GiB on. A texture has
    only a `dtype`, that of its texels' numbers (see `textures`); samplers have none of these. `Kernel.layout_entries`
    has what a bind group layout says of textures and samplers. Immediate data, of space "immediate", is bound as a
    read-only storage buffer, at the first binding of group 0 that no variable has.
    """

    name: str
    group: int
    binding: int
    space: str
    access: str
    type: Type
    size: int | None
    minimum_size: int
    align: int | None
    stride: int | None
    dtype: np.dtype[Any] | None

    @property
    def point(self) -> BindingPoint:
        """Its binding point."""
        return BindingPoint(self.group, self.binding)

    def dtype_with(self, elements: int) -> np.dtype[Any]:
        """The numpy type of the whole variable with that many elements in its runtime-sized array. Raises InputError
        for what is no number of elements, and for 2 GiB or more, for which numpy has no type.
        """
        try:
            count = index(elements)
        except TypeError:
            count = -1
        if count < 0:
            raise InputError(f"{self.name} has a whole number of elements, not {shown(elements)}")
        return numpy_dtype(self.type, elements=count)

    @property
    def is_written(self) -> bool:
        """Whether a shader may write it, so that `run` returns it."""
        if isinstance(self.type, Texture):
            return is_written(self.type)
        return self.space == "storage" and self.access != "read"


@dataclass(frozen=True, slots=True)
class OverrideInfo:
    """A pipeline constant: set it by `name`, or by `id` where it has one. `required`: it has no default."""

    name: str
    id: int | None
    type: str
    required: bool

    @property
    def key(self) -> str:
        """The name of the override in the constants of a WebGPU pipeline."""
        return self.name if self.id is None else str(self.id)


@dataclass(frozen=True, slots=True)
class EntryPointInfo:
    """An entry point. `workgroup_size` has the text of each size that is an override-expression."""

    name: str
    stage: str
    workgroup_size: tuple[int | str, ...]
    bindings: tuple[str, ...]
    overrides: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reflection:
    """All that a shader shows without being compiled. `functions` are the names of those that are no entry points."""

    entry_points: tuple[EntryPointInfo, ...]
    bindings: tuple[BindingInfo, ...]
    overrides: tuple[OverrideInfo, ...]
    structs: tuple[StructInfo, ...]
    functions: tuple[str, ...]


def reflect(program: Program) -> Reflection:
    """The interface of a program; entry points and functions are in the order of the source."""
    functions = sorted(program.functions, key=lambda function: function.node.span.start)
    return Reflection(
        tuple(reflect_entry_point(program, it) for it in functions if it.stage is not None),
        reflect_bindings(program),
        reflect_overrides(program),
        reflect_structs(program),
        tuple(it.name for it in functions if it.stage is None),
    )


def reflect_bindings(program: Program) -> tuple[BindingInfo, ...]:
    """All bound variables, and immediate data, in the order of their groups and bindings."""
    free = free_point(it.binding for it in program.variables)
    bound = [_binding(variable, variable.binding or free) for variable in program.variables if is_bound(variable)]
    return tuple(sorted(bound, key=lambda info: (info.group, info.binding)))


def is_bound(variable: Variable) -> bool:
    """Whether a variable's value comes from outside of the shader."""
    return variable.binding is not None or variable.space is AddressSpace.IMMEDIATE


def _binding(variable: Variable, point: BindingPoint) -> BindingInfo:
    assert variable.space is not None
    return describe_binding(variable.name, variable.type, Place(point, variable.space, _access(variable)))


@dataclass(frozen=True, slots=True)
class Place:
    """Where and how a variable is bound."""

    point: BindingPoint
    space: AddressSpace
    access: Access


def describe_binding(name: str, type: Type, at: Place) -> BindingInfo:
    """What is known of a variable of a type at a place."""
    in_memory = at.space is not AddressSpace.HANDLE
    place = partial(
        BindingInfo,
        name=name,
        group=at.point.group,
        binding=at.point.binding,
        space=at.space.value,
        access=at.access.value,
        type=type,
    )
    if isinstance(type, Buffer):  # just bytes
        size = type.size if isinstance(type.size, int) else None
        dtype = np.dtype(np.uint8) if size is None else np.dtype((np.uint8, size))
        return place(size=size, minimum_size=layout.whole_words(size or 0), align=None, stride=1, dtype=dtype)
    return place(
        size=layout.size_of(type) if in_memory and layout.runtime_array(type) is None else None,
        minimum_size=layout.whole_words(layout.minimum_size(type)) if in_memory else 0,
        align=layout.align_of(type) if in_memory else None,
        stride=_stride(type) if in_memory else None,
        dtype=_dtype(type),
    )


def _stride(type: Type) -> int | None:
    tail = layout.runtime_array(type)
    if tail is not None:
        return layout.stride_of(tail[1])
    return layout.stride_of(type) if isinstance(type, Array) else None


def _access(variable: Variable) -> Access:
    own = variable.type.access if isinstance(variable.type, Texture) else variable.access
    return own or Access.READ


def _dtype(type: Type) -> np.dtype[Any] | None:
    if not is_loadable(type) and isinstance(type, (Texture, Sampler)):
        return None
    return texel_dtype(type) if isinstance(type, Texture) else _memory_dtype(type)


def _memory_dtype(type: Type) -> np.dtype[Any] | None:
    ends_open = isinstance(type, Struct) and layout.runtime_array(type) is not None
    try:
        return numpy_dtype(type, elements=1 if ends_open else None)
    except InputError:
        return None


def reflect_overrides(program: Program) -> tuple[OverrideInfo, ...]:
    """All pipeline constants, in the order of declaration."""
    return tuple(
        OverrideInfo(variable.name, variable.override_id, str(variable.type), required=variable.initializer is None)
        for variable in program.variables
        if variable.kind == "override"
    )


def reflect_structs(program: Program) -> tuple[StructInfo, ...]:
    """All structures that can lie in a buffer."""
    from .frontend.resolve.type_rules import is_host_shareable

    return tuple(_struct(struct) for struct in program.structs if is_host_shareable(struct))


def _struct(struct: Struct) -> StructInfo:
    return StructInfo(
        name=struct.name,
        size=layout.minimum_size(struct),
        align=layout.align_of(struct),
        ends_open=layout.runtime_array(struct) is not None,
        members=tuple(map(_member, struct.members, layout.member_offsets(struct))),
        dtype=_memory_dtype(struct),
    )


def _member(member: StructMember, offset: int) -> MemberInfo:
    is_open = layout.runtime_array(member.type) is not None
    size = None if is_open else layout.size_of(member.type)
    return MemberInfo(
        name=member.name,
        type=str(member.type),
        offset=offset,
        size=size if member.size is None else member.size,
        align=member.align or layout.align_of(member.type),
        dtype=_memory_dtype(member.type),
    )


def reflect_entry_point(program: Program, function: FunctionInfo) -> EntryPointInfo:
    """One entry point."""
    assert function.stage is not None
    return EntryPointInfo(
        name=function.name,
        stage=function.stage.value,
        workgroup_size=tuple(_workgroup_size(program, function)),
        bindings=tuple(variable.name for variable in function.resources if is_bound(variable)),
        overrides=tuple(variable.name for variable in function.resources if variable.kind == "override"),
    )


def _workgroup_size(program: Program, function: FunctionInfo) -> list[int | str]:
    sizes: list[int | str] = []
    for expression in function.workgroup_size:
        constant = program.facts.expressions[expression].constant
        if constant is None:
            sizes.append(program.source.text(expression.span))
        else:
            assert isinstance(constant.value, int)
            sizes.append(constant.value)
    return sizes


def words_binding(name: str, point: BindingPoint, words: int | None) -> BindingInfo:
    """A storage buffer of so many atomic words, or of any number for None, which a kernel of ours has beside the user's
    bindings.
    """
    return describe_binding(name, array(atomic(U32), words), Place(point, AddressSpace.STORAGE, Access.READ_WRITE))
