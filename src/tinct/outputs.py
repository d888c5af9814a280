"""What runs return, with representations that fit a few lines of a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .dispatch import Timing

if TYPE_CHECKING:
    import numpy.typing as npt

_SHOWN_WHOLE = 32
"""Arrays of at most so many elements are shown whole in the representation of `Outputs`, longer ones by their ends."""


class Outputs(dict[str, "npt.NDArray[Any]"]):
    """Arrays by name: a dict whose representation shows the first and last elements of each array only."""

    def __repr__(self) -> str:
        with np.printoptions(threshold=_SHOWN_WHOLE, edgeitems=3):
            return super().__repr__()


def summary(arrays: Mapping[str, npt.NDArray[Any]], timing: Timing | None = None) -> str:
    """The names, shapes and dtypes of arrays, and the time that a dispatch took, in a line."""
    text = ", ".join(f"{name} {array.shape} {_kind(array.dtype)}" for name, array in arrays.items()) or "no array"
    if timing is None:
        return text
    return f"{text}; compiled in {timing.compile * 1e3:.1f} ms, ran in {timing.run * 1e3:.3f} ms"


def _kind(dtype: np.dtype[Any]) -> str:
    return str(dtype) if dtype.names is None else f"({', '.join(dtype.names)})"
