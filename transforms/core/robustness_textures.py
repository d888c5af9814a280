"""The part of `robustness` for textures: what a load asks for is in the texture; stores outside are dropped anyway
(WGSL, "textureLoad", "textureStore").
"""

from __future__ import annotations

from ...ir.core import nodes
from ...ir.core.builder import Builder, u32
from ...ir.core.values import Value
from ...ir.ops import BinaryOp
from ...ir.textures import is_layered, is_multisampled
from ...ir.types import U32, Texture, TextureKind, Vector, vector
from .editing import as_u32


def clamp_load(builder: Builder, call: nodes.BuiltinCall) -> bool:
    """Clamp the coordinates, layer, level and sample of a textureLoad; whether there was a texture to ask."""
    texture, type = call.arguments[0], call.arguments[0].type
    if not isinstance(type, Texture):
        return False
    builder.span = call.span
    last: Value | None = None
    if type.kind not in (TextureKind.STORAGE, TextureKind.EXTERNAL):
        count = "textureNumSamples" if is_multisampled(type) else "textureNumLevels"
        position = len(call.arguments) - 1
        last = _clamped(builder, call.arguments[position], builder.builtin_call(count, [texture]))
        call.set_operand(position, last)
    if is_layered(type):
        layers = builder.builtin_call("textureNumLayers", [texture])
        call.set_operand(2, _clamped(builder, call.arguments[2], layers))
    has_levels = last is not None and not is_multisampled(type)
    size = builder.builtin_call("textureDimensions", [texture, last] if has_levels and last is not None else [texture])
    call.set_operand(1, _clamped(builder, call.arguments[1], size))
    return True


def _clamped(builder: Builder, value: Value, count: Value) -> Value:
    """Each component, unsigned, or the last one; zero always is in range."""
    if isinstance(value, nodes.Constant) and value.value.value == 0:
        return value
    one: Value = u32(1)
    if isinstance(count.type, Vector):
        wide = vector(count.type.width, U32)
        value = value if value.type is wide else builder.convert(wide, value)
        one = builder.construct(wide, [one])
    else:
        value = as_u32(builder, value)
    return builder.builtin_call("min", [value, builder.binary(BinaryOp.SUBTRACT, count, one)])
