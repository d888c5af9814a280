"""Rules for names, declarations, and the parts of single statements."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from typing import Final, assert_never

import numpy as np

from ...builtins import builtin
from ...hints import unknown_name
from ...identifiers import KEYWORDS, RESERVED_WORDS, is_identifier
from ..functions import function_names, is_function, result_type
from ..nodes import (
    Affine,
    Boundary,
    Compute,
    Constant,
    Direction,
    ElementType,
    Fby,
    FloatLiteral,
    Gather,
    Index,
    IntegerLiteral,
    Last,
    Load,
    Map,
    Operand,
    Scatter,
    Statement,
    Store,
)
from ..reductions import ASSOCIATIVE
from ..scope import Instruction, Scope, used_by
from ..text import WORDS
from .table import Found, Part, Rule

MOST_STATEMENTS: Final = 1024
LARGEST: Final = 2**32 - 1
"""The largest coefficient, constant and fixed size; WGSL's indices have 32 bits."""
_PREDECLARED: Final = re.compile(r"(bool|[iuf]\d+|array|atomic|ptr|sampler.*|texture_.*|vec[234].*|mat[234]x.*)\Z")
_RANGES: Final = {ElementType.I32: (-(2**31), 2**31 - 1), ElementType.U32: (0, 2**32 - 1)}
_FLOATS: Final = {ElementType.F32: np.float32, ElementType.F16: np.float16}


def _length(scope: Scope) -> Found:
    count = len(scope.nest.body) + sum(len(it.body) for it in scope.nest.combines)
    if count > MOST_STATEMENTS:
        yield scope.nest, f"{count} statements"


def _names(scope: Scope) -> Found:
    nest = scope.nest
    seen = {nest.name}
    if mistake := _name_mistake(nest.name):
        yield nest, mistake
    for name in (nest.name, *nest.sizes, *(it.name for it in nest.arrays)):
        if builtin(name) is not None or _PREDECLARED.match(name):
            yield nest, f"{name!r} is a name that WGSL predeclares"
    parts: list[tuple[Part, str]] = [(nest, it) for it in nest.sizes]
    parts += [(it, it.name) for it in nest.dimensions]
    parts += [(it, it.name) for it in nest.arrays]
    parts += [(it, it.name) for it in nest.body if not isinstance(it, (Store, Scatter))]
    for part, name in parts:
        if mistake := _name_mistake(name):
            yield part, mistake
        elif name in seen:
            yield part, f"{name!r} is declared already{', as the name of the nest' if name == nest.name else ''}"
        seen.add(name)


def _name_mistake(name: str) -> str | None:
    """Why a text is no name of a nest; None for one."""
    if name in KEYWORDS or name in RESERVED_WORDS:
        return f"{name!r} is no name: WGSL reserves it"
    if name in WORDS:
        return f"{name!r} is no name: it is a word of the text of nests"
    return None if is_identifier(name) else f"{name!r} is no name"


def _sizes(scope: Scope) -> Found:
    for dimension in scope.nest.dimensions:
        yield from ((dimension, it) for it in _affine_mistakes(dimension.size, scope.sizes, "size"))
    for array in scope.nest.arrays:
        for extent in array.extents:
            yield from ((array, it) for it in _affine_mistakes(extent, scope.sizes, "size"))


def _affine_mistakes(affine: Affine, known: Iterable[str], what: str) -> Iterator[str]:
    names = [it.name for it in affine.terms]
    yield from (unknown_name(f"there is no {what} {it!r}", it, known) for it in names if it not in known)
    yield from (f"{it!r} comes twice in a sum" for it in sorted({it for it in names if names.count(it) > 1}))
    for number in (*(it.coefficient for it in affine.terms), affine.constant):
        if abs(number) > LARGEST:
            yield f"{number} is past the 32 bits of an index"
    if any(it.coefficient == 0 for it in affine.terms):
        yield "a coefficient of 0"


def _fixed_sizes(scope: Scope) -> Found:
    for dimension in scope.nest.dimensions:
        if not dimension.size.terms and dimension.size.constant < 0:
            yield dimension, f"the size is {dimension.size.constant}"
    for array in scope.nest.arrays:
        if any(not it.terms and it.constant < 0 for it in array.extents):
            yield array, "an extent is negative"


def _elements(scope: Scope) -> Found:
    for array in scope.nest.arrays:
        if array.type is ElementType.BOOL:
            yield array, "WGSL has no buffers of bool"


def _defined(scope: Scope) -> Found:
    before: set[str] = set()
    for statement in scope.nest.body:
        for name in scope.needed(statement):
            if name not in before:
                later = f"{name!r} comes only after this" if name in scope.values else None
                yield statement, later or unknown_name(f"there is no value {name!r}", name, scope.values)
        if isinstance(statement, Fby) and not isinstance(scope.values.get(statement.next), Instruction):
            yield statement, f"the next value {statement.next!r} is no value of an instruction"
        if not isinstance(statement, (Store, Scatter)):
            before.add(statement.name)


def _dimensions(scope: Scope) -> Found:
    for statement in scope.nest.body:
        names = _named_dimensions(statement)
        for name in names:
            if name not in scope.dimensions:
                yield statement, unknown_name(f"there is no dimension {name!r}", name, scope.dimensions)
        if len(set(names)) < len(names):
            yield statement, "a dimension comes twice"
        if isinstance(statement, (Fby, Last, Map)) and not names:
            yield statement, "no dimension"


def _named_dimensions(statement: Statement) -> tuple[str, ...]:
    if isinstance(statement, Map):
        return tuple(name for it in statement.pairs for name in (it.source, it.target))
    return statement.dimensions


def _subscripts(scope: Scope) -> Found:
    for statement in scope.nest.body:
        if isinstance(statement, Index):
            known = {*statement.dimensions, *scope.sizes}
            yield from ((statement, it) for it in _affine_mistakes(statement.value, known, "size or dimension here"))
        if not isinstance(statement, (Load, Gather, Store, Scatter)):
            continue
        array, wanted = scope.arrays.get(statement.array), _direction(statement)
        if array is None or array.direction is not wanted:
            names = [it.name for it in scope.nest.arrays if it.direction is wanted]
            message = f"there is no array {statement.array!r} with {wanted.value!r}"
            yield statement, unknown_name(message, statement.array, names)
            continue
        if len(array.extents) != len(statement.subscripts):
            yield statement, f"{len(statement.subscripts)} subscripts for {len(array.extents)} extents"
        for subscript in () if isinstance(statement, (Gather, Scatter)) else statement.subscripts:
            known = {*statement.dimensions, *scope.sizes}
            yield from ((statement, it) for it in _affine_mistakes(subscript, known, "size or dimension here"))


def _direction(statement: Load | Gather | Store | Scatter) -> Direction:
    return Direction.IN if isinstance(statement, (Load, Gather)) else Direction.OUT


def _stores(scope: Scope) -> Found:
    stores = [it for it in scope.nest.body if isinstance(it, Store)]
    written = [it.array for it in scope.nest.body if isinstance(it, (Store, Scatter))]
    counts = {name: written.count(name) for name in scope.arrays}
    for array in scope.nest.arrays:
        if array.direction is Direction.OUT and counts[array.name] != 1:
            yield array, f"{counts[array.name]} stores"
    for store in stores:
        for dimension in store.dimensions:
            alone = [it for it in store.subscripts if dimension in [term.name for term in it.terms]]
            others = [t.name for it in alone for t in it.terms if t.name in scope.dimensions and t.name != dimension]
            if len(alone) != 1 or others:
                yield store, f"{dimension!r} is not alone in one subscript, so elements could be written twice"


def _types(scope: Scope) -> Found:
    for statement in scope.nest.body:
        yield from ((statement, it) for it in _type_mistakes(statement, scope))
        for operand in _operands(statement):
            if isinstance(operand, Constant):
                yield from ((statement, it) for it in constant_mistakes(operand))


def _operands(statement: Statement) -> tuple[Operand, ...]:
    match statement:
        case Compute(operands=operands):
            return operands
        case Fby(first=operand) | Store(value=operand):
            return (operand,)
        case Gather(subscripts=subscripts):
            return subscripts
        case Scatter(subscripts=subscripts, first=first, value=value):
            return (*subscripts, first, value)
        case Load() | Index() | Last() | Map():
            return ()
        case _:
            assert_never(statement)


def _type_mistakes(statement: Statement, scope: Scope) -> Iterator[str]:
    match statement:
        case Load(type=type, array=array):
            yield from _differs(type, scope.arrays[array].type)
        case Gather(type=type, array=array, subscripts=subscripts):
            yield from _differs(type, scope.arrays[array].type)
            yield from _subscript_mistakes(subscripts, scope)
        case Index(type=type):
            if type not in (ElementType.I32, ElementType.U32):
                yield f"an index is i32 or u32, not {type.value}"
        case Compute():
            yield from _compute_mistakes(statement, scope)
        case Fby(type=type, first=first, next=following):
            yield from _differs(type, scope.type_of(first))
            yield from _differs(type, scope.values[following].type)
        case Last(type=type) | Map(type=type):
            yield from _differs(type, scope.values[used_by(statement)[0]].type)
        case Store(array=array, value=value):
            yield from _differs(scope.arrays[array].type, scope.type_of(value))
        case Scatter():
            yield from _scatter_mistakes(statement, scope)
        case _:
            assert_never(statement)


def _differs(wanted: ElementType, found: ElementType) -> Iterator[str]:
    if wanted is not found:
        yield f"{found.value} where {wanted.value} is needed"


def _compute_mistakes(statement: Compute, scope: Scope) -> Iterator[str]:
    function = statement.function
    if not is_function(function):
        yield unknown_name(f"there is no function {function!r} of scalars", function, function_names())
        return
    types = tuple(scope.type_of(it) for it in statement.operands)
    result = result_type(function, types)
    if result is None:
        yield f"{function} does not take ({', '.join(it.value for it in types)})"
    else:
        yield from _differs(statement.type, result)


def _scatter_mistakes(statement: Scatter, scope: Scope) -> Iterator[str]:
    type = scope.arrays[statement.array].type
    yield from _differs(type, scope.type_of(statement.value))
    yield from _differs(type, scope.type_of(statement.first))
    if not isinstance(statement.first, Constant):
        yield "elements begin with a constant"
    if statement.function not in ASSOCIATIVE or result_type(statement.function, (type, type)) is not type:
        yield f"{statement.function} does not join values of type {type.value}: {', '.join(ASSOCIATIVE)} do"
    yield from _subscript_mistakes(statement.subscripts, scope)


def _subscript_mistakes(subscripts: Iterable[Operand], scope: Scope) -> Iterator[str]:
    for type in map(scope.type_of, subscripts):
        if type not in (ElementType.I32, ElementType.U32):
            yield f"a subscript is i32 or u32, not {type.value}"


def constant_mistakes(constant: Constant) -> Iterator[str]:
    """What is wrong with a constant: sentences."""
    type, number = constant.type, constant.value
    if type in _RANGES:
        low, high = _RANGES[type]
        if not isinstance(number, IntegerLiteral) or not low <= number.value <= high:
            yield f"{number.value} is no {type.value}"
    elif type in _FLOATS and not (isinstance(number, FloatLiteral) and _is_float(number.value, type)):
        yield f"{number.value} is no finite {type.value}"


def _is_float(value: float, type: ElementType) -> bool:
    with np.errstate(over="ignore"):
        rounded = float(np.array(value, _FLOATS[type]))
    return math.isfinite(rounded) and rounded == value


def _boundaries(scope: Scope) -> Found:
    for statement in scope.nest.body:
        if isinstance(statement, Load) and statement.boundary is not Boundary.INSIDE and not statement.subscripts:
            yield statement, "a number without subscripts has no outside"
        elif isinstance(statement, Gather) and statement.boundary is Boundary.INSIDE:
            yield statement, "computed subscripts may be outside of the array: clamp or zero"
        elif isinstance(statement, Gather) and not statement.subscripts:
            yield statement, "a number without subscripts has no computed ones"


NAMES: Final = (
    Rule("length", f"a nest has at most {MOST_STATEMENTS} statements", _length),
    Rule("names", "names are WGSL's, and each is declared once", _names),
    Rule("sizes", "sizes and extents are sums of the nest's sizes", _sizes),
    Rule("fixed-sizes", "no fixed size is negative", _fixed_sizes),
    Rule("elements", "arrays have elements that can lie in a buffer", _elements),
)
STATEMENTS: Final = (
    Rule("defined", "a value is used after its definition; a next value is one of an instruction", _defined),
    Rule("dimensions", "each dimension exists, and comes once in a statement", _dimensions),
    Rule("subscripts", "there is a subscript for each extent, of the statement's dimensions and of sizes", _subscripts),
    Rule("boundaries", "only elements of arrays have an outside, and computed ones always", _boundaries),
    Rule("stores", "each element of an output is stored at most once", _stores),
)
TYPES: Final = (Rule("types", "operations accept their operands, and results have the types that are written", _types),)
