"""Simplifies control flow.

- An If or Switch on a constant becomes the arm or case that it takes.
- An If whose arms do nothing goes away; one that only chooses between values is a `select`.
- A Switch that has only a default, and is left only at its end, becomes its body.
- A Loop that never repeats, and is left from one place, becomes its body.
- A block argument that is the same from every predecessor is that value.

The last exit of a loop stays, although control may never get there: an endless loop is no WGSL (WGSL, "Behavior
Analysis").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from ...ir.core import nodes
from ...ir.core.rules import RuleError, builtin_type
from ...ir.core.structure import blocks_of, entered_blocks
from ...ir.core.values import Value
from ...ir.types import Scalar, Vector
from .editing import any_of
from .regions import (
    blocks_from,
    branches_to,
    destination,
    erase,
    is_unreachable,
    last_block,
    nested,
    prune,
    region,
    take_over,
    values_from,
)
from .replacing import replace


@dataclass(frozen=True)
class SimplifyControlFlow:
    """Repeats the rules until none applies."""

    @property
    def name(self) -> str:
        """The name in pipelines."""
        return "simplify_control_flow"

    def run(self, module: nodes.Module) -> bool:
        """Whether a rule applied."""
        return any_of(_Function(function).simplify() for function in module.functions)


class _Function:
    def __init__(self, function: nodes.Function) -> None:
        self.function = function
        self.loops: list[nodes.Loop] = []
        self.changed = False

    def simplify(self) -> bool:
        """Whether a rule applied."""
        self._region(self.function.start_target)
        if self.changed:
            prune(self.function.start_target)
        self._drop_arguments()
        return self.changed

    def _region(self, start: nodes.Block) -> None:
        """Simplify a region, the inner ones first."""
        for block in region(start):
            while True:
                self._inner(block)
                if not self._block(block):
                    break
                self.changed = True

    def _inner(self, block: nodes.Block) -> None:
        node = None if block.branch is None else block.branch.target
        if isinstance(node, nodes.Loop):
            self.loops.append(node)
        for inner in nested(block):
            self._region(inner)
        if isinstance(node, nodes.Loop):
            self.loops.pop()

    def _block(self, block: nodes.Block) -> bool:
        """Apply a rule to what a block enters; whether one applied."""
        target = None if block.branch is None else block.branch.target
        match target:
            case nodes.If() as node:
                return self._if(block, node)
            case nodes.Switch() as node:
                return self._switch(block, node)
            case nodes.Loop() as node:
                return _flatten_loop(block, node)
            case nodes.Block() | nodes.Terminator() | None:
                return False
            case _:
                assert_never(target)

    def _if(self, block: nodes.Block, node: nodes.If) -> bool:
        if isinstance(node.condition, nodes.Constant):
            chosen = node.true_target if node.condition.value.value else node.false_target
            other = node.false_target if node.condition.value.value else node.true_target
            return self._choose(block, chosen, [other], node.merge_target)
        if node.merge_target is None or not (_does_nothing(node.true_target) and _does_nothing(node.false_target)):
            return False
        return _select(block, node, node.merge_target)

    def _switch(self, block: nodes.Block, node: nodes.Switch) -> bool:
        chosen = _taken_case(node)
        if chosen is None:
            return False
        others = [case.target for case in node.cases if case is not chosen]
        inside = blocks_from(chosen.target)
        end = last_block(chosen.target)
        if node.merge_target is not None:
            branches = branches_to(inside, node.merge_target)
            if any(branch is not end.branch for branch in branches):
                return False
        return self._choose(block, chosen.target, others, node.merge_target)

    def _choose(
        self, block: nodes.Block, chosen: nodes.Block, others: Sequence[nodes.Block], merge: nodes.Block | None
    ) -> bool:
        """Go straight through the region at `chosen`, and drop the others; not where filters hold for it alone."""
        if chosen.diagnostics:
            return False
        end = last_block(chosen)
        assert end.branch is not None
        is_passing = merge is not None and end.branch.target is merge
        gone = [it for start in others for it in blocks_from(start)]
        if merge is not None and not is_passing:
            gone += blocks_from(merge)
        if not all(_has_exit(loop, gone) for loop in self.loops) or self._leaves_continuing(block, chosen, merge):
            return False
        node = None if block.branch is None else block.branch.target
        for start in others:
            erase(start)
        if merge is not None and not is_passing:
            erase(merge)
        take_over(block, chosen)
        if isinstance(node, (nodes.If, nodes.Switch)):
            node.drop_operands()
        if merge is not None and is_passing:
            end = block if end is chosen else end
            assert end.branch is not None
            take_over(end, merge, end.branch.arguments)
        return True

    def _leaves_continuing(self, block: nodes.Block, chosen: nodes.Block, merge: nodes.Block | None) -> bool:
        """`break if` must stay one: no other branch leaves a continuing part."""
        if merge is not None or not self.loops:
            return False
        end = last_block(chosen)
        return (
            end.branch is not None
            and end.branch.target is self.loops[-1].merge_target
            and any(block is it for it in region(self.loops[-1].continuing_target))
        )

    def _drop_arguments(self) -> None:
        """Replace arguments that are the same value from everywhere."""
        blocks = blocks_of(self.function)
        incoming: dict[int, list[nodes.Branch]] = {}
        for block in blocks:
            target = None if block.branch is None else destination(block.branch)
            if target is not None and target.arguments and block.branch is not None:
                incoming.setdefault(id(target), []).append(block.branch)
        for block in blocks:
            for target in entered_blocks(block):
                for position in reversed(range(len(target.arguments))):
                    self.changed |= _drop_argument(block, target, position, incoming.get(id(target), []))


def _drop_argument(entering: nodes.Block, block: nodes.Block, position: int, incoming: Sequence[nodes.Branch]) -> bool:
    """Replace an argument of a block of the control-flow node that `entering` enters."""
    argument = block.arguments[position]
    values = {branch.arguments[position] for branch in incoming} - {argument}
    if len(values) != 1:
        return False
    (value,) = values
    if isinstance(value, nodes.Constant) or any(value is it for start in nested(entering) for it in values_from(start)):
        return False
    for branch in incoming:
        branch.arguments = [it for index, it in enumerate(branch.arguments) if index != position]
    del block.arguments[position]
    replace(argument, value)
    return True


def _does_nothing(arm: nodes.Block) -> bool:
    return not arm.instructions and arm.branch is not None and isinstance(arm.branch.target, nodes.Block)


def _select(block: nodes.Block, node: nodes.If, merge: nodes.Block) -> bool:
    """Both arms go on to the merge: its arguments are selected, if such values can be."""
    true, false = node.true_target.branch, node.false_target.branch
    if true is None or false is None or true.target is not merge or false.target is not merge:
        return False
    if not all(isinstance(argument.type, (Scalar, Vector)) for argument in merge.arguments):
        return False
    values: list[Value] = []
    for rejected, accepted in zip(false.arguments, true.arguments, strict=True):
        if rejected is accepted:
            values.append(accepted)
            continue
        made = _made_select(rejected, accepted, node.condition)
        block.instructions.append(made)
        values.append(made)
    for branch in (true, false):
        branch.drop_operands()
    take_over(block, merge, values)
    node.drop_operands()
    return True


def _made_select(rejected: Value, accepted: Value, condition: Value) -> nodes.BuiltinCall:
    arguments = (rejected, accepted, condition)
    try:
        type = builtin_type("select", (), arguments)
    except RuleError as error:  # every scalar and vector can be selected
        raise AssertionError from error
    return nodes.BuiltinCall("select", (), arguments, type, None, span=condition.span)


def _taken_case(node: nodes.Switch) -> nodes.SwitchCase | None:
    """The case that is taken, if it is known."""
    if len(node.cases) == 1:
        return node.cases[0]
    if not isinstance(node.condition, nodes.Constant):
        return None
    value = node.condition.value
    matching = [case for case in node.cases if value in case.selectors]
    return matching[0] if matching else next(case for case in node.cases if case.is_default)


def _has_exit(loop: nodes.Loop, gone: Sequence[nodes.Block]) -> bool:
    """Whether a loop can still be left once some blocks are gone."""
    ids = {id(block) for block in gone}
    inside = [*blocks_from(loop.start_target), *blocks_from(loop.continuing_target)]
    return any(_leaves(block, loop) for block in inside if id(block) not in ids)


def _leaves(block: nodes.Block, loop: nodes.Loop) -> bool:
    target = None if block.branch is None else block.branch.target
    return target is loop.merge_target or (isinstance(target, nodes.Terminator) and not target.unreachable)


def _flatten_loop(block: nodes.Block, node: nodes.Loop) -> bool:
    """A Loop left only from its end, and never repeated."""
    end = last_block(node.start_target)
    if not is_unreachable(node.continuing_target) or end.branch is None or end.branch.target is not node.merge_target:
        return False
    if len(branches_to(blocks_from(node.start_target), node.merge_target)) > 1:
        return False
    assert block.branch is not None
    end = block if end is node.start_target else end
    take_over(block, node.start_target, block.branch.arguments)
    assert end.branch is not None
    take_over(end, node.merge_target, end.branch.arguments)
    return True
