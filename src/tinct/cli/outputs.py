"""The arrays that a run gave: printed, or saved."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any, BinaryIO, cast

import click
import numpy as np
import numpy.typing as npt

from .files import writing
from .options import for_json


def show_outputs(outputs: dict[str, npt.NDArray[Any]], output: Path | None, form: str) -> None:
    """Print the arrays, as text or JSON, or save them in a file (.npz)."""
    if output is None:
        _print(outputs, form)
        return
    _save(output, outputs)
    click.echo(f"wrote {output}", err=True)


def _save(file: Path, arrays: dict[str, npt.NDArray[Any]]) -> None:
    """An .npz file; unlike np.savez, it takes any name that WGSL does."""
    with writing(file) as target, zipfile.ZipFile(cast("BinaryIO", _Stream(target)), "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


class _Stream:
    """A file that is only written forwards: devices tell wrong positions."""

    def __init__(self, file: BinaryIO) -> None:
        self.write = file.write
        self.flush = file.flush


def _print(outputs: dict[str, npt.NDArray[Any]], form: str) -> None:
    if form == "json":
        click.echo(json.dumps({name: _as_json(array) for name, array in outputs.items()}))
        return
    for name, array in outputs.items():
        kind = "structures" if array.dtype.names else str(array.dtype)
        click.echo(f"{name}: {kind} {array.shape}\n{np.array2string(array, threshold=64)}")


def _as_json(array: npt.NDArray[Any]) -> object:
    names = array.dtype.names
    if names is None:
        return for_json(array.tolist())
    if array.ndim:
        return [_as_json(part) for part in array]
    return {name: _as_json(np.asarray(array[name])) for name in names}
