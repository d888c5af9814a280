"""What stays in the GPU's process from one request to the next, as the parent knows it."""

from __future__ import annotations

import itertools
from collections import deque

from .model import TextureBinding

_ids = itertools.count(1)


class Resident:
    """What stays in the GPU's process: a buffer, a texture, a pipeline, a bound pipeline, or a sequence.

    Freed with this object.
    """

    __slots__ = ("__weakref__", "_garbage", "id", "kept", "texture")

    def __init__(self, garbage: deque[int], texture: TextureBinding | None = None, kept: object = None) -> None:
        self.id = next(_ids)
        self.texture = texture
        self.kept = kept
        """What must stay as long as this does."""
        self._garbage = garbage

    def __del__(self) -> None:
        self._garbage.append(self.id)
