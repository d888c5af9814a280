"""Merges the early returns of an inlined function body: all paths through the body join after it.

What follows an If of which one arm returns becomes a part of the other arm. A return out of a Loop or Switch, or from
an If whose arms both go on as well, puts its value into a variable and leaves what is around it; where something else
follows there, it raises a flag too, on which that is skipped. Where Ifs would nest too deep, a Loop that runs once is
left instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, assert_never

from ...ir.constants import zero_constant
from ...ir.core import nodes
from ...ir.core.builder import Builder, block_argument, bool_constant, empty_block, variable_type
from ...ir.core.names import NameScope
from ...ir.core.values import Value
from ...ir.types import BOOL, VOID, AddressSpace, Type
from .editing import any_of
from .regions import (
    blocks_from,
    branches_to,
    is_unreachable,
    last_block,
    nested,
    region,
    split,
    take_over,
    unreachable_block,
)
from .replacing import copy_constant, replace

DEEPEST: Final = 32
"""How deep Ifs may come to stand in each other; programs of more than 127 levels are not accepted everywhere."""


class Returns:
    """Brings the branches to `end`, the returns of a body, to one block."""

    def __init__(self, builder: Builder, names: NameScope, end: nodes.Terminator, type: Type) -> None:
        self.builder = builder
        self.names = names
        self.end = end
        self.type = type
        self._flag: nodes.Var | None = None
        self._result: nodes.Var | None = None
        self._delivered: set[nodes.Branch] = set()
        self._flagged: set[nodes.Branch] = set()

    def lead(self, block: nodes.Block, start: nodes.Block, after: nodes.Block) -> None:
        """Go from `block` through the region at `start`, and from each of its returns to `after`.

        What they return goes to the argument of `after`; or to a variable declared in `block`, and there is no
        argument.
        """
        if _depth(start, self.end) > DEEPEST:
            self._lead_out_of_loop(block, start, after)
            return
        self._flatten(start)
        if self._result is not None:
            self._deliver_all(start, after)
        self._declare(block)
        meets = any(_leads_within(it, self.end) for it in region(start))
        if meets:
            _meet(start, self.end, after)
        take_over(block, start)
        if not meets:
            _go_on(last_block(block), self.end, after)

    def _lead_out_of_loop(self, block: nodes.Block, start: nodes.Block, after: nodes.Block) -> None:
        if after.arguments:
            self._deliver_all(start, after)
        self._lower(start, after, is_checked=False)
        self._declare(block)
        loop = nodes.Loop(start, unreachable_block(), after, span=self.builder.span)
        block.branch = nodes.Branch(loop, (), span=self.builder.span)

    def _declare(self, block: nodes.Block) -> None:
        block.instructions.extend(it for it in (self._flag, self._result) if it is not None)

    def _deliver_all(self, start: nodes.Block, after: nodes.Block) -> None:
        for ending in _leading(start, self.end):
            self._deliver(ending)
        (argument,) = after.arguments
        load = nodes.Load(self._result_variable(), argument.type, None, span=self.builder.span)
        replace(argument, load)
        after.arguments = []
        after.instructions.insert(0, load)

    def _flatten(self, start: nodes.Block) -> None:
        for block in region(start):
            if block.branch is None or not _leads_within(block, self.end):
                continue
            match block.branch.target:
                case nodes.If() as node:
                    self._flatten_if(node)
                case nodes.Loop() as node:
                    self._flatten_breakable(block, node.merge_target, [node.start_target])
                case nodes.Switch() as node:
                    node.merge_target = node.merge_target or unreachable_block()
                    self._flatten_breakable(block, node.merge_target, [case.target for case in node.cases])
                case nodes.Block() | nodes.Terminator():
                    pass
                case _:
                    assert_never(block.branch.target)

    # Ifs.

    def _flatten_if(self, node: nodes.If) -> None:
        arms = (node.true_target, node.false_target)
        if node.merge_target is not None and _only_leads_to(node.merge_target, self.end):
            self._return_from(arms, node.merge_target)
            node.merge_target = None
        merge = node.merge_target
        returning = [arm for arm in arms if _leading(arm, self.end)]
        is_mixed = merge is not None and any(_leading(arm, merge) for arm in returning)
        for arm in returning:
            self._flatten(arm)
            if merge is not None and is_mixed:
                for block in _leading(arm, self.end):
                    self._leave(block, merge, is_checked=True)
                _meet_in_arm(arm, merge, merge)
        if merge is not None and is_mixed:
            self._check(merge)

    def _return_from(self, arms: Iterable[nodes.Block], merge: nodes.Block) -> None:
        """Return at the ends of arms, since all that their merge does is to return."""
        last = merge.branch
        assert last is not None
        for branch in [it for arm in arms for it in branches_to(blocks_from(arm), merge)]:
            passed: dict[Value, Value] = dict(zip(merge.arguments, branch.arguments, strict=True))
            branch.arguments = [_copied(passed.get(it, it)) for it in last.arguments]
            branch.target = self.end
        last.drop_operands()

    # Loops and Switches.

    def _flatten_breakable(self, block: nodes.Block, merge: nodes.Block, inside: Sequence[nodes.Block]) -> None:
        """Leave the Loop or Switch that `block` enters where it returns; its merge goes on only if it did not."""
        is_checked = False
        if is_unreachable(merge):
            self._return_delivered(merge)
        elif _only_leads_to(merge, self.end) and not _takes_apart(merge):
            self._deliver_before(block, merge)
        else:
            is_checked = True
        for start in inside:
            self._lower(start, merge, is_checked=is_checked)
        if is_checked:
            self._check(merge)

    def _deliver_before(self, block: nodes.Block, merge: nodes.Block) -> None:
        """What is returned behind a node is the result before it already; returns within put another in its place.

        A constant can be so from the start: who comes here has not returned before.
        """
        last = merge.branch
        assert last is not None
        for value in last.arguments:
            variable = self._result_variable()
            if isinstance(value, nodes.Constant) and variable.initializer is None:
                variable.initializer = copy_constant(value)
            else:
                self._store(block, variable, _copied(value))
        last.arguments = []
        self._delivered.add(last)

    def _lower(self, start: nodes.Block, exit: nodes.Block, *, is_checked: bool) -> bool:
        """Replace the returns in a region within a Loop or Switch, which is left for `exit`; whether there were any."""
        found = False
        for block in region(start):
            target = None if block.branch is None else block.branch.target
            match target:
                case nodes.Loop() as node:
                    found |= self._lower_nested(node.merge_target, [node.start_target], exit, is_checked=is_checked)
                case nodes.Switch() as node:
                    merge = node.merge_target or unreachable_block()
                    cases = [case.target for case in node.cases]
                    if self._lower_nested(merge, cases, exit, is_checked=is_checked):
                        node.merge_target = merge
                        found = True
                case nodes.If():
                    found |= any_of(self._lower(arm, exit, is_checked=is_checked) for arm in nested(block))
                case nodes.Terminator() as end if end is self.end:
                    self._leave(block, exit, is_checked=is_checked)
                    found = True
                case nodes.Block() | nodes.Terminator() | None:
                    pass
                case _:
                    assert_never(target)
        return found

    def _lower_nested(
        self, merge: nodes.Block, inside: Sequence[nodes.Block], exit: nodes.Block, *, is_checked: bool
    ) -> bool:
        """Like `_lower`, for a nested Loop or Switch: the outer one is left as well."""
        returns_always = is_unreachable(merge)
        is_flagged = is_checked or not returns_always
        if not any_of(self._lower(start, merge, is_checked=is_flagged) for start in inside):
            return False
        if returns_always:
            merge.branch = nodes.Branch(exit, _zeros(exit), span=self.builder.span)
        else:
            self._check(merge, exit)
        return True

    # Variables.

    def _leave(self, block: nodes.Block, exit: nodes.Block, *, is_checked: bool) -> None:
        """Turn the return at the end of a block into a branch to `exit`."""
        branch = block.branch
        assert branch is not None
        self._deliver(block)
        if is_checked and branch not in self._flagged:
            self._store(block, self._flag_variable(), bool_constant(True))
        branch.target = exit
        branch.arguments = _zeros(exit)

    def _deliver(self, block: nodes.Block) -> None:
        """Put what a block returns into the variable for it."""
        branch = block.branch
        assert branch is not None
        if branch not in self._delivered:
            for value in branch.arguments:
                self._store(block, self._result_variable(), value)
            branch.arguments = []
            self._delivered.add(branch)

    def _check(self, merge: nodes.Block, exit: nodes.Block | None = None) -> None:
        """Go on behind a node only if the flag is not up; else to `exit`, or return."""
        rest = split(merge, 0)
        with self.builder.at(merge):
            node = self.builder.enter_if(self.builder.load(self._flag_variable()))
        node.merge_target = rest
        node.false_target.branch = nodes.Branch(rest, (), span=self.builder.span)
        if exit is not None:
            node.true_target.branch = nodes.Branch(exit, _zeros(exit), span=self.builder.span)
        else:
            self._flagged.add(self._return_delivered(node.true_target))

    def _return_delivered(self, block: nodes.Block) -> nodes.Branch:
        """Return at the end of a block what is in the variable."""
        block.branch = nodes.Branch(self.end, (), span=self.builder.span)
        self._delivered.add(block.branch)
        return block.branch

    def _store(self, block: nodes.Block, variable: nodes.Var, value: Value) -> None:
        block.instructions.append(nodes.Store(variable, value, VOID, None, span=self.builder.span))

    def _flag_variable(self) -> nodes.Var:
        if self._flag is None:
            self._flag = self._variable("returned", BOOL)
        return self._flag

    def _result_variable(self) -> nodes.Var:
        if self._result is None:
            self._result = self._variable("result", self.type)
        return self._result

    def _variable(self, name: str, type: Type) -> nodes.Var:
        pointer = variable_type(AddressSpace.FUNCTION, type)
        return nodes.Var(None, pointer, self.names.unique(name), span=self.builder.span)


def growth(function: nodes.Function) -> int:
    """How many levels of statements `Returns` may add to those that a body has (see `nesting`)."""
    added = _depth(function.start_target, function.end_target)
    return 3 if added > DEEPEST else 2 * added


def _leads_within(block: nodes.Block, end: nodes.Flow) -> bool:
    """Whether the node that a block enters has a branch to `end` in it."""
    return any(_leading(inner, end) for inner in nested(block))


def _leading(start: nodes.Block, end: nodes.Flow) -> Sequence[nodes.Block]:
    """The blocks of a region, and of all in it, that branch to `end`."""
    return [it for it in blocks_from(start) if it.branch is not None and it.branch.target is end]


def nests_too_deep(start: nodes.Block, end: nodes.Flow) -> bool:
    """Whether bringing the branches to `end` to one block would take a Loop, since Ifs would nest too deep."""
    return _depth(start, end) > DEEPEST


def _depth(start: nodes.Block, end: nodes.Flow) -> int:
    """How deep Ifs come to stand in each other at most when what follows them belongs to their arms."""
    ifs = [it for it in region(start) if _enters_if(it) and _leads_within(it, end)]
    return sum(1 + max(_depth(arm, end) for arm in nested(it)) for it in ifs)


def _enters_if(block: nodes.Block) -> bool:
    return block.branch is not None and isinstance(block.branch.target, nodes.If)


def _go_on(last: nodes.Block, end: nodes.Flow, after: nodes.Block) -> None:
    """Go on in the last block of a region, the only one that returns, with what follows."""
    assert last.branch is not None
    if last.branch.target is end:
        take_over(last, after, last.branch.arguments)


def _only_leads_to(block: nodes.Block, end: nodes.Flow) -> bool:
    return not block.instructions and block.branch is not None and block.branch.target is end


def _takes_apart(merge: nodes.Block) -> bool:
    """Whether the branch of a merge passes on what has been passed to it."""
    assert merge.branch is not None
    return any(value is it for value in merge.branch.arguments for it in merge.arguments)


def _copied(value: Value) -> Value:
    return copy_constant(value) if isinstance(value, nodes.Constant) else value


def _zeros(block: nodes.Block) -> Sequence[nodes.Constant]:
    """Arguments that are never read."""
    return [nodes.Constant(zero_constant(it.type), it.type, None) for it in block.arguments]


def _meet(start: nodes.Block, end: nodes.Flow, after: nodes.Block) -> None:
    """Redirect all branches of a region to `end` to `after`, which becomes its last merge.

    They are at the end of the region, and at the ends of arms with no other exit.
    """
    for block in region(start):
        if _leads_within(block, end):
            assert block.branch is not None
            assert isinstance(block.branch.target, nodes.If)
            _meet_behind(block.branch.target, end, after)
            return
    last = last_block(start).branch
    assert last is not None
    if last.target is end:
        last.target = after


def _meet_behind(node: nodes.If, end: nodes.Flow, after: nodes.Block) -> None:
    """What follows the If becomes a part of the arm that goes on there."""
    rest, node.merge_target = node.merge_target, after
    for arm in (node.true_target, node.false_target):
        last = last_block(arm)
        assert last.branch is not None
        if rest is not None and last.branch.target is rest:
            take_over(last, rest, last.branch.arguments)
    for arm in (node.true_target, node.false_target):
        _meet_in_arm(arm, end, after)


def _meet_in_arm(arm: nodes.Block, end: nodes.Flow, after: nodes.Block) -> None:
    """Like `_meet_behind`, if `after` is already the merge of an If around the region."""
    if not any(_leads_within(block, end) for block in region(arm)):
        _meet(arm, end, after)
    else:
        merge = empty_block(block_argument(it.type) for it in after.arguments)
        _meet(arm, end, merge)
        merge.branch = nodes.Branch(after, merge.arguments)
