"""References: plain numpy functions in a Python file beside the case file, loaded by path.

A reference takes what it needs by name (buffers, sizes, override constants) and returns a dictionary of outputs:

    def saxpy(x, y, params):
        return {"y": params["a"] * x + y}
"""

from __future__ import annotations

import importlib.util
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]
_Function: TypeAlias = Callable[..., Mapping[str, Array]]


@dataclass(frozen=True, slots=True)
class Reference:
    """A function in a Python file; the file is run at the first call."""

    path: Path
    function: str


def call(reference: Reference, available: Mapping[str, object]) -> dict[str, Array]:
    """Calls the reference with those of the available values that its parameters name, arrays copied.

    LookupError when the file, the function, or the value of a parameter is missing.
    """
    function = _function(reference)
    missing = [name for name in inspect.signature(function).parameters if name not in available]
    if missing:
        known = ", ".join(available)
        raise LookupError(f"{reference.function} wants '{missing[0]}'; there are: {known}")
    arguments = {name: _copied(available[name]) for name in inspect.signature(function).parameters}
    with np.errstate(all="ignore"):
        answer = function(**arguments)
    return {name: np.asarray(value) for name, value in answer.items()}


def _copied(value: object) -> object:
    if isinstance(value, list):
        return [_copied(it) for it in cast("list[object]", value)]
    return cast(Array, value).copy() if isinstance(value, np.ndarray) else value


def _function(reference: Reference) -> _Function:
    function = getattr(_module(reference.path), reference.function, None)
    if not callable(function):
        raise LookupError(f"{reference.path.name} has no function '{reference.function}'")
    return cast(_Function, function)


@cache
def _module(path: Path) -> ModuleType:
    if not path.is_file():
        raise LookupError(f"there is no file {path}")
    name = f"_tinct_reference_{path.parent.name}_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise LookupError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
