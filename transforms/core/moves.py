"""What the passes share that move values of a kernel, to see how far its results depend on them.

They call functions of our own, built from WGSL, and a buffer of ours says which values of an invocation, counted in the
order in which it has them, are moved, and by how much.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.core import nodes
from ...ir.core.builder import Builder
from ...ir.core.values import Value
from ...ir.types import BindingPoint
from .editing import add_declarations, calls_in, module_names
from .replacing import copy_constant

COUNT, PARTS, PART, OWN = range(4)
"""The words of the buffer. `COUNT` becomes the most values that an invocation has to move. A value is moved if `PARTS`
is 0, or if its number modulo `PARTS` is `PART`. The words from `OWN` on are a pass's own.
"""


def common_text(point: BindingPoint, own: int) -> str:
    """The buffer, with so many words of a pass's own, and two functions: `moves_next()` is whether the next value is
    moved, to be called once for each, and `move_word(index)` a word as an f32.
    """
    return f"""
@group({point.group}) @binding({point.binding}) var<storage, read_write> moves: array<atomic<u32>, {OWN + own}>;
var<private> values_so_far: u32;

fn move_word(index: u32) -> f32 {{ return bitcast<f32>(atomicLoad(&moves[index])); }}

fn moves_next() -> bool {{
    let number = values_so_far;
    values_so_far = number + 1u;
    atomicMax(&moves[{COUNT}], number + 1u);
    let parts = atomicLoad(&moves[{PARTS}]);
    return parts == 0u || number % parts == atomicLoad(&moves[{PART}]);
}}
"""


class AddedFunctions:
    """The functions and variables of `added`, in the module to which they were added."""

    def __init__(self, module: nodes.Module, added: nodes.Module) -> None:
        self.module = module
        self._functions = {it.name: it for it in added.functions}
        self._variables = [it for it in added.root.instructions if isinstance(it, nodes.Var)]
        add_declarations(module, added, module_names(module))

    def call(self, builder: Builder, name: str, arguments: Sequence[Value]) -> nodes.Call:
        """A call of one of the functions, by the name that it had in `added`."""
        callee = self._functions[name]
        operands = [copy_constant(it) if isinstance(it, nodes.Constant) else it for it in arguments]
        return builder.append(nodes.Call(callee, operands, callee.return_type, None, span=builder.span))

    def share_variables(self) -> None:
        """List the variables in all functions that use them, also by a call, after all calls are made. Callees come
        first in a module.
        """
        users = {it for it in self._functions.values() if it.resources}
        for function in self.module.functions:
            if function not in users and any(call.callee in users for _, call in calls_in(function)):
                users.add(function)
                function.resources = [*function.resources, *self._variables]
