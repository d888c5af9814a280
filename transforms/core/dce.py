"""Drops unused values, stores that no live code reads, and functions that are never called."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never

from ...ir.core import nodes
from ...ir.core.effects import has_effects
from ...ir.core.structure import blocks_of
from ...ir.core.values import Value
from ...ir.types import AddressSpace, Pointer
from .editing import any_of, drop_uncalled
from .purity import removable_functions, root_of
from .regions import destination, nested, region, remove, take_over


@dataclass(frozen=True)
class DeadCodeElimination:
    """Drops dead values, block arguments, local variables and functions. Interfaces stay."""

    @property
    def name(self) -> str:
        """The name in pipelines."""
        return "dce"

    def run(self, module: nodes.Module) -> bool:
        """Whether something was dropped."""
        quiet = removable_functions(module)
        cleaned = [_clean(function, quiet) for function in module.functions]
        return drop_uncalled(module) or any(cleaned)


def _clean(function: nodes.Function, quiet: set[nodes.Function]) -> bool:
    """Drop dead values and empty control flow alternately, until nothing changes."""
    changed = _Function(function, quiet).clean()
    while _drop_empty(function.start_target):
        changed = True
        _Function(function, quiet).clean()
    return changed


def _drop_empty(start: nodes.Block) -> bool:
    """Drop the Ifs and Switches in a region that do nothing and yield nothing."""
    changed = False
    for block in region(start):
        changed |= any_of(_drop_empty(inner) for inner in nested(block))
        while _is_empty(block):
            assert block.branch is not None
            node = block.branch.target
            assert isinstance(node, (nodes.If, nodes.Switch))
            assert node.merge_target is not None
            take_over(block, node.merge_target)
            node.drop_operands()
            changed = True
    return changed


def _is_empty(block: nodes.Block) -> bool:
    node = None if block.branch is None else block.branch.target
    if not isinstance(node, (nodes.If, nodes.Switch)) or node.merge_target is None or node.merge_target.arguments:
        return False
    merge = node.merge_target
    return all(not it.instructions and it.branch is not None and it.branch.target is merge for it in nested(block))


class _Function:
    """Marks what is live in a function, then drops the rest."""

    def __init__(self, function: nodes.Function, quiet: set[nodes.Function]) -> None:
        self.function = function
        self.quiet = quiet
        self.blocks = blocks_of(function)
        self.incoming: dict[int, list[nodes.Branch]] = {}
        for block in self.blocks:
            target = None if block.branch is None else destination(block.branch)
            if target is not None and block.branch is not None:
                self.incoming.setdefault(id(target), []).append(block.branch)
        self.arguments = {
            argument: (block, position) for block in self.blocks for position, argument in enumerate(block.arguments)
        }
        self.live: set[Value] = set()
        self.stores: dict[Value, list[nodes.Instruction]] = {}
        for instruction in (it for block in self.blocks for it in block.instructions):
            if isinstance(instruction, nodes.Store) and _is_tracked(root_of(instruction.pointer)):
                self.stores.setdefault(root_of(instruction.pointer), []).append(instruction)

    def clean(self) -> bool:
        """Whether something was dropped."""
        self._mark()
        changed = [self._drop_arguments(block) for block in self.blocks]
        for block in reversed(self.blocks):
            changed.append(remove(block, [it for it in block.instructions if it not in self.live]))
        return any(changed)

    def _mark(self) -> None:
        pending = [value for block in self.blocks for value in self._roots(block)]
        while pending:
            value = pending.pop()
            if value in self.live:
                continue
            self.live.add(value)
            if isinstance(value, nodes.Load):
                pending.extend(self.stores.get(root_of(value.pointer), ()))
            if isinstance(value, nodes.BlockArgument):
                block, position = self.arguments[value]
                pending.extend(branch.arguments[position] for branch in self.incoming.get(id(block), ()))
            else:
                pending.extend(value.operands)

    def _roots(self, block: nodes.Block) -> Iterator[Value]:
        yield from (it for it in block.instructions if self._is_noticed(it))
        assert block.branch is not None
        match block.branch.target:
            case nodes.If(condition=condition) | nodes.Switch(condition=condition):
                yield condition
            case nodes.Terminator():
                yield from block.branch.arguments
            case nodes.Block() | nodes.Loop():
                pass
            case _:
                assert_never(block.branch.target)

    def _is_noticed(self, instruction: nodes.Instruction) -> bool:
        match instruction:
            case nodes.Call(callee=callee):
                return callee not in self.quiet
            case nodes.Store(pointer=pointer):
                return root_of(pointer) not in self.stores
            case _:
                return has_effects(instruction)

    def _drop_arguments(self, block: nodes.Block) -> bool:
        kept = [position for position, argument in enumerate(block.arguments) if argument in self.live]
        if len(kept) == len(block.arguments):
            return False
        for branch in self.incoming.get(id(block), ()):
            branch.arguments = [branch.arguments[position] for position in kept]
        block.arguments = [block.arguments[position] for position in kept]
        return True


def _is_tracked(root: Value) -> bool:
    """Whether a variable is read only by loads in its function, so that only these can observe its stores."""
    if not isinstance(root, nodes.Var) or not isinstance(root.type, Pointer):
        return False
    return root.type.space is AddressSpace.FUNCTION and _is_plain(root)


def _is_plain(pointer: Value) -> bool:
    return all(
        _is_plain(use.user)
        if isinstance(use.user, nodes.Access) and use.index == 0
        else isinstance(use.user, nodes.Load) or (isinstance(use.user, nodes.Store) and use.index == 0)
        for use in pointer.uses
    )
