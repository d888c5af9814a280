"""Types from their spelling, for tables of tests: AI and AF are the abstract types."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tinct.ir.builtins.patterns import instantiate, parse_pattern
from tinct.ir.types import ABSTRACT_FLOAT, ABSTRACT_INT, Type

TypeParser = Callable[[str], Type]


def parse_type(text: str) -> Type:
    return instantiate(parse_pattern(text), {"AI": ABSTRACT_INT, "AF": ABSTRACT_FLOAT})


@pytest.fixture(scope="session")
def type_of() -> TypeParser:
    return parse_type
