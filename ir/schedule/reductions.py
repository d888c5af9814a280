"""Carried values that a function of two parts accumulates, so that parts of them may be accumulated apart and joined.

Either a value is accumulated by an associative and commutative operator or function, or the nest has a `combine` for
the values, whose author says that it joins parts; the verifier tries that (`trials`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from .dependence import Closure
from .nodes import Combine, Compute, Constant, ElementType, Fby, FloatLiteral, IntegerLiteral, Last, Number, Use
from .scope import Scope, used_by

ASSOCIATIVE: Final = ("+", "*", "&", "|", "^", "min", "max")
"""Associative and commutative functions; on floats they are so but for rounding and NaNs."""
IDEMPOTENT: Final = ("&", "|", "min", "max")
"""Functions that may join a value twice."""
_FLOATS: Final = (ElementType.F32, ElementType.F16)
_CHOICES: Final = ("select", "copy")
"""Functions whose float results are exact."""


@dataclass(frozen=True, slots=True)
class Reduction:
    """Carried values whose next values are a function of themselves and of elements that do not depend on them.

    `join` is the function, or the combine of several values. `is_exact` says whether joining parts gives the same bits
    as going through the elements in order.
    """

    fbys: tuple[Fby, ...]
    join: str | Combine
    is_exact: bool

    @property
    def neutral(self) -> tuple[Constant, ...] | None:
        """The values that change nothing; None for an idempotent function, which may begin with `first` anywhere."""
        if isinstance(self.join, Combine):
            return tuple(it for it in self.join.neutral if isinstance(it, Constant))
        return None if self.join in IDEMPOTENT else (neutral_constant(self.join, self.fbys[0].type),)


def neutral_constant(function: str, type: ElementType) -> Constant:
    """The number that +, *, | or ^ changes nothing by."""
    value = int(function == "*")
    number: Number = FloatLiteral(float(value)) if type in _FLOATS else IntegerLiteral(value)
    return Constant(type, number)


def reductions_of(fbys: Iterable[Fby], scope: Scope, closure: Closure) -> dict[str, Reduction]:
    """The reductions among carried values, by the names of these; other values may only be computed in order."""
    found: dict[str, Reduction] = {}
    for combine in scope.nest.combines:
        reduction = _combined(combine, scope)
        found |= {} if reduction is None else dict.fromkeys(combine.carried, reduction)
    declared = {name for combine in scope.nest.combines for name in combine.carried}
    for fby in fbys:
        reduction = None if fby.name in declared else _accumulated(fby, scope, closure)
        found |= {} if reduction is None else {fby.name: reduction}
    return found


def _accumulated(fby: Fby, scope: Scope, closure: Closure) -> Reduction | None:
    update = scope.values[fby.next]
    if not isinstance(update, Compute) or update.function not in ASSOCIATIVE or len(update.operands) != 2:
        return None
    others = [it for it in update.operands if it != Use(fby.name)]
    if len(others) != 1 or _needs(others[0], fby.name, scope, closure):
        return None
    is_private = all(
        isinstance(it, Last) or (it is update and fby.name in used_by(it) and update.name not in used_by(it))
        for it in scope.nest.body
        if fby.name in used_by(it) or update.name in used_by(it)
    )
    return Reduction((fby,), update.function, fby.type not in _FLOATS) if is_private else None


def _needs(operand: Use | Constant, name: str, scope: Scope, closure: Closure) -> bool:
    return isinstance(operand, Use) and closure.needs(scope.values[operand.name], name)


def _combined(combine: Combine, scope: Scope) -> Reduction | None:
    """The reduction of a combine, if nothing else uses the carried values and what is computed of them."""
    fbys = tuple(it for it in scope.nest.body if isinstance(it, Fby) and it.name in combine.carried)
    computed: dict[str, Compute] = {}
    for statement in scope.nest.body:
        used = {it for it in used_by(statement) if it in combine.carried or it in computed}
        if not used or (isinstance(statement, Last) and used <= set(combine.carried)):
            continue
        if not isinstance(statement, Compute):
            return None
        computed[statement.name] = statement
    others = [it for it in scope.nest.body if isinstance(it, Fby) and it not in fbys]
    if any(it.next in computed for it in others):
        return None
    done = (*computed.values(), *(it for it in combine.body if isinstance(it, Compute)))
    is_exact = all(it.type not in _FLOATS or it.function in _CHOICES for it in done)
    ordered = {it.name: it for it in fbys}
    return Reduction(tuple(ordered[name] for name in combine.carried), combine, is_exact)
