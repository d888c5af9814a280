"""Rules for combines, which say how parts of values that are carried together are joined."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ..combines import counterexample
from ..functions import is_function, result_type
from ..nodes import Combine, Compute, Constant, ElementType, Fby, Operand
from ..scope import Scope
from .declarations import constant_mistakes
from .table import Found, Rule


def _combined(scope: Scope) -> Found:
    seen: set[str] = set()
    for combine in scope.nest.combines:
        for name in combine.carried:
            if not isinstance(scope.values.get(name), Fby):
                yield combine, f"{name!r} is no carried value"
            elif name in seen:
                yield combine, f"{name!r} is combined twice"
            seen.add(name)
        fbys = [it for it in map(scope.values.get, combine.carried) if isinstance(it, Fby)]
        if len({(it.dimensions, scope.dimensions_of(it.name)) for it in fbys}) != 1:
            yield combine, "what is combined is carried on the same dimensions, and there is some"


def _well_formed(scope: Scope) -> Found:
    for combine in scope.nest.combines:
        yield from ((combine, it) for it in _mistakes(combine, scope))


def _mistakes(combine: Combine, scope: Scope) -> Iterator[str]:
    carried = [scope.values[it].type for it in combine.carried]
    for what, parts in (
        ("neutral values", combine.neutral),
        ("values of the first part", combine.left),
        ("values of the second part", combine.right),
        ("results", combine.results),
    ):
        if len(parts) != len(carried):
            yield f"{len(parts)} {what} for {len(carried)} carried values"
            return
    types: dict[str, ElementType] = {}
    for name, type in zip((*combine.left, *combine.right), carried * 2, strict=True):
        if name in types:
            yield f"{name!r} comes twice"
        types[name] = type
    for statement in combine.body:
        if not isinstance(statement, Compute) or statement.dimensions:
            yield "the body has operations on no dimension only"
            return
        yield from _body_mistakes(statement, types)
        if statement.name in types:
            yield f"{statement.name!r} comes twice"
        types[statement.name] = statement.type
    used = (
        *combine.neutral,
        *combine.results,
        *(o for it in combine.body if isinstance(it, Compute) for o in it.operands),
    )
    for constant in used:
        yield from constant_mistakes(constant) if isinstance(constant, Constant) else ()
    for result, wanted in zip(combine.results, carried, strict=True):
        if _type(result, types) is not wanted:
            yield f"a result is no {wanted.value} that is known in the body"
    for neutral, wanted in zip(combine.neutral, carried, strict=True):
        if not isinstance(neutral, Constant) or neutral.type is not wanted:
            yield f"a neutral value is no constant of type {wanted.value}"


def _type(operand: Operand, types: dict[str, ElementType]) -> ElementType | None:
    return operand.type if isinstance(operand, Constant) else types.get(operand.name)


def _body_mistakes(statement: Compute, types: dict[str, ElementType]) -> Iterator[str]:
    operands = [_type(it, types) for it in statement.operands]
    known = tuple(it for it in operands if it is not None)
    if len(known) < len(operands):
        yield f"{statement.name!r} uses a value that is not known in the body"
    elif not is_function(statement.function) or result_type(statement.function, known) is not statement.type:
        yield f"{statement.function} of ({', '.join(it.value for it in known)}) gives no {statement.type.value}"


def _joins_parts(scope: Scope) -> Found:
    for combine in scope.nest.combines:
        found = counterexample(combine, scope)
        if found:
            yield combine, found


COMBINED: Final = (Rule("combined", "a combine is of values that are carried together, each in one", _combined),)
COMBINES: Final = (
    Rule("combine", "operations in a combine accept their operands, and use nothing else", _well_formed),
)
TRIALS: Final = (
    Rule("joins-parts", "on random elements, parts that are joined are what all elements are in order", _joins_parts),
)
