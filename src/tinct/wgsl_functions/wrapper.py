"""Writes an entry point that calls a function once for each element of its arguments.

The entry point and what it needs are added to the end of the module's text, so that places in messages stay what they
are. An invocation calls the function once; so private variables are fresh for each call. Values that all calls share
lie in one structure, others in an array each, or, where a device may not have so many bindings, in one array of
structures. Memory holds no bool: a u32 stands for each. Nor does it hold vectors of three, which would be padded:
arrays of three stand for them, as numpy has them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..base.records import dataclass, field
from ..ir.types import BOOL, AddressSpace, Array, Matrix, Scalar, Struct, Type, Vector
from ..ir.types import walk as walk_type
from .signature import Named, Parameter, Signature

if TYPE_CHECKING:
    from ..ir.wgsl.program import Program

MOST_STORAGE_BUFFERS = 8
"""The storage buffers that every WebGPU device allows (WebGPU, "Limits")."""


@dataclass(frozen=True, slots=True)
class Block:
    """A binding of the entry point. `members` are parameters or results; several lie in a structure together.

    `is_shared`: one element for all calls.
    """

    name: str
    members: tuple[Named, ...]
    is_shared: bool = False

    @property
    def is_structure(self) -> bool:
        """Whether an element is a structure with the members, rather than the only member."""
        return self.is_shared or len(self.members) > 1


@dataclass(frozen=True, slots=True)
class Wrapper:
    """The text of a module with an entry point `entry` that calls a function, and the bindings of that.

    `grid` is a uniform structure with the numbers of calls (`count`) and of invocations in a row (`row`).
    """

    text: str
    entry: str
    grid: str
    inputs: tuple[Block, ...]
    places: tuple[Block, ...]
    """What storage pointers point to, which is read and written in place."""
    results: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Shape:
    """For which calls an entry point is: those that share the values of the parameters in `shared`, in one row of
    invocations or in several (a dispatch has at most 65,535 workgroups along x).
    """

    shared: frozenset[str]
    has_rows: bool


def workgroup_size(signature: Signature) -> int:
    """The invocations of a workgroup: a function that has to do with others gets a workgroup of its own."""
    return 1 if signature.is_cooperative else 64


def wrapper_for(program: Program, signature: Signature, shape: Shape) -> Wrapper:
    """The entry point for calls of a shape."""
    return _Writer(program, signature, shape).write()


@dataclass(slots=True)
class _Writer:
    program: Program
    signature: Signature
    shape: Shape
    _stored: dict[str, str] = field(default_factory=dict[str, str])
    """The declarations for types that are converted, by name: structures, and functions that do it."""
    _prefix: str = ""

    def write(self) -> Wrapper:
        signature, text = self.signature, self.program.source.data.decode("utf-8")
        self._prefix = f"call_{signature.name}"
        while self._prefix in text:
            self._prefix += "_"
        in_place = [it for it in signature.parameters if it.space is AddressSpace.STORAGE]
        given = [it for it in signature.parameters if it.space is not AddressSpace.STORAGE]
        returned = [it for it in signature.results if it.name not in {place.name for place in in_place}]
        common = [it for it in given if it.name in self.shape.shared]
        rest = [it for it in given if it.name not in self.shape.shared]
        room = MOST_STORAGE_BUFFERS - len(signature.bound) - len(in_place) - bool(common)
        is_separate = len(rest) + len(returned) <= room
        shared = (Block(f"{self._prefix}_shared", tuple(common), is_shared=True),) if common else ()
        inputs = shared + self._blocks("rows", rest, is_separate=is_separate)
        places = tuple(Block(f"{self._prefix}_{it.name}", (it,)) for it in in_place)
        results = self._blocks("results", returned, is_separate=is_separate)
        added = "\n".join(self._lines(inputs, places, results))
        entry, grid = self._prefix, f"{self._prefix}_grid"
        return Wrapper(f"{text}\n{added}\n", entry, grid, inputs, places, results)

    def _blocks(self, word: str, values: Sequence[Named], *, is_separate: bool) -> tuple[Block, ...]:
        if is_separate:
            return tuple(Block(f"{self._prefix}_{word}_{it.name}", (it,)) for it in values)
        return (Block(f"{self._prefix}_{word}", tuple(values)),) if values else ()

    # Declarations

    def _lines(self, inputs: Sequence[Block], places: Sequence[Block], results: Sequence[Block]) -> Iterator[str]:
        bindings = [*self._bindings(inputs, "read"), *map(self._place, places)]
        bindings += self._bindings(results, "read_write")
        body = list(self._body(inputs, places, results))
        yield from self._stored.values()
        yield f"struct {self._prefix}_Grid {{ count: u32, row: u32 }}"
        bindings.append(f"var<uniform> {self._prefix}_grid: {self._prefix}_Grid;")
        group, first = self._free_place()
        for number, binding in enumerate(bindings):
            if binding.startswith("struct"):
                yield binding
            else:
                yield f"@group({group}) @binding({first + number}) {binding}"
        for it in self.signature.parameters:
            if it.space in (AddressSpace.PRIVATE, AddressSpace.WORKGROUP):
                yield f"var<{it.space.value}> {self._local(it)}: {it.type};"
        yield from body

    def _bindings(self, blocks: Sequence[Block], access: str) -> Iterator[str]:
        for block in blocks:
            type = self._memory_type(block.members[0].type)
            if block.is_structure:
                type = f"{block.name}_Type"
                members = ", ".join(f"{it.name}: {self._memory_type(it.type)}" for it in block.members)
                yield f"struct {type} {{ {members} }}"
            yield f"var<storage, {access}> {block.name}: {type if block.is_shared else f'array<{type}>'};"

    def _place(self, block: Block) -> str:
        """The binding of what the function gets pointers to, so that its type is the pointers'."""
        return f"var<storage, read_write> {block.name}: array<{block.members[0].type}>;"

    def _free_place(self) -> tuple[int, int]:
        """A group, and the first of its bindings that no variable has."""
        taken = [it.binding for it in self.program.variables if it.binding is not None]
        group = taken[0].group if taken else 0
        return group, max((it.binding for it in taken if it.group == group), default=-1) + 1

    # The entry point

    def _body(self, inputs: Sequence[Block], places: Sequence[Block], results: Sequence[Block]) -> Iterator[str]:
        prefix, signature = self._prefix, self.signature
        index, name = f"{prefix}_index", f"{prefix}_id"
        builtin = "workgroup_id" if signature.is_cooperative else "global_invocation_id"
        yield f"@compute @workgroup_size({workgroup_size(signature)})"
        yield f"fn {prefix}(@builtin({builtin}) {name}: vec3u) {{"
        if self.shape.has_rows:
            yield f"    let {index} = {name}.y * {prefix}_grid.row + {name}.x;"
            yield f"    if {name}.x >= {prefix}_grid.row || {index} >= {prefix}_grid.count {{ return; }}"
        else:
            yield f"    let {index} = {name}.x;"
            yield f"    if {index} >= {prefix}_grid.count {{ return; }}"
        values = {it.name: self._loaded(block, it, index) for block in inputs for it in block.members}
        arguments: list[str] = []
        for parameter in signature.parameters:
            if parameter.space is None:
                arguments.append(values[parameter.name])
            elif parameter.space is AddressSpace.STORAGE:
                place = next(it for it in places if it.members[0].name == parameter.name)
                arguments.append(f"&{place.name}[{index}]")
            else:
                declared = "var " if parameter.space is AddressSpace.FUNCTION else ""
                yield f"    {declared}{self._local(parameter)} = {values[parameter.name]};"
                arguments.append(f"&{self._local(parameter)}")
        call = f"{signature.name}({', '.join(arguments)})"
        yield f"    {call};" if signature.value is None else f"    let {prefix}_value = {call};"
        pointed = {it.name: it for it in signature.parameters}
        for block in results:
            for result in block.members:
                value = self._local(pointed[result.name]) if result.name in pointed else f"{prefix}_value"
                at = f"{block.name}[{index}]" + (f".{result.name}" if block.is_structure else "")
                yield f"    {at} = {self._to_memory(result.type, value)};"
        yield "}"

    def _local(self, parameter: Parameter) -> str:
        return f"{self._prefix}_at_{parameter.name}"

    def _loaded(self, block: Block, value: Named, index: str) -> str:
        place = block.name if block.is_shared else f"{block.name}[{index}]"
        member = f".{value.name}" if block.is_structure else ""
        return self._from_memory(value.type, place + member)

    # Types that are converted

    def _memory_type(self, type: Type) -> str:
        """The type in memory, declared where it is a structure of ours."""
        if not _is_converted(type):
            return str(type)
        match type:
            case Vector(width=3):
                return f"array<{_in_memory(type.element)}, 3>"
            case Vector(width=width):
                return f"vec{width}<u32>"
            case Matrix(columns=columns):
                return f"array<array<{type.element}, 3>, {columns}>"
            case Array(element=element, count=count):
                return f"array<{self._memory_type(element)}, {count}>"
            case Struct(members=members):
                name = f"{self._prefix}_Stored_{type.name}"
                if name not in self._stored:
                    body = ", ".join(f"{it.name}: {self._memory_type(it.type)}" for it in members)
                    self._stored[name] = f"struct {name} {{ {body} }}"
                return name
            case _:
                return "u32"

    def _from_memory(self, type: Type, value: str) -> str:
        if not _is_converted(type):
            return value
        match type:
            case Vector(width=3, element=element):
                loaded = f"vec3<{_in_memory(element)}>({', '.join(f'{value}[{it}]' for it in range(3))})"
                return f"({loaded} != vec3<u32>())" if element is BOOL else loaded
            case Vector(width=width):
                return f"({value} != vec{width}<u32>())"
            case Matrix(columns=columns):
                parts = (f"{value}[{column}][{row}]" for column in range(columns) for row in range(3))
                return f"{type}({', '.join(parts)})"
            case Array() | Struct():
                return f"{self._converter('load', type)}({value})"
            case _:
                return f"({value} != 0u)"

    def _to_memory(self, type: Type, value: str) -> str:
        if not _is_converted(type):
            return value
        match type:
            case Vector(width=3, element=element):
                return f"array({', '.join(f'{_in_memory(element)}({value}[{it}])' for it in range(3))})"
            case Vector(width=width):
                return f"vec{width}<u32>({value})"
            case Matrix(columns=columns):
                vectors = (self._to_memory(Vector(3, type.element), f"{value}[{it}]") for it in range(columns))
                return f"array({', '.join(vectors)})"
            case Array() | Struct():
                return f"{self._converter('store', type)}({value})"
            case _:
                return f"u32({value})"

    def _converter(self, word: str, type: Array | Struct) -> str:
        """The name of a function that converts a value to or from memory."""
        key = f"{word} {type}"
        name = f"{self._prefix}_{word}_{len(self._stored)}"
        if key in self._stored:
            return self._stored[key].split("(")[0].removeprefix("fn ")
        memory, value = self._memory_type(type), str(type)
        convert = self._from_memory if word == "load" else self._to_memory
        source, target = (memory, value) if word == "load" else (value, memory)
        self._stored[key] = f"fn {name}("  # the name stands before the parts that are converted are declared
        if isinstance(type, Struct):
            assignments = "".join(f" r.{it.name} = {convert(it.type, f'v.{it.name}')};" for it in type.members)
        else:
            element = convert(type.element, "v[i]")
            assignments = f" for (var i = 0u; i < {type.count}u; i++) {{ r[i] = {element}; }}"
        self._stored[key] = f"fn {name}(v: {source}) -> {target} {{ var r: {target};{assignments} return r; }}"
        return name


def _is_converted(type: Type) -> bool:
    """Whether memory holds something else for a value: see the module."""
    return any(it is BOOL or _has_three(it) for it in walk_type(type))


def _has_three(type: Type) -> bool:
    return (isinstance(type, Vector) and type.width == 3) or (isinstance(type, Matrix) and type.rows == 3)


def _in_memory(type: Scalar) -> str:
    return "u32" if type is BOOL else str(type)
