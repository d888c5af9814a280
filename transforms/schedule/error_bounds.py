"""How far the results of a nest may be off what real numbers would give, as a nest that computes such bounds.

Beside each float that is rounded, the nest computes the float's error, as in Wilkinson's running error analysis, to
first order: what it inherits, which is how far the result moves where an operand moves by its own error, and what the
function adds by WGSL ("Accuracy of Concrete Floating Point Expressions"). Beside a bool or an integer, it computes
whether that may be another one: a comparison of floats that are nearer than their errors, and what is chosen by it.

Results may come from another order of operations, or with products and sums in one rounding. So a sum's rounding is
taken to be that of both operands, whatever cancels, and functions that WGSL defines by others (`mix`, `fma`, `%`) to be
that of operands which have some units of error of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, assert_never

from ...base.interpreter_state import deep_nesting
from ...ir.core.nodes import Function, Module
from ...ir.schedule.functions import COPY
from ...ir.schedule.nodes import (
    Array,
    Compute,
    Constant,
    Direction,
    ElementType,
    Fby,
    Gather,
    Index,
    Last,
    Load,
    Map,
    Nest,
    Operand,
    Scatter,
    Store,
    Use,
)
from ...ir.schedule.rules.declarations import MOST_STATEMENTS
from ...ir.schedule.scope import Scope, Value, used_by
from ...ir.schedule.text import WORDS
from ..core.accuracy_bounds import BOUNDED, bound, steps
from .computations import Computations, constant, f32
from .insert_copies import insert_copies
from .names import Names, names_of

_FLOATS: Final = (ElementType.F32, ElementType.F16)
_EPSILON: Final = {ElementType.F32: 2.0**-23, ElementType.F16: 2.0**-10}
_LEAST: Final = {ElementType.F32: 2.0**-126, ElementType.F16: 2.0**-14}
"""The least normal floats: WGSL lets smaller ones become 0."""
_EXACT_BELOW: Final = {ElementType.F32: 2.0**24, ElementType.F16: 2.0**11}
_ANYTHING: Final = (2 - 2.0**-23) * 2.0**127
"""The bound of what may be any number."""
_PASSING: Final = (COPY, "min", "max", "abs", "clamp", "saturate", "f32", "f16", "+", "-")
"""Functions whose results move no farther than their operands."""
_EXACT: Final = (
    *(COPY, "min", "max", "abs", "clamp", "saturate", "select"),
    *("sign", "step", "ceil", "floor", "round", "trunc", "quantizeToF16"),
)
"""Functions that do not round, beside negation."""
_UNITS: Final = {"*": 1.0, "/": 2.5, "sqrt": 4.5, "fract": 1.0, "f32": 1.0, "f16": 1.0}
_UNITS_OF_CPU: Final = 4.0
"""The functions that the CPU approximates are within so many ULP there (docs/accuracy.md)."""
_UNITS_OF_STEPS: Final = 4.0
"""What is assumed for functions that are defined by several operations, and for each of their operands."""
_OF_STEPS: Final = ("fma", "mix", "smoothstep", "%", "ldexp", "length", "distance")


@dataclass(frozen=True, slots=True)
class ErrorBounds:
    """A nest with the same inputs, that computes how far results may be off. `outputs` has the names of its arrays of
    f32 by those of the outputs; elements of others are exact. NaN, or a bound near the greatest float, is no bound.
    """

    nest: Nest
    outputs: Mapping[str, str]


@deep_nesting()
def error_bounds(nest: Nest, *, is_cpu: bool, build: Callable[[str], Module]) -> ErrorBounds | None:
    """The bounds for the results of a verified nest on the CPU, or on any device; None if the nest would be too long.

    `build` makes core IR of WGSL. To what elements a `scatter` joins values is taken to be certain.
    """
    return _Bounded(nest, is_cpu, build).bounds()


@dataclass(slots=True)
class _Bounded:
    nest: Nest
    is_cpu: bool
    build: Callable[[str], Module]
    scope: Scope = field(init=False)
    made: Computations = field(init=False)
    off: frozenset[str] = field(init=False)
    """The values that may be off."""
    errors: dict[str, Use] = field(default_factory=dict[str, Use])
    """The error of each of them: an f32; of a bool or an integer, whether it may be another one."""
    nexts: dict[str, str] = field(default_factory=dict[str, str])
    """The names of the errors of next values, by theirs: the errors of carried values need them before they are there.
    """
    arrays: dict[str, Array] = field(default_factory=dict[str, Array])
    library: dict[str, Function] = field(default_factory=dict[str, Function])
    """The functions of WGSL's bounds, by name."""

    def __post_init__(self) -> None:
        self.scope = Scope(self.nest)
        types = {name: it.type for name, it in self.scope.values.items()}
        self.made = Computations(Names({self.nest.name, *names_of(self.nest), *WORDS}), types)
        self.off = _values_off(self.scope)
        for it in self.scope.values.values():
            if isinstance(it, Fby) and it.name in self.off:
                self.nexts[it.next] = self.made.names.fresh("e")
                self.made.types[self.nexts[it.next]] = _error_type(it.type)

    def bounds(self) -> ErrorBounds | None:
        for statement in self.nest.body:
            if isinstance(statement, Store):
                self._store(statement)
            elif isinstance(statement, Scatter):
                self._scatter(statement)
            else:
                self.made.body.append(statement)
                self._follow(statement)
        inputs = [it for it in self.nest.arrays if it.direction is Direction.IN]
        arrays = (*inputs, *self.arrays.values())
        nest = insert_copies(replace(self.nest, arrays=arrays, body=tuple(self.made.body), combines=()))
        if len(nest.body) > MOST_STATEMENTS:
            return None
        return ErrorBounds(nest, {name: it.name for name, it in self.arrays.items()})

    # Outputs

    def _store(self, store: Store) -> None:
        error = self._of(store.value)
        if error is not None:
            number = self._as_number(error, store.dimensions)
            self.made.body.append(Store(self._array(store.array), store.subscripts, number, store.dimensions))

    def _scatter(self, scatter: Scatter) -> None:
        on, value = scatter.dimensions, scatter.value
        error, is_float = self._of(value), self.made.type_of(value) in _FLOATS
        parts: list[Operand] = [] if error is None else [self._as_number(error, on)]
        is_sum = is_float and scatter.function == "+"
        if is_sum:
            parts.append(self._units(1.0, value, on))
        elif is_float and scatter.function not in ("min", "max"):
            parts.append(f32(_ANYTHING))
        if parts:
            joined = self._joined("+", parts, on)
            function, most = ("+", joined) if is_sum else ("max", self._comparable(joined, on))
            self.made.body.append(Scatter(self._array(scatter.array), scatter.subscripts, f32(0.0), function, most, on))

    def _comparable(self, error: Operand, on: tuple[str, ...]) -> Operand:
        """An error, the greatest number if it is NaN: of NaN and a number, `max` may be the number."""
        return self._call(on, "select", f32(_ANYTHING), error, self._call(on, "<=", error, f32(_ANYTHING)))

    def _array(self, output: str) -> str:
        name = self.made.names.fresh(f"{output}_off")
        self.arrays[output] = Array(Direction.OUT, name, ElementType.F32, self.scope.arrays[output].extents)
        return name

    def _as_number(self, error: Operand, on: tuple[str, ...]) -> Operand:
        if self.made.type_of(error) is ElementType.F32:
            return error
        return self._call(on, "select", f32(0.0), f32(_ANYTHING), error)

    # Values

    def _follow(self, value: Value) -> None:
        """Compute the error of a value behind it, and that of a next value by its name."""
        if value.name in self.off:
            self.errors[value.name] = self._error(value)
        if value.name in self.nexts:
            name, on = self.nexts[value.name], self.scope.ordered(self.scope.dimensions_of(value.name))
            error = self.errors.get(value.name, _none(value.type))
            self.errors[value.name] = self.made.new(Compute(name, self.made.types[name], COPY, (error,), on))

    def _error(self, value: Value) -> Use:
        if isinstance(value, Compute):
            return self._of_float(value) if value.type in _FLOATS else self._of_other(value)
        type, name = _error_type(value.type), self.made.names.fresh("e")
        match value:
            case Fby(first=first, dimensions=dimensions):
                error = self._of(first) or _none(value.type)
                self.made.body.append(Fby(name, type, error, self.nexts[value.next], dimensions))
            case Last(value=source, dimensions=dimensions):
                self.made.body.append(Last(name, type, self.errors[source].name, dimensions))
            case Map(value=source, pairs=pairs):
                self.made.body.append(Map(name, type, self.errors[source].name, pairs))
            case Gather(subscripts=subscripts):
                on, moved = value.dimensions, [self._of(it) for it in subscripts]
                is_another = self._joined("|", [it for it in moved if it is not None], on)
                is_float = value.type in _FLOATS
                return self._joined("+", [self._as_number(is_another, on)], on) if is_float else is_another
            case Load() | Index():
                raise AssertionError("what is loaded is exact")
            case _:
                assert_never(value)
        self.made.types[name] = type
        return Use(name)

    def _of(self, operand: Operand) -> Use | None:
        """The error of an operand, None if it is exact."""
        return self.errors.get(operand.name) if isinstance(operand, Use) else None

    # Bools and integers

    def _of_other(self, value: Compute) -> Use:
        """Whether the result may be another one."""
        on, function, operands = value.dimensions, value.function, value.operands
        errors = {place: error for place, it in enumerate(operands) if (error := self._of(it)) is not None}
        if function == "select":
            return self._joined("|", self._by_choice(value), on)
        if any(self.made.type_of(operands[place]) not in _FLOATS for place in errors):
            return self._joined("|", list(errors.values()), on)
        if function in ("==", "!="):
            distance = self._call(on, "abs", self._call(on, "-", *(self._wide(it, on) for it in operands)))
            return self._joined("<=", [distance, self._joined("+", list(errors.values()), on)], on)
        ends: list[Operand] = []
        for signs in ("+-", "-+"):  # a comparison is least certain where its operands move towards each other
            moved = [self._wide(it, on) for it in operands]
            for place, error in errors.items():
                moved[place] = self._call(on, signs[place], moved[place], error)
            ends.append(self._call(on, function, *moved))
        return self._joined("!=", ends, on)

    # Floats

    def _of_float(self, value: Compute) -> Use:
        """How far the result may be off."""
        on = value.dimensions
        parts = [*self._inherited(value), *self._own(value)]
        return self._joined("+", parts, on)

    def _inherited(self, value: Compute) -> list[Operand]:
        """How far it moves where operands move by their errors, by each of them."""
        on, function, operands = value.dimensions, value.function, value.operands
        if function == "select":
            return self._by_choice(value)
        errors = {place: self._of_operand(function, it, on) for place, it in enumerate(operands)}
        parts = [self._passed(value, place, error) for place, error in errors.items() if error is not None]
        return [self._greater(*parts, on=on)] if function in ("min", "max") and len(parts) == 2 else parts

    def _greater(self, first: Operand, second: Operand, *, on: tuple[str, ...]) -> Operand:
        """The greater one of two errors, NaN if one is: of NaN and a number, `max` may be the number."""
        nothing = self._call(on, "*", self._call(on, "+", first, second), f32(0.0))
        return self._call(on, "+", self._call(on, "max", first, second), nothing)

    def _of_operand(self, function: str, operand: Operand, on: tuple[str, ...]) -> Operand | None:
        """The error of an operand, with that which stands for the roundings of a function's operations."""
        error = self._of(operand)
        if function not in _OF_STEPS or self.made.type_of(operand) not in _FLOATS:
            return error
        units = self._units(_UNITS_OF_STEPS, operand, on)
        return units if error is None else self._call(on, "+", error, units)

    def _passed(self, value: Compute, place: int, error: Operand) -> Operand:
        """How far the result moves where one operand moves by its error."""
        on, function, operands = value.dimensions, value.function, value.operands
        if self.made.type_of(error) is ElementType.BOOL:
            return self._as_number(error, on)
        if function in _PASSING:
            return error
        if function == "*":
            return self._call(on, "*", self._call(on, "abs", self._wide(operands[1 - place], on)), error)
        return self._moved(value, place, error)

    def _by_choice(self, value: Compute) -> list[Operand]:
        """The error of what is chosen, and, where that may be the other one, what differs between the two."""
        on, (other, first, condition) = value.dimensions, value.operands
        errors = [self._of(it) or _none(value.type) for it in (other, first)]
        parts: list[Operand] = []
        if any(isinstance(it, Use) for it in errors):
            parts.append(self._call(on, "select", *errors, condition))
        may_differ = self._of(condition)
        if may_differ is not None and value.type in _FLOATS:
            distance = self._call(on, "abs", self._call(on, "-", self._wide(other, on), self._wide(first, on)))
            parts.append(self._call(on, "select", f32(0.0), distance, may_differ))
        elif may_differ is not None:
            parts.append(self._call(on, "&", may_differ, self._call(on, "!=", other, first)))
        return parts

    def _moved(self, value: Compute, place: int, error: Operand) -> Operand:
        """How far the result moves, up and down together, where one operand moves by its error."""
        on, operands = value.dimensions, [self._wide(it, on=value.dimensions) for it in value.operands]
        ways: list[Operand] = []
        for sign in "+-":
            moved = list(operands)
            moved[place] = self._call(on, sign, operands[place], error)
            result = self._call(on, value.function, *moved)
            ways.append(self._call(on, "abs", self._call(on, "-", result, self._wide(Use(value.name), on))))
        return self._call(on, "+", *ways)

    def _own(self, value: Compute) -> list[Operand]:
        """What the function adds by its rounding, or by its approximation."""
        on, function, operands, result = value.dimensions, value.function, value.operands, Use(value.name)
        if _is_exact(value, self.scope):
            return []
        if function in ("+", "-"):
            return [self._units(1.0, it, on, value.type) for it in operands]
        if function in BOUNDED and not self.is_cpu:
            given = [self._wide(it, on) for it in (*operands, result)]
            off = self.made.inlined(self._bound_of(function, value.type, len(operands)), given, on=on)
            return [off, self._call(on, "*", given[-1], f32(0.0))]  # NaN for NaN, of which `max` in a bound may be none
        if function in ("f32", "f16") and self.made.type_of(operands[0]) not in _FLOATS:
            return [self._of_conversion(value)]
        units = _UNITS_OF_CPU if function in BOUNDED else _UNITS.get(function, _UNITS_OF_STEPS)
        return [self._units(units, result, on)]

    def _of_conversion(self, value: Compute) -> Operand:
        """That of an integer that may be too large."""
        on, result = value.dimensions, Use(value.name)
        is_whole = self._call(on, "<", self._call(on, "abs", self._wide(result, on)), f32(_EXACT_BELOW[value.type]))
        return self._call(on, "select", self._units(1.0, result, on), f32(0.0), is_whole)

    def _bound_of(self, function: str, type: ElementType, arity: int) -> Function:
        name = f"off_{function}_{type.value}"
        if name not in self.library:
            text = steps(type.value, is_rough=True) + bound(function, type.value, arity)
            self.library |= {it.name: it for it in self.build(text).functions}
        return self.library[name]

    def _units(self, count: float, operand: Operand, on: tuple[str, ...], type: ElementType | None = None) -> Operand:
        """So many units in the last place of an operand, by default in its type, and the least float, for flushing."""
        of = self.made.type_of(operand) if type is None else type
        size = self._call(on, "abs", self._wide(operand, on))
        return self._call(on, "fma", size, f32(count * _EPSILON[of]), f32(_LEAST[of]))

    # Statements

    def _call(self, on: tuple[str, ...], function: str, *operands: Operand) -> Operand:
        return self.made.call(function, *operands, on=on)

    def _joined(self, function: str, operands: Sequence[Operand], on: tuple[str, ...]) -> Use:
        """Operands joined in their order, as a value on these dimensions."""
        first, *others = operands
        for it in others:
            first = self._call(on, function, first, it)
        return first if others and isinstance(first, Use) else self.made.copy(first, on=on)

    def _wide(self, operand: Operand, on: tuple[str, ...]) -> Operand:
        """An operand of f16 as f32, another one as it is."""
        return self._call(on, "f32", operand) if self.made.type_of(operand) is ElementType.F16 else operand


def _values_off(scope: Scope) -> frozenset[str]:
    """The values that may be off, or be other ones."""
    found: set[str] = set()
    while True:
        more = {name for name, it in scope.values.items() if name not in found and _may_be_off(it, found, scope)}
        if not more:
            return frozenset(found)
        found |= more


def _may_be_off(value: Value, off: Container[str], scope: Scope) -> bool:
    if any(it in off for it in used_by(value)) or (isinstance(value, Fby) and value.next in off):
        return True
    return isinstance(value, Compute) and value.type in _FLOATS and not _is_exact(value, scope)


def _is_exact(value: Compute, scope: Scope) -> bool:
    """Whether the function does not round."""
    first = scope.type_of(value.operands[0])
    if value.function in ("f32", "f16"):
        return first in (value.type, ElementType.F16, ElementType.BOOL)
    return value.function in _EXACT or (value.function == "-" and len(value.operands) == 1)


def _error_type(type: ElementType) -> ElementType:
    return ElementType.F32 if type in _FLOATS else ElementType.BOOL


def _none(type: ElementType) -> Constant:
    """The error of an exact value."""
    return constant(_error_type(type), 0)
