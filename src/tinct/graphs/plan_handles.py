"""Textures and samplers in plans: what a plan is made for."""

from __future__ import annotations

from ..ir import types as wgsl
from ..ir.textures import HEADER_BYTES
from .numbers_in import Packed
from .plan import Handle


def handle_of(type: wgsl.Type, data: Packed) -> Handle | None:
    """The handle of a value with these bytes; None if it is neither a texture nor a sampler."""
    match type:
        case wgsl.Texture():
            return Handle(type, bytes(data[:HEADER_BYTES]))
        case wgsl.Sampler():
            return Handle(type, bytes(data))
        case _:
            return None
