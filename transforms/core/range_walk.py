"""A walk over a function that knows at each place how large integers can be (`ranges`); analyses derive from it."""

from __future__ import annotations

from typing import assert_never

from ...ir.core import nodes
from ...ir.core.structure import blocks_of
from ...ir.core.values import Value
from ...ir.types import BOOL, I32, U32, Pointer
from .counting import counts_argument, counts_variable, stores_in
from .ranges import Logical, Range, Ranges, tracked, whole
from .regions import destination, last_block, region


class RangeWalk:
    """Walks the regions of a function. `ranges` always has the ranges known at the current place."""

    def __init__(self, function: nodes.Function) -> None:
        self.ranges = Ranges(function)
        self._passed: dict[int, list[Range]] = {}
        instructions = [it for block in blocks_of(function) for it in block.instructions]
        self.variables = {it for it in instructions if tracked(it)}

    def region(self, start: nodes.Block) -> set[Value]:
        """Walk a region; the variables that it stores to. What it has learned is forgotten."""
        mark = self.ranges.mark()
        stored: set[Value] = set()
        for block in region(start):
            for argument, range in zip(block.arguments, self._passed.get(id(block), ()), strict=False):
                if argument.type in (I32, U32):
                    self.ranges.learn(argument, range)
            for instruction in block.instructions:
                self.instruction(instruction, stored)
            assert block.branch is not None
            self._pass(block.branch)
            stored |= self._enter(block.branch)
        self.ranges.undo(mark)
        return stored

    def instruction(self, instruction: nodes.Instruction, stored: set[Value]) -> None:
        """Take an instruction in; a variable that it stores to is added to `stored`."""
        match instruction:
            case nodes.Load(pointer=pointer) if pointer in self.variables:
                self.ranges.loaded(instruction)
            case nodes.Store(pointer=pointer, value=value) if pointer in self.variables:
                self.ranges.stored(pointer, self.ranges.of(value))
                stored.add(pointer)
            case nodes.Var(initializer=initializer) if instruction in self.variables:
                self.ranges.stored(instruction, Range(0, 0) if initializer is None else self.ranges.of(initializer))
            case nodes.PureInstruction() | nodes.ReadingInstruction() | nodes.WritingInstruction():
                pass
            case nodes.BuiltinCall() | nodes.Var() | nodes.Override() | nodes.Discard():
                pass
            case _:
                assert_never(instruction)

    # Control flow.

    def _pass(self, branch: nodes.Branch) -> None:
        """Remember what a branch passes to a merge: its arguments are one of what comes in."""
        target = destination(branch)
        if target is None or isinstance(branch.target, nodes.Loop):
            return
        ranges = [self.ranges.of(it) if it.type in (I32, U32) else Range(0, 0) for it in branch.arguments]
        before = self._passed.get(id(target), ranges)
        self._passed[id(target)] = [one.join(other) for one, other in zip(before, ranges, strict=True)]

    def _enter(self, branch: nodes.Branch) -> set[Value]:
        """Walk what a branch enters, and forget what it changes."""
        match branch.target:
            case nodes.If() as node:
                stored = self.enter_if(node)
            case nodes.Loop() as node:
                stored = self.enter_loop(branch, node)
            case nodes.Switch() as node:
                stored = {variable for case in node.cases for variable in self.region(case.target)}
                self._forget(stored)
            case nodes.Block() | nodes.Terminator():
                return set()
            case _:
                assert_never(branch.target)
        return stored

    def _forget(self, stored: set[Value]) -> None:
        for variable in stored:
            self.ranges.stored(variable, None)

    def enter_if(self, node: nodes.If) -> set[Value]:
        """Walk both arms, with the condition taken to be what it is there; the variables that they store to."""
        stored: set[Value] = set()
        for arm, truth in ((node.true_target, True), (node.false_target, False)):
            mark = self.ranges.mark()
            self.ranges.assume(node.condition, truth)
            stored |= self.region(arm)
            self.ranges.undo(mark)
        merge = node.merge_target
        if merge is not None:
            goes_on = [_goes_to(arm, merge) for arm in (node.true_target, node.false_target)]
            if goes_on.count(True) == 1:
                self.ranges.assume(node.condition, goes_on[0])
            logical = _logical(node, merge)
            if logical is not None:
                self.ranges.logical[merge.arguments[0]] = logical
        self._forget(stored)
        return stored

    def enter_loop(self, branch: nodes.Branch, node: nodes.Loop) -> set[Value]:
        """Walk a Loop; the variables that it stores to. These are not known at its start, in its continuing part and
        after it, but that what it counts up never gets less.
        """
        stores = stores_in(node)
        stored: set[Value] = {it for it in stores if it in self.variables}
        entered = {it: self.ranges.held(it) for it in stored}
        self._forget(stored)
        mark = self.ranges.mark()
        for variable, range in entered.items():
            if range is not None and counts_variable(node, variable, stores):
                assert isinstance(variable.type, Pointer)
                self.ranges.stored(variable, Range(range.low, whole(variable.type.store).high))
        self._passed[id(node.start_target)] = [
            self._carried(node, argument, value)
            for argument, value in zip(node.start_target.arguments, branch.arguments, strict=True)
        ]
        self.region(node.start_target)
        self.ranges.undo(mark)
        self._forget(stored)
        self.region(node.continuing_target)
        self._forget(stored)
        return stored

    def _carried(self, node: nodes.Loop, argument: nodes.BlockArgument, value: Value) -> Range:
        if argument.type not in (I32, U32):
            return Range(0, 0)
        limits = whole(argument.type)
        return Range(self.ranges.of(value).low, limits.high) if counts_argument(node, argument) else limits


def _goes_to(arm: nodes.Block, merge: nodes.Block) -> bool:
    branch = last_block(arm).branch
    return branch is not None and branch.target is merge


def _logical(node: nodes.If, merge: nodes.Block) -> Logical | None:
    """What `&&` or `||` the If is, if it is one."""
    if len(merge.arguments) != 1 or merge.arguments[0].type is not BOOL:
        return None
    for decided, other, is_and in (
        (node.false_target, node.true_target, True),
        (node.true_target, node.false_target, False),
    ):
        decides, yields = decided.branch, last_block(other).branch
        if decides is None or yields is None or decides.target is not merge or yields.target is not merge:
            continue
        outcome = decides.arguments[0]
        if isinstance(outcome, nodes.Constant) and outcome.value.value is not is_and:
            return Logical(is_and, node.condition, yields.arguments[0])
    return None
