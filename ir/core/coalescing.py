"""Coalescing: which values can share a variable when SSA form is left.

A block argument becomes a variable, and each branch to its block becomes an assignment. If an argument and the value
passed to it are never live at the same time, they share one variable, and the assignment disappears. In structured
control flow a value is live from its definition to its last use in the order of the text; a value that a Loop uses, but
that is defined outside, is live to the end of the Loop. (Sreedhar et al., "Translating Out of Static Single Assignment
Form"; Poletto and Sarkar, "Linear Scan Register Allocation", for live intervals.)
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from ..types import Pointer
from . import nodes
from .structure import blocks_of, entered_blocks
from .values import User, Value

Interval: TypeAlias = tuple[int, int]
"""From the position of a value's definition to the position of its last use."""


@dataclass(slots=True)
class _LoopInterval:
    """The interval of a Loop in the text, from its body to the end of its continuing part. `outer` is the Loop around
    it.
    """

    outer: _LoopInterval | None
    start: int
    end: int = 0


@dataclass(slots=True, eq=False)
class _Web:
    """Values that share a variable, and their live intervals, which are sorted and disjoint."""

    members: list[Value]
    lives: list[Interval]

    def meets(self, other: _Web) -> bool:
        """Whether live intervals of the two webs overlap."""
        few, many = sorted((self.lives, other.lives), key=len)
        return any(_overlaps(life, many) for life in few)

    def take(self, other: _Web) -> None:
        """Merge the other web into this one."""
        self.members += other.members
        for life in other.lives:
            insort(self.lives, life)


def _overlaps(life: Interval, lives: Sequence[Interval]) -> bool:
    place = bisect_left(lives, life)
    before = place > 0 and lives[place - 1][1] > life[0]
    return before or (place < len(lives) and lives[place][0] < life[1])


@dataclass(slots=True)
class _Text:
    """The positions of the values and users of a function, in the order of its text."""

    places: dict[User, int] = field(default_factory=dict[User, int])
    loops: dict[User, _LoopInterval | None] = field(default_factory=dict[User, "_LoopInterval | None"])

    @classmethod
    def of(cls, function: nodes.Function) -> _Text:
        """Number a function."""
        text = cls()
        place = 0
        loop_of: dict[int, _LoopInterval | None] = {id(function.start_target): None}
        ends: dict[int, _LoopInterval] = {}
        for block in blocks_of(function):
            if id(block) in ends:
                ends[id(block)].end = place
            loop = loop_of[id(block)]
            place += 1
            for user in (*block.arguments, *block.instructions, *_at_end(block)):
                place += not isinstance(user, nodes.BlockArgument)
                text.places[user], text.loops[user] = place, loop
            place += 1
            for entered in entered_blocks(block):
                loop_of[id(entered)] = loop
            match None if block.branch is None else block.branch.target:
                case nodes.Loop() as node:
                    interval = _LoopInterval(loop, place)
                    loop_of[id(node.start_target)] = loop_of[id(node.continuing_target)] = interval
                    ends[id(node.merge_target)] = interval
                case _:
                    pass
        return text

    def life(self, value: Value) -> Interval:
        """The live interval of a value."""
        start = self.places[value]
        return start, max([start + 1, *(self._last(use.user, start) for use in value.uses)])

    def _last(self, user: User, start: int) -> int:
        """The position up to which a user keeps a value defined at `start` live; for an access through a pointer, the
        last use of the resulting pointer.
        """
        end, loop = self.places.get(user, 0), self.loops.get(user)
        if isinstance(user, nodes.Access) and isinstance(user.type, Pointer):
            end = max([end, *(self._last(use.user, start) for use in user.uses)])
        while loop is not None and start < loop.start:
            end, loop = max(end, loop.end), loop.outer
        return end


def _at_end(block: nodes.Block) -> Iterator[User]:
    if block.branch is not None:
        yield block.branch
        if isinstance(block.branch.target, (nodes.If, nodes.Switch)):
            yield block.branch.target


def webs(function: nodes.Function, may_share: Callable[[Value], bool]) -> Sequence[Sequence[Value]]:
    """Groups the block arguments, and the instructions passed to them, for which `may_share` holds: the values of a
    group share a variable. Each group is in the order of the text. Values of different types never share a variable.
    """
    text = _Text.of(function)
    web_of: dict[Value, _Web] = {}
    for parameter, value in _passed(function):
        for it in (parameter, value):
            if it not in web_of and it in text.places and may_share(it):
                web_of[it] = _Web([it], [text.life(it)])
        _join(parameter, value, web_of)
    found = dict.fromkeys(web_of.values())
    for web in found:
        web.members.sort(key=text.places.__getitem__)
    return [web.members for web in found]


def _join(parameter: Value, value: Value, web_of: dict[Value, _Web]) -> None:
    one, other = web_of.get(parameter), web_of.get(value)
    if one is None or other is None or one is other or parameter.type is not value.type or one.meets(other):
        return
    if len(one.members) < len(other.members):
        one, other = other, one
    one.take(other)
    web_of.update(dict.fromkeys(other.members, one))


def _passed(function: nodes.Function) -> Iterator[tuple[nodes.BlockArgument, Value]]:
    """Pairs of a block argument and a value passed to it. The values that a Loop passes to its own start come first,
    since these assignments run most often. A value passed on entry to a Loop is paired only if it is an argument too:
    the Loop's variables begin there.
    """
    blocks = blocks_of(function)
    targets = (block.branch.target for block in blocks if block.branch is not None)
    starts = {id(target.start_target) for target in targets if isinstance(target, nodes.Loop)}
    rest: list[tuple[nodes.BlockArgument, Value]] = []
    for branch in (block.branch for block in blocks):
        match None if branch is None else branch.target:
            case nodes.Loop(start_target=start) if branch is not None:
                pairs = zip(start.arguments, branch.arguments, strict=True)
                rest.extend(pair for pair in pairs if isinstance(pair[1], nodes.BlockArgument))
            case nodes.Block() as target if branch is not None and id(target) in starts:
                yield from zip(target.arguments, branch.arguments, strict=True)
            case nodes.Block() as target if branch is not None:
                rest.extend(zip(target.arguments, branch.arguments, strict=True))
            case _:
                pass
    yield from rest
