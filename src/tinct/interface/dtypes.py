"""numpy dtypes as text to paste into Python, and as JSON."""

from __future__ import annotations

from typing import Any

import numpy as np


def as_python(dtype: np.dtype[Any]) -> str:
    """An expression that `np.dtype` takes."""
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return f"({as_python(base)}, {shape})"
    if dtype.names is None:
        return repr(dtype.str)
    formats = ", ".join(as_python(dtype[name]) for name in dtype.names)
    return (
        f"{{'names': {list(dtype.names)}, 'formats': [{formats}], "
        f"'offsets': {_offsets(dtype)}, 'itemsize': {dtype.itemsize}}}"
    )


def as_json(dtype: np.dtype[Any] | None) -> object:
    """A string for a number; base and shape for an array; names, formats, offsets and itemsize for a structure."""
    if dtype is None:
        return None
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return {"base": as_json(base), "shape": list(shape)}
    if dtype.names is None:
        return dtype.str
    return {
        "names": list(dtype.names),
        "formats": [as_json(dtype[name]) for name in dtype.names],
        "offsets": _offsets(dtype),
        "itemsize": dtype.itemsize,
    }


def _offsets(dtype: np.dtype[Any]) -> list[int]:
    return [offset for _, offset, *_ in (dtype.fields or {}).values()]
