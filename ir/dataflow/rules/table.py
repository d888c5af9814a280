"""The definition of a rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from ..nodes import Function, Graph, Module, Port, Shader, Statement
from ..scope import Scope

Part: TypeAlias = Shader | Function | Port | Statement
"""What a mistake is about; the line that it is shown under."""
S = TypeVar("S", bound=Statement)


@dataclass(frozen=True, slots=True)
class Mistake:
    """A broken rule: a sentence about a part of a function, or of the module."""

    rule: str
    function: Function | None
    part: Part
    message: str


@dataclass(frozen=True, slots=True)
class StatementRule:
    """A rule for each statement by itself. `sentence` is what it demands."""

    name: str
    sentence: str
    check: Callable[[Statement, Scope], Iterable[str]]


@dataclass(frozen=True, slots=True)
class GraphRule:
    """A rule for a whole graph."""

    name: str
    sentence: str
    check: Callable[[Graph, Scope], Iterator[tuple[Part, str]]]


@dataclass(frozen=True, slots=True)
class ModuleRule:
    """A rule for a module; each mistake has the function that it is in."""

    name: str
    sentence: str
    check: Callable[[Module], Iterator[tuple[Function | None, Part, str]]]


def each(kind: type[S], check: Callable[[S, Scope], Iterable[str]]) -> Callable[[Statement, Scope], Iterable[str]]:
    """A check of statements of one kind."""
    return lambda statement, scope: check(statement, scope) if isinstance(statement, kind) else ()
