"""Reads the lengths of runtime-sized arrays from a uniform buffer, for devices that do not know them.

The buffer holds the size in bytes of each storage binding that has a runtime-sized array, in the order of group and
binding number, four to a vector.

For hosts that bind such a buffer, as engines on Metal do; no pipeline here runs it, since none binds one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...base.errors import InputError
from ...ir import layout
from ...ir.core import nodes
from ...ir.core.builder import Builder, u32, variable_type
from ...ir.core.structure import blocks_of
from ...ir.core.values import Value
from ...ir.ops import BinaryOp
from ...ir.types import U32, AddressSpace, BindingPoint, Pointer, array, contains_runtime_array, vector
from .editing import calls_in
from .purity import root_of
from .regions import remove
from .replacing import replace

_NAME = "buffer_sizes"


@dataclass(frozen=True)
class ArrayLengthFromUniform:
    """Replaces `arrayLength` by the uniform at `group` and `binding`. Pointers to storage must not be passed to
    functions: run `direct_variable_access` before.
    """

    group: int = 0
    binding: int = 255

    @property
    def name(self) -> str:
        """The name in pipelines."""
        return "array_length_from_uniform"

    def run(self, module: nodes.Module) -> bool:
        """Whether there was an `arrayLength`. Raises InputError for one of a parameter, and for a binding in use."""
        variables = sized_bindings(module)
        calls = [
            (function, block, it)
            for function in module.functions
            for block in blocks_of(function)
            for it in block.instructions
            if isinstance(it, nodes.BuiltinCall) and it.function == "arrayLength"
        ]
        if not calls:
            return False
        sizes = self._declare(module, len(variables))
        for _, block, call in calls:
            _replace_call(module, block, call, variables, sizes)
        _use(module, sizes, {function for function, _, _ in calls})
        return True

    def _declare(self, module: nodes.Module, count: int) -> nodes.Var:
        point = BindingPoint(self.group, self.binding)
        if any(isinstance(it, nodes.Var) and it.binding == point for it in module.root.instructions):
            raise InputError(f"group {self.group}, binding {self.binding} is in use: choose another for buffer sizes")
        taken = {it.name for it in module.root.instructions} | {it.name for it in module.functions}
        name = next(it for it in (_NAME, *(f"{_NAME}_{number}" for number in range(len(taken) + 1))) if it not in taken)
        builder = Builder(module, module.root)
        store = array(vector(4, U32), (count + 3) // 4)
        return builder.var(variable_type(AddressSpace.UNIFORM, store), name=name, binding=point)


def sized_bindings(module: nodes.Module) -> Sequence[nodes.Var]:
    """The bindings whose sizes the uniform holds, in order."""
    found = [
        (it.binding.group, it.binding.binding, it)
        for it in module.root.instructions
        if isinstance(it, nodes.Var)
        and it.binding is not None
        and isinstance(it.type, Pointer)
        and it.type.space is AddressSpace.STORAGE
        and contains_runtime_array(it.type.store)
    ]
    return [variable for _, _, variable in sorted(found, key=lambda entry: entry[:2])]


def _replace_call(
    module: nodes.Module, block: nodes.Block, call: nodes.BuiltinCall, variables: Sequence[nodes.Var], sizes: nodes.Var
) -> None:
    root = root_of(call.arguments[0])
    position = next((index for index, it in enumerate(variables) if it is root), None)
    if position is None:
        raise InputError("arrayLength of a pointer parameter: run direct_variable_access first")
    assert isinstance(root.type, Pointer)
    tail = layout.runtime_array(root.type.store)
    assert tail is not None
    offset, type = tail
    made = nodes.Block([], [], None)
    builder = Builder(module, made)
    builder.span = call.span
    size: Value = builder.load(builder.access(sizes, [u32(position // 4), u32(position % 4)]))
    if offset:
        size = builder.binary(BinaryOp.SUBTRACT, size, u32(offset))
    length = builder.binary(BinaryOp.DIVIDE, size, u32(layout.stride_of(type)))
    index = next(index for index, it in enumerate(block.instructions) if it is call)
    block.instructions[index:index] = made.instructions
    replace(call, length)
    remove(block, [call])


def _use(module: nodes.Module, sizes: nodes.Var, users: set[nodes.Function]) -> None:
    """The functions that read the sizes, and their callers, have them in their interface."""
    for function in module.functions:
        if function in users or any(call.callee in users for _, call in calls_in(function)):
            users.add(function)
            function.resources.append(sizes)
