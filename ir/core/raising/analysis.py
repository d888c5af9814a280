"""What the writer must know of a function before it writes: constants, live uses, and regions.

A region is a block with the merges that follow it (see `structure`): what becomes one run of statements.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import assert_never

from ...types import BOOL
from .. import nodes
from ..effects import has_effects
from ..structure import blocks_of, entered_blocks
from ..values import Use, User, Value
from .constants import Constants


class Analysis:
    """Facts about one function, which must not change meanwhile."""

    def __init__(self, module: nodes.Module, function: nodes.Function) -> None:
        self.constants = Constants(module, function)
        self.blocks = blocks_of(function)
        self._regions: dict[User, int] = {}
        self._block_regions: dict[int, int] = {}
        self._parents: list[int | None] = []
        self._order = {id(block): position for position, block in enumerate(self.blocks)}
        self._entering: dict[int, nodes.Block] = {}
        self._block_of: dict[Value, nodes.Block] = {}
        self._number(function.start_target)
        self._branches: dict[int, list[nodes.Branch]] = {}
        for block in self.blocks:
            self._collect_branch(block.branch)
        self._arguments: dict[Value, tuple[nodes.Block, int]] = {
            argument: (block, position) for block in self.blocks for position, argument in enumerate(block.arguments)
        }
        self._live: set[Value] = set()
        self._mark(function)

    def uses(self, value: Value) -> Sequence[Use]:
        """The uses that matter for what the function does or names."""
        return [use for use in value.uses if self._is_used_live(use)]

    def operands(self) -> Iterator[Value]:
        """What the function uses, some of it more than once."""
        return (operand for block in self.blocks for user in _users_in(block) for operand in user.operands)

    def is_live(self, value: Value) -> bool:
        """Whether the value is used, named, or has effects."""
        return value in self._live

    def region_of(self, user: User) -> int | None:
        """The region that an instruction, branch, If or Switch stands in; None outside of the function."""
        return self._regions.get(user)

    def region_of_argument(self, argument: nodes.BlockArgument) -> int | None:
        """The region whose blocks have the argument."""
        place = self._arguments.get(argument)
        return None if place is None else self.region_of_block(place[0])

    def region_of_block(self, block: nodes.Block) -> int:
        """The region that a block belongs to."""
        return self._block_regions[id(block)]

    def order_of(self, block: nodes.Block) -> int:
        """The place of a block in the text."""
        return self._order[id(block)]

    def entering_block_of(self, value: Value) -> nodes.Block:
        """The block that makes an instruction; for a block argument, the one that enters what its block belongs to."""
        if isinstance(value, nodes.BlockArgument):
            return self._entering[id(self._arguments[value][0])]
        return self._block_of[value]

    def enclosing_blocks(self, block: nodes.Block) -> Iterator[nodes.Block]:
        """A block, the block that enters the region it stands in, and so on outwards."""
        while True:
            yield block
            start = self._starts[self.region_of_block(block)]
            if id(start) not in self._entering:
                return
            block = self._entering[id(start)]

    def is_inside(self, block: nodes.Block, loop: nodes.Loop) -> bool:
        """Whether a block stands in a loop."""
        inside = {self.region_of_block(loop.start_target), self.region_of_block(loop.continuing_target)}
        region: int | None = self.region_of_block(block)
        while region is not None and region not in inside:
            region = self._parents[region]
        return region is not None

    def is_local_to(self, value: Value, loop: nodes.Loop) -> bool:
        """Whether only the loop uses the value."""
        inside = {self.region_of_block(loop.start_target), self.region_of_block(loop.continuing_target)}
        return all(not inside.isdisjoint(self._enclosing(use.user)) for use in self.uses(value))

    def _enclosing(self, user: User) -> Iterator[int]:
        region = self._regions.get(user)
        while region is not None:
            yield region
            region = self._parents[region]

    def _number(self, start: nodes.Block) -> None:
        self._parents.append(None)
        self._starts = [start]
        pending = [(start, 0)]
        while pending:
            block, region = pending.pop()
            self._block_regions[id(block)] = region
            for user in _users_in(block):
                self._regions[user] = region
            self._block_of.update(dict.fromkeys(block.instructions, block))
            entered = list(entered_blocks(block))
            self._entering.update({id(it): block for it in entered})
            merge = entered.pop() if entered and _has_merge(block) else None
            for inner in entered:
                pending.append((inner, len(self._parents)))
                self._parents.append(region)
                self._starts.append(inner)
            if merge is not None:
                pending.append((merge, region))

    def _collect_branch(self, branch: nodes.Branch | None) -> None:
        if branch is None:
            return
        target = branch.target.start_target if isinstance(branch.target, nodes.Loop) else branch.target
        if isinstance(target, nodes.Block):
            self._branches.setdefault(id(target), []).append(branch)

    def _mark(self, function: nodes.Function) -> None:
        pending = [value for block in self.blocks for value in _roots(block, function)]
        while pending:
            value = pending.pop()
            if value in self._live or self.constants.of(value) is not None:
                continue
            self._live.add(value)
            if isinstance(value, nodes.BlockArgument) and value in self._arguments:
                block, position = self._arguments[value]
                pending.extend(branch.arguments[position] for branch in self._branches.get(id(block), ()))
            else:
                pending.extend(value.operands)

    def _is_used_live(self, use: Use) -> bool:
        user = use.user
        if isinstance(user, nodes.Branch):
            target = user.target.start_target if isinstance(user.target, nodes.Loop) else user.target
            return not isinstance(target, nodes.Block) or target.arguments[use.index] in self._live
        return not isinstance(user, Value) or user in self._live


def _users_in(block: nodes.Block) -> Iterator[User]:
    yield from block.instructions
    if block.branch is not None:
        yield block.branch
        if isinstance(block.branch.target, (nodes.If, nodes.Switch)):
            yield block.branch.target


def _has_merge(block: nodes.Block) -> bool:
    target = None if block.branch is None else block.branch.target
    match target:
        case nodes.If(merge_target=merge) | nodes.Switch(merge_target=merge):
            return merge is not None
        case nodes.Loop():
            return True
        case nodes.Block() | nodes.Terminator() | None:
            return False
        case _:
            assert_never(target)


def is_idle(node: nodes.If) -> bool:
    """Whether an If does nothing and yields nothing, so that its condition matters only for its effects."""
    merge = node.merge_target
    arms = (node.true_target, node.false_target)
    return merge is not None and not merge.arguments and all(_only_goes_to(arm, merge) for arm in arms)


def _only_goes_to(arm: nodes.Block, merge: nodes.Block) -> bool:
    if arm.branch is None or arm.branch.target is not merge:
        return False
    return not any(it.name is not None or isinstance(it, nodes.Var) or has_effects(it) for it in arm.instructions)


def _roots(block: nodes.Block, function: nodes.Function) -> Iterable[Value]:
    """What is needed whoever uses it. A named operation is kept for its name; so is what may be `&&` or `||`."""
    for instruction in block.instructions:
        if instruction.name is not None or isinstance(instruction, nodes.Var) or has_effects(instruction):
            yield instruction
    if block.branch is None:
        return
    match block.branch.target:
        case nodes.If(merge_target=nodes.Block(arguments=[result])) if result.type is BOOL and result.name is not None:
            yield result
        case _:
            pass
    match block.branch.target:
        case nodes.If() as node if is_idle(node):
            pass
        case nodes.If(condition=condition) | nodes.Switch(condition=condition):
            yield condition
        case nodes.Terminator() as end:
            if end is function.end_target:
                yield from block.branch.arguments
        case nodes.Block() | nodes.Loop():
            pass
        case _:
            assert_never(block.branch.target)
