"""Facts about a function that the writer needs: constants, live uses, idle Ifs, and regions.

A region is a block with the merges that follow it (see `structure`); it becomes one run of statements. An If is idle if
no statement is written for it: nothing in its arms is live, and both arms continue at its merge. Its condition is then
needed for its effects only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import assert_never

from ...ir.core import nodes
from ...ir.core.effects import has_effects
from ...ir.core.structure import blocks_of, entered_blocks
from ...ir.core.values import Use, User, Value
from ...ir.types import BOOL
from .constants import Constants


class Analysis:
    """Facts about one function, which must not change while they are in use."""

    def __init__(self, module: nodes.Module, function: nodes.Function) -> None:
        self.constants = Constants(module, function)
        self.blocks = blocks_of(function)
        self._regions: dict[User, int] = {}
        self._block_regions: dict[int, int] = {}
        self._parents: list[int | None] = []
        self._order = {id(block): position for position, block in enumerate(self.blocks)}
        self._entering: dict[int, nodes.Block] = {}
        self._block_of: dict[Value, nodes.Block] = {}
        self._follows: list[nodes.Block | None] = []
        self._number(function.start_target)
        self._branches: dict[int, list[nodes.Branch]] = {}
        for block in self.blocks:
            self._collect_branch(block.branch)
        self._arguments: dict[Value, tuple[nodes.Block, int]] = {
            argument: (block, position) for block in self.blocks for position, argument in enumerate(block.arguments)
        }
        self._live: set[Value] = set()
        self._busy: set[nodes.If] = set()
        self._written: set[int] = set()
        self._mark(function)

    def uses(self, value: Value) -> Sequence[Use]:
        """The uses of a value that are themselves live."""
        return [use for use in value.uses if self._is_used_live(use)]

    def operands(self) -> Iterator[Value]:
        """All operands in the function, once for each use."""
        return (operand for block in self.blocks for user in _users_in(block) for operand in user.operands)

    def is_live(self, value: Value) -> bool:
        """Whether the value is used, named, or has effects."""
        return value in self._live

    def is_idle(self, node: nodes.If) -> bool:
        """Whether no statement is written for an If."""
        return node not in self._busy

    def region_of(self, user: User) -> int | None:
        """The region that contains an instruction, branch, If or Switch; None outside of the function."""
        return self._regions.get(user)

    def region_of_argument(self, argument: nodes.BlockArgument) -> int | None:
        """The region that contains the argument's block."""
        place = self._arguments.get(argument)
        return None if place is None else self.region_of_block(place[0])

    def region_of_block(self, block: nodes.Block) -> int:
        """The region that contains a block."""
        return self._block_regions[id(block)]

    def order_of(self, block: nodes.Block) -> int:
        """The place of a block in the text."""
        return self._order[id(block)]

    def entering_block_of(self, value: Value) -> nodes.Block:
        """The block of an instruction; for a block argument, the one before the If, Loop or Switch of its block."""
        if isinstance(value, nodes.BlockArgument):
            return self._entering[id(self._arguments[value][0])]
        return self._block_of[value]

    def enclosing_blocks(self, block: nodes.Block) -> Iterator[nodes.Block]:
        """A block, the block that enters its region, and so on outwards."""
        while True:
            yield block
            start = self._starts[self.region_of_block(block)]
            if id(start) not in self._entering:
                return
            block = self._entering[id(start)]

    def is_inside(self, block: nodes.Block, loop: nodes.Loop) -> bool:
        """Whether a block is inside a loop."""
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
        self._follows.append(None)
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
                self._follows.append(_follow(block, inner, self._follows[region]))
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
        """Find live values and busy Ifs: an If around a live value is busy, and the condition of a busy If is live."""
        pending: list[Value] = []
        for block in self.blocks:
            roots = list(_roots(block, function))
            pending += roots
            if self._ends_in_break_if(block):
                self._wake_if(block, pending)
            elif roots or self._ends_in_statement(block):
                self._wake(block, pending)
        while pending:
            value = pending.pop()
            if value in self._live or self.constants.of(value) is not None:
                continue
            self._live.add(value)
            if isinstance(value, nodes.BlockArgument) and value in self._arguments:
                block, position = self._arguments[value]
                self._wake_if(self._entering[id(block)], pending)
                pending.extend(branch.arguments[position] for branch in self._branches.get(id(block), ()))
            else:
                pending.extend(value.operands)
                if value in self._block_of:
                    self._wake(self._block_of[value], pending)

    def _wake(self, block: nodes.Block, pending: list[Value]) -> None:
        """Record that a statement is written in a block: the Ifs around it are busy, and their conditions pending."""
        region: int | None = self.region_of_block(block)
        while region is not None and region not in self._written:
            self._written.add(region)
            entering = self._entering.get(id(self._starts[region]))
            if entering is not None:
                self._mark_busy(entering, pending)
            region = self._parents[region]

    def _wake_if(self, block: nodes.Block, pending: list[Value]) -> None:
        """Record that a statement is written for the If, Loop or Switch that a block enters."""
        self._mark_busy(block, pending)
        self._wake(block, pending)

    def _mark_busy(self, block: nodes.Block, pending: list[Value]) -> None:
        target = None if block.branch is None else block.branch.target
        if isinstance(target, nodes.If) and target not in self._busy:
            self._busy.add(target)
            pending.append(target.condition)

    def _ends_in_statement(self, block: nodes.Block) -> bool:
        """Whether a statement is written for the end of a block even if nothing is live."""
        target = None if block.branch is None else block.branch.target
        match target:
            case nodes.Loop() | nodes.Switch():
                return True
            case nodes.Block():
                return target is not self._follows[self.region_of_block(block)]
            case nodes.Terminator(unreachable=is_unreachable):
                return not is_unreachable
            case nodes.If() | None:
                return False
            case _:
                assert_never(target)

    def _ends_in_break_if(self, block: nodes.Block) -> bool:
        """Whether a block ends in an If without a merge, at the end of a continuing part."""
        match None if block.branch is None else block.branch.target:
            case nodes.If(merge_target=None):
                start = self._starts[self.region_of_block(block)]
                entering = self._entering.get(id(start))
                target = None if entering is None or entering.branch is None else entering.branch.target
                return isinstance(target, nodes.Loop) and target.continuing_target is start
            case _:
                return False

    def _is_used_live(self, use: Use) -> bool:
        user = use.user
        if isinstance(user, nodes.If):
            return user in self._busy
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


def _follow(block: nodes.Block, inner: nodes.Block, follow: nodes.Block | None) -> nodes.Block | None:
    """The block at which control continues, without a jump, after the region that `inner` starts; `follow` is that of
    the region of `block`.
    """
    target = None if block.branch is None else block.branch.target
    match target:
        case nodes.If(merge_target=merge):
            return merge or follow
        case nodes.Loop() as loop:
            return loop.start_target if inner is loop.continuing_target else loop.continuing_target
        case nodes.Switch(merge_target=merge):
            return merge
        case nodes.Block() | nodes.Terminator() | None:
            return None
        case _:
            assert_never(target)


def _roots(block: nodes.Block, function: nodes.Function) -> Iterable[Value]:
    """Values that are live whether or not they are used. Named operations are kept, and so are named results that may
    be an `&&` or `||`.
    """
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
        case nodes.Switch(condition=condition):
            yield condition
        case nodes.Terminator() as end:
            if end is function.end_target:
                yield from block.branch.arguments
        case nodes.Block() | nodes.Loop() | nodes.If():
            pass
        case _:
            assert_never(block.branch.target)
