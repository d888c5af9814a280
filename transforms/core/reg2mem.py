"""Turns block arguments into variables: the inverse of `mem2reg`.

Each branch stores what it passes, and the block loads all before it does anything else.

For code generators that know variables, and no values that branches pass. Hercules IR has no arrays as such values.
"""

from __future__ import annotations

from collections.abc import Callable

from ...base.errors import InputError
from ...base.records import dataclass
from ...ir.core import nodes
from ...ir.core.builder import variable_type
from ...ir.core.structure import blocks_of, entered_blocks
from ...ir.core.values import Value
from ...ir.types import VOID, AddressSpace, Array, Type, walk
from .editing import any_of
from .regions import destination


@dataclass(frozen=True)
class RegistersToMemory:
    """Turns each block argument into a variable in front of the If, Loop or Switch, with the argument's name; with
    `only="arrays"`, those that are or contain arrays. Raises InputError for another choice.
    """

    only: str = "all"

    def __post_init__(self) -> None:
        if self.only not in ("all", "arrays"):
            raise InputError(f"reg2mem has no only={self.only}: it is all or arrays")

    @property
    def name(self) -> str:
        """The name in pipelines."""
        return "reg2mem"

    def run(self, module: nodes.Module) -> bool:
        """Whether a block had arguments."""
        fits = contains_array if self.only == "arrays" else _is_any
        return any_of(_demote(function, fits) for function in module.functions)


def contains_array(type: Type) -> bool:
    """Whether a type is or contains an array."""
    return any(isinstance(part, Array) for part in walk(type))


def carries_arrays(module: nodes.Module) -> bool:
    """Whether a branch passes an array, or a value that contains one."""
    blocks = (block for function in module.functions for block in blocks_of(function))
    return any(contains_array(it.type) for block in blocks for it in block.arguments)


def _is_any(type: Type) -> bool:
    del type
    return True


def _demote(function: nodes.Function, fits: Callable[[Type], bool]) -> bool:
    blocks = blocks_of(function)
    taking = [
        (entering, block)
        for entering in blocks
        for block in entered_blocks(entering)
        if any(fits(it.type) for it in block.arguments)
    ]
    incoming: dict[int, list[nodes.Block]] = {}
    for block in blocks:
        target = None if block.branch is None else destination(block.branch)
        incoming.setdefault(id(target), []).append(block)
    for entering, block in taking:
        places = [position for position, argument in enumerate(block.arguments) if fits(argument.type)]
        variables = [_variable(block.arguments[position]) for position in places]
        entering.instructions.extend(variables)
        for end in incoming.get(id(block), ()):
            assert end.branch is not None
            passed = end.branch.arguments
            end.instructions.extend(_store(it, passed[place]) for it, place in zip(variables, places, strict=True))
            end.branch.arguments = tuple(it for place, it in enumerate(passed) if place not in places)
        demoted = [block.arguments[place] for place in places]
        block.instructions[:0] = [_load(variable, it) for variable, it in zip(variables, demoted, strict=True)]
        block.arguments = [it for place, it in enumerate(block.arguments) if place not in places]
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
