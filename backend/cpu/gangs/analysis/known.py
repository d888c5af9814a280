"""Values of a gang's threads that are known before the kernel runs: integers and conditions that are computed from
thread numbers, constants, and counters of the loops around the gang in one of their states.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import TypeAlias

from .....ir.hercules import nodes as h
from .....ir.hercules.arithmetic import ScalarValue, UnknownOperation
from .....ir.hercules.conditions import constant_truth
from .....ir.hercules.graph import predecessors
from .....ir.hercules.operations import Kernel, kernel
from .bounds import constant_value

_DEPTH = 60
"""The most operations, one after another, that are followed."""


Values: TypeAlias = "int | tuple[ScalarValue, ...]"
"""The value of a counter: one for all threads, by itself or in a tuple, or one for each."""


@dataclass(frozen=True, slots=True)
class _Operation:
    """An operation whose operands may be known."""

    operands: Sequence[h.Node]
    compute: Kernel


@dataclass(slots=True)
class KnownValues:
    """What is known of all threads of some perfectly nested forks, the innermost of which counts fastest."""

    types: Mapping[h.Node, h.Type]
    forks: Sequence[h.Fork]
    counters: Mapping[h.Node, Values]
    """The values of Phis."""
    _known: dict[h.Node, tuple[ScalarValue, ...] | None] = field(
        default_factory=dict[h.Node, "tuple[ScalarValue, ...] | None"]
    )
    _formulas: dict[h.Node, tuple[ScalarValue, ...] | _Operation | None] = field(
        default_factory=dict[h.Node, "tuple[ScalarValue, ...] | _Operation | None"]
    )
    """What nodes are, whatever the counters are: values, operations, or None for what is never known."""

    def with_counters(self, counters: Mapping[h.Node, Values]) -> KnownValues:
        """What is known where counters have other values. Loops are executed turn by turn."""
        return KnownValues(self.types, self.forks, counters, _formulas=self._formulas)

    @property
    def threads(self) -> int:
        """The number of threads."""
        return prod(self._factors())

    def of(self, node: h.Node) -> Sequence[ScalarValue] | None:
        """The value in each thread; None if it is not known."""
        found = self._of(node, _DEPTH)
        return found * self.threads if found is not None and len(found) == 1 else found

    def shortest(self, node: h.Node) -> tuple[ScalarValue, ...] | None:
        """The value in each thread, or only one if it does not depend on the thread; None if it is not known."""
        return self._of(node, _DEPTH)

    def common(self, node: h.Node) -> ScalarValue | None:
        """The value that all threads have; None if there is no such value, or if it is not known."""
        found = self._of(node, _DEPTH)
        return found[0] if found is not None and len(set(found)) == 1 else None

    def _factors(self) -> list[int]:
        return [it.factor.value for it in self.forks if isinstance(it.factor, h.DynamicLiteral)]

    def _of(self, node: h.Node, depth: int) -> tuple[ScalarValue, ...] | None:
        """The value in each thread; one value if it does not depend on the thread."""
        if node not in self._known:
            self._known[node] = self._find(node, depth - 1) if depth else None
        return self._known[node]

    def _find(self, node: h.Node, depth: int) -> tuple[ScalarValue, ...] | None:
        if node in self.counters:
            value = self.counters[node]
            return value if isinstance(value, tuple) else (value,)
        if node not in self._formulas:
            self._formulas[node] = self._formula(node)
        formula = self._formulas[node]
        return self._computed(formula, depth) if isinstance(formula, _Operation) else formula

    def _formula(self, node: h.Node) -> tuple[ScalarValue, ...] | _Operation | None:
        if isinstance(node, h.ThreadID) and node.fork in self.forks:
            return self._numbers(node.fork)
        constant = _constant(node)
        if constant is not None:
            return (constant,)
        return self._operation(node) if isinstance(node, h.ScalarNode) else None

    def _numbers(self, fork: h.Node) -> tuple[ScalarValue, ...]:
        factors = self._factors()
        at = next(number for number, it in enumerate(self.forks) if it is fork)
        inside = prod(factors[at + 1 :])
        return tuple(it // inside % factors[at] for it in range(self.threads))

    def _operation(self, node: h.AnyScalarNode) -> _Operation | None:
        operands, result = predecessors(node), self.types.get(node)
        types = [it for it in map(self.types.get, operands) if isinstance(it, (h.Bool, h.Integer))]
        if not isinstance(result, (h.Bool, h.Integer)) or len(types) < len(operands):
            return None
        try:
            return _Operation(operands, kernel(node, types, result))
        except UnknownOperation:
            return None

    def _computed(self, operation: _Operation, depth: int) -> tuple[ScalarValue, ...] | None:
        given: list[tuple[ScalarValue, ...]] = []
        for operand in operation.operands:
            values = self._of(operand, depth)
            if values is None:
                return None
            given.append(values)
        count = max(map(len, given))
        if count == 1:
            return (operation.compute(*(it[0] for it in given)),)
        return tuple(map(operation.compute, *(it * count if len(it) == 1 else it for it in given)))


def _constant(node: h.Node) -> ScalarValue | None:
    """The value of an integer or a bool."""
    truth = constant_truth(node)
    return constant_value(node) if truth is None else truth


def scalar_text(type: h.Type, value: ScalarValue) -> str:
    """A constant as LLVM writes it."""
    return ("true" if value else "false") if isinstance(type, h.Bool) else str(int(value))
