"""The module of a kernel: its bindings, inputs and workgroup memory, around the code that `control` writes.

What differs between the sources of kernels is a `Frame`: which binding a parameter is, and what thread numbers and
dynamic constants are computed from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Protocol, assert_never

from ...ir import types as w
from ...ir.core import nodes as c
from ...ir.core.builder import Builder, empty_module, parameter, u32
from ...ir.core.values import Value
from ...ir.diagnostics import ShaderError, not_supported
from ...ir.hercules import nodes as h
from ...ir.hercules.types import F16, is_scalar
from ...ir.ops import BinaryOp
from .control import Context, Writer
from .cooperation import Cooperation
from .levels import Levels, placed
from .names import Names
from .places import Place, Places
from .shape import shape_of
from .types import Structs, scalar_type
from .vectors import Path


class Frame(Protocol):
    """What a kernel's code uses from outside."""

    @property
    def workgroup_size(self) -> Sequence[int]:
        """The invocations of a workgroup along x, y and z."""
        ...

    def place(self, module: KernelModule, index: int, atomics: set[Path]) -> Place:
        """Declare the binding of a parameter, whose scalars at the paths `atomics` are atomic."""
        ...

    def begin(self, module: KernelModule) -> None:
        """Write what the function begins with."""
        ...

    def thread(self, module: KernelModule, fork: h.Fork) -> Value:
        """The number of the thread in a fork that is no loop."""
        ...

    def dynamic_parameter(self, module: KernelModule, index: int) -> Value:
        """A dynamic constant, as a u32."""
        ...


@dataclass(slots=True)
class KernelModule:
    """A module of core IR that is being built for a function."""

    frame: Frame
    name: str
    levels: Levels
    names: Names = field(default_factory=Names)
    core: c.Module = field(default_factory=empty_module)
    structs: Structs = field(init=False)
    builder: Builder = field(init=False)
    function: c.Function = field(init=False)
    resources: list[c.ValueDeclaration] = field(default_factory=list[c.ValueDeclaration])
    _places: dict[int, Place] = field(default_factory=dict[int, Place])
    _inputs: dict[str, c.FunctionParameter] = field(default_factory=dict[str, c.FunctionParameter])
    _known: dict[object, Value] = field(default_factory=dict[object, Value])

    dynamics: Dynamics = field(init=False)
    _called: dict[tuple[h.Function, tuple[Place, ...]], c.Function] = field(
        default_factory=dict["tuple[h.Function, tuple[Place, ...]]", c.Function]
    )
    _is_in_called: bool = False

    def __post_init__(self) -> None:
        self.structs = Structs(self.names)
        self.builder = Builder(self.core, self.core.root)
        self.dynamics = Dynamics(self.builder, self._dynamic_parameter)

    def _dynamic_parameter(self, index: int) -> Value:
        return self.frame.dynamic_parameter(self, index)

    def build(self) -> c.Module:
        """Build the module. Raises ShaderError for what has no place in WGSL."""
        entry = self.names.unique(self.name, "main")
        size = self.frame.workgroup_size
        places = Places(self.levels, self.structs, self.place_of, one_invocation=list(size) == [1, 1, 1])
        for place in places.all():
            if place.space is w.AddressSpace.WORKGROUP:
                self.resources.append(self._variable(place))
        self.function = self.builder.function(entry, stage=w.Stage.COMPUTE, workgroup_size=[u32(it) for it in size])
        self.function.resources = self.resources
        self.frame.begin(self)
        for place in places.all():
            if place.space is w.AddressSpace.FUNCTION:
                self._variable(place)
        self._prepare()
        context = Context(self.thread, self.dynamics.value, {}, self.called, self.cooperation, self._finish)
        shape = shape_of(self.levels.placed)
        Writer(self.builder, self.names, self.levels.placed, shape, self.levels, places, context).write()
        self.core.structs.extend(self.structs.declared)
        self.core.enables.extend(self._enables())
        self.function.parameters.extend(self._inputs.values())
        self.core.functions.remove(self.function)
        self.core.functions.append(self.function)
        return self.core

    def called(self, callee: h.Function, places: Sequence[Place]) -> c.Function:
        """A function that is called, whose collections are variables of the module: these places, in their order.

        Its scalars are parameters, and its result is a structure of scalars.
        """
        key = (callee, tuple(places))
        if key not in self._called:
            with self.builder.at(None):
                self._called[key] = self._write_called(callee, places)
        return self._called[key]

    def _write_called(self, callee: h.Function, places: Sequence[Place]) -> c.Function:
        scalars = [(index, it) for index, it in enumerate(callee.parameter_types) if is_scalar(it)]
        shared = [index for index, it in enumerate(callee.parameter_types) if not is_scalar(it)]
        given = {
            index: parameter(scalar_type(type), self.names.unique(callee.parameter_names[index]))
            for index, type in scalars
        }
        result = self.structs.store_type(callee.return_type)
        function = self.builder.function(self.names.unique(callee.name), given.values(), result)
        at = dict(zip(shared, places, strict=True))
        levels = Levels(placed(callee), 0, 0)
        inside = Places(levels, self.structs, lambda index, _atomics: at[index], one_invocation=False)
        for place in inside.all():
            if place.variable is None:
                self._variable(place)
        dynamics, outer, self._is_in_called = Dynamics(self.builder, self._dynamic_parameter), self._is_in_called, True
        dynamics.prepare(levels)

        def finish(end: h.Return, value: Callable[[h.Node], Value]) -> None:
            assert isinstance(end.value, h.ProductNode)
            fields = [value(it) for it in end.value.fields]
            self.builder.return_(function, self.builder.construct(result, fields))

        context = Context(self.thread, dynamics.value, given, self.called, self.cooperation, finish)
        Writer(self.builder, self.names, levels.placed, shape_of(levels.placed), levels, inside, context).write()
        self._is_in_called = outer
        self.core.functions.remove(function)
        self.core.functions.append(function)
        return function

    @property
    def cooperation(self) -> Cooperation:
        """What the invocations of a workgroup do together."""
        return Cooperation(self.builder, lambda: self.input("local_invocation_index"), prod(self.frame.workgroup_size))

    def bind(self, name: str, pointer: w.Pointer, point: w.BindingPoint) -> c.Var:
        """Declare a binding."""
        self.structs.declare(pointer.store)
        variable = self.builder.var(pointer, name=self.names.unique(name, "buffer"), binding=point)
        self.resources.append(variable)
        return variable

    def input(self, builtin: str) -> Value:
        """A builtin input: a vector of three u32, or a u32 if its name ends in `index`."""
        if self._is_in_called:
            raise ShaderError([not_supported(f"{builtin} in a function that is called", None)])
        if builtin not in self._inputs:
            type = w.U32 if builtin.endswith("index") else w.vector(3, w.U32)
            io = w.IoAttributes(builtin=builtin)
            self._inputs[builtin] = parameter(type, self.names.unique(builtin), io)
        return self._inputs[builtin]

    def component(self, builtin: str, axis: int) -> Value:
        """A component of a builtin input."""
        return self.builder.access(self.input(builtin), [u32(axis)])

    def thread(self, fork: h.Fork) -> Value:
        """The number of the thread in a fork that is no loop."""
        key = (self.levels.is_grid(fork), self.levels.axis(fork))
        return self._once(key, lambda: self.frame.thread(self, fork))

    def _once(self, key: object, make: Callable[[], Value]) -> Value:
        if key not in self._known:
            self._known[key] = make()
        return self._known[key]

    def place_of(self, index: int, atomics: Iterable[Path] = ()) -> Place:
        """The binding of a parameter."""
        if index not in self._places:
            with self.builder.at(self.core.root):
                self._places[index] = self.frame.place(self, index, set(atomics))
        return self._places[index]

    def _variable(self, place: Place) -> c.Var:
        pointer = w.pointer(place.space, place.type, w.Access.READ_WRITE)
        place.variable = variable = self.builder.var(pointer, name=self.names.unique(place.name))
        return variable

    def _prepare(self) -> None:
        """Compute at the start of the function what all of its code may use."""
        for node in self.levels.placed.function.nodes:
            if isinstance(node, h.ThreadID) and node in self.levels.placed.live:
                assert isinstance(node.fork, h.Fork)
                if not self.levels.is_loop(node.fork):
                    self.thread(node.fork)
        self.dynamics.prepare(self.levels)
        for place in self._places.values():
            if place.extent is not None:
                self.dynamics.value(place.extent)

    def _enables(self) -> list[str]:
        stored = (w.walk(it.type.store) for it in self.core.root.instructions if isinstance(it.type, w.Pointer))
        uses_f16 = F16 in self.levels.placed.types.values() or any(part is w.F16 for them in stored for part in them)
        return ["f16"] if uses_f16 else []

    def _finish(self, _end: h.Return, _value: Callable[[h.Node], Value]) -> None:
        """Bindings have their final versions already."""
        self.builder.return_(self.function)


@dataclass(slots=True)
class Dynamics:
    """The dynamic constants of a function as u32 values, each computed once."""

    builder: Builder
    parameter: Callable[[int], Value]
    _known: dict[h.DynamicConstant, Value] = field(default_factory=dict[h.DynamicConstant, Value])

    def prepare(self, levels: Levels) -> None:
        """Compute those that a function uses, at the insertion point."""
        for node in levels.placed.function.nodes:
            if node not in levels.placed.live:
                continue
            if isinstance(node, h.DynamicConstantNode):
                self.value(node.value)
            elif isinstance(node, h.Fork) and levels.is_loop(node):
                self.value(node.factor)

    def value(self, constant: h.DynamicConstant) -> Value:
        """A dynamic constant, which is below 2³². Division and remainder by zero give zero."""
        if constant not in self._known:
            self._known[constant] = self._made(constant)
        return self._known[constant]

    def _made(self, constant: h.DynamicConstant) -> Value:
        builder = self.builder
        match constant:
            case h.DynamicLiteral(number):
                return u32(number)
            case h.DynamicParameter(index):
                return self.parameter(index)
            case h.DynamicBinary(op, lhs, rhs):
                left, right = self.value(lhs), self.value(rhs)
                if op in (h.DynamicOp.MIN, h.DynamicOp.MAX):
                    return builder.builtin_call(op.value, [left, right])
                result = builder.binary(_DYNAMIC[op], left, right)
                if op is not h.DynamicOp.DIV:
                    return result
                return builder.builtin_call("select", [result, u32(0), builder.binary(BinaryOp.EQUAL, right, u32(0))])
            case _:
                assert_never(constant)


_DYNAMIC: Mapping[h.DynamicOp, BinaryOp] = {
    h.DynamicOp.ADD: BinaryOp.ADD,
    h.DynamicOp.SUB: BinaryOp.SUBTRACT,
    h.DynamicOp.MUL: BinaryOp.MULTIPLY,
    h.DynamicOp.DIV: BinaryOp.DIVIDE,
    h.DynamicOp.REM: BinaryOp.REMAINDER,
}
