"""The structure of a function: the control-flow node of each block, the values visible in it, and its allowed branches.

A *region* is a block and the merges that follow it: the body of a function, an arm of an If, a case, the body of a Loop
and its continuing part. A value is visible in the code that follows it in its region and in the regions nested there;
the continuing part of a Loop sees the values that its body defines before every `continue`. So a value that must
outlive its region is passed to the merge.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from enum import StrEnum
from typing import assert_never

from ...base.named_tuples import NamedTuple
from ...base.records import dataclass, field
from . import nodes
from .values import User, Value


class Finding(NamedTuple):
    """A node of the module, what is wrong with it, and the name of the rule that it breaks."""

    node: object
    message: str
    rule: str


class Rule(StrEnum):
    """A rule about the structure of a function."""

    ONE_PLACE = "a block stands in two places"
    MADE_BEFORE = "an operand is not made before, or not seen from here"
    ENDS = "a block ends in a branch"
    WAYS = "a block may not branch there"
    NOT_REACHED = "control reaches this block"
    EMPTY_IF_NOT_REACHED = "a block that is not reached must be empty"
    OWN_END = "a return branches to the end of its own function"
    REACHED_MERGE = "a merge that nothing reaches must be left out"
    UNREACHABLE_IF_NOT_REACHED = "a block that is not reached must be unreachable"


@dataclass(slots=True)
class _Loop:
    """A Loop whose body is being walked. `made` are the values that the body itself has defined so far; `seen` is how
    many of them every `continue` so far comes after, None before the first `continue`.
    """

    node: nodes.Loop
    made: list[int] = field(default_factory=list[int])
    seen: int | None = None


@dataclass(frozen=True, slots=True)
class _Exits:
    """The allowed branch targets of a region. `back` has the start and the merge of the Loop if the region is a
    continuing part.
    """

    merge: nodes.Block | None = None
    breaks: nodes.Block | None = None
    loop: _Loop | None = None
    back: nodes.Loop | None = None


class Structure:
    """A walk over a function, or over `root` where `function` is None. `root` has the `id`s of the values that root
    defines.
    """

    def __init__(self, module: nodes.Module, function: nodes.Function | None, root: Collection[int]) -> None:
        self.module = module
        self.function = function
        self.blocks: list[nodes.Block] = []
        self.values: list[nodes.AnyValue] = []
        self.users: list[User] = []
        self.findings: list[Finding] = []
        self._root = root
        self._visible: set[int] = set()
        self._reached: set[int] = set()
        self._standing: set[int] = set()
        self._walk()

    @property
    def start(self) -> nodes.Block:
        """The first block."""
        return self.module.root if self.function is None else self.function.start_target

    def _walk(self) -> None:
        if self.function is None:
            self._region(self.start, _Exits(), [])
            return
        self.users.append(self.function)
        made = [self._define(parameter) for parameter in self.function.parameters]
        self._reached.add(id(self.start))
        self._region(self.start, _Exits(), made)

    def _define(self, value: nodes.AnyValue) -> int:
        self.values.append(value)
        self._visible.add(id(value))
        return id(value)

    def _find(self, node: object, rule: Rule) -> None:
        self.findings.append(Finding(node, rule.value, rule.name.lower()))

    def _region(self, block: nodes.Block, exits: _Exits, made: list[int]) -> None:
        """Walk a region. `made` receives the values that the region itself defines; they are not visible after it."""
        following: nodes.Block | None = block
        while following is not None:
            if id(following) in self._standing:
                self._find(following, Rule.ONE_PLACE)
                break
            self.blocks.append(following)
            self._standing.add(id(following))
            made.extend(self._define(argument) for argument in following.arguments)
            for instruction in following.instructions:
                self._operands(instruction, instruction)
                made.append(self._define(instruction))
            following = self._branch(following, exits)
        self._visible.difference_update(made)

    def _operands(self, user: User, place: object) -> None:
        self.users.append(user)
        for operand in user.operands:
            if not isinstance(operand, nodes.Constant) and not self._is_seen(operand):
                self._find(place, Rule.MADE_BEFORE)

    def _is_seen(self, value: Value) -> bool:
        return id(value) in self._visible or (self.function is not None and id(value) in self._root)

    def _branch(self, block: nodes.Block, exits: _Exits) -> nodes.Block | None:
        """Check the block's branch and walk the regions that it enters; returns the merge that follows, if there is
        one.
        """
        branch = block.branch
        if branch is None:
            if self.function is not None:
                self._find(block, Rule.ENDS)
            return None
        self._operands(branch, branch)
        match branch.target:
            case nodes.Block():
                self._leave(branch, branch.target, exits)
            case nodes.Terminator():
                self._end(block, branch, branch.target)
            case nodes.If() as node:
                return self._if(branch, node, exits)
            case nodes.Loop() as node:
                return self._loop(node)
            case nodes.Switch() as node:
                return self._switch(branch, node, exits)
            case _:
                assert_never(branch.target)
        return None

    def _leave(self, branch: nodes.Branch, target: nodes.Block, exits: _Exits) -> None:
        loop = exits.loop
        self._reached.add(id(target))
        if loop is not None and target is loop.node.continuing_target:
            loop.seen = len(loop.made) if loop.seen is None else min(loop.seen, len(loop.made))
        elif not any(target is it for it in (exits.merge, exits.breaks)) and not self._closes(target, exits):
            self._find(branch, Rule.WAYS)

    def _closes(self, target: nodes.Block, exits: _Exits) -> bool:
        return exits.back is not None and target is exits.back.start_target

    def _end(self, block: nodes.Block, branch: nodes.Branch, target: nodes.Terminator) -> None:
        if target.unreachable:
            if id(block) in self._reached:
                self._find(branch, Rule.NOT_REACHED)
            elif block.instructions or block.arguments:
                self._find(branch, Rule.EMPTY_IF_NOT_REACHED)
        elif self.function is None or target is not self.function.end_target:
            self._find(branch, Rule.OWN_END)

    def _if(self, branch: nodes.Branch, node: nodes.If, exits: _Exits) -> nodes.Block | None:
        self._operands(node, branch)
        breaks = exits.breaks
        back = None
        if exits.back is not None and node.merge_target is None:  # break if
            breaks, back = exits.back.merge_target, exits.back
        inner = _Exits(node.merge_target, breaks, exits.loop, back)
        self._reached.add(id(node.true_target))
        if not is_scope(node):
            self._reached.add(id(node.false_target))
        for arm in (node.true_target, node.false_target):
            self._region(arm, inner, [])
        return self._merge(branch, node.merge_target)

    def _merge(self, branch: nodes.Branch, merge: nodes.Block | None) -> nodes.Block | None:
        if merge is not None and id(merge) not in self._reached:
            self._find(branch, Rule.REACHED_MERGE)
        return merge

    def _loop(self, node: nodes.Loop) -> nodes.Block:
        loop = _Loop(node)
        self._reached.add(id(node.start_target))
        self._region(node.start_target, _Exits(None, node.merge_target, loop), loop.made)
        seen = loop.made[: loop.seen or 0]
        self._visible.update(seen)
        self._region(node.continuing_target, _Exits(back=node), [])
        self._visible.difference_update(seen)
        for block in (node.continuing_target, node.merge_target):
            if id(block) not in self._reached and not _is_unreachable(block):
                self._find(block, Rule.UNREACHABLE_IF_NOT_REACHED)
        return node.merge_target

    def _switch(self, branch: nodes.Branch, node: nodes.Switch, exits: _Exits) -> nodes.Block | None:
        self._operands(node, branch)
        inner = _Exits(node.merge_target, node.merge_target, exits.loop)
        for case in node.cases:
            self._reached.add(id(case.target))
            self._region(case.target, inner, [])
        return self._merge(branch, node.merge_target)


def _is_unreachable(block: nodes.Block) -> bool:
    target = None if block.branch is None else block.branch.target
    return isinstance(target, nodes.Terminator) and target.unreachable


def is_scope(node: nodes.If) -> bool:
    """Whether an If only represents braces around its true arm (see `Block` in the schema)."""
    condition = node.condition
    return (
        isinstance(condition, nodes.Constant) and condition.value.value is True and _is_unreachable(node.false_target)
    )


def entered_blocks(block: nodes.Block) -> Iterator[nodes.Block]:
    """The blocks of the control-flow node that a block enters: arms, cases or loop parts, then the merge."""
    target = None if block.branch is None else block.branch.target
    match target:
        case nodes.If(true_target=true, false_target=false, merge_target=merge):
            yield from (true, false)
        case nodes.Loop(start_target=start, continuing_target=continuing, merge_target=merge):
            yield from (start, continuing)
        case nodes.Switch(cases=cases, merge_target=merge):
            yield from (case.target for case in cases)
        case nodes.Block() | nodes.Terminator() | None:
            return
        case _:
            assert_never(target)
    if merge is not None:
        yield merge


def blocks_of(function: nodes.Function) -> Sequence[nodes.Block]:
    """All blocks of a function in the order of its text: a value is used only in its own block and later ones."""
    found: list[nodes.Block] = []
    pending = [function.start_target]
    while pending:
        block = pending.pop()
        found.append(block)
        pending.extend(reversed(list(entered_blocks(block))))
    return found
