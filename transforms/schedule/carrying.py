"""The variables of what is carried from iteration to iteration: one for each point of the written-out levels.

Loops inside of the outermost carrying one, along other dimensions, go on with values of their own in each iteration.
These are elements of arrays of the invocation. In an iteration of the innermost such loop they are in variables, as all
other carried values are: loaded where it begins, and stored where it ends.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import product

from ...ir import types as w
from ...ir.core import nodes as c
from ...ir.core.builder import u32
from ...ir.core.values import Value
from ...ir.schedule.nodes import Fby, Last
from .addresses import Addresses, Point
from .structure import Loop, leaves_of
from .tasks import Carry
from .vectors import splat

_Place = tuple[str, Point]
"""The name of a carried value, and iterations of written-out levels."""


@dataclass(slots=True)
class Carrying:
    """The memory of a kernel's carried values."""

    addresses: Addresses
    _variables: dict[_Place, c.Var] = field(default_factory=dict[_Place, c.Var])
    _arrays: dict[_Place, c.Var] = field(default_factory=dict[_Place, c.Var])

    def points(self, carry: Carry) -> Iterator[Point]:
        """All combinations of iterations that have variables of their own, and that are not entered yet."""
        decided, written = self.addresses.decided, self.addresses.written
        names = [it for it in decided.distinct(carry) if it not in written]
        counts = [range(decided.count(it) or 0) for it in names]
        return (tuple(zip(names, numbers, strict=True)) for numbers in product(*counts))

    def key(self, carry: Carry) -> Point:
        """The current iterations of the levels that have variables of their own."""
        return tuple((it, self.addresses.written[it]) for it in self.addresses.decided.distinct(carry))

    def end_key(self, carry: Carry) -> Point:
        """The key of what is known at the end: parts have been joined in the variable of the first one. For the
        components of vectors, that is a variable of its own.
        """
        decided = self.addresses.decided
        level = decided.vector_in(carry.on)
        vector = () if level is None else ((level, 0),)
        names = decided.distinct(carry)
        return *((it, 0 if it.dimension in carry.on else self.addresses.written[it]) for it in names), *vector

    def width(self, carry: Carry) -> int:
        """The number of components of the variables that values are carried in."""
        return self.addresses.decided.width_in(carry.dimensions)

    @contextmanager
    def each(self, carry: Carry) -> Generator[None]:
        """What is done inside of the `with` is done in each iteration of the loops whose iterations have elements of
        arrays.
        """
        addresses, builder = self.addresses, self.addresses.frame.builder
        with ExitStack() as stack:
            for level in addresses.decided.looped(carry):
                count = u32(addresses.decided.count(level) or 0)
                name = addresses.frame.name(f"{level.dimension}_{level.level}")
                addresses.at[level] = stack.enter_context(builder.counting(u32(0), count, name=name))
                stack.enter_context(addresses.block())
                stack.callback(addresses.at.pop, level)
            yield

    def pointer(self, name: str, key: Point, carry: Carry) -> Value:
        """Where a value lies before and after the loops that carry it."""
        if not self.addresses.decided.looped(carry):
            return self.variable(name, key)
        return self.addresses.frame.builder.access(self._arrays[name, key], [self._element(carry)])

    def variable(self, name: str, key: Point) -> c.Var:
        """The variable in which a value is carried."""
        return self._variables[name, key]

    def set(self, carried: Fby | Last, key: Point, value: Value, carry: Carry, width: int) -> None:
        """What a value is before or after the loops that carry it."""
        value = splat(self.addresses.frame.builder, value, width)
        if not self.addresses.decided.looped(carry):
            self._set_variable(carried.name, key, value)
            return
        if (carried.name, key) not in self._arrays:
            type = w.array(value.type, self.addresses.decided.turns_apart(carry) or 1)
            self._arrays[carried.name, key] = self.addresses.frame.declared(f"{carried.name}_each", type)
        self.addresses.frame.builder.store(self.pointer(carried.name, key, carry), value)

    def _set_variable(self, name: str, key: Point, value: Value) -> None:
        if (name, key) in self._variables:
            self.addresses.frame.builder.store(self._variables[name, key], value)
        else:
            self._variables[name, key] = self.addresses.frame.variable(name, value.type, value)

    def _element(self, carry: Carry) -> Value:
        """The number of an element: that of the current iterations."""
        levels = self.addresses.decided.looped(carry)
        return self.addresses.memo(("element", levels), lambda: self.addresses.number_of(levels))

    @contextmanager
    def iteration(self, loop: Loop) -> Generator[None]:
        """Inside of the `with`, elements of arrays are in variables."""
        used = [it for it in self._used_in(loop) if self.addresses.decided.looped(it)[-1:] == (loop.level,)]
        builder = self.addresses.frame.builder
        for carry, it, key in self._values(used):
            self._set_variable(it.name, key, builder.load(self.pointer(it.name, key, carry)))
        yield
        changed = set(leaves_of(loop.body))
        for carry, it, key in self._values([it for it in used if it in changed]):
            builder.store(self.pointer(it.name, key, carry), builder.load(self.variable(it.name, key)))

    def _used_in(self, loop: Loop) -> list[Carry]:
        """What tasks in a loop carry, or read before it is at its end."""
        decided = self.addresses.decided
        tasks = list(leaves_of(loop.body))
        read = [decided.homes[name] for task in tasks for name in sorted(decided.demand_of(task).reads)]
        return list(dict.fromkeys([*(it for it in tasks if isinstance(it, Carry)), *read]))

    def _values(self, carries: list[Carry]) -> Iterator[tuple[Carry, Fby | Last, Point]]:
        for carry in carries:
            for point in self.points(carry):
                with self.addresses.written_as(point):
                    yield from ((carry, it, self.key(carry)) for it in carry.values)
