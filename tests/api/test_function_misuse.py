"""Whatever is passed to a function of Hercules IR, what comes back is an answer or one of tinct's own exceptions."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tinct

from .test_misuse import BOUNDED, ODD, OWN, THINGS

FUNCTION = tinct.load_hercules("""
fn f<n, m>(
  numbers: array<array<f32, m>, n>,
  points: array<product<array<f32, 3>, bool>, n>,
  kind: sum<u8, array<i64, m>, product<f16, sum<bool, u32>>>,
  flag: bool
) -> product<array<array<f32, m>, n>, array<product<array<f32, 3>, bool>, n>> {
  both = product(numbers, points)
  done = return(start, both)
}
""")["f"]
FITTING = {
    "numbers": [[1.5, 2.5]],
    "points": [([1, 2, 3], True)],
    "kind": {"variant": 1, "value": [1, 2]},
    "flag": False,
}


@BOUNDED
@given(st.sampled_from(sorted(FITTING)), THINGS)
def test_an_argument_of_anything(name: str, value: object) -> None:
    for device in ("interp", "cpu"):
        with suppress(*OWN):
            assert FUNCTION.run({**FITTING, name: value}, device=device).keys() == {"numbers", "points"}


@pytest.mark.parametrize("name", FITTING)
@pytest.mark.parametrize("value", ODD, ids=lambda value: type(value).__name__)
def test_an_argument_of_something_odd(name: str, value: object) -> None:
    forms = (
        value,
        [value],
        [(value, True)],
        [([1, 2, 3], value)],
        {"variant": value, "value": 1},
        {"variant": 2, "value": (1, value)},
        {"variant": 2, "value": (1, {"variant": 1, "value": value})},
    )
    for form in forms:
        with suppress(*OWN):
            FUNCTION.run({**FITTING, name: form}, device="interp")


@BOUNDED
@given(st.dictionaries(st.sampled_from(["arguments", "constants", "device", "timeout"]), THINGS, max_size=2))
def test_options_of_anything(options: dict[str, object]) -> None:
    with suppress(*OWN):
        FUNCTION.run(**{"arguments": FITTING, "device": "interp", **options})  # type: ignore[arg-type]


@BOUNDED
@given(THINGS)
def test_files_of_anything(thing: object) -> None:
    with suppress(*OWN, OSError):
        tinct.load_hercules(thing)  # type: ignore[arg-type]


def test_what_fits_runs() -> None:
    found = FUNCTION.run(FITTING, device="cpu")
    np.testing.assert_array_equal(found["numbers"], [[1.5, 2.5]])
