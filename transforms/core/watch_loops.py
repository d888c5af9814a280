"""Detects whether a driver ended a loop early.

Some drivers count the iterations of all loops of an invocation, and end every loop once there were too many. The count
never decreases: if a loop at the very end does not run two iterations, an earlier loop may have been cut short.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ...base.errors import InputError
from ...ir.core import nodes
from ...ir.core.builder import Builder, empty_block, u32, variable_type
from ...ir.core.names import NameScope
from ...ir.core.values import Value
from ...ir.ops import BinaryOp
from ...ir.types import U32, VOID, Access, AddressSpace, BindingPoint, IoAttributes, array, atomic, pointer
from .editing import module_names
from .replacing import copy_constant

WATCH_BEFORE: Final = (2, 2, 0)
"""What the words of the watch must be before a dispatch: the iterations to run, the expected iterations, and whether
any invocation ran a different number."""
WATCH_CUT: Final = 2
"""The word that is not 0 after a dispatch in which a loop was ended early."""


@dataclass(frozen=True)
class WatchLoops:
    """Adds a storage buffer of three words at `group` and `binding`, and lets an entry point's last act be a loop.

    The loop runs as many iterations as the first word says; if their number differs from the second word, it sets the
    third. No compiler can know the words in advance. The entry point becomes a function that
    the new one calls, so that all its returns come to the loop. Raises InputError for a binding in use.
    """

    group: int = 0
    binding: int = 255

    @property
    def name(self) -> str:
        """The name in pipelines."""
        return "watch_loops"

    def run(self, module: nodes.Module) -> bool:
        """Whether there is a compute entry point."""
        entries = [it for it in module.functions if it.stage is not None and it.workgroup_size]
        if not entries:
            return False
        watch = self._declare(module)
        for entry in entries:
            _wrap(module, entry, watch)
        return True

    def _declare(self, module: nodes.Module) -> nodes.Var:
        point = BindingPoint(self.group, self.binding)
        if any(isinstance(it, nodes.Var) and it.binding == point for it in module.root.instructions):
            raise InputError(f"group {self.group}, binding {self.binding} is in use: choose another for the watch")
        name = module_names(module).unique("loop_watch")
        type = pointer(AddressSpace.STORAGE, array(atomic(U32), len(WATCH_BEFORE)), Access.READ_WRITE)
        return Builder(module, module.root).var(type, name=name, binding=point)


def _wrap(module: nodes.Module, entry: nodes.Function, watch: nodes.Var) -> None:
    """Put a new entry point in the place of one, which it calls."""
    names = module_names(module)
    outer = _outer(entry, watch)
    entry.name = names.unique(f"{entry.name}_watched")
    entry.stage, entry.workgroup_size, entry.subgroup_size = None, (), None
    for parameter in entry.parameters:
        parameter.io = IoAttributes()
    module.functions.insert(module.functions.index(entry) + 1, outer)
    builder = Builder(module, outer.start_target)
    builder.span = entry.span
    builder.call(entry, outer.parameters)
    _watch(builder, outer, watch)


def _outer(entry: nodes.Function, watch: nodes.Var) -> nodes.Function:
    """An entry point with the same interface and nothing in it."""
    return nodes.Function(
        entry.name,
        entry.stage,
        [copy_constant(it) if isinstance(it, nodes.Constant) else it for it in entry.workgroup_size],
        [nodes.FunctionParameter(it.io, it.type, it.name, span=it.span) for it in entry.parameters],
        VOID,
        entry.return_io,
        empty_block(),
        nodes.Terminator(),
        resources=[*entry.resources, watch],
        diagnostics=list(entry.diagnostics),
        subgroup_size=entry.subgroup_size,
        span=entry.span,
    )


def _watch(builder: Builder, outer: nodes.Function, watch: nodes.Var) -> None:
    """Build the loop, and the report that it ran an unexpected number of iterations."""
    names = NameScope(it.name for it in outer.parameters if it.name is not None)
    taken = builder.var(variable_type(AddressSpace.FUNCTION, U32), name=names.unique("turns"))
    loop = builder.enter_loop()
    with builder.at(loop.start_target):
        builder.store(taken, builder.binary(BinaryOp.ADD, builder.load(taken), u32(1)))
        enough = builder.binary(BinaryOp.GREATER_EQUAL, builder.load(taken), _word(builder, watch, 0))
        leaving = builder.enter_if(enough)
    going_on = leaving.merge_target
    assert going_on is not None
    for block, target in (
        (leaving.true_target, loop.merge_target),
        (leaving.false_target, going_on),
        (going_on, loop.continuing_target),
        (loop.continuing_target, loop.start_target),
    ):
        with builder.at(block):
            builder.branch(target)
    with builder.at(loop.merge_target):
        wrong = builder.binary(BinaryOp.NOT_EQUAL, builder.load(taken), _word(builder, watch, 1))
        node = builder.enter_if(wrong)
    assert node.merge_target is not None
    with builder.at(node.true_target):
        builder.builtin_call("atomicStore", [builder.access(watch, [u32(WATCH_CUT)]), u32(1)])
        builder.branch(node.merge_target)
    with builder.at(node.false_target):
        builder.branch(node.merge_target)
    with builder.at(node.merge_target):
        builder.return_(outer)


def _word(builder: Builder, watch: nodes.Var, index: int) -> Value:
    return builder.builtin_call("atomicLoad", [builder.access(watch, [u32(index)])])
