"""Quotients of which a loop does not change the divisor: products with its reciprocal, which is computed once.

The result may differ in rounding, so that it takes `reassociate`. Reciprocals of normal f32 up to 2^126 do not
overflow; of other divisors WGSL promises nothing ("Accuracy of Concrete Floating Point Expressions"). Those of f16
overflow early, and stay quotients.
"""

from __future__ import annotations

from ...ir.schedule.nodes import Compute, ElementType, Use
from .decided import Decided


def is_by_reciprocal(value: Compute, decided: Decided) -> bool:
    """Whether a value is a quotient that is computed as a product."""
    if not decided.reassociate or value.function != "/" or value.type is not ElementType.F32:
        return False
    divisor = value.operands[1]
    if not isinstance(divisor, Use):
        return False
    stays_in = set(value.dimensions) - decided.scope.dimensions_of(divisor.name)
    return any(decided.count(it) != 1 for name in stays_in for it in decided.sequential(name))
