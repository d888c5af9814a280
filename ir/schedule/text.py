"""The text forms of nests and of decisions, printers and parsers: `parse(print_nest(n)) == n` for every nest that
verifies, and `parse_decisions(print_decisions(d)) == d`. They are in one long file because each line of a printer
corresponds to a line of a parser.

    nest row_sums(rows, columns) {
      dim i: rows
      dim j: columns
      in x: f32[rows, columns]
      out sums: f32[rows]

      x0: f32 = inst x[i, j] on [i, j]
      acc: f32 = 0.0f fby total on [j]
      total: f32 = inst acc + x0 on [i, j]
      row: f32 = last acc on [j]
      sums[i] = row on [i]
    }

`on` of an instruction lists its dimensions; a load may end in `clamp` or `zero`, which say what lies outside of the
array; `index 2 * i + 1` is a number made of indices and sizes. Constants have WGSL's suffixes.
`counts at [bin] from 0u by + of one on [i]` adds `one` to the element of `counts` that `bin` names. How parts of values
that are carried together are joined comes at the end of a nest:

      combine (best, place) from (-3.4e+38f, 0u) by (best1, place1), (best2, place2) -> (value, spot) {
        is_second: bool = inst best2 > best1 on []
        value: f32 = inst select(best1, best2, is_second) on []
        spot: u32 = inst select(place1, place2, is_second) on []
      }

Decisions are one line for each dimension, with its levels from the most significant one, and the order of loops:

    i: workgroup * invocation(64)
    j: loop * unrolled(4)
    order: j.0, j.1

After them come copies in workgroup memory, of the elements that loads need in an iteration of a loop, dimensions whose
last iterations are peeled off, and the order of the axes of the grid:

    stage x0, x1 at j.0 pad(1) double
    peel i, j
    grid j, i
    private counts
    keep e in workgroup

The last but one gives each workgroup a copy of `counts` of its own, the last one a place in memory to `e`, which is
then computed once (`in registers`: in each invocation). Comments go from `#` to the end of the line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final, assert_never

import numpy as np

from ..tokens import Item, Token, TokenReader, tokens_of
from .nodes import (
    Affine,
    Array,
    BoolLiteral,
    Boundary,
    Buffering,
    Combine,
    Compute,
    Constant,
    Decisions,
    Dimension,
    DimensionLevels,
    Direction,
    ElementType,
    Execution,
    Fby,
    FloatLiteral,
    Gather,
    Index,
    IntegerLiteral,
    Keep,
    Last,
    Level,
    LevelName,
    Load,
    Location,
    Map,
    Nest,
    Operand,
    Pair,
    Scatter,
    Stage,
    Statement,
    Store,
    Term,
    Use,
)

PREFIXES: Final = ("-", "!", "~")
INFIXES: Final = ("+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "==", "!=", "<=", ">=", "<", ">")
WORDS: Final = frozenset(("inst", "index", "fby", "last", "map", "on", "true", "false", "dim", "in", "out", "order"))
"""Words of the text form, which are no names."""
_SUFFIXES: Final[Mapping[ElementType, str]] = {
    ElementType.I32: "i",
    ElementType.U32: "u",
    ElementType.F32: "f",
    ElementType.F16: "h",
    ElementType.BOOL: "",
}
_FLOATS: Final[Mapping[ElementType, type[np.float32 | np.float16]]] = {
    ElementType.F32: np.float32,
    ElementType.F16: np.float16,
}


# Printing


def print_nest(nest: Nest, notes: Mapping[int, Iterable[str]] | None = None) -> str:
    """The text of a nest, with a newline at its end. `notes` are messages by the `id` of a part of the nest, each to
    stand under its line, after a caret.
    """
    said = notes or {}
    lines = _noted(f"nest {nest.name}({', '.join(nest.sizes)}) {{", nest, said)
    for dimension in nest.dimensions:
        lines += _noted(f"  dim {dimension.name}: {affine_text(dimension.size)}", dimension, said)
    for array in nest.arrays:
        lines += _noted(f"  {array_text(array)}", array, said)
    lines += [""] if nest.body else []
    for statement in nest.body:
        lines += _noted(f"  {statement_text(statement)}", statement, said)
    for combine in nest.combines:
        lines += ["", *_noted(f"  {combine_text(combine)} {{", combine, said)]
        lines += [f"    {statement_text(it)}" for it in combine.body]
        lines.append("  }")
    return "\n".join([*lines, "}"]) + "\n"


def _noted(text: str, node: object, notes: Mapping[int, Iterable[str]]) -> list[str]:
    return [text, *(f"  ^ {note}" for note in notes.get(id(node), ()))]


def array_text(array: Array) -> str:
    """The declaration of an array."""
    return f"{array.direction.value} {array.name}: {array.type.value}{_bracketed(map(affine_text, array.extents))}"


def combine_text(combine: Combine) -> str:
    """The first line of a combine, without its brace."""
    carried, left, right = (f"({', '.join(it)})" for it in (combine.carried, combine.left, combine.right))
    neutral, results = (f"({', '.join(map(operand_text, it))})" for it in (combine.neutral, combine.results))
    return f"combine {carried} from {neutral} by {left}, {right} -> {results}"


def statement_text(statement: Statement) -> str:
    """The line of a statement."""
    if isinstance(statement, Store):
        target = statement.array + _bracketed(map(affine_text, statement.subscripts))
        return f"{target} = {operand_text(statement.value)} on {_bracketed(statement.dimensions)}"
    if isinstance(statement, Scatter):
        target = f"{statement.array} at {_bracketed(map(operand_text, statement.subscripts))}"
        joined = f"from {operand_text(statement.first)} by {statement.function} of {operand_text(statement.value)}"
        return f"{target} {joined} on {_bracketed(statement.dimensions)}"
    return f"{statement.name}: {statement.type.value} = {_definition(statement)}"


def _definition(value: Load | Gather | Index | Compute | Fby | Last | Map) -> str:
    match value:
        case Load(array=array, subscripts=subscripts, boundary=boundary):
            outside = "" if boundary is Boundary.INSIDE else f" {boundary.value}"
            return f"inst {array}{_bracketed(map(affine_text, subscripts))}{outside} on {_bracketed(value.dimensions)}"
        case Gather(array=array, subscripts=operands, boundary=boundary):
            at = _bracketed(map(operand_text, operands))
            return f"inst {array} at {at} {boundary.value} on {_bracketed(value.dimensions)}"
        case Index(value=number):
            return f"inst index {affine_text(number)} on {_bracketed(value.dimensions)}"
        case Compute(function=function, operands=operands):
            return f"inst {_operation(function, operands)} on {_bracketed(value.dimensions)}"
        case Fby(first=first, next=following):
            return f"{operand_text(first)} fby {following} on {_bracketed(value.dimensions)}"
        case Last(value=source):
            return f"last {source} on {_bracketed(value.dimensions)}"
        case Map(value=source, pairs=pairs):
            return f"map {source} on {_bracketed(f'{it.source} -> {it.target}' for it in pairs)}"
        case _:
            assert_never(value)


def _operation(function: str, operands: tuple[Operand, ...]) -> str:
    if function in INFIXES and len(operands) == 2:
        return f"{_operator_operand(operands[0])} {function} {_operator_operand(operands[1])}"
    if function in PREFIXES and len(operands) == 1:
        return function + _operator_operand(operands[0])
    return f"{function}({', '.join(map(operand_text, operands))})"


def _operator_operand(operand: Operand) -> str:
    text = operand_text(operand)
    return f"({text})" if text.startswith("-") else text


def operand_text(operand: Operand) -> str:
    """The name of a value, or a constant with its suffix."""
    if isinstance(operand, Use):
        return operand.name
    match operand.value:
        case BoolLiteral(value):
            return "true" if value else "false"
        case IntegerLiteral(value):
            return f"{value}{_SUFFIXES[operand.type]}"
        case FloatLiteral(value):
            with np.errstate(over="ignore"):
                return f"{_FLOATS.get(operand.type, np.float64)(value)!s}{_SUFFIXES[operand.type]}"
        case _:
            assert_never(operand.value)


def affine_text(affine: Affine) -> str:
    """The text of a sum."""
    parts = [_term_text(it) for it in affine.terms]
    if affine.constant or not parts:
        parts.append(str(affine.constant))
    return " + ".join(parts).replace("+ -", "- ")


def _term_text(term: Term) -> str:
    if term.coefficient in (1, -1):
        return ("-" if term.coefficient < 0 else "") + term.name
    return f"{term.coefficient} * {term.name}"


def print_decisions(decisions: Decisions) -> str:
    """The text of decisions: a line for each dimension and for each other decision."""
    lines = [f"{it.dimension}: {' * '.join(map(level_text, it.levels))}" for it in decisions.dimensions]
    if decisions.order:
        lines.append(f"order: {', '.join(map(level_name_text, decisions.order))}")
    lines += map(stage_text, decisions.stages)
    if decisions.peeled:
        lines.append(f"peel {', '.join(decisions.peeled)}")
    if decisions.grid:
        lines.append(f"grid {', '.join(decisions.grid)}")
    if decisions.private:
        lines.append(f"private {', '.join(decisions.private)}")
    lines += map(keep_text, decisions.kept)
    return "".join(line + "\n" for line in lines)


def level_text(level: Level) -> str:
    """A level, with its factor if it has one."""
    return level.execution.value + ("" if level.factor is None else f"({level.factor})")


def stage_text(stage: Stage) -> str:
    """A copy in workgroup memory."""
    place = "" if stage.at is None else f" at {level_name_text(stage.at)}"
    padding = f" pad({stage.padding})" if stage.padding else ""
    buffering = "" if stage.buffering is Buffering.SINGLE else f" {stage.buffering.value}"
    return f"stage {', '.join(stage.loads)}{place}{padding}{buffering}"


def keep_text(keep: Keep) -> str:
    """The location of a value."""
    return f"keep {keep.value} in {keep.location.value}"


def level_name_text(name: LevelName) -> str:
    """The name of a level: that of its dimension and its position there."""
    return f"{name.dimension}.{name.level}"


def _bracketed(parts: Iterable[str]) -> str:
    return f"[{', '.join(parts)}]"


# Parsing


_TOKEN: Final = re.compile(
    r"""(?P<space>[ \t\r\n]+|\#[^\n]*)
    | (?P<number>[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?[fhiu]?)
    | (?P<name>[^\W\d]\w*)
    | (?P<mark>->|<<|>>|==|!=|<=|>=|[(){}\[\],:.=+*/%<>&|^!~-])
    | (?P<other>.)""",
    re.VERBOSE,
)
_TYPES: Final = {it.value: it for it in ElementType}
_BY_SUFFIX: Final = {suffix: type for type, suffix in _SUFFIXES.items() if suffix}
_EXECUTIONS: Final = {it.value: it for it in Execution}
_LOCATIONS: Final = {it.value: it for it in Location}
_BOUNDARIES: Final = {it.value: it for it in Boundary}
_OUTSIDE: Final = {name: it for name, it in _BOUNDARIES.items() if it is not Boundary.INSIDE}


def parse(text: str) -> Nest:
    """The nest of a text. Raises TextError at the first mistake."""
    return _Parser(tokens_of(text, _TOKEN)).nest()


def parse_decisions(text: str) -> Decisions:
    """The decisions of a text. Raises TextError at the first mistake."""
    return _Parser(tokens_of(text, _TOKEN)).decisions()


def parse_affine(text: str) -> Affine:
    """The sum that is a whole text. Raises TextError."""
    return _Parser(tokens_of(text, _TOKEN)).whole_affine()


class _Parser(TokenReader):
    # Tokens

    def _name(self, what: str) -> str:
        if self._next.text in WORDS:
            raise self._expected(what)
        return self._sort("name", what).text

    def _one_of(self, known: Mapping[str, Item], what: str) -> Item:
        if self._next.sort != "name" or self._next.text not in known:
            raise self._expected(f"{what} ({', '.join(known)})")
        return known[self._sort("name", what).text]

    def _bracketed(self, item: Callable[[], Item]) -> tuple[Item, ...]:
        self._take("[")
        return tuple(self._separated("]", item))

    # Nests

    def nest(self) -> Nest:
        self._take("nest")
        name = self._name("the name of the nest")
        self._take("(")
        sizes = tuple(self._separated(")", lambda: self._name("a size")))
        self._take("{")
        dimensions: list[Dimension] = []
        arrays: list[Array] = []
        while self._is_at("dim"):
            dimensions.append(self._dimension())
        while self._is_at("in") or self._is_at("out"):
            arrays.append(self._array())
        body: list[Statement] = []
        while not (self._is_at("}") or self._is_at_combine()):
            body.append(self._statement())
        combines: list[Combine] = []
        while not self._accept("}"):
            combines.append(self._combine())
        self._sort("end", "the end of the text")
        return Nest(name, sizes, tuple(dimensions), tuple(arrays), tuple(body), tuple(combines))

    def _is_at_combine(self) -> bool:
        return self._is_at("combine") and self._after_next.text == "("

    def _combine(self) -> Combine:
        first = self._take("combine")
        carried = self._name_list("a carried value")
        self._take("from")
        neutral = self._operands()
        self._take("by")
        left = self._name_list("a value")
        self._take(",")
        right = self._name_list("a value")
        self._take("->")
        results = self._operands()
        span = self._since(first)
        self._take("{")
        body: list[Statement] = []
        while not self._accept("}"):
            body.append(self._statement())
        return Combine(carried, neutral, left, right, tuple(body), results, span=span)

    def _name_list(self, what: str) -> tuple[str, ...]:
        self._take("(")
        return tuple(self._separated(")", lambda: self._name(what)))

    def _operands(self) -> tuple[Operand, ...]:
        self._take("(")
        return tuple(self._separated(")", self._operand))

    def _dimension(self) -> Dimension:
        first = self._take("dim")
        name = self._name("a dimension")
        self._take(":")
        return Dimension(name, self._affine(), span=self._since(first))

    def _array(self) -> Array:
        first = self._sort("name", "an array")
        name = self._name("an array")
        self._take(":")
        type = self._one_of(_TYPES, "a type")
        return Array(Direction(first.text), name, type, self._bracketed(self._affine), span=self._since(first))

    def _statement(self) -> Statement:
        first = self._next
        name = self._name("a statement")
        if self._is_at("["):
            subscripts = self._bracketed(self._affine)
            self._take("=")
            value = self._operand()
            return Store(name, subscripts, value, self._on(), span=self._since(first))
        if self._is_at("at"):
            return self._scatter(name, first)
        self._take(":")
        type = self._one_of(_TYPES, "a type")
        self._take("=")
        return self._value(name, type, first)

    def _scatter(self, name: str, first: Token) -> Scatter:
        self._take("at")
        subscripts = self._bracketed(self._operand)
        self._take("from")
        start = self._operand()
        self._take("by")
        is_operator = self._next.sort == "mark" and self._next.text in INFIXES
        function = self._take(self._next.text).text if is_operator else self._name("a function")
        self._take("of")
        value = self._operand()
        return Scatter(name, subscripts, start, function, value, self._on(), span=self._since(first))

    def _value(self, name: str, type: ElementType, first: Token) -> Statement:
        if self._accept("inst"):
            return self._instruction(name, type, first)
        if self._accept("last"):
            value = self._name("a value")
            return Last(name, type, value, self._on(), span=self._since(first))
        if self._accept("map"):
            value = self._name("a value")
            self._take("on")
            return Map(name, type, value, self._bracketed(self._pair), span=self._since(first))
        operand = self._operand()
        self._take("fby")
        following = self._name("a value")
        return Fby(name, type, operand, following, self._on(), span=self._since(first))

    def _instruction(self, name: str, type: ElementType, first: Token) -> Statement:
        if self._accept("index"):
            number = self._affine()
            return Index(name, type, number, self._on(), span=self._since(first))
        if self._next.sort == "name" and self._after_next.text == "[":
            array, subscripts = self._name("an array"), self._bracketed(self._affine)
            boundary = self._one_of(_OUTSIDE, "a boundary") if self._next.text in _OUTSIDE else Boundary.INSIDE
            return Load(name, type, array, subscripts, boundary, self._on(), span=self._since(first))
        if self._next.sort == "name" and self._after_next.text == "at":
            array = self._name("an array")
            self._take("at")
            places, boundary = self._bracketed(self._operand), self._one_of(_BOUNDARIES, "a boundary")
            return Gather(name, type, array, places, boundary, self._on(), span=self._since(first))
        function, operands = self._operation()
        return Compute(name, type, function, operands, self._on(), span=self._since(first))

    def _operation(self) -> tuple[str, tuple[Operand, ...]]:
        if self._next.sort == "mark" and self._next.text in PREFIXES:
            return self._take(self._next.text).text, (self._operand(),)
        if self._next.sort == "name" and self._after_next.text == "(":
            function = self._name("a function")
            return function, self._operands()
        left = self._operand()
        if self._next.sort != "mark" or self._next.text not in INFIXES:
            raise self._expected("an operator")
        function = self._take(self._next.text).text
        return function, (left, self._operand())

    def _operand(self) -> Operand:
        if self._accept("("):
            inner = self._constant()
            self._take(")")
            return inner
        if self._is_at("true") or self._is_at("false"):
            return Constant(ElementType.BOOL, BoolLiteral(self._sort("name", "a constant").text == "true"))
        if self._is_at("-") or self._next.sort == "number":
            return self._constant()
        return Use(self._name("a value or a constant"))

    def _constant(self) -> Constant:
        sign = -1 if self._accept("-") else 1
        token = self._sort("number", "a constant")
        digits, suffix = token.text[:-1], token.text[-1]
        if suffix not in _BY_SUFFIX:
            raise self._fail("a constant has a suffix: i, u, f or h", token)
        type = _BY_SUFFIX[suffix]
        if type in _FLOATS:
            with np.errstate(over="ignore"):
                return Constant(type, FloatLiteral(sign * float(_FLOATS[type](float(digits)))))
        return Constant(type, IntegerLiteral(sign * self._whole(digits, token)))

    def _whole(self, digits: str, token: Token) -> int:
        if not digits.isdigit() or len(digits) > 20:
            raise self._fail(f"expected a whole number of at most 20 digits, found {token.text[:40]!r}", token)
        return int(digits)

    def _on(self) -> tuple[str, ...]:
        self._take("on")
        return self._bracketed(lambda: self._name("a dimension"))

    def _pair(self) -> Pair:
        source = self._name("a dimension")
        self._take("->")
        return Pair(source, self._name("a dimension"))

    def _affine(self) -> Affine:
        terms: list[Term] = []
        constant = 0
        sign = -1 if self._accept("-") else 1
        while True:
            factor, name = self._product()
            if name is None:
                constant += sign * factor
            elif name in [it.name for it in terms]:
                raise self._fail(f"{name!r} comes twice in a sum", self._last)
            else:
                terms.append(Term(sign * factor, name))
            if self._is_at("+") or self._is_at("-"):
                sign = 1 if self._sort("mark", "a sign").text == "+" else -1
            else:
                return Affine(tuple(terms), constant)

    def _product(self) -> tuple[int, str | None]:
        if self._next.sort != "number":
            return 1, self._name("a number, a size or a dimension")
        token = self._sort("number", "a number")
        factor = self._whole(token.text, token)
        return (factor, self._name("a size or a dimension")) if self._accept("*") else (factor, None)

    def whole_affine(self) -> Affine:
        affine = self._affine()
        self._sort("end", "the end of the text")
        return affine

    # Decisions

    def decisions(self) -> Decisions:
        dimensions: list[DimensionLevels] = []
        while self._next.sort == "name" and not self._is_at("order") and not self._is_decision():
            dimensions.append(self._levels())
        order: list[LevelName] = []
        if self._accept("order"):
            self._take(":")
            order.append(self._level_name())
            while self._accept(","):
                order.append(self._level_name())
        stages: list[Stage] = []
        while self._is_at("stage"):
            stages.append(self._stage())
        peeled = self._listed("a dimension") if self._accept("peel") else ()
        grid = self._listed("a dimension") if self._accept("grid") else ()
        private = self._listed("an output") if self._accept("private") else ()
        kept: list[Keep] = []
        while self._is_at("keep"):
            kept.append(self._keep())
        self._sort("end", "the end of the text")
        return Decisions(
            tuple(dimensions),
            tuple(order),
            stages=tuple(stages),
            peeled=peeled,
            grid=grid,
            private=private,
            kept=tuple(kept),
        )

    def _is_decision(self) -> bool:
        """Whether a decision is next that is no dimension, though a dimension may have the same name."""
        following = self._after_next
        return self._next.text in ("stage", "peel", "grid", "private", "keep") and following.text != ":"

    def _listed(self, what: str) -> tuple[str, ...]:
        names = [self._name(what)]
        while self._accept(","):
            names.append(self._name(what))
        return tuple(names)

    def _stage(self) -> Stage:
        first = self._take("stage")
        loads = self._listed("a load")
        at = self._level_name() if self._accept("at") else None
        padding = 0
        if self._accept("pad"):
            self._take("(")
            token = self._sort("number", "a number of elements")
            padding = self._whole(token.text, token)
            self._take(")")
        others = (Buffering.DOUBLE, Buffering.SLIDING)
        buffering = next((it for it in others if self._accept(it.value)), Buffering.SINGLE)
        return Stage(loads, at, padding=padding, buffering=buffering, span=self._since(first))

    def _keep(self) -> Keep:
        first = self._take("keep")
        value = self._name("a value")
        self._take("in")
        location = self._one_of(_LOCATIONS, "a location")
        return Keep(value, location, span=self._since(first))

    def _levels(self) -> DimensionLevels:
        first = self._next
        name = self._name("a dimension")
        self._take(":")
        levels = [self._level()]
        while self._accept("*"):
            levels.append(self._level())
        return DimensionLevels(name, tuple(levels), span=self._since(first))

    def _level(self) -> Level:
        execution = self._one_of(_EXECUTIONS, "a level")
        if not self._accept("("):
            return Level(execution, None)
        token = self._sort("number", "a factor")
        factor = self._whole(token.text, token)
        self._take(")")
        return Level(execution, factor)

    def _level_name(self) -> LevelName:
        dimension = self._name("a dimension")
        self._take(".")
        token = self._sort("number", "the position of a level")
        return LevelName(dimension, self._whole(token.text, token))
