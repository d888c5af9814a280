"""Makes external textures two-dimensional ones, for compilers without them.

Off a browser an external texture is RGBA data: loads from it are loads of the first mip level (WGSL, "textureLoad").
"""

from __future__ import annotations

from dataclasses import dataclass

from ...ir.core import nodes
from ...ir.core.builder import u32
from ...ir.core.structure import blocks_of
from ...ir.types import F32, Pointer, Texture, TextureKind, Type, pointer, texture
from .retyping import retype_values


@dataclass(frozen=True)
class FlattenExternal:
    """Replaces `texture_external` by `texture_2d<f32>`; loads get a level."""

    @property
    def name(self) -> str:
        """The name in pipelines."""
        return "flatten_external"

    def run(self, module: nodes.Module) -> bool:
        """Whether there was an external texture."""
        if not any(_is_external(it.type) for it in module.root.instructions):
            return False
        for function in module.functions:
            for block in blocks_of(function):
                for call in block.instructions:
                    if isinstance(call, nodes.BuiltinCall) and call.function == "textureLoad":
                        _give_level(call)
        retype_values(module, _flat)
        return True


def _give_level(call: nodes.BuiltinCall) -> None:
    if _is_external(call.arguments[0].type):
        call.arguments = (*call.arguments, u32(0))


def _is_external(type: Type) -> bool:
    store = type.store if isinstance(type, Pointer) else type
    return isinstance(store, Texture) and store.kind is TextureKind.EXTERNAL


def _flat(type: Type) -> Type:
    if not _is_external(type):
        return type
    flat = texture(TextureKind.SAMPLED, "2d", F32)
    return pointer(type.space, flat, type.access) if isinstance(type, Pointer) else flat
