"""Textures and samplers in plans: what a plan is made for."""

from __future__ import annotations

from ..ir import types as wgsl
from ..ir.textures import HEADER_BYTES, read_extent
from ..texel_kernels import workgroups_over
from .numbers_in import Packed
from .plan import Bound, Dispatch, Handle
from .texel_leaves import texel_kernel


def handle_of(type: wgsl.Type, data: Packed) -> Handle | None:
    """The handle of a value with these bytes; None if it is neither a texture nor a sampler."""
    match type:
        case wgsl.Texture():
            return Handle(type, bytes(data[:HEADER_BYTES]))
        case wgsl.Sampler():
            return Handle(type, bytes(data))
        case _:
            return None


def texture_of(handle: Handle) -> wgsl.Texture:
    """The type of a texture."""
    assert isinstance(handle.type, wgsl.Texture)
    return handle.type


def texel_dispatch(leaf: str, node: str, device: str, handle: Handle, **buffers: int) -> Dispatch:
    """A dispatch of a kernel of `texel_kernels` for a node, over the texels of a texture."""
    kernel, path = texel_kernel(leaf), tuple(node.split("/")) if node else ()
    bound = tuple(Bound(it.name, it.group, it.binding, buffers[it.name], it.is_written) for it in kernel.bindings)
    groups = workgroups_over(texture_of(handle), read_extent(handle.head))
    return Dispatch(path, leaf, device, (), kernel.workgroup_size(), groups, None, bound)
