"""The meaning of a combine, and a trial of it: random elements in parts, against the same elements in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from random import Random
from typing import Final

from ..constants import RawValue
from .extents import value_of
from .functions import Evaluate, evaluator
from .nodes import Combine, Compute, Constant, ElementType, Fby, Index, Operand, Use
from .scope import Scope, used_by

TRIALS: Final = 24
MOST_ELEMENTS: Final = 9
_TOLERANCES: Final = {ElementType.F32: 1e-3, ElementType.F16: 5e-2}
"""How far the results of floats may be apart, relative to the greater one or to 1: far more than rounding makes."""
State = tuple[RawValue, ...]


def types_of(combine: Combine, scope: Scope) -> dict[str, ElementType]:
    """The types of the names in a combine whose body is well-formed."""
    carried = [scope.values[it].type for it in combine.carried]
    types = dict(zip(combine.left, carried, strict=True)) | dict(zip(combine.right, carried, strict=True))
    return types | {it.name: it.type for it in combine.body if isinstance(it, Compute)}


def joined(combine: Combine, scope: Scope, left: State, right: State) -> State:
    """The values of two parts, joined."""
    types = types_of(combine, scope)
    known: dict[str, RawValue] = dict(zip((*combine.left, *combine.right), (*left, *right), strict=True))

    def value(operand: Operand) -> RawValue:
        return operand.value.value if isinstance(operand, Constant) else known[operand.name]

    for it in combine.body:
        assert isinstance(it, Compute)
        operands = tuple(types[o.name] if isinstance(o, Use) else o.type for o in it.operands)
        known[it.name] = evaluator(it.function, operands)([value(o) for o in it.operands])
    return tuple(map(value, combine.results))


def counterexample(combine: Combine, scope: Scope) -> str:
    """A sentence on elements whose parts, joined, are not what all of them are in order; empty if none was found.

    The elements are random, the same ones in each call. Those of whole numbers and of multiples of 1/4 are small, so
    that many are equal. What overflows or is no number is not compared.
    """
    random = Random(0)
    for _ in range(TRIALS):
        trial = _Trial(combine, scope, random, random.randint(0, MOST_ELEMENTS))
        found = trial.difference()
        if found:
            return found
    return ""


@dataclass(slots=True)
class _Trial:
    combine: Combine
    scope: Scope
    random: Random
    count: int
    computed: list[Compute] = field(default_factory=list[Compute])
    """What the next values are computed by, in order."""
    evaluators: dict[str, Evaluate] = field(default_factory=dict[str, Evaluate])
    random_numbers: dict[tuple[str, int], RawValue] = field(default_factory=dict[tuple[str, int], RawValue])
    """Values that are no operations, by name and element; the element is 0 for those that are the same for all."""

    def __post_init__(self) -> None:
        needed = {self.fby(it).next for it in self.combine.carried}
        for value in reversed(self.scope.values.values()):
            if value.name in needed and isinstance(value, Compute):
                needed.update(used_by(value))
                self.computed.insert(0, value)
                types = tuple(map(self.scope.type_of, value.operands))
                self.evaluators[value.name] = evaluator(value.function, types)

    def difference(self) -> str:
        """What differs, for these elements."""
        fbys = [self.fby(it) for it in self.combine.carried]
        neutral = tuple(it.value.value for it in self.combine.neutral if isinstance(it, Constant))
        firsts = tuple(it.first.value.value if isinstance(it.first, Constant) else None for it in fbys)
        first = neutral if None in firsts else tuple(it for it in firsts if it is not None)
        in_order = self.folded(first, range(self.count))
        parts = [[it for it in range(self.count) if it % 3 == part] for part in range(3)]
        self.random.shuffle(parts)
        states = [self.folded(neutral, it) for it in parts]
        lists = [joined(self.combine, self.scope, joined(self.combine, self.scope, states[0], states[1]), states[2])]
        tail = joined(self.combine, self.scope, states[1], states[2])
        lists.append(joined(self.combine, self.scope, states[0], tail))
        results = [joined(self.combine, self.scope, first, it) for it in lists]
        for result in results:
            if not self.agrees(in_order, result):
                return f"{self.count} elements give {_shown(in_order)} in order, and {_shown(result)} in three parts"
        return ""

    def fby(self, name: str) -> Fby:
        found = self.scope.values[name]
        assert isinstance(found, Fby)
        return found

    def folded(self, start: State, elements: Sequence[int]) -> State:
        """What the carried values are after these elements."""
        state = start
        for element in elements:
            known = dict(zip(self.combine.carried, state, strict=True))
            for it in self.computed:
                operands = [self.operand(o, element, known) for o in it.operands]
                known[it.name] = self.evaluators[it.name](operands)
            state = tuple(self.operand(Use(self.fby(it).next), element, known) for it in self.combine.carried)
        return state

    def operand(self, operand: Operand, element: int, known: Mapping[str, RawValue]) -> RawValue:
        """What an operation takes at an element: an index, a random number, or what was computed of these."""
        if isinstance(operand, Constant):
            return operand.value.value
        if operand.name in known:
            return known[operand.name]
        value = self.scope.values[operand.name]
        on = self.fby(self.combine.carried[0]).dimensions
        if isinstance(value, Index):
            indices = {it.name: 0 for it in value.value.terms} | {on[-1]: element}
            return value_of(value.value, indices) % 2**31
        at = element if self.scope.dimensions_of(value.name).intersection(on) else 0
        return self.random_numbers.setdefault((value.name, at), _random(value.type, self.random))

    def agrees(self, left: State, right: State) -> bool:
        types = [self.fby(it).type for it in self.combine.carried]
        return all(_agree(*pair) for pair in zip(types, left, right, strict=True))


def _agree(type: ElementType, left: RawValue, right: RawValue) -> bool:
    if not (isinstance(left, float) and isinstance(right, float)):
        return left == right
    if not (isfinite(left) and isfinite(right)):
        return True
    return abs(left - right) <= _TOLERANCES[type] * max(1.0, abs(left), abs(right))


def _random(type: ElementType, random: Random) -> RawValue:
    if type is ElementType.BOOL:
        return random.random() < 0.5
    if type in _TOLERANCES:
        return random.randint(-12, 12) / 4
    return random.randint(0 if type is ElementType.U32 else -5, 9)


def _shown(state: State) -> str:
    return f"({', '.join(f'{it:g}' if isinstance(it, float) else str(it) for it in state)})"
