"""The code that is written beforehand is what would be compiled."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from tinct.base import record_codes, record_shapes
from tinct.base.record_shapes import codes, shape, tuple_shape


def test_the_written_codes_are_up_to_date() -> None:
    assert Path(str(record_codes.__file__)).read_text(encoding="utf-8") == codes()


def test_usual_classes_compile_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_shapes, "_compiled", lambda *_: pytest.fail("compiles"))
    for count, is_frozen, is_complete in product(range(11), (False, True), (False, True)):
        assert shape(count, is_frozen=is_frozen, is_complete=is_complete).co_argcount == count + 1
    assert tuple_shape(2).co_varnames == ("cls", "field0", "field1")


def test_others_are_compiled() -> None:
    assert shape(30, is_frozen=True, is_complete=False).co_argcount == 31
    assert tuple_shape(30).co_argcount == 31
