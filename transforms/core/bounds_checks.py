"""Finds the indices that may be out of range: a walk over a function with what is known at each place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from ...ir.core import nodes
from ...ir.core.structure import blocks_of
from ...ir.core.values import Value
from ...ir.types import BOOL, I32, U32, Array, OverrideCount, Pointer, Struct, Type, element_count, element_type
from .counting import counts_argument, counts_variable, stores_in
from .ranges import Logical, Range, Ranges, constant_of, length_key, tracked, whole
from .regions import destination, last_block, region

Checks: TypeAlias = dict[nodes.Access, list[int]]
"""The positions of the indices of an access that are not proved to be in range."""


def unproved(module: nodes.Module, function: nodes.Function) -> Checks:
    """The accesses with indices that nothing keeps in range."""
    walk = _Walk(module, function)
    walk.region(function.start_target)
    return walk.found


class _Walk:
    def __init__(self, module: nodes.Module, function: nodes.Function) -> None:
        self.counts = {it.count: it.value for it in module.counts}
        self.ranges = Ranges(function)
        self.found: Checks = {}
        self.passed: dict[int, list[Range]] = {}
        instructions = [it for block in blocks_of(function) for it in block.instructions]
        self.variables = {it for it in instructions if tracked(it)}

    def region(self, start: nodes.Block) -> set[Value]:
        """Walk a region; the variables that it stores to. What it has learned is forgotten."""
        mark = self.ranges.mark()
        stored: set[Value] = set()
        for block in region(start):
            for argument, range in zip(block.arguments, self.passed.get(id(block), ()), strict=False):
                if argument.type in (I32, U32):
                    self.ranges.learn(argument, range)
            for instruction in block.instructions:
                self._instruction(instruction, stored)
            assert block.branch is not None
            self._pass(block.branch)
            stored |= self._enter(block.branch)
        self.ranges.undo(mark)
        return stored

    def _instruction(self, instruction: nodes.Instruction, stored: set[Value]) -> None:
        match instruction:
            case nodes.Access():
                positions = list(self._positions(instruction))
                if positions:
                    self.found[instruction] = positions
            case nodes.Load(pointer=pointer) if pointer in self.variables:
                self.ranges.loaded(instruction)
            case nodes.Store(pointer=pointer, value=value) if pointer in self.variables:
                self.ranges.stored(pointer, self.ranges.of(value))
                stored.add(pointer)
            case nodes.Var(initializer=initializer) if instruction in self.variables:
                self.ranges.stored(instruction, Range(0, 0) if initializer is None else self.ranges.of(initializer))
            case _:
                pass

    # Indices.

    def _positions(self, access: nodes.Access) -> Iterator[int]:
        type: Type | None = access.object.type
        type = type.store if isinstance(type, Pointer) else type
        for position, index in enumerate(access.indices):
            assert type is not None
            if not isinstance(type, Struct) and not self._is_in_range(access, position, type):
                yield position
            type = element_type(type, constant_of(index) or 0)

    def _is_in_range(self, access: nodes.Access, position: int, type: Type) -> bool:
        range = self.ranges.of(access.indices[position])
        count = element_count(type)
        if range.low < 0:
            return False
        if isinstance(count, int):
            return range.high < count
        if range.high == 0:  # every array has an element
            return True
        if isinstance(count, OverrideCount):
            return self.ranges.key(self.counts[count]) in range.below
        assert isinstance(type, Array)
        length = length_key(access.object, access.indices[:position])
        return length is not None and length in range.below

    # Control flow.

    def _pass(self, branch: nodes.Branch) -> None:
        """Remember what a branch passes to a merge: its arguments are one of what comes in."""
        target = destination(branch)
        if target is None or isinstance(branch.target, nodes.Loop):
            return
        ranges = [self.ranges.of(it) if it.type in (I32, U32) else Range(0, 0) for it in branch.arguments]
        before = self.passed.get(id(target), ranges)
        self.passed[id(target)] = [one.join(other) for one, other in zip(before, ranges, strict=True)]

    def _enter(self, branch: nodes.Branch) -> set[Value]:
        """Walk what a branch enters, and forget what it changes."""
        match branch.target:
            case nodes.If() as node:
                stored = self._if(node)
            case nodes.Loop() as node:
                stored = self._loop(branch, node)
            case nodes.Switch() as node:
                stored = {variable for case in node.cases for variable in self.region(case.target)}
                self._forget(stored)
            case _:
                return set()
        return stored

    def _forget(self, stored: set[Value]) -> None:
        for variable in stored:
            self.ranges.stored(variable, None)

    def _if(self, node: nodes.If) -> set[Value]:
        stored: set[Value] = set()
        for arm, truth in ((node.true_target, True), (node.false_target, False)):
            mark = self.ranges.mark()
            self.ranges.assume(node.condition, truth)
            stored |= self.region(arm)
            self.ranges.undo(mark)
        merge = node.merge_target
        if merge is not None:
            ways = [_goes_to(arm, merge) for arm in (node.true_target, node.false_target)]
            if ways.count(True) == 1:
                self.ranges.assume(node.condition, ways[0])
            logical = _logical(node, merge)
            if logical is not None:
                self.ranges.logical[merge.arguments[0]] = logical
        self._forget(stored)
        return stored

    def _loop(self, branch: nodes.Branch, node: nodes.Loop) -> set[Value]:
        """A Loop: what it stores to is not known at its start, in its continuing part and after it, but that what it
        counts up never gets less.
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
        self.passed[id(node.start_target)] = [
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
