"""Rules for iteration dimensions, for what happens to values, and for the order of loops.

Events: an instruction produces its value. Statements read the values that they use. A Fby consumes its first and its
next value: it takes over their contents. Its content is destroyed, and so is that of its first value, when the next
value is produced. `last` and `map` share the events of their values.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ..dependence import Closure, ends_of, root_of
from ..nodes import Compute, Fby, Gather, Last, Map, Scatter, Statement, Store, Use
from ..scope import Scope, used_by
from .table import Found, Rule


def _shown(names: frozenset[str] | set[str], scope: Scope) -> str:
    return f"[{', '.join(scope.ordered(names))}]"


def _inside(scope: Scope) -> Found:
    for statement in scope.nest.body:
        if not isinstance(statement, (Compute, Gather, Store, Scatter)):
            continue
        for name in used_by(statement):
            missing = scope.dimensions_of(name) - scope.dimensions_at(statement)
            if missing:
                yield statement, f"{name!r} is used outside of its dimensions {_shown(missing, scope)}"


def _fby_dimensions(scope: Scope) -> Found:
    for statement in scope.nest.body:
        if isinstance(statement, Fby):
            missing = set(statement.dimensions) - scope.dimensions_of(statement.next)
            if missing:
                yield statement, f"the next value {statement.next!r} is not on {_shown(missing, scope)}"
            elif isinstance(statement.first, Use):
                outer = scope.dimensions_of(statement.next) - set(statement.dimensions)
                extra = scope.dimensions_of(statement.first.name) - outer
                if extra:
                    yield statement, f"the first value {statement.first.name!r} is on {_shown(extra, scope)}"


def _no_broadcast(scope: Scope) -> Found:
    for statement in scope.nest.body:
        if isinstance(statement, Fby) and isinstance(statement.first, Use):
            name = statement.first.name
            outer = scope.dimensions_of(statement.next) - set(statement.dimensions)
            extra = outer - scope.dimensions_of(name)
            if extra:
                yield statement, f"{name!r} would be consumed for each iteration of {_shown(extra, scope)}: copy it"


def _last_dimensions(scope: Scope) -> Found:
    for statement in scope.nest.body:
        if not isinstance(statement, Last):
            continue
        source = scope.values[statement.value]
        if isinstance(source, Fby) and set(statement.dimensions) != set(source.dimensions):
            yield statement, f"{source.name!r} is carried on {_shown(set(source.dimensions), scope)}"
        missing = set(statement.dimensions) - scope.dimensions_of(statement.value)
        if missing:
            yield statement, f"{statement.value!r} is not on {_shown(missing, scope)}"


def _map_dimensions(scope: Scope) -> Found:
    for statement in scope.nest.body:
        if not isinstance(statement, Map):
            continue
        dimensions = scope.dimensions_of(statement.value)
        for pair in statement.pairs:
            if pair.source not in dimensions:
                yield statement, f"{statement.value!r} is not on [{pair.source}]"
            if pair.target in dimensions:
                yield statement, f"{statement.value!r} is on [{pair.target}] already"
            if scope.dimensions[pair.source].size != scope.dimensions[pair.target].size:
                yield statement, f"{pair.source!r} and {pair.target!r} differ in size"


def _consumptions(scope: Scope) -> Iterator[tuple[Fby, str]]:
    for statement in scope.nest.body:
        if isinstance(statement, Fby):
            if isinstance(statement.first, Use):
                yield statement, statement.first.name
            yield statement, statement.next


def _consumed_once(scope: Scope) -> Found:
    seen: set[str] = set()
    for statement, name in _consumptions(scope):
        root = root_of(name, scope)
        if root in seen:
            yield statement, f"{name!r} is consumed already: copy it"
        seen.add(root)


def _not_destroyed(scope: Scope) -> Found:
    closure = Closure(scope)
    carried = [it for it in scope.nest.body if isinstance(it, Fby)]
    consumed = {root_of(name, scope) for _, name in _consumptions(scope)}
    for statement in scope.nest.body:
        for name in used_by(statement):
            if isinstance(statement, Map) and (name in consumed or isinstance(scope.values[name], Fby)):
                yield statement, f"{name!r} is overwritten by each iteration: map a copy"
        for fby in carried:
            if statement is not fby and _reads_too_late(statement, fby, scope, closure):
                yield statement, f"this reads a value that {fby.next!r} has destroyed by then: copy that before"


def _reads_too_late(statement: Statement, fby: Fby, scope: Scope, closure: Closure) -> bool:
    """Whether the statement reads the content of a Fby, or of its first value, when the next one is there."""
    used = used_by(statement)
    if fby.name in used and not isinstance(statement, Last):
        return closure.needs(statement, fby.next)
    if not isinstance(fby.first, Use) or root_of(fby.first.name, scope) not in [root_of(it, scope) for it in used]:
        return False
    return closure.needs(statement, fby.next) or not scope.dimensions_at(statement).isdisjoint(fby.dimensions)


def _ended(scope: Scope) -> Found:
    closure = Closure(scope)
    for statement in scope.nest.body:
        dimensions = scope.dimensions_at(statement)
        for end in closure.ends(statement):
            inside = dimensions & set(ends_of(end))
            if inside:
                yield statement, f"this is in {_shown(inside, scope)} and needs {end.name!r}, which is known at its end"


def _in_order(scope: Scope) -> Found:
    """Dimensions that must end before others begin, in a circle."""
    closure = Closure(scope)
    after: dict[str, set[str]] = {it: set() for it in scope.dimensions}
    for statement in scope.nest.body:
        for end in closure.ends(statement):
            later = scope.dimensions_at(statement) - scope.dimensions_of(end.value)
            for dimension in ends_of(end):
                after[dimension] |= later
    for name in scope.dimensions:
        reached, pending = set[str](), [name]
        while pending:
            fresh = after[pending.pop()] - reached
            reached |= fresh
            pending += fresh
        if name in reached:
            yield scope.dimensions[name], f"{name!r} would have to end before it begins"


DIMENSIONS: Final = (
    Rule("inside", "a value is used inside of all its dimensions", _inside),
    Rule(
        "fby-dimensions",
        "a next value is on the dimensions of its Fby, the first one only around them",
        _fby_dimensions,
    ),
    Rule(
        "last-dimensions", "a last value is on the dimensions, and those of a Fby are taken together", _last_dimensions
    ),
    Rule("map-dimensions", "dimensions are mapped to others of the same size", _map_dimensions),
)
EVENTS: Final = (
    Rule("no-broadcast", "no value is consumed by each iteration of a dimension that it is not on", _no_broadcast),
    Rule("consumed-once", "a value is consumed at most once", _consumed_once),
    Rule("not-destroyed", "no value is read when its content is destroyed", _not_destroyed),
)
ORDER: Final = (
    Rule("ended", "nothing in a dimension needs what is only known at its end", _ended),
    Rule("in-order", "each dimension can be one loop", _in_order),
)
