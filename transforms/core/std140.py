"""Lays uniform buffers out so that the rules of std140 and of WGSL agree.

std140 starts every column of a matrix at a multiple of 16 bytes; WGSL packs the columns of `matCx2<f32>` and of f16
matrices closer (WGSL, "Memory Layout"). In uniform variables such a matrix becomes its columns: members of the
structure that it was a member of, else a structure of their own. Their offsets stay; loads rebuild the
matrices.

For engines that write shaders in languages with std140 alone, as GLSL is, and for naga, which aborts on some loads of
matrices of two rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...base.errors import InputError
from ...ir import layout
from ...ir.core import nodes
from ...ir.core.builder import Builder, u32
from ...ir.core.names import NameScope
from ...ir.core.structure import blocks_of
from ...ir.core.values import Value
from ...ir.diagnostics import ShaderError, not_supported
from ...ir.types import (
    Access,
    AddressSpace,
    Array,
    Matrix,
    Pointer,
    Struct,
    StructMember,
    Type,
    array,
    element_type,
    pointer,
    walk,
)
from .editing import drop_unused_accesses, merge_access_chains
from .purity import root_of
from .regions import remove
from .replacing import copy_constant
from .replacing import replace as replace_value
from .rewriting import number_of

_COLUMN_STRIDE = 16
_MOST_ELEMENTS = 64
"""Longer arrays are not put together in one expression."""


@dataclass(frozen=True)
class Std140:
    """Splits narrow matrices in uniform variables. Pointers to these must not be passed to functions: run
    `direct_variable_access` before.
    """

    @property
    def name(self) -> str:
        """The name in pipelines."""
        return "std140"

    def run(self, module: nodes.Module) -> bool:
        """Whether a variable was laid out anew. Raises InputError for a pointer that is passed to a function, and
        ShaderError for a load of a long array with such matrices.
        """
        types = _Types(module)
        changed = {it: store for it, store in _uniforms(module) if any(map(is_narrow, walk(store)))}
        for variable, store in changed.items():
            variable.type = pointer(AddressSpace.UNIFORM, types.split(store), Access.READ)
        for function in module.functions if changed else ():
            merge_access_chains(function)
            for block in blocks_of(function):
                _Loads(module, changed).block(block)
            drop_unused_accesses(function)
        return bool(changed)


def _uniforms(module: nodes.Module) -> Sequence[tuple[nodes.Var, Type]]:
    variables = [it for it in module.root.instructions if isinstance(it, nodes.Var)]
    pointers = [(it, it.type) for it in variables if isinstance(it.type, Pointer)]
    return [(it, type.store) for it, type in pointers if type.space is AddressSpace.UNIFORM]


def is_narrow(type: Type) -> bool:
    """Whether a type is a matrix whose columns lie closer than std140 wants."""
    return isinstance(type, Matrix) and layout.stride_of(type) < _COLUMN_STRIDE


class _Types:
    """Replacement types for narrow matrices and for types that contain them, created on demand."""

    def __init__(self, module: nodes.Module) -> None:
        self.module = module
        taken = {it.name for it in module.root.instructions if it.name is not None}
        self.names = NameScope(taken | {it.name for it in module.functions} | {it.name for it in module.structs})
        self.made: dict[Type, Struct] = {}

    def split(self, type: Type) -> Type:
        """The type with its matrices split."""
        if type in self.made or not any(map(is_narrow, walk(type))):
            return self.made.get(type, type)
        match type:
            case Array(element=element, count=count):
                return array(self.split(element), count)
            case Matrix(columns=columns, column=column):
                name = f"columns_{type.columns}x{type.rows}_{type.element}"
                return self._struct(type, name, [StructMember(f"c{index}", column) for index in range(columns)])
            case Struct():
                return self._struct(type, f"{type.name}_std140", self._members(type))
            case _:
                return type

    def _struct(self, type: Type, name: str, members: Sequence[StructMember]) -> Struct:
        self.made[type] = struct = Struct(self.names.unique(name), tuple(members))
        self.module.structs.append(struct)
        return struct

    def _members(self, type: Struct) -> Sequence[StructMember]:
        """The members, matrices as columns; what has changed keeps its size, so that the next stays in its place."""
        starts = (*layout.member_offsets(type), layout.size_of(type))
        found: list[StructMember] = []
        for index, member in enumerate(type.members):
            size = starts[index + 1] - starts[index]
            if isinstance(member.type, Matrix) and is_narrow(member.type):
                found += _columns(member, member.type, size)
            else:
                split = self.split(member.type)
                found.append(member if split is member.type else replace(member, type=split, size=size))
        return found


def _columns(member: StructMember, type: Matrix, size: int) -> Sequence[StructMember]:
    stride = layout.stride_of(type)
    last = size - (type.columns - 1) * stride
    columns = [StructMember(f"{member.name}_{index}", type.column, size=stride) for index in range(type.columns)]
    return [replace(columns[0], align=member.align), *columns[1:-1], replace(columns[-1], size=last)]


def _position(type: Struct, index: int) -> int:
    """Where a member, or the first column of one, is among the members of the split structure."""
    before = (member.type for member in type.members[:index])
    return sum(it.columns if isinstance(it, Matrix) and is_narrow(it) else 1 for it in before)


class _Loads:
    """Rewrites the loads from changed variables: each value is put together of what is loaded."""

    def __init__(self, module: nodes.Module, changed: dict[nodes.Var, Type]) -> None:
        self.builder = Builder(module)
        self.changed = changed

    def block(self, block: nodes.Block) -> None:
        """Rewrite the loads in a block."""
        before, branch = block.instructions, block.branch
        block.instructions, block.branch = [], None
        gone: list[nodes.Instruction] = []
        with self.builder.at(block):
            for instruction in before:
                root = root_of(instruction.pointer) if isinstance(instruction, nodes.Load) else None
                if isinstance(instruction, nodes.Load) and root in self.changed:
                    self.builder.span = instruction.span
                    replace_value(instruction, self._loaded(instruction.pointer))
                    gone.append(instruction)
                elif isinstance(instruction, nodes.Call) and any(map(self._is_changed, instruction.arguments)):
                    raise InputError("a pointer to a uniform is passed on: run direct_variable_access first")
                block.instructions.append(instruction)
        block.branch = branch
        remove(block, gone)

    def _is_changed(self, value: Value) -> bool:
        return root_of(value) in self.changed

    def _loaded(self, pointer: Value) -> Value:
        """What a pointer into a changed variable points to."""
        root = root_of(pointer)
        assert isinstance(root, nodes.Var)
        place = _UniformPart(root, self.changed[root])
        rest = list(pointer.indices) if isinstance(pointer, nodes.Access) else []
        while rest and not is_narrow(place.type):
            place = place.part(rest.pop(0))
        if not rest:
            return self._whole(place)
        number = number_of(rest[0])
        assert isinstance(place.type, Matrix)
        if not isinstance(number, int):
            return self.builder.access(self._whole(place), rest)
        column = self._column(place, min(number, place.type.columns - 1))
        return self.builder.access(column, rest[1:]) if rest[1:] else column

    def _whole(self, place: _UniformPart) -> Value:
        if not any(map(is_narrow, walk(place.type))):
            return self.builder.load(self._pointer(place.root, place.indices))
        match place.type:
            case Matrix(columns=columns):
                parts = [self._column(place, index) for index in range(columns)]
            case Struct(members=members):
                parts = [self._whole(place.part(u32(index))) for index in range(len(members))]
            case Array(count=int() as count) if count <= _MOST_ELEMENTS:
                parts = [self._whole(place.part(u32(index))) for index in range(count)]
            case _:
                what = f"loading all of {place.type} from a uniform buffer; load the elements that are needed"
                raise ShaderError([not_supported(what, self.builder.span)])
        return self.builder.construct(place.type, parts)

    def _column(self, place: _UniformPart, index: int) -> Value:
        return self.builder.load(self._pointer(place.root, [*place.indices, u32(place.first_column + index)]))

    def _pointer(self, root: nodes.Var, indices: Sequence[Value]) -> Value:
        copies = [copy_constant(it) if isinstance(it, nodes.Constant) else it for it in indices]
        return self.builder.access(root, copies) if copies else root


@dataclass(frozen=True)
class _UniformPart:
    """A part of a uniform variable. `type` is its type before the pass, `indices` lead to it in the new layout. The
    columns of a matrix are members of the value at `indices`, from `first_column` on.
    """

    root: nodes.Var
    type: Type
    indices: tuple[Value, ...] = ()
    first_column: int = 0

    def part(self, index: Value) -> _UniformPart:
        """An element or member of this part, which must not be a matrix."""
        number = number_of(index)
        position = number if isinstance(number, int) else 0
        type = element_type(self.type, position if isinstance(self.type, Struct) else 0)
        assert type is not None
        if not isinstance(self.type, Struct):
            return _UniformPart(self.root, type, (*self.indices, index))
        moved = _position(self.type, position)
        if is_narrow(type):
            return _UniformPart(self.root, type, self.indices, moved)
        return _UniformPart(self.root, type, (*self.indices, u32(moved)))
