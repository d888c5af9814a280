"""Overrides of a kernel as parameters: their values, and constraints, which are constant expressions of WGSL."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import isfinite, prod
from random import Random
from typing import Final, TypeAlias

import numpy as np

from ..base.cached import cached_property
from ..base.errors import InputError
from ..cases.model import Constant
from ..ir.hints import unknown_name
from ..ir.source import Source
from ..reflection import OverrideInfo
from ..wgsl_functions import evaluate
from .search import Cost

Point: TypeAlias = tuple[tuple[str, Constant], ...]
"""Values of overrides, by name; none of them for those that the case has."""

MOST_VALUES: Final = 10_000
"""The most values of one override, and the most points of a space."""
_MOST_RAW: Final = 4
"""A space counts as large if it has this many times more combinations than may be tried whole."""
_TRIES: Final = 40


def parse_override(text: str) -> tuple[str, list[Constant]]:
    """An override with its values: `TILE=8,16,32`, `n=1..9`, `n=1..9:+2`, `width=32..256:*2`, or several of them with
    commas. Raises InputError.
    """
    name, separator, rest = text.partition("=")
    if not separator or not name.strip() or not rest.strip():
        raise InputError(f"--override takes NAME=VALUES, such as TILE=8,16,32 or width=32..256:*2, not {text!r}")
    values: dict[Constant, None] = {}
    for part in rest.split(","):
        for value in _values(part.strip(), text):
            values[value] = None
            if len(values) > MOST_VALUES:
                raise InputError(f"--override {name.strip()} has more than {MOST_VALUES} values")
    return name.strip(), list(values)


def _values(part: str, text: str) -> Iterator[Constant]:
    if ".." not in part:
        yield _number(part, text)
        return
    ends, _, step = part.partition(":")
    first, last = (_whole(it, text) for it in ends.split("..", 1))
    operation, by = (step[:1], _whole(step[1:], text)) if step else ("+", 1)
    if operation not in ("+", "*") or by < (1 if operation == "+" else 2) or (operation == "*" and first < 1):
        raise InputError(
            f"--override {text}: the step of a range is +N, from 1 on, or *N, from 2 on, of numbers above 0"
        )
    while first <= last:
        yield first
        first = first + by if operation == "+" else first * by


def _number(part: str, text: str) -> Constant:
    if part in ("true", "false"):
        return part == "true"
    try:
        return int(part, 0)
    except ValueError:
        pass
    try:
        value = float(part)
    except ValueError:
        value = float("nan")
    if not isfinite(value):
        raise InputError(f"--override {text}: {part!r} is no number")
    return value


def _whole(part: str, text: str) -> int:
    try:
        return int(part.strip(), 0)
    except ValueError:
        raise InputError(f"--override {text}: a range has whole numbers, not {part!r}") from None


@dataclass(frozen=True)
class OverrideSpace:
    """All combinations of values that satisfy the constraints. `known` are constants of the case.

    Raises InputError for names that the shader does not have, and ShaderError for a constraint that is no expression.
    """

    values: Mapping[str, Sequence[Constant]]
    constraints: Sequence[str]
    overrides: Mapping[str, OverrideInfo]
    known: Mapping[str, Constant]

    def __post_init__(self) -> None:
        for name in self.values:
            if name not in self.overrides:
                raise InputError(unknown_name(f"the shader has no override {name!r}", name, self.overrides))
        if self.points and self.constraints:
            self.allows(self.points[0])

    @property
    def count(self) -> int:
        """The number of combinations, allowed or not."""
        return prod(len(it) for it in self.values.values())

    @cached_property
    def points(self) -> list[Point]:
        """All combinations, or the first `MOST_VALUES` of them."""
        found: list[Point] = []
        for its in product(*self.values.values()):
            found.append(tuple(zip(self.values, its, strict=True)))
            if len(found) == MOST_VALUES:
                break
        return found

    def allows(self, point: Point) -> bool:
        """Whether a combination satisfies all constraints. Raises ShaderError and InputError."""
        return all(self._holds(it, point) for it in self.constraints)

    def _holds(self, constraint: str, point: Point) -> bool:
        lines = [self._declared(name, value) for name, value in {**self.known, **dict(point)}.items()]
        value = evaluate(constraint, Source.from_text("\n".join(lines)))
        if not isinstance(value, (bool, np.bool_)):
            raise InputError(f"--where {constraint}: this is {value}, and neither true nor false")
        return bool(value)

    def _declared(self, name: str, value: Constant) -> str:
        info = self.overrides.get(name)
        text = str(value).lower() if isinstance(value, bool) else repr(value)
        return f"const {name}: {info.type} = {text};" if info is not None else ""

    # A space

    def starts(self) -> Sequence[Point]:
        """The constants of the case, with which all others are compared."""
        return [()]

    def structured(self) -> Sequence[Point]:
        """None: nothing is known of what values mean."""
        return ()

    def refined(self, point: Point) -> Sequence[Point]:
        """None, for the same reason."""
        return ()

    def kind(self, point: Point) -> Hashable:
        """The combination, since no other is known to be alike."""
        return point

    def shape(self, point: Point) -> Hashable:
        """The combination."""
        return point

    def whole(self, most: int) -> Sequence[Point] | None:
        """All combinations that are allowed, if these are at most so many."""
        if self.count > _MOST_RAW * most:
            return None
        allowed = [it for it in self.points if self.allows(it)]
        return allowed if len(allowed) <= most else None

    def sample(self, random: Random) -> Point | None:
        """A random combination."""
        for _ in range(_TRIES):
            point = tuple((name, random.choice(its)) for name, its in self.values.items())
            if self.allows(point):
                return point
        return None

    def neighbour(self, point: Point, random: Random) -> Point | None:
        """A combination that differs in one override, mostly by the next value."""
        if not point:
            return self.sample(random)
        for _ in range(_TRIES):
            name, values = random.choice(list(self.values.items()))
            value = dict(point)[name]
            near = [values[it] for it in self._near(values, value)] if random.random() < 0.7 else values
            made = tuple((it, random.choice(near) if it == name else its) for it, its in point)
            if made != point and self.allows(made):
                return made
        return None

    def _near(self, values: Sequence[Constant], value: Constant) -> list[int]:
        at = values.index(value)
        return [it for it in (at - 1, at + 1) if 0 <= it < len(values)] or [at]

    def child(self, first: Point, second: Point, random: Random) -> Point | None:
        """Each value from one of two combinations."""
        if not first or not second:
            return None
        made = tuple(random.choice(pair) for pair in zip(first, second, strict=True))
        return made if self.allows(made) else None

    def cost(self, point: Point) -> Cost:
        """Nothing is known of what a kernel takes."""
        del point
        return Cost(0.0, 0.0)
