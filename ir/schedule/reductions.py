"""Carried values that a binary function accumulates, so that parts of them may be accumulated apart and joined."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from .dependence import Closure
from .nodes import Compute, Constant, ElementType, Fby, FloatLiteral, IntegerLiteral, Last, Number, Use
from .scope import Scope, used_by

ASSOCIATIVE: Final = ("+", "*", "&", "|", "^", "min", "max")
"""Associative and commutative functions; on floats they are so but for rounding and NaNs."""
_IDEMPOTENT: Final = ("&", "|", "min", "max")
_FLOATS: Final = (ElementType.F32, ElementType.F16)


@dataclass(frozen=True, slots=True)
class Reduction:
    """A Fby whose next value is a function of itself and of an element that does not depend on it."""

    fby: Fby
    function: str

    @property
    def is_exact(self) -> bool:
        """Whether joining parts gives the same bits as going through the elements in order."""
        return self.fby.type not in _FLOATS

    @property
    def neutral(self) -> Constant | None:
        """The value that changes nothing; None for an idempotent function, which may begin with `first` anywhere."""
        if self.function in _IDEMPOTENT:
            return None
        value = int(self.function == "*")
        number: Number = FloatLiteral(float(value)) if self.fby.type in _FLOATS else IntegerLiteral(value)
        return Constant(self.fby.type, number)


def reduction_of(fby: Fby, scope: Scope, closure: Closure) -> Reduction | None:
    """The reduction that a Fby is; None if its values may only be computed in order."""
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
    return Reduction(fby, update.function) if is_private else None


def _needs(operand: Use | Constant, name: str, scope: Scope, closure: Closure) -> bool:
    return isinstance(operand, Use) and closure.needs(scope.values[operand.name], name)
