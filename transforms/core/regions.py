"""Regions of structured control flow: walking, splicing and erasing them.

A region is a block and the merges that follow it (`ir.core.structure`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import assert_never

from ...ir.core import nodes
from ...ir.core.builder import empty_block
from ...ir.core.structure import entered_blocks
from ...ir.core.values import User, Value
from .replacing import replace


def merge_of(block: nodes.Block) -> nodes.Block | None:
    """The merge that follows the control-flow node that a block enters."""
    target = None if block.branch is None else block.branch.target
    match target:
        case nodes.If(merge_target=merge) | nodes.Switch(merge_target=merge) | nodes.Loop(merge_target=merge):
            return merge
        case nodes.Block() | nodes.Terminator() | None:
            return None
        case _:
            assert_never(target)


def nested(block: nodes.Block) -> Sequence[nodes.Block]:
    """The first blocks of the regions inside of the node that a block enters: arms, cases, body and continuing part."""
    merge = merge_of(block)
    return [inner for inner in entered_blocks(block) if inner is not merge]


def region(start: nodes.Block) -> Iterator[nodes.Block]:
    """The blocks of one region in order, each looked up after the one before has been dealt with."""
    block: nodes.Block | None = start
    while block is not None:
        yield block
        block = merge_of(block)


def last_block(start: nodes.Block) -> nodes.Block:
    """The last block of a region."""
    *_, last = region(start)
    return last


def blocks_from(start: nodes.Block) -> Sequence[nodes.Block]:
    """The blocks of a region and of all regions in it, in the order of the text."""
    found: list[nodes.Block] = []
    pending = [start]
    while pending:
        block = pending.pop()
        found.append(block)
        pending.extend(reversed(list(entered_blocks(block))))
    return found


def values_from(start: nodes.Block) -> Iterator[nodes.AnyValue]:
    """What the blocks of a region make."""
    for block in blocks_from(start):
        yield from block.arguments
        yield from block.instructions


def users_of_block(block: nodes.Block) -> Iterator[User]:
    """Everything in a block that holds operands."""
    yield from block.instructions
    if block.branch is not None:
        yield block.branch
        if isinstance(block.branch.target, (nodes.If, nodes.Switch)):
            yield block.branch.target


def destination(branch: nodes.Branch) -> nodes.Block | None:
    """The block that gets a branch's arguments."""
    target = branch.target.start_target if isinstance(branch.target, nodes.Loop) else branch.target
    return target if isinstance(target, nodes.Block) else None


def branches_to(blocks: Iterable[nodes.Block], target: nodes.Block) -> Sequence[nodes.Branch]:
    """The branches among blocks that pass their arguments to `target`."""
    branches = (block.branch for block in blocks)
    return [branch for branch in branches if branch is not None and destination(branch) is target]


def incoming_branches(blocks: Iterable[nodes.Block]) -> Mapping[int, Sequence[nodes.Branch]]:
    """The branches among blocks by the identity of the block that they pass their arguments to."""
    found: dict[int, list[nodes.Branch]] = {}
    for block in blocks:
        target = None if block.branch is None else destination(block.branch)
        if target is not None and block.branch is not None:
            found.setdefault(id(target), []).append(block.branch)
    return found


def erase(start: nodes.Block) -> None:
    """Give up all operands in a region that is thrown away, so that values know their uses."""
    for block in blocks_from(start):
        for user in list(users_of_block(block)):
            user.drop_operands()


def take_over(block: nodes.Block, start: nodes.Block, arguments: Iterable[Value] = ()) -> None:
    """Go on in `block`, whose branch is void, with what `start` does when given `arguments`."""
    for argument, value in zip(start.arguments, arguments, strict=True):
        replace(argument, value)
    if block.branch is not None:
        block.branch.drop_operands()
    block.instructions.extend(start.instructions)
    block.branch = start.branch


def split(block: nodes.Block, index: int, arguments: Iterable[nodes.BlockArgument] = ()) -> nodes.Block:
    """A new block with what follows the first `index` instructions of `block`, which has no branch any more."""
    rest = nodes.Block(list(arguments), block.instructions[index:], block.branch)
    del block.instructions[index:]
    block.branch = None
    return rest


def remove(block: nodes.Block, gone: Iterable[nodes.Instruction]) -> bool:
    """Take unused instructions out of a block; whether there were any."""
    doomed = {id(instruction) for instruction in gone}
    for instruction in reversed(block.instructions):
        if id(instruction) in doomed:
            instruction.drop_operands()
    block.instructions = [it for it in block.instructions if id(it) not in doomed]
    return bool(doomed)


def unreachable_block() -> nodes.Block:
    """A block that control never enters."""
    block = empty_block()
    block.branch = nodes.Branch(nodes.Terminator(unreachable=True), ())
    return block


def is_unreachable(block: nodes.Block) -> bool:
    """Whether control never enters a block."""
    target = None if block.branch is None else block.branch.target
    return isinstance(target, nodes.Terminator) and target.unreachable


def prune(start: nodes.Block) -> None:
    """Throw away the merges and continuing parts of a region that no branch leads to any more."""
    _prune(start)


def _prune(start: nodes.Block) -> set[int]:
    """The identities of the blocks that branches in the region lead to."""
    reached: set[int] = set()
    for block in region(start):
        assert block.branch is not None
        match block.branch.target:
            case nodes.Block() as target:
                reached.add(id(target))
            case nodes.Loop() as node:
                reached |= _prune_loop(node)
            case nodes.If() | nodes.Switch() as node:
                for inner in nested(block):
                    reached |= _prune(inner)
                if node.merge_target is not None and id(node.merge_target) not in reached:
                    erase(node.merge_target)
                    node.merge_target = None
            case nodes.Terminator():
                pass
            case _:
                assert_never(block.branch.target)
    return reached


def _prune_loop(node: nodes.Loop) -> set[int]:
    reached = _prune(node.start_target)
    if id(node.continuing_target) in reached:
        reached |= _prune(node.continuing_target)
    elif not is_unreachable(node.continuing_target):
        erase(node.continuing_target)
        node.continuing_target = unreachable_block()
    if id(node.merge_target) not in reached and not is_unreachable(node.merge_target):
        erase(node.merge_target)
        node.merge_target = unreachable_block()
    return reached
