"""Translates single operations of core IR, and keeps the values that they define."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeGuard, assert_never

from ...base.records import dataclass, field
from ...ir import types as wgsl
from ...ir.builtins import Flags, builtin
from ...ir.constants import ConstantValue, zero_constant
from ...ir.core import nodes as c
from ...ir.core.values import Value
from ...ir.diagnostics import ShaderError, not_supported
from ...ir.hercules import nodes as h
from ...ir.scalars import wrap_u32
from . import arithmetic, builtins, memory
from . import types as t
from .machine import Machine
from .unrolling import Unrolling
from .values import Cell, Designator, Snapshot, Step, Tree, is_tree_array, node_of, parts_of, place_for, scalars_of

_ATOMICS: dict[str, h.AtomicOp] = {
    "atomicLoad": h.AtomicOp.LOAD,
    "atomicStore": h.AtomicOp.STORE,
    "atomicAdd": h.AtomicOp.ADD,
    "atomicSub": h.AtomicOp.SUB,
    "atomicMax": h.AtomicOp.MAX,
    "atomicMin": h.AtomicOp.MIN,
    "atomicAnd": h.AtomicOp.AND,
    "atomicOr": h.AtomicOp.OR,
    "atomicXor": h.AtomicOp.XOR,
    "atomicExchange": h.AtomicOp.EXCHANGE,
    "atomicCompareExchangeWeak": h.AtomicOp.COMPARE_EXCHANGE,
}


@dataclass(eq=False, slots=True)
class Globals:
    """Module scope: its variables, and the lengths of runtime-sized arrays. `has_barrier`: the program has barriers.
    `unrolling` are the loops that are unrolled, and the variables that are split into scalars.
    """

    variables: dict[Value, Designator]
    lengths: dict[Value, h.DynamicConstant]
    has_barrier: bool
    unrolling: Unrolling = field(default_factory=Unrolling)


@dataclass(eq=False, slots=True)
class Instructions:
    """Translates the instructions of one call of a function. `values` maps its core values to trees."""

    machine: Machine
    module_scope: Globals
    values: dict[Value, Tree] = field(default_factory=dict[Value, Tree])
    computed: dict[Value, Callable[[], Tree]] = field(default_factory=dict["Value", "Callable[[], Tree]"])
    """Parameters that each use computes again: the builtin inputs."""

    def raw(self, value: Value) -> Tree:
        """The tree of a value, which may belong to another lane fork."""
        if isinstance(value, c.Constant):
            return constant_tree(self.machine, value.value)
        if value in self.computed:
            return self.computed[value]()
        return self.values[value] if value in self.values else self.module_scope.variables[value]

    def get(self, value: Value) -> Tree:
        """The tree of a value, carried into the open lane fork if it belongs to another."""
        return self.machine.local_tree(self.raw(value))

    def pointer(self, value: Value) -> Designator:
        """The designator of a pointer."""
        designator = self.get(value)
        assert isinstance(designator, Designator)
        return designator

    def translate(self, instruction: c.Instruction) -> None:
        """Translate an instruction that is neither a call of a user function nor a barrier or subgroup operation."""
        first_new = len(self.machine.graph.nodes)
        result = self._translate(instruction)
        if result is not None:
            self.values[instruction] = result
        for node in self.machine.graph.nodes[first_new:]:
            node.span = node.span or instruction.span
            if node is result:
                node.label = node.label or (instruction.name or "")

    def _translate(self, instruction: c.Instruction) -> Tree | None:
        graph = self.machine.graph
        match instruction:
            case c.Unary(op=op, operand=operand):
                return arithmetic.unary(graph, op, self.get(operand))
            case c.Binary(op=op, lhs=lhs, rhs=rhs):
                return arithmetic.binary(graph, op, self.get(lhs), self.get(rhs), lhs.type, rhs.type)
            case c.Convert(operand=operand):
                return arithmetic.convert(graph, self.get(operand), operand.type, instruction.type)
            case c.Construct():
                return self._construct(instruction)
            case c.Access():
                return self._access(instruction)
            case c.Swizzle(object=object, components=components):
                parts = parts_of(self.get(object))
                return tuple(parts[component] for component in components)
            case c.Load(type=wgsl.Texture(), pointer=pointer):
                return self.pointer(pointer)
            case c.Load(pointer=pointer):
                return memory.load(self.machine, self.pointer(pointer))
            case c.Store(pointer=pointer, value=value):
                memory.store(self.machine, self.pointer(pointer), self.get(value))
                return None
            case c.Var():
                return self._var(instruction)
            case c.BuiltinCall():
                return self._builtin(instruction)
            case c.Override() | c.Call() | c.Discard():
                raise unsupported(type(instruction).__name__, instruction)
            case _:
                assert_never(instruction)

    def _var(self, var: c.Var) -> Designator:
        """A function-scope variable."""
        assert isinstance(var.type, wgsl.Pointer)
        type = var.type.store
        place = self.module_scope.unrolling.place_for(var, is_spread=self.machine.spreads_arrays)
        memory.declare(self.machine, place)
        target = Designator(place, (), type)
        if var.initializer is not None:
            memory.store(self.machine, target, self.get(var.initializer))
        return target

    def _construct(self, construct: c.Construct) -> Tree:
        """A value constructor: a splat, the concatenation of the arguments of a vector, or a tuple of the parts."""
        parts = [self.get(element) for element in construct.elements]
        type = construct.type
        if isinstance(type, wgsl.Vector):
            flat = [scalar for part in parts for scalar in scalars_of(part)]
            return tuple(flat * type.width) if len(flat) == 1 else tuple(flat)
        if isinstance(type, wgsl.Matrix):
            flat = [scalar for part in parts for scalar in scalars_of(part)]
            rows = type.rows
            return tuple(tuple(flat[column * rows : (column + 1) * rows]) for column in range(type.columns))
        if isinstance(type, wgsl.Array) and not is_tree_array(type):
            return self._construct_array(type, parts)
        if isinstance(type, wgsl.Scalar):
            return parts[0]
        return tuple(parts)

    def _construct_array(self, type: wgsl.Array, parts: list[Tree]) -> Tree:
        place = place_for(type, "array", is_spread=self.machine.spreads_arrays)
        memory.declare(self.machine, place)
        target = Designator(place, (), type)
        for index, part in enumerate(parts):
            memory.store(self.machine, target.element(index, type.element), part)
        return Snapshot(target)

    def _access(self, access: c.Access) -> Tree:
        value = self.get(access.object)
        source = access.object.type
        type = source.store if isinstance(source, wgsl.Pointer) else source
        for index in access.indices:
            step = self._step(index)
            element = wgsl.element_type(type, step if isinstance(step, int) and isinstance(type, wgsl.Struct) else 0)
            assert element is not None
            if isinstance(value, Designator) and not isinstance(step, int) and _is_split_array(value, type):
                raise self.module_scope.unrolling.keep(value.place)
            value = self._element(value, step, element)
            type = element
        return value

    def _element(self, value: Tree, step: Step, type: wgsl.Type) -> Tree:
        if isinstance(value, Designator):
            return value.element(step, type)
        if isinstance(value, Snapshot):
            at = value.at.element(step, type)
            is_long = isinstance(type, wgsl.Array) and not is_tree_array(type)
            return Snapshot(at) if is_long else memory.load(self.machine, at)
        parts = parts_of(value)
        if isinstance(step, int):
            return parts[min(step, len(parts) - 1)]
        return memory.select_element(self.machine, step, parts)

    def _step(self, index: Value) -> Step:
        """An index for the bounds rule: as an unsigned number, so that a negative index is past the end."""
        if isinstance(index, c.Constant) and isinstance(index.value.value, int):
            return wrap_u32(index.value.value)
        graph, node = self.machine.graph, node_of(self.get(index))
        unsigned = graph.bitcast(t.U32, node) if index.type is wgsl.I32 else node
        if isinstance(unsigned, h.ConstantNode) and isinstance(unsigned.value, h.IntegerConstant):
            return unsigned.value.value
        return graph.cast(t.U64, unsigned)

    def _builtin(self, call: c.BuiltinCall) -> Tree | None:
        if call.function == "arrayLength":
            return self._array_length(call.arguments[0])
        if call.function in _ATOMICS:
            return self._atomic(call, _ATOMICS[call.function])
        arguments = [self.get(argument) for argument in call.arguments]
        if arguments and isinstance(call.arguments[0].type, wgsl.Texture):
            from . import textures

            if textures.is_texture_call(call):
                return textures.translate(self.machine, call, arguments)
        types = [argument.type for argument in call.arguments]
        result = builtins.lower(builtins.BuiltinCall(self.machine.graph, call.function, arguments, types, call.type))
        if result is None:
            raise unsupported(f"{call.function} on the CPU", call)
        return result

    def _array_length(self, pointer: Value) -> h.Node:
        root = pointer
        while isinstance(root, c.Access):
            root = root.object
        designator = self.pointer(root)
        for variable, known in self.module_scope.variables.items():
            if known.place is designator.place:
                return self.machine.graph.cast(t.U32, self.machine.graph.dynamic(self.module_scope.lengths[variable]))
        raise unsupported("arrayLength of this pointer", pointer)

    def _atomic(self, call: c.BuiltinCall, op: h.AtomicOp) -> Tree | None:
        """An Atomic node, whose result is a product of the collection and the old value."""
        machine, graph = self.machine, self.machine.graph
        target = self.pointer(call.arguments[0])
        operands = [node_of(self.get(argument)) for argument in call.arguments[1:]]
        cell = target.place
        assert isinstance(cell, Cell), "atomics are in storage and workgroup variables only"
        indices = memory.indices(machine, cell, target.steps)
        atomic = graph.add(h.Atomic(op, machine.read(cell), indices, operands))
        machine.write(cell, graph.add(h.Read(atomic, [h.FieldIndex(0)])))
        if op is h.AtomicOp.STORE:
            return None
        old = graph.add(h.Read(atomic, [h.FieldIndex(1)]))
        if op is h.AtomicOp.COMPARE_EXCHANGE:
            return (old, graph.binary(h.BinaryOp.EQUAL, old, operands[0]))
        return old


def _is_split_array(at: Designator, type: wgsl.Type) -> bool:
    """Whether an array has cells of its own for elements, though values of its type are not made of scalars."""
    return at.is_split and isinstance(type, wgsl.Array) and not is_tree_array(type)


def constant_tree(machine: Machine, constant: ConstantValue) -> Tree:
    """A constant's tree; a long array is a collection that is only read."""
    type, value = constant.type, constant.value
    if isinstance(type, wgsl.Scalar):
        return machine.graph.constant(t.scalar_constant(type, value))
    if isinstance(type, wgsl.Array) and not is_tree_array(type):
        return memory.constant_array(machine, t.collection_constant(constant), type)
    assert not isinstance(value, (bool, int, float))
    parts: list[Tree] = []
    for index, item in enumerate(value):
        element = wgsl.element_type(type, index)
        assert element is not None
        parts.append(constant_tree(machine, ConstantValue(element, item)))
    return tuple(parts)


def zero_tree(machine: Machine, type: wgsl.Type) -> Tree:
    """The zero value of a type, for paths on which the value is not used."""
    return constant_tree(machine, zero_constant(type))


def unsupported(what: str, at: Value) -> ShaderError:
    """The error for valid WGSL that the CPU path does not support."""
    return ShaderError([not_supported(what, at.span)])


def is_barrier(instruction: c.Instruction) -> bool:
    """Whether the instruction synchronises the workgroup."""
    flags = _flags(instruction)
    return flags is not None and flags.is_barrier


def is_exchange(instruction: c.Instruction) -> TypeGuard[c.BuiltinCall]:
    """Whether the instruction is a subgroup or quad operation."""
    flags = _flags(instruction)
    return flags is not None and flags.is_subgroup


def _flags(instruction: c.Instruction) -> Flags | None:
    info = builtin(instruction.function) if isinstance(instruction, c.BuiltinCall) else None
    return None if info is None else info.flags
