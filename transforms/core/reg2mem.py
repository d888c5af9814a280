"""Turns block arguments into variables: the inverse of `mem2reg`.

Each branch stores what it passes, and the block loads all before it does anything else.

For code generators that know variables, and no values that branches pass; no pipeline here runs it.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...ir.core import nodes
from ...ir.core.builder import variable_type
from ...ir.core.structure import blocks_of, entered_blocks
from ...ir.core.values import Value
from ...ir.types import VOID, AddressSpace
from .editing import any_of
from .regions import destination


@dataclass(frozen=True)
class RegistersToMemory:
    """Turns each block argument into a variable in front of the If, Loop or Switch, with the argument's name."""

    @property
    def name(self) -> str:
        """The name in pipelines."""
        return "reg2mem"

    def run(self, module: nodes.Module) -> bool:
        """Whether a block had arguments."""
        return any_of(_demote(function) for function in module.functions)


def _demote(function: nodes.Function) -> bool:
    blocks = blocks_of(function)
    taking = [(entering, block) for entering in blocks for block in entered_blocks(entering) if block.arguments]
    incoming: dict[int, list[nodes.Block]] = {}
    for block in blocks:
        target = None if block.branch is None else destination(block.branch)
        incoming.setdefault(id(target), []).append(block)
    for entering, block in taking:
        variables = [_variable(argument) for argument in block.arguments]
        entering.instructions.extend(variables)
        for end in incoming.get(id(block), ()):
            assert end.branch is not None
            end.instructions.extend(map(_store, variables, end.branch.arguments))
            end.branch.arguments = ()
        block.instructions[:0] = [_load(variable, it) for variable, it in zip(variables, block.arguments, strict=True)]
        block.arguments = []
    return bool(taking)


def _variable(argument: nodes.BlockArgument) -> nodes.Var:
    type = variable_type(AddressSpace.FUNCTION, argument.type)
    return nodes.Var(None, type, argument.name, span=argument.span)


def _store(variable: nodes.Var, value: Value) -> nodes.Store:
    return nodes.Store(variable, value, VOID, None, span=variable.span)


def _load(variable: nodes.Var, argument: nodes.BlockArgument) -> nodes.Load:
    load = nodes.Load(variable, argument.type, None, span=argument.span)
    argument.replace_all_uses_with(load)
    return load
