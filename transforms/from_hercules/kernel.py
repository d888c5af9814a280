"""A kernel in Hercules IR as a module of core IR with one entry point.

`entry_module` takes the translation of a WGSL entry point: its forks over workgroups are the grid, the forks over
invocations inside of them the runs between barriers. `grid_module` takes one dispatch of a program (`ir.hercules.program`):
its outermost forks are the grid, numbered with the innermost fork's index fastest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ...ir import types as w
from ...ir.core import nodes as c
from ...ir.core.builder import Builder, empty_module, parameter, u32
from ...ir.core.values import Value
from ...ir.hercules import nodes as h
from ...ir.hercules.entry import WORKGROUP_CONSTANTS, Binding, EntryPoint
from ...ir.hercules.placement import Placement, place_nodes
from ...ir.ops import BinaryOp
from ..hercules.inline_calls import inline_calls
from .control import Context, Writer
from .levels import Levels
from .names import Names
from .places import Place, Places
from .shape import shape_of
from .types import Structs

_AXES = "xyz"


def entry_module(entry: EntryPoint) -> c.Module:
    """Core IR of an entry point that was translated from WGSL, with the same bindings and workgroup size. A texture is a
    storage buffer (`ir.textures.storage_type`).

    The function changes: calls are inlined. Raises ShaderError for what has no place in WGSL.
    """
    inline_calls(entry.function)
    placed = place_nodes(entry.function)
    axes = [axis for axis in (2, 1, 0) if entry.workgroup_size[axis] > 1]
    return _Entry(entry, placed, Levels(placed, 3, len(axes)), axes).module()


@dataclass(slots=True)
class _Entry:
    """The module of an entry point. `local_axes` are those of the local forks, outermost first."""

    entry: EntryPoint
    placed: Placement
    levels: Levels
    local_axes: Sequence[int]
    names: Names = field(default_factory=Names)
    core: c.Module = field(default_factory=empty_module)
    builder: Builder = field(init=False)
    inputs: dict[str, c.FunctionParameter] = field(default_factory=dict[str, c.FunctionParameter])
    variables: dict[int, c.Var] = field(default_factory=dict[int, c.Var])
    places: dict[int, Place] = field(default_factory=dict[int, Place])
    _known: dict[object, Value] = field(default_factory=dict[object, Value])
    function: c.Function = field(init=False)

    def module(self) -> c.Module:
        """Build it."""
        self.builder = Builder(self.core, self.core.root)
        structs = Structs(self.names)
        self.names.unique(self.entry.name)
        types = {it.parameter: self._binding_type(it) for it in self.entry.bindings}
        for type in types.values():
            structs.declare(type)
        for binding in self.entry.bindings:
            self._declare(binding, types[binding.parameter])
        places = Places(self.placed, self.levels, structs, self.places, one_invocation=not self.local_axes)
        resources: list[c.ValueDeclaration] = [*self.variables.values()]
        for place in places.all():
            if place.space is w.AddressSpace.WORKGROUP:
                resources.append(self._variable(place))
        self.function = self.builder.function(
            self.entry.name, stage=w.Stage.COMPUTE, workgroup_size=[u32(it) for it in self.entry.workgroup_size]
        )
        self.function.resources = resources
        for place in places.all():
            if place.space is w.AddressSpace.FUNCTION:
                self._variable(place)
        self._prepare()
        shape = shape_of(self.placed)
        context = Context(self._thread, self._dynamic, {}, lambda _end, _value: self._finish())
        Writer(self.builder, self.names, self.placed, shape, self.levels, places, context).write()
        self.core.structs.extend(structs.declared)
        self.core.enables.extend(self._enables())
        self.function.parameters.extend(self.inputs.values())
        return self.core

    def _binding_type(self, binding: Binding) -> w.Type:
        """The type of a binding, as WGSL has it: a single scalar is no array of one."""
        match binding.type:
            case w.Array(element=(w.Scalar() | w.Atomic()) as element, count=1):
                return element
            case w.Struct(name=name, members=members) if binding.space is w.AddressSpace.HANDLE:
                return w.Struct(self.names.unique(name, "Texture"), members)
            case _:
                return binding.type

    def _declare(self, binding: Binding, type: w.Type) -> None:
        """The variable of a binding."""
        pointer = w.pointer(binding.space, type, binding.access) if binding.space is not w.AddressSpace.HANDLE else None
        pointer = pointer or w.pointer(w.AddressSpace.STORAGE, type, binding.access)
        variable = self.builder.var(pointer, name=self.names.unique(binding.name), binding=binding.point)
        self.variables[binding.parameter] = variable
        self.places[binding.parameter] = Place(
            binding.name, type, pointer.space, skipped=int(isinstance(type, (w.Scalar, w.Atomic))), is_written=binding.is_written, variable=variable
        )

    def _variable(self, place: Place) -> c.Var:
        pointer = w.pointer(place.space, place.type, w.Access.READ_WRITE)
        place.variable = variable = self.builder.var(pointer, name=self.names.unique(place.name))
        return variable

    def _enables(self) -> list[str]:
        types = [it.type for block in (self.core.root,) for it in block.instructions]
        uses_f16 = any(t == h.Float(16) for t in self.placed.types.values()) or any(
            part is w.F16 for type in types if isinstance(type, w.Pointer) for part in w.walk(type.store)
        )
        return ["f16"] if uses_f16 else []

    # Inputs

    def _prepare(self) -> None:
        """Compute what all code may use at the start of the function."""
        for node in self.placed.function.nodes:
            if node not in self.placed.live:
                continue
            match node:
                case h.ThreadID(h.Fork() as fork) if not self.levels.is_loop(fork):
                    self._thread(fork)
                case h.DynamicConstantNode(value):
                    self._dynamic(value)
                case h.Fork(factor=factor) if self.levels.is_loop(node):
                    self._dynamic(factor)
                case _:
                    pass

    def _input(self, builtin: str) -> c.FunctionParameter:
        if builtin not in self.inputs:
            io = w.IoAttributes(builtin=builtin)
            self.inputs[builtin] = parameter(w.vector(3, w.U32), self.names.unique(builtin), io)
        return self.inputs[builtin]

    def _thread(self, fork: h.Fork) -> Value:
        return self._once(fork, lambda: self._thread_now(fork))

    def _thread_now(self, fork: h.Fork) -> Value:
        if self.levels.is_grid(fork):
            return self.builder.access(self._input("workgroup_id"), [u32(2 - self.levels.axis(fork))])
        return self.builder.access(self._input("local_invocation_id"), [u32(self.local_axes[self.levels.axis(fork)])])

    def _dynamic(self, value: h.DynamicConstant) -> Value:
        return self._once(value, lambda: dynamic_value(self.builder, value, self._parameter))

    def _once(self, key: object, make: Callable[[], Value]) -> Value:
        if isinstance(key, h.Fork):
            key = (self.levels.is_grid(key), self.levels.axis(key))
        if key not in self._known:
            self._known[key] = make()
        return self._known[key]

    def _parameter(self, index: int) -> Value:
        """A dynamic constant: a number of workgroups, or the length of a runtime-sized array."""
        if index < len(WORKGROUP_CONSTANTS):
            return self.builder.access(self._input("num_workgroups"), [u32(index)])
        binding = next(it for it in self.entry.bindings if it.length == index)
        pointer: Value = self.variables[binding.parameter]
        if isinstance(binding.type, w.Struct):
            pointer = self.builder.access(pointer, [u32(len(binding.type.members) - 1)])
        return self.builder.builtin_call("arrayLength", [pointer])

    def _finish(self) -> None:
        self.builder.return_(self.function)


_DYNAMIC: Mapping[h.DynamicOp, BinaryOp] = {
    h.DynamicOp.ADD: BinaryOp.ADD,
    h.DynamicOp.SUB: BinaryOp.SUBTRACT,
    h.DynamicOp.MUL: BinaryOp.MULTIPLY,
    h.DynamicOp.DIV: BinaryOp.DIVIDE,
    h.DynamicOp.REM: BinaryOp.REMAINDER,
}


def dynamic_value(builder: Builder, value: h.DynamicConstant, parameter: Callable[[int], Value]) -> Value:
    """A dynamic constant as a u32, below 2³². Division and remainder by zero give zero."""
    match value:
        case h.DynamicLiteral(number):
            return u32(number)
        case h.DynamicParameter(index):
            return parameter(index)
        case h.DynamicBinary(op, lhs, rhs):
            left, right = (dynamic_value(builder, it, parameter) for it in (lhs, rhs))
            if op in (h.DynamicOp.MIN, h.DynamicOp.MAX):
                return builder.builtin_call(op.value, [left, right])
            result = builder.binary(_DYNAMIC[op], left, right)
            if op is not h.DynamicOp.DIV:
                return result
            return builder.builtin_call("select", [result, u32(0), builder.binary(BinaryOp.EQUAL, right, u32(0))])
