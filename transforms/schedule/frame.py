"""The module that a nest is lowered to, and its entry points: bindings, overrides, inputs, variables, names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from ...ir import types as w
from ...ir.core import nodes as c
from ...ir.core.builder import Builder, constant, empty_module, parameter, u32, variable_type
from ...ir.core.values import Value
from ...ir.ops import BinaryOp
from ...ir.schedule.functions import scalar_type
from ...ir.schedule.nodes import Array, Direction, ElementType, Execution
from .decided import Decided
from .outputs import is_atomic, stored_type
from .vectors import vector_arrays

_BUILTINS = {Execution.WORKGROUP: "workgroup_id", Execution.INVOCATION: "local_invocation_id"}
_OF_SUBGROUPS = ("subgroup_invocation_id", "subgroup_id", "num_subgroups")
GROUP = 0


@dataclass(slots=True)
class Outline:
    """A module under construction: what its entry points, one for each stage, share. The bindings of arrays are
    numbered in the order in which the stages have them first.
    """

    stages: Sequence[Decided]
    module: c.Module = field(default_factory=empty_module)
    builder: Builder = field(init=False)
    sizes: dict[str, Value] = field(default_factory=dict[str, Value])
    names: set[str] = field(default_factory=set[str])
    _bound: dict[str, c.Var] = field(default_factory=dict[str, c.Var])

    def __post_init__(self) -> None:
        self.builder = Builder(self.module, self.module.root)
        if any(it is ElementType.F16 for it in self._types()):
            self.module.enables.append("f16")
        if any(it.uses_subgroups for it in self.stages):
            self.module.enables.append("subgroups")
        for stage in self.stages:
            self.names |= {stage.nest.name, *stage.nest.sizes, *(it.name for it in stage.nest.arrays)}
        first = self.stages[0]
        for name in first.nest.sizes:
            known = first.sizes.get(name)
            self.sizes[name] = self.builder.override(w.U32, name=name) if known is None else u32(known)

    def _types(self) -> Iterator[ElementType]:
        for stage in self.stages:
            yield from (it.type for it in stage.nest.arrays)
            yield from (it.type for it in stage.scope.values.values())

    def bind(self, array: Array, element: w.Type) -> c.Var:
        """The variable of an array, in all stages that have it."""
        if array.name not in self._bound:
            same = [it for stage in self.stages for it in stage.nest.arrays if it.name == array.name]
            is_written = any(it.direction is Direction.OUT for it in same)
            access = w.Access.READ_WRITE if is_written else w.Access.READ
            type = w.pointer(w.AddressSpace.STORAGE, w.array(element, None), access)
            point = w.BindingPoint(GROUP, len(self._bound))
            with self.builder.at(self.module.root):
                self._bound[array.name] = self.builder.var(type, name=array.name, binding=point)
        return self._bound[array.name]

    def finish(self) -> c.Module:
        """The module, without overrides that nothing uses."""
        unused = [it for it in self.module.root.instructions if isinstance(it, c.Override) and not it.uses]
        for it in unused:
            self.module.root.instructions.remove(it)
        return self.module


def _fresh(wanted: str, taken: set[str]) -> str:
    found, number = wanted, 0
    while found in taken:
        number += 1
        found = f"{wanted}_{number}"
    taken.add(found)
    return found


@dataclass(slots=True)
class Frame:
    """An entry point under construction, named like the nest, in a module."""

    decided: Decided
    outline: Outline
    module: c.Module = field(init=False)
    builder: Builder = field(init=False)
    function: c.Function = field(init=False)
    arrays: dict[str, c.Var] = field(default_factory=dict[str, c.Var])
    sizes: dict[str, Value] = field(default_factory=dict[str, Value])
    inputs: dict[Execution, c.FunctionParameter] = field(default_factory=dict[Execution, c.FunctionParameter])
    subgroups: dict[str, c.FunctionParameter] = field(default_factory=dict[str, c.FunctionParameter])
    """Builtin inputs by name, where subgroup operations join what invocations carry."""
    widths: dict[str, int] = field(init=False)
    """The arrays that are bound as vectors, with the width of these."""
    resources: list[c.Var | c.Override] = field(default_factory=list["c.Var | c.Override"])
    """The arrays and sizes that the entry point uses, and its workgroup memory."""
    _uses: dict[c.Override, int] = field(default_factory=dict[c.Override, int])
    """How often sizes were used before."""
    _names: set[str] = field(default_factory=set[str])
    _joining: dict[tuple[w.Type, int], c.Var] = field(default_factory=dict[tuple[w.Type, int], c.Var])
    _declared: int = 0

    def __post_init__(self) -> None:
        nest = self.decided.nest
        self.widths = vector_arrays(self.decided)
        self.module, self.sizes = self.outline.module, self.outline.sizes
        self.builder = Builder(self.module, self.module.root)
        for array in nest.arrays:
            self.arrays[array.name] = self.outline.bind(array, self._element(array))
        self.resources += self.arrays.values()
        self._names |= self.outline.names
        self._uses = {it: it.use_count for it in self.sizes.values() if isinstance(it, c.Override)}
        parameters: list[c.FunctionParameter] = []
        for kind, builtin in _BUILTINS.items():
            if self.decided.axes(kind):
                self.inputs[kind] = parameter(w.vector(3, w.U32), self.name(builtin), w.IoAttributes(builtin=builtin))
                parameters.append(self.inputs[kind])
        for builtin in _OF_SUBGROUPS if self.decided.joins_in_subgroups else ():
            self.subgroups[builtin] = parameter(w.U32, self.name(builtin), w.IoAttributes(builtin=builtin))
        parameters += self.subgroups.values()
        size = [u32(it) for it in self.decided.workgroup_size()]
        stage = w.Stage.COMPUTE
        self.function = self.builder.function(nest.name, parameters, stage=stage, workgroup_size=size)

    def _element(self, array: Array) -> w.Type:
        element, width = scalar_type(array.type), self.widths.get(array.name, 1)
        if is_atomic(array.name, self.decided):
            return stored_type(array.type, atomic=True)
        return element if width == 1 else w.vector(width, element)

    def finish(self) -> None:
        """End the entry point."""
        self.builder.return_(self.function)
        self.resources += [it for it, count in self._uses.items() if it.use_count > count]
        positions = {it: number for number, it in enumerate(self.module.root.instructions)}
        self.function.resources = sorted(self.resources, key=lambda it: positions[it])

    def name(self, wanted: str) -> str:
        """A name that nothing has yet: this one, or with a number at its end."""
        return _fresh(wanted, self._names)

    def variable(self, name: str, type: w.Type, value: Value) -> c.Var:
        """A variable of the function, with this value from here on. It is declared where the value is computed, or, in
        a loop or a condition, at the beginning of the function, so that it can be used after that.
        """
        store = variable_type(w.AddressSpace.FUNCTION, type)
        if self.builder.block is self.function.start_target:
            return self.builder.var(store, name=self.name(name), initializer=value)
        made = self.declared(name, type)
        self.builder.store(made, value)
        return made

    def declared(self, name: str, type: w.Type) -> c.Var:
        """A variable that is declared at the beginning of the function."""
        made = c.Var(None, variable_type(w.AddressSpace.FUNCTION, type), self.name(name))
        self.function.start_target.instructions.insert(self._declared, made)
        self._declared += 1
        return made

    def shared(self, name: str, type: w.Type, count: int) -> c.Var:
        """An array in workgroup memory."""
        with self.builder.at(self.module.root):
            store = variable_type(w.AddressSpace.WORKGROUP, w.array(type, count))
            made = self.builder.var(store, name=self.name(name))
        assert made.name is not None
        self.outline.names.add(made.name)
        self.resources.append(made)
        return made

    def joining(self, type: w.Type, number: int) -> c.Var:
        """One of the arrays in which the invocations of a workgroup join values of a type."""
        if (type, number) not in self._joining:
            self._joining[type, number] = self.shared("parts", type, self.decided.invocations)
        return self._joining[type, number]

    def builtin(self, kind: Execution, axis: int) -> Value:
        """The number of the workgroup or the invocation along an axis."""
        return self.builder.access(self.inputs[kind], [u32(axis)])

    def binary(self, op: BinaryOp, lhs: Value, rhs: Value) -> Value:
        """An operation on u32; sums and products with neutral constants are not written."""
        left, right = number_of(lhs), number_of(rhs)
        if left is not None and right is not None and op in _FOLDED:
            return u32(_FOLDED[op](left, right) % 2**32)
        if 0 in (left, right) and op is BinaryOp.MULTIPLY:
            return u32(0)
        if right == 0 and op in (BinaryOp.ADD, BinaryOp.SUBTRACT):
            return lhs
        if left == 0 and op is BinaryOp.ADD:
            return rhs
        if 1 in (left, right) and op is BinaryOp.MULTIPLY:
            return lhs if right == 1 else rhs
        return self.builder.binary(op, lhs, rhs)

    def barrier(self) -> None:
        """The invocations of the workgroup wait for each other, and see what the others wrote."""
        self.builder.builtin_call("workgroupBarrier", [])

    def zero(self, type: ElementType) -> Value:
        """0, or false."""
        raw = {ElementType.BOOL: False, ElementType.F32: 0.0, ElementType.F16: 0.0}.get(type, 0)
        return constant(scalar_type(type), raw)


_FOLDED: dict[BinaryOp, Callable[[int, int], int]] = {
    BinaryOp.ADD: lambda left, right: left + right,
    BinaryOp.SUBTRACT: lambda left, right: left - right,
    BinaryOp.MULTIPLY: lambda left, right: left * right,
}


def number_of(value: Value) -> int | None:
    """The number that an integer is known to be; None if it is not known."""
    raw = value.value.value if isinstance(value, c.Constant) else None
    return raw if isinstance(raw, int) and not isinstance(raw, bool) else None
