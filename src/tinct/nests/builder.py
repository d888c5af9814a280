"""`tinct.Nest`: a loop nest, built value by value; in one long file, because it is one class, whose methods users
call.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeAlias, TypeVar, cast, overload

from ..arguments import name_of, text_of
from ..base.errors import InputError
from ..ir.hints import unknown_name
from ..ir.layout_numbers import shown
from ..ir.schedule.functions import function_names, is_function, result_type
from ..ir.schedule.nodes import (
    Array,
    Boundary,
    Combine,
    Compute,
    Constant,
    Dimension,
    Direction,
    ElementType,
    Fby,
    Gather,
    Index,
    Last,
    Load,
    Map,
    Operand,
    Pair,
    Scatter,
    Statement,
    Store,
    Use,
)
from ..ir.schedule.nodes import Nest as NestNode
from ..ir.schedule.text import WORDS
from ..ir.schedule.verify import verify
from ..transforms.schedule.insert_copies import insert_copies
from ..transforms.schedule.recompute import recompute
from .loop_nest import LoopNest
from .numbers import FLOATS, constant_of, neutral_of, possible_constants, type_of_number
from .places import caller
from .recipes import extreme, mean_variance, scaled_sum, weighted_sum
from .values import Carried, Dim, Sum, SumLike, Value, ValueLike, items_of, sum_from, sum_of
from .widening import joined, widened

Item = TypeVar("Item")
Subscripts: TypeAlias = "Sequence[SumLike]"
Join: TypeAlias = Callable[[Sequence[Value], Sequence[Value]], Sequence[ValueLike]]
"""Joins the values of two parts."""

_TYPES: Final = {it.value: it for it in ElementType}
_BOUNDARIES: Final = {it.value: it for it in Boundary}


class Nest(LoopNest):
    """A loop nest that is being built; see docs/schedules.md.

    What is wrong with one call is raised there. What can only be said of a whole nest is raised where the nest is used
    first, with the line of Python that the part comes from. Where a value would be consumed twice, or read when its
    content is destroyed, a copy is inserted.
    """

    def __init__(self, name: str = "nest") -> None:
        self.name = name_of(name, "the name of a nest", "row_sums")
        self._sizes: dict[str, None] = {}
        self._dimensions: dict[str, Dimension] = {}
        self._named_by_default: set[str] = set()
        self._arrays: dict[str, Array] = {}
        self._body: list[Statement] = []
        self._combines: list[Combine] = []
        self._types: dict[str, ElementType] = {}
        self._iterated: dict[str, frozenset[str]] = {}
        self._places: dict[str, str] = {}
        self._finished: tuple[int, NestNode] | None = None

    def __repr__(self) -> str:
        return f"<Nest {self.name}: {', '.join(self._arrays) or 'no array'}>"

    # Sizes, dimensions, arrays

    def size(self, name: str) -> Sum:
        """A size of the nest, for sums such as `nest.size("n") - 1`."""
        if name_of(name, "a size", "rows") not in self._sizes:
            self._check_new(name)
            self._sizes[name] = None
        return Sum(((name, 1),))

    def dim(self, size: str | SumLike, name: str | None = None) -> Dim:
        """A new dimension. `size` is the name of a size, a number, or a sum; `name` is by default i, j, k and so on."""
        extent = self.size(size) if isinstance(size, str) else sum_of(size)
        chosen = self._free_letter() if name is None else name_of(name, "a dimension", "i")
        self._check_new(chosen)
        if name is None:
            self._named_by_default.add(chosen)
        self._dimensions[chosen] = Dimension(chosen, extent.affine)
        self._places[chosen] = caller()
        return Dim(chosen, extent)

    def _free_letter(self) -> str:
        letters = itertools.chain("ijklmnpqr", (f"i{number}" for number in itertools.count()))
        return next(it for it in letters if it not in self._names())

    def _names(self) -> dict[str, str]:
        """What each name is declared as."""
        sorts: dict[str, Iterable[str]] = {
            "a size": self._sizes,
            "a value": self._types,
            "an array": self._arrays,
            "a dimension": self._dimensions,
        }
        return {name: sort for sort, names in sorts.items() for name in names}

    def _check_new(self, name: str) -> None:
        sort = self._names().get(name)
        if sort is None:
            return
        message = f"{name!r} is declared already in nest {self.name!r}, as {sort}"
        if name in self._named_by_default:
            message += f" that was given no name: another one may be given, as in nest.dim(…, {name + '_'!r})"
        raise InputError(message)

    def _array(self, direction: Direction, name: str, type: ElementType, extents: Sequence[SumLike]) -> None:
        array = Array(direction, name, type, tuple(sum_of(it).affine for it in extents))
        if name in self._arrays:
            if self._arrays[name] != array:
                raise InputError(f"array {name!r} was used before as another direction, type or extents")
            return
        self._check_new(name)
        self._arrays[name] = array
        self._places[name] = caller()

    def _extents(self, name: str, subscripts: Subscripts, given: Sequence[str | SumLike] | None) -> Sequence[SumLike]:
        """The extents: given, those of an earlier use, or the sizes of the dimensions that are subscripts."""
        if given is not None:
            given = items_of(given, "extents")
            return [self.size(it) if isinstance(it, str) else it for it in given]
        if name in self._arrays:
            return [sum_from(it) for it in self._arrays[name].extents]
        if all(isinstance(it, Dim) for it in subscripts):
            return [cast("Dim", it).size for it in subscripts]
        raise InputError(f"the extents of {name!r} do not follow from its subscripts: give extents=")

    @property
    def dimensions(self) -> tuple[Dim, ...]:
        """The dimensions, in the order of their declarations."""
        return tuple(Dim(it.name, sum_from(it.size)) for it in self._dimensions.values())

    # Values

    def load(
        self,
        name: str,
        type: str,
        subscripts: Subscripts,
        *,
        boundary: str = "inside",
        extents: Sequence[str | SumLike] | None = None,
    ) -> Value:
        """An element of an input, for each point of the dimensions in the subscripts.

        `extents` are by default the sizes of the dimensions that are subscripts. `boundary` says what an element
        outside of the array is: "inside" means that there is none, which is checked when sizes are known, "clamp" the
        nearest element, "zero" zero. Raises InputError.
        """
        subscripts = items_of(subscripts, "subscripts")
        element = self._type(type)
        chosen = self._chosen(boundary, _BOUNDARIES, "boundary")
        self._array(Direction.IN, name_of(name, "an array", "x"), element, self._extents(name, subscripts, extents))
        parts = tuple(sum_of(it).affine for it in subscripts)
        on = self._dimensions_in(subscripts)
        made = self._fresh(name)
        return self._add(Load(made, element, name, parts, chosen, self._ordered(on)), on)

    def gather(
        self,
        name: str,
        type: str,
        subscripts: Sequence[SumLike | Value],
        *,
        extents: Sequence[str | SumLike],
        boundary: str = "clamp",
    ) -> Value:
        """An element of an input at computed subscripts, which may be values of i32 or u32, for each point of their
        dimensions: a row of a table, or a neighbour that a list names.

        `boundary` says what an element outside of the array is: "clamp" the nearest element, "zero" zero. Raises
        InputError.
        """
        element = self._type(type)
        parts = tuple(self._subscript(it) for it in items_of(subscripts, "subscripts"))
        chosen = self._chosen(boundary, _BOUNDARIES, "boundary")
        if chosen is Boundary.INSIDE:
            raise InputError("computed subscripts may be outside of the array: boundary is clamp or zero")
        self._array(Direction.IN, name_of(name, "an array", "x"), element, self._extents(name, (), extents))
        on = self._joined(parts)
        return self._add(Gather(self._fresh(name), element, name, parts, chosen, self._ordered(on)), on)

    def index(self, value: SumLike, type: str = "u32") -> Value:
        """A number made of indices and sizes, as u32 or i32."""
        on = self._dimensions_in([value])
        return self._add(Index(self._fresh("at"), self._type(type), sum_of(value).affine, self._ordered(on)), on)

    def call(self, function: str, *operands: ValueLike) -> Value:
        """An operator, a builtin function of WGSL, a conversion such as "f32", or "copy", of values and numbers.

        It is executed for each point of all dimensions of its operands. A number has the type of the first value if the
        function takes that, or else i32, u32 or f32. Raises InputError.
        """
        if not is_function(text_of(function, "a function", "max")):
            raise InputError(unknown_name(f"there is no function {function!r} of scalars", function, function_names()))
        known = [self._types[it.name] for it in operands if isinstance(it, Value) and self._owns(it)]
        if not known:
            raise InputError(f"{function} needs at least one value as an operand")
        for parts in itertools.product(*(self._possible_operands(it, known) for it in operands)):
            type = result_type(function, self._operand_types(parts))
            if type is not None:
                on = self._joined(parts)
                return self._add(Compute(self._fresh("t"), type, function, parts, self._ordered(on)), on)
        types = self._operand_types([self._operand(it, known[0]) for it in operands])
        raise InputError(f"{function} does not take ({', '.join(it.value for it in types)})")

    def _possible_operands(self, value: ValueLike, known: Sequence[ElementType]) -> Sequence[Operand]:
        return [Use(value.name)] if isinstance(value, Value) else possible_constants(value, known)

    def _operand_types(self, operands: Iterable[Operand]) -> tuple[ElementType, ...]:
        return tuple(it.type if isinstance(it, Constant) else self._types[it.name] for it in operands)

    def fby(self, first: ValueLike, on: Sequence[Dim], type: str | None = None) -> Carried:
        """A value that is `first` in the first iteration of the dimensions `on`, in lexicographic order, and in each
        other one what its `next`, which must be set, was in the iteration before.

        `type` is by default that of a value, f32 for a float, and i32 for another number.
        """
        element = self._type_of(first, type)
        operand = self._operand(first, element)
        names = self._on(on)
        made = Fby(self._fresh("acc"), element, operand, "", names)
        self._append(made, frozenset(names) | self._joined((operand,)))
        return Carried(self, made.name)

    def next_of(self, value: Carried) -> Value | None:
        """What a carried value is in the next iteration; None before that is set."""
        found = self._body[self._position(value)]
        return Value(self, found.next) if isinstance(found, Fby) and found.next else None

    def set_next(self, value: Carried, following: ValueLike) -> None:
        """Set what a carried value is in the next iteration. Raises InputError if that is set, or of another type."""
        position = self._position(value)
        fby = self._body[position]
        assert isinstance(fby, Fby)
        if fby.next:
            raise InputError(f"the next value of {fby.name!r} is set already")
        operand = self._operand(following, fby.type)
        if isinstance(operand, Constant):
            raise InputError(f"the next value of {fby.name!r} is a constant: begin with it instead")
        if self._types[operand.name] is not fby.type:
            found = self._types[operand.name].value
            raise InputError(f"the next value of {fby.name!r} is {found}, not {fby.type.value}")
        self._body[position] = Fby(fby.name, fby.type, fby.first, operand.name, fby.dimensions)
        self._iterated[fby.name] |= self._iterated[operand.name]

    def last(self, value: Value, on: Sequence[Dim]) -> Value:
        """What a value is in the last iteration of dimensions; of a carried one, what it would be after that."""
        if isinstance(value, Carried) and self.next_of(value) is None:
            raise InputError(f"{value.name!r} has no next value: set .next before its last value is used")
        self._owns(value)
        names = self._on(on)
        made = Last(self._fresh(f"{value.name}_last"), self._types[value.name], value.name, names)
        return self._add(made, self._iterated[value.name] - set(names))

    def map(self, value: Value, pairs: Iterable[tuple[Dim, Dim]]) -> Value:
        """The value at equal indices of other dimensions: pairs of a dimension of the value and another one."""
        self._owns(value)
        names = dict(self._pair(it) for it in items_of(pairs, "pairs of dimensions"))
        parts = tuple(Pair(source, target) for source, target in names.items())
        made = Map(self._fresh(f"{value.name}_map"), self._types[value.name], value.name, parts)
        return self._add(made, frozenset(names.get(it, it) for it in self._iterated[value.name]))

    @overload
    def reduce(self, function: str, value: Value, on: Sequence[Dim], first: ValueLike | None = None) -> Value: ...

    @overload
    def reduce(
        self, function: Join, value: Sequence[Value], on: Sequence[Dim], first: Sequence[float]
    ) -> tuple[Value, ...]: ...

    def reduce(
        self,
        function: str | Join,
        value: Value | Sequence[Value],
        on: Sequence[Dim],
        first: ValueLike | Sequence[float] | None = None,
    ) -> Value | tuple[Value, ...]:
        """The values of all iterations of dimensions, joined by +, *, min, max, &, | or ^.

        It begins with `first`, which is by default 0 or 1, all bits for &, or the least or greatest finite number.

        With several values, `function` joins two lists of them, and gives a list; see `combine`. `first` are numbers,
        which it joins with others to these others.
        """
        if not callable(function):
            self._owns(value)
            assert isinstance(value, Value)
            return self._accumulated(text_of(function, "a function", "+"), value, on, first)
        values = items_of(cast("Sequence[Value]", value), "values")
        firsts = items_of(cast("Sequence[float]", first), "first values")
        if len(firsts) != len(values):
            raise InputError(f"{len(firsts)} first values for {len(values)} values")
        carried = [self.fby(start, on, self.type_of(it)) for start, it in zip(firsts, values, strict=True)]
        for it, following in zip(carried, self._joined_by(function, carried, values), strict=True):
            it.next = following
        self.combine(carried, function)
        return tuple(self.last(it, on) for it in carried)

    def _accumulated(self, function: str, value: Value, on: Sequence[Dim], first: object) -> Value:
        type = self._types[value.name]
        start = neutral_of(function, type) if first is None else cast("ValueLike", first)
        carried = self.fby(start, on, type.value)
        carried.next = self.call(function, carried, value)
        return self.last(carried, on)

    def _joined_by(self, function: Join, left: Sequence[Value], right: Sequence[Value]) -> list[ValueLike]:
        results = function(list(left), list(right))
        found = list(results) if isinstance(cast("object", results), (list, tuple)) else []
        if len(found) != len(left):
            raise InputError(f"a function that joins {len(left)} values gives a list of as many")
        return found

    def combine(self, carried: Sequence[Carried], function: Join, *, neutral: Sequence[float] | None = None) -> None:
        """Say how parts of values that are carried together become one, so that they may be accumulated in parts.

        `function` takes two lists, the values of two parts in the order of `carried`, and gives the list of the
        values of both; it is called once, and may use operators and `call`. `neutral` are the values of a part without
        elements, by default the first values. Raises InputError, here or where the nest is used first; there, too, if
        random elements in parts give something else than in order.
        """
        carried = items_of(carried, "carried values")
        fbys = [self._body[self._position(it)] for it in carried]
        if not fbys or not all(isinstance(it, Fby) for it in fbys):
            raise InputError(f"expected a list of carried values, not {shown(carried)}")
        types = [it.type for it in fbys if isinstance(it, Fby)]
        start = [it.first for it in fbys if isinstance(it, Fby)]
        if neutral is not None:
            given = items_of(neutral, "neutral values")
            start = [self._operand(it, type) for it, type in zip(given, types, strict=False)]
        if len(start) < len(types) or not all(isinstance(it, Constant) for it in start):
            raise InputError("the neutral values of a combine are numbers, one for each carried value: give neutral=")
        left, right = ([self._parameter(it) for it in carried] for _ in range(2))
        body, results = self._traced(function, left, right)
        parts = zip(results, types, strict=True)
        made = Combine(
            tuple(it.name for it in carried),
            tuple(start),
            tuple(it.name for it in left),
            tuple(it.name for it in right),
            body,
            tuple(self._operand(it, type) for it, type in parts),
        )
        self._combines.append(made)
        self._places[f"combine {carried[0].name}"] = caller()

    def _parameter(self, carried: Carried) -> Value:
        """A value of a part."""
        name = self._fresh(f"{carried.name}_part")
        self._types[name] = self._types[carried.name]
        self._iterated[name] = frozenset()
        return Value(self, name)

    def _traced(
        self, function: Join, left: Sequence[Value], right: Sequence[Value]
    ) -> tuple[tuple[Statement, ...], list[ValueLike]]:
        """What a function does, as statements that are no part of the body, and its results."""
        start = len(self._body)
        try:
            results = self._joined_by(function, left, right)
            body = tuple(self._body[start:])
        finally:
            del self._body[start:]
        if not all(isinstance(it, Compute) for it in body):
            raise InputError("a function that joins parts has operators and calls only")
        return body, results

    def argmax(self, value: Value, on: Dim) -> tuple[Value, Value]:
        """The greatest value along a dimension and its index as u32, the least one if there are several.

        Only elements greater than the least finite number are chosen, so NaNs are not; without any, it is that number
        and 0.
        """
        self._owns(value)
        return extreme(self, value, on, first=neutral_of("max", self._types[value.name]), better=">")

    def argmin(self, value: Value, on: Dim) -> tuple[Value, Value]:
        """The least value along a dimension and its index as u32, the least one if there are several.

        Only elements less than the greatest finite number are chosen, so NaNs are not; without any, it is that number
        and 0.
        """
        self._owns(value)
        return extreme(self, value, on, first=neutral_of("min", self._types[value.name]), better="<")

    def mean_variance(self, value: Value, on: Sequence[Dim]) -> tuple[Value, Value]:
        """The mean of floats along dimensions and their variance, the mean of the squares of what they differ by from
        it, in one loop; 0 and 0 without elements.
        """
        self._check_float(value, "mean_variance")
        return mean_variance(self, value, on)

    def logsumexp(self, value: Value, on: Sequence[Dim]) -> Value:
        """The logarithm of the sum of the exponentials of floats along dimensions, in one loop; nothing overflows."""
        self._check_float(value, "logsumexp")
        most, total = scaled_sum(self, value, on, first=neutral_of("max", self._types[value.name]))
        return most + self.call("log", total)

    def softmax(self, value: Value, on: Dim) -> tuple[Value, Dim]:
        """The exponentials of floats along a dimension, divided by their sum, and the new dimension that they are on.

        One loop finds the greatest element and the sum, another one the results, for which `value` is computed again.
        """
        self._check_float(value, "softmax")
        most, total = scaled_sum(self, value, [on], first=neutral_of("max", self._types[value.name]))
        again = self.dim(on.size)
        return self.call("exp", self.map(value, [(on, again)]) - most) / total, again

    def softmax_sum(self, score: Value, value: Value, on: Dim) -> Value:
        """The sum of values along a dimension, weighted by the softmax of scores: attention, in one loop.

        The iterations are in order. `softmax` with `reduce` takes two loops, whose iterations may be in parts. Scores
        and values are of one float type.
        """
        self._check_float(score, "softmax_sum")
        self._check_float(value, "softmax_sum")
        return weighted_sum(self, score, value, [on], first=neutral_of("max", self._types[score.name]))

    def type_of(self, value: Value) -> str:
        """The name of a value's type."""
        self._owns(value)
        return self._types[value.name].value

    def _check_float(self, value: Value, what: str) -> None:
        self._owns(value)
        if self._types[value.name] not in FLOATS:
            raise InputError(f"{what} is of f32 or f16, and {value.name!r} is {self._types[value.name].value}")

    def store(
        self,
        name: str,
        value: ValueLike,
        subscripts: Subscripts,
        *,
        type: str | None = None,
        extents: Sequence[str | SumLike] | None = None,
    ) -> None:
        """Store a value for each point of the dimensions in the subscripts; other elements of the output are 0.

        `type` is that of the value, and need be given for a number only. Raises InputError.
        """
        subscripts = items_of(subscripts, "subscripts")
        element = self._type_of(value, type)
        operand = self._operand(value, element)
        self._array(Direction.OUT, name_of(name, "an array", "y"), element, self._extents(name, subscripts, extents))
        parts = tuple(sum_of(it).affine for it in subscripts)
        self._body.append(Store(name, parts, operand, self._ordered(self._dimensions_in(subscripts))))
        self._places[f"store {len(self._body)}"] = caller()

    def scatter(
        self,
        name: str,
        value: ValueLike,
        subscripts: Sequence[SumLike | Value],
        *,
        extents: Sequence[str | SumLike],
        function: str = "+",
        first: float | None = None,
        type: str | None = None,
    ) -> None:
        """Join a value by +, *, min, max, &, | or ^ to the element of an output that subscripts name, for each point of
        their dimensions and the value's, in order. Subscripts may be values of i32 or u32. Outside, nothing changes.

        Elements are `first` in the beginning, by default what `reduce` begins with. `type` is that of the value, and
        need be given for a number only. Raises InputError.
        """
        element = self._type_of(value, type)
        operand = self._operand(value, element)
        parts = tuple(self._subscript(it) for it in items_of(subscripts, "subscripts"))
        start = neutral_of(text_of(function, "a function", "+"), element) if first is None else first
        self._array(Direction.OUT, name_of(name, "an array", "y"), element, self._extents(name, (), extents))
        on = self._ordered(self._joined((*parts, operand)))
        self._body.append(Scatter(name, parts, self._operand(start, element), function, operand, on))
        self._places[f"store {len(self._body)}"] = caller()

    def _subscript(self, value: SumLike | Value) -> Operand:
        if isinstance(value, Value):
            return self._operand(value, ElementType.U32)
        number = sum_of(value)
        return self._operand(self.index(number, "i32") if number.terms else number.constant, ElementType.I32)

    def dimensions_of(self, value: Value) -> tuple[str, ...]:
        """The names of a value's iteration dimensions; of what is carried, as far as they are known."""
        self._owns(value)
        return self._ordered(self._iterated[value.name])

    # The whole

    @property
    def ir(self) -> NestNode:
        """The nest, verified. Raises InputError, with the lines of Python, for what is wrong with it."""
        version = hash((*self._body, *self._combines))
        if self._finished is None or self._finished[0] != version:
            self._finished = version, self._finish()
        return self._finished[1]

    def _finish(self) -> NestNode:
        for it in self._body:
            if isinstance(it, Fby) and not it.next:
                raise InputError(f"{self._place(it)}{it.name!r} has no next value")
        body = tuple(widened(self._body, self._combines, self._iterated, tuple(self._dimensions)))
        made = NestNode(
            self.name,
            tuple(self._sizes),
            tuple(self._dimensions.values()),
            tuple(self._arrays.values()),
            body,
            tuple(self._combines),
        )
        whole = insert_copies(recompute(made))
        mistakes = verify(whole)
        if mistakes:
            lines = [f"{self._place(it.part)}{it.message} [{it.rule}]" for it in mistakes]
            raise InputError(f"nest {self.name!r}: " + "\n".join(dict.fromkeys(lines)))
        return whole

    def _place(self, part: object) -> str:
        name = getattr(part, "name", "")
        if isinstance(part, (Store, Scatter)):
            stores = [
                f"store {number}"
                for number, it in enumerate(self._body, 1)
                if isinstance(it, (Store, Scatter)) and it.array == part.array
            ]
            name = stores[0] if stores else ""
        if isinstance(part, Combine):
            name = f"combine {part.carried[0]}"
        place = self._places.get(name, "")
        return f"{place}: " if place else ""

    # Parts

    def _add(self, statement: Load | Gather | Index | Compute | Last | Map, on: frozenset[str]) -> Value:
        self._append(statement, on)
        return Value(self, statement.name)

    def _append(self, statement: Load | Gather | Index | Compute | Fby | Last | Map, on: frozenset[str]) -> None:
        self._body.append(statement)
        self._types[statement.name] = statement.type
        self._iterated[statement.name] = on
        self._places[statement.name] = caller()

    def _fresh(self, stem: str) -> str:
        taken = self._names().keys() | WORDS
        return next(
            it for it in itertools.chain([stem], (f"{stem}{number}" for number in itertools.count())) if it not in taken
        )

    def _position(self, value: Value) -> int:
        self._owns(value)
        return next(number for number, it in enumerate(self._body) if getattr(it, "name", None) == value.name)

    def _owns(self, value: object) -> bool:
        if not isinstance(value, Value):
            raise InputError(f"expected a value of the nest, not {shown(value)}")
        if value.nest is not self:
            raise InputError(f"{value.name!r} is a value of another nest, {value.nest.name!r}")
        return True

    def _ordered(self, names: Iterable[str]) -> tuple[str, ...]:
        wanted = set(names)
        return tuple(it for it in self._dimensions if it in wanted)

    def _pair(self, pair: object) -> tuple[str, str]:
        names = self._on(pair)
        if len(names) != 2:
            raise InputError(f"expected a pair of dimensions, as in (j, k), not {shown(pair)}")
        return names[0], names[1]

    def _on(self, dimensions: object) -> tuple[str, ...]:
        given: object = [dimensions] if isinstance(dimensions, Dim) else dimensions
        found = cast("Sequence[object]", given) if isinstance(given, (list, tuple)) else ()
        names = tuple(it.name for it in found if isinstance(it, Dim))
        if not names or len(names) < len(found):
            raise InputError(f"expected a list of dimensions, as in on=[j], not {shown(dimensions)}")
        return names

    def _dimensions_in(self, sums: Subscripts) -> frozenset[str]:
        names = {name for it in sums for name, _ in sum_of(it).terms}
        self._sizes.update(dict.fromkeys(sorted(names - set(self._dimensions) - set(self._sizes))))
        return frozenset(names & set(self._dimensions))

    def _joined(self, operands: Iterable[Operand]) -> frozenset[str]:
        return joined(operands, self._iterated)

    def _type(self, name: str) -> ElementType:
        return self._chosen(name, _TYPES, "type")

    def _chosen(self, name: str, known: dict[str, Item], what: str) -> Item:
        found = known.get(name_of(name, f"a {what}", next(iter(known))))
        if found is None:
            raise InputError(unknown_name(f"{name!r} is no {what}", name, known))
        return found

    def _type_of(self, value: object, given: str | None) -> ElementType:
        if given is not None:
            return self._type(given)
        if isinstance(value, Value):
            self._owns(value)
            return self._types[value.name]
        return type_of_number(value)

    def _operand(self, value: ValueLike, type: ElementType) -> Operand:
        """A value, or a number as a constant of a type. Raises InputError for a number that is none of the type."""
        if isinstance(value, Value):
            self._owns(value)
            return Use(value.name)
        return constant_of(value, type)
