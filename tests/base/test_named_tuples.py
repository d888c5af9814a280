"""Classes of `named_tuples.NamedTuple` behave as those of the standard library do."""

from __future__ import annotations

import copy
import inspect
import pickle
import typing
from collections.abc import Callable
from typing import Any

import pytest

from tinct.base.named_tuples import NamedTuple


class Place(NamedTuple):
    """A place."""

    line: int
    column: int = 1

    @property
    def is_first(self) -> bool:
        return self.column == 1


class Expected(typing.NamedTuple):
    """A place."""

    line: int
    column: int = 1


def outcome(do: Callable[[], object]) -> object:
    """What a call gives, or the kind and the text of what it raises."""
    try:
        return do()
    except Exception as error:
        return type(error), str(error).replace("Expected", "Place").replace("_cls", "cls")


@pytest.mark.parametrize(
    "look",
    [
        lambda kind: kind(1, 2),
        lambda kind: kind(1) == (1, 1),
        lambda kind: kind(column=3, line=4),
        lambda kind: repr(kind(1)).replace("Expected", "Place"),
        lambda kind: (kind(5).line, kind(5).column, kind(5)[1], *kind(5)),
        lambda kind: kind(5)._replace(line=7),
        lambda kind: pickle.loads(pickle.dumps(kind(1, 2))) == kind(1, 2),
        lambda kind: copy.copy(kind(1, 2)),
        lambda kind: hash(kind(1, 2)),
        lambda kind: setattr(kind(1, 2), "other", 1),
        lambda kind: kind(),
        lambda kind: kind(1, 2, 3),
        lambda kind: str(inspect.signature(kind)).replace("ForwardRef('int')", "'int'"),
        lambda kind: (kind._fields, kind._field_defaults, kind.__match_args__, kind.__doc__, kind.__slots__),
        lambda kind: (kind.__module__, kind.__mro__[1:]),
    ],
)
def test_it_behaves_as_that_of_the_standard_library(look: Callable[[type[Any]], object]) -> None:
    assert outcome(lambda: look(Place)) == outcome(lambda: look(Expected))


def test_an_unknown_field_is_not_replaced() -> None:
    """From Python 3.13 on the standard library raises TypeError, with the same text."""
    with pytest.raises(ValueError, match=r"Got unexpected field names: \['unknown'\]"):
        Place(5)._replace(unknown=7)


def test_methods_and_patterns() -> None:
    assert Place(3).is_first
    match Place(1, 2):
        case Place(line, column=2):
            assert line == 1
        case _:
            pytest.fail("no match")


def test_a_default_is_not_followed_by_a_field_without_one() -> None:
    with pytest.raises(TypeError, match="a field of Wrong without a default follows one with a default"):

        class Wrong(NamedTuple):
            a: int = 1
            b: int  # type: ignore[misc]  # pyright: ignore[reportGeneralTypeIssues]
