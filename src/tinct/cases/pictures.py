"""Pictures that kernels make, as PNG files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..base.errors import InputError
from .model import Case


def save_pictures(case: Case, outputs: Mapping[str, npt.NDArray[Any]], directory: Path) -> list[Path]:
    """Writes the output that `case.picture` names to `directory/KERNEL-CASE.png`; nothing for a case without one.

    Pixels are u32 with red in the low byte, then green, blue and alpha, in rows of an array of shape (height, width).
    """
    if case.picture is None:
        return []
    pixels = outputs.get(case.picture)
    if pixels is None:
        raise InputError(f"{case.file}: case '{case.name}', picture: there is no output '{case.picture}'")
    if pixels.ndim != 2 or pixels.dtype != np.uint32:
        found = f"{pixels.dtype} of shape {pixels.shape}"
        raise InputError(f"{case.file}: case '{case.name}', picture: '{case.picture}' is no picture but {found}")
    from PIL import Image

    directory.mkdir(parents=True, exist_ok=True)
    file = directory / f"{case.kernel}-{case.name.replace(' ', '-')}.png"
    channels = np.ascontiguousarray(pixels.astype("<u4")).view(np.uint8).reshape(*pixels.shape, 4)
    Image.fromarray(channels, "RGBA").save(file)
    return [file]
