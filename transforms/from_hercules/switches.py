"""Chains of Ifs that are written as a switch: each tests one integer for constants, and the next decides what is left.
All arms meet in one place, or leave.

So a Match comes back as a switch, since `lower_sums` has made tests of a tag of it, and so does a switch of a shader.

WGSL's `break` leaves the innermost loop or switch. A chain of which an arm leaves the loop around it therefore stays
Ifs: as a switch it would need a flag, and a test of the flag after the switch. `continue` and `return` mean the same
inside of a switch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...ir.hercules import nodes as h
from ...ir.hercules.analyses import Loop
from ...ir.hercules.graph import is_control
from ...ir.hercules.placement import Placement
from .shape import Cycle, Shape

_FEWEST = 2
"""Tests in a chain: one alone is an If."""

_MOST_EARLY = 4
"""Operations in a block of a chain that several of the arms after it use. They run before the switch, for all arms; a
block with more of them ends the chain.
"""


@dataclass(frozen=True, slots=True)
class Arm:
    """What a switch does for these values, or for all others if there are none: go on at `output`, from `leader`."""

    leader: h.Node
    output: h.Node
    values: tuple[h.IntegerConstant, ...]


@dataclass(frozen=True, slots=True)
class Switch:
    """A switch on an integer, whose last arm is for all other values.

    Of the blocks of the chain after the first, `early` are the nodes that arms use, which come before the switch, and
    `labels` the labels, which follow it.
    """

    subject: h.Node
    arms: tuple[Arm, ...]
    early: tuple[h.Node, ...]
    labels: tuple[h.Node, ...]


def switches_of(
    placed: Placement,
    shape: Shape,
    users: Mapping[h.Node, Sequence[h.Node]],
    is_repeated: Callable[[Cycle], bool],
) -> Mapping[h.Node, Switch]:
    """The switches of a function by the leaders of the blocks that they end. `is_repeated`: whether a loop or fork is
    written as a loop.
    """
    chains = _Chains(placed, shape, users, is_repeated)
    found: dict[h.Node, Switch] = {}
    inside: set[h.Node] = set()
    for leader in placed.blocks:
        if leader not in inside and (switch := chains.switch(leader)) is not None:
            found[leader] = switch
            inside |= {arm.leader for arm in switch.arms}
    return found


def outputs_of(branch: h.If, users: Mapping[h.Node, Sequence[h.Node]]) -> Mapping[bool, h.Node]:
    """The two outputs of an If."""
    return dict(_outputs(users[branch]))


def _outputs(users: Iterable[h.Node]) -> Iterator[tuple[bool, h.Node]]:
    for it in users:
        match it:
            case h.Read(indices=[h.ControlIndex(output)]):
                yield bool(output), it
            case _:
                pass


@dataclass(frozen=True, slots=True)
class _Test:
    """Whether an integer equals one of some constants. `nodes` compute that."""

    subject: h.Node
    values: tuple[h.IntegerConstant, ...]
    nodes: frozenset[h.Node]


@dataclass(frozen=True, slots=True)
class _Chains:
    placed: Placement
    shape: Shape
    users: Mapping[h.Node, Sequence[h.Node]]
    is_repeated: Callable[[Cycle], bool]

    def switch(self, leader: h.Node) -> Switch | None:
        """The switch that a block ends in, if it does."""
        test = self._test(leader)
        if test is None:
            return None
        arms: list[Arm] = []
        early: list[h.Node] = []
        labels: list[h.Node] = []
        while True:
            outputs = self._outputs(leader)
            arms.append(Arm(leader, outputs[True], test.values))
            following = self._following(outputs[False], test.subject, arms)
            if following is None:
                break
            leader, test = outputs[False], following
            early.extend(self._early(leader, test))
            labels.extend(self.shape.labels[leader])
        arms.append(Arm(leader, outputs[False], ()))
        if len(arms) <= _FEWEST or self._breaks(arms):
            return None
        return Switch(test.subject, tuple(arms), tuple(early), tuple(labels))

    def _outputs(self, leader: h.Node) -> Mapping[bool, h.Node]:
        branch = self.placed.exits[leader]
        assert isinstance(branch, h.If)
        return outputs_of(branch, self.users)

    def _test(self, leader: h.Node) -> _Test | None:
        branch = self.placed.exits[leader]
        return _test_of(branch.condition) if isinstance(branch, h.If) else None

    def _following(self, leader: h.Node, subject: h.Node, arms: Sequence[Arm]) -> _Test | None:
        """The test of a block that does nothing but go on with a chain."""
        test = self._test(leader)
        if test is None or test.subject is not subject or self.shape.is_label(leader):
            return None
        values = {it.value for arm in arms for it in arm.values}
        if any(it.value in values for it in test.values):
            return None
        early = self._early(leader, test)
        if len(early) > _MOST_EARLY or not all(isinstance(it, h.ScalarNode) for it in early):
            return None
        if self.shape.labels[leader] and not all(self._leaves(arm) for arm in arms):
            return None  # an arm before goes on after the labels, which would be skipped by a flag
        return test

    def _early(self, leader: h.Node, test: _Test) -> list[h.Node]:
        """The nodes of a block of a chain that are for more than its test."""
        own = [it for it in self.placed.blocks[leader] if not is_control(it) and not isinstance(it, h.ConstantNode)]
        for_test = test.nodes | {self.placed.exits[leader]}
        return [it for it in own if not {user for user in self.users[it] if user in self.placed.live} <= for_test]

    def _leaves(self, arm: Arm) -> bool:
        """Whether an arm ends in returns or the next iteration of the loop around it, so that nothing follows it."""
        loop = self._loop(arm.leader)
        for block in self._dominated(arm.output):
            for after in self._successors(block):
                if not self.placed.dominators.dominates(arm.output, after) and not self._is_next(after, loop):
                    return False
        return True

    def _breaks(self, arms: Sequence[Arm]) -> bool:
        """Whether an arm leaves the loop around it."""
        loop = self._loop(arms[0].leader)
        return loop is not None and any(self._is_out(it, loop) for arm in arms for it in self._entered(arm, loop))

    def _entered(self, arm: Arm, loop: Cycle) -> Iterator[h.Node]:
        """The blocks that control comes to from an arm inside of a loop, its own included."""
        yield arm.output
        for block in self._dominated(arm.output):
            if loop in self.shape.cycles[block]:
                yield from self._successors(block)

    def _is_out(self, block: h.Node, loop: Cycle) -> bool:
        return loop not in self.shape.cycles[block] and not self._is_next(block, loop)

    def _loop(self, leader: h.Node) -> Cycle | None:
        """The innermost loop around a block."""
        return next((it for it in reversed(self.shape.cycles[leader]) if self.is_repeated(it)), None)

    def _dominated(self, leader: h.Node) -> Iterator[h.Node]:
        return (it for it in self.placed.blocks if self.placed.dominators.dominates(leader, it))

    def _successors(self, leader: h.Node) -> Sequence[h.Node]:
        """The leaders of the blocks after one."""
        end = self.placed.exits[leader]
        return self.placed.graph.successors[end] if isinstance(end, (h.If, h.Match, h.Return)) else (end,)

    def _is_next(self, block: h.Node, loop: Cycle | None) -> bool:
        """Whether a jump to a block goes on with the next iteration of a loop."""
        if isinstance(loop, Loop):
            return block is loop.header
        return isinstance(block, h.Join) and self.placed.nest.forks[block] is loop


def _test_of(condition: h.Node) -> _Test | None:
    match condition:
        case h.Binary(h.BinaryOp.EQUAL, subject, h.ConstantNode(h.IntegerConstant() as value)):
            return _Test(subject, (value,), frozenset((condition,)))
        case h.Binary(h.BinaryOp.EQUAL, h.ConstantNode(h.IntegerConstant() as value), subject):
            return _Test(subject, (value,), frozenset((condition,)))
        case h.Binary(h.BinaryOp.OR, left, right):
            return _either(condition, _test_of(left), _test_of(right))
        case _:
            return None


def _either(condition: h.Node, left: _Test | None, right: _Test | None) -> _Test | None:
    if left is None or right is None or left.subject is not right.subject:
        return None
    if {it.value for it in left.values} & {it.value for it in right.values}:
        return None
    return _Test(left.subject, left.values + right.values, left.nodes | right.nodes | {condition})
