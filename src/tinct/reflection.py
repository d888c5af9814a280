"""What a shader offers to a program: entry points, bindings, overrides, and the layout of every type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .frontend.resolve.type_rules import is_host_shareable
from .ir import layout
from .ir.types import Access, AddressSpace, BindingPoint, Struct, Type, contains_runtime_array
from .ir.wgsl.program import FunctionInfo, Program, Variable


@dataclass(frozen=True, slots=True)
class MemberInfo:
    """A structure's member: `offset`, `size` and `align` in bytes; `size` is None for a runtime-sized array."""

    name: str
    type: str
    offset: int
    size: int | None
    align: int


@dataclass(frozen=True, slots=True)
class StructInfo:
    """A structure in memory. `size` counts no element of a runtime-sized array at its end."""

    name: str
    size: int
    align: int
    members: tuple[MemberInfo, ...]


@dataclass(frozen=True, slots=True)
class BindingInfo:
    """A bound variable. `minimum_size` is the least number of bytes a buffer for it may have.

    `dtype` is the numpy type of the variable, or, when it is or ends in a runtime-sized array, of one element of that
    array (see `layout.numpy_dtype`); None for textures and samplers.
    """

    name: str
    group: int
    binding: int
    space: str
    access: str
    type: Type
    minimum_size: int
    dtype: np.dtype[Any] | None

    @property
    def point(self) -> BindingPoint:
        """Where it is bound."""
        return BindingPoint(self.group, self.binding)

    def dtype_with(self, elements: int) -> np.dtype[Any]:
        """The numpy type of the whole variable with that many elements in its runtime-sized array."""
        return layout.numpy_dtype(self.type, elements=elements)

    @property
    def is_written(self) -> bool:
        """Whether a shader may write it, so that `run` returns it."""
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
        """The name that WebGPU wants in a pipeline's constants."""
        return self.name if self.id is None else str(self.id)


@dataclass(frozen=True, slots=True)
class EntryPointInfo:
    """An entry point. `workgroup_size` has the text of each size that is an override-expression."""

    name: str
    stage: str
    workgroup_size: tuple[int | str, ...]
    bindings: tuple[str, ...]
    overrides: tuple[str, ...]


def reflect_bindings(program: Program) -> tuple[BindingInfo, ...]:
    """All bound variables, in the order of their groups and bindings."""
    bound = [_binding(variable) for variable in program.variables if variable.binding is not None]
    return tuple(sorted(bound, key=lambda info: (info.group, info.binding)))


def _binding(variable: Variable) -> BindingInfo:
    assert variable.binding is not None
    assert variable.space is not None
    in_memory = variable.space is not AddressSpace.HANDLE
    return BindingInfo(
        name=variable.name,
        group=variable.binding.group,
        binding=variable.binding.binding,
        space=variable.space.value,
        access=(variable.access or Access.READ).value,
        type=variable.type,
        minimum_size=layout.minimum_size(variable.type) if in_memory else 0,
        dtype=_dtype(variable.type) if in_memory else None,
    )


def _dtype(type: Type) -> np.dtype[Any]:
    ends_open = isinstance(type, Struct) and contains_runtime_array(type)
    return layout.numpy_dtype(type, elements=1 if ends_open else None)


def reflect_overrides(program: Program) -> tuple[OverrideInfo, ...]:
    """All pipeline constants, in the order of declaration."""
    return tuple(
        OverrideInfo(variable.name, variable.override_id, str(variable.type), required=variable.initializer is None)
        for variable in program.variables
        if variable.kind == "override"
    )


def reflect_structs(program: Program) -> tuple[StructInfo, ...]:
    """All structures that can lie in a buffer."""
    return tuple(_struct(struct) for struct in program.structs if is_host_shareable(struct))


def _struct(struct: Struct) -> StructInfo:
    members = tuple(
        MemberInfo(
            member.name,
            str(member.type),
            offset,
            None if contains_runtime_array(member.type) else layout.size_of(member.type),
            member.align or layout.align_of(member.type),
        )
        for member, offset in zip(struct.members, layout.member_offsets(struct), strict=True)
    )
    size = layout.minimum_size(struct) if contains_runtime_array(struct) else layout.size_of(struct)
    return StructInfo(struct.name, size, layout.align_of(struct), members)


def reflect_entry_point(program: Program, function: FunctionInfo) -> EntryPointInfo:
    """One entry point."""
    assert function.stage is not None
    return EntryPointInfo(
        name=function.name,
        stage=function.stage.value,
        workgroup_size=tuple(_workgroup_size(program, function)),
        bindings=tuple(variable.name for variable in function.resources if variable.binding is not None),
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
