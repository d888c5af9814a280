"""The context-dependent names of WGSL: extensions, features, diagnostic filters, builtin values, texel formats."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

ENABLE_EXTENSIONS: Final = frozenset(
    {"f16", "clip_distances", "dual_source_blending", "subgroups", "primitive_index", "subgroup_size_control"}
)
"""The names that `enable` accepts (WGSL, "Enable Extensions")."""

DEBUG_PRINTF: Final = "debugPrintf"
PRINTING_EXTENSION: Final = "wgpu_debug_printf"
"""The extension that wgpu demands for calls of `debugPrintf` (wgpu, "Shader debugPrintf")."""

SWIZZLE_ASSIGNMENT: Final = "swizzle_assignment"
"""The language extension by which several components of a vector are assigned at once, `v.zy = e`."""

LANGUAGE_FEATURES: Final = frozenset(
    {
        "readonly_and_readwrite_storage_textures",
        "packed_4x8_integer_dot_product",
        "unrestricted_pointer_parameters",
        "pointer_composite_access",
        "uniform_buffer_standard_layout",
        "subgroup_id",
        "subgroup_uniformity",
        "texture_and_sampler_let",
        "texture_formats_tier1",
        "linear_indexing",
        "immediate_address_space",
        "fragment_depth",
        "buffer_view",
        SWIZZLE_ASSIGNMENT,
    }
)
"""The names that `requires` accepts (WGSL, "Language Extensions")."""

SEVERITIES: Final = ("error", "warning", "info", "off")
DIAGNOSTIC_RULES: Final = ("derivative_uniformity", "subgroup_uniformity")
"""The rules that a filter accepts; names with a dot belong to other tools (WGSL, "Diagnostic Filtering")."""

DEPTH_MODES: Final = ("less", "greater")
"""The depth modes of `builtin(frag_depth, …)`."""

SAMPLINGS: Final[Mapping[str, tuple[str, ...]]] = {
    "perspective": ("center", "centroid", "sample"),
    "linear": ("center", "centroid", "sample"),
    "flat": ("first", "either"),
}
"""The types of interpolation, and the samplings that each allows (WGSL, "Interpolation")."""

BUILTIN_VALUES: Final = frozenset(
    {
        "vertex_index",
        "instance_index",
        "clip_distances",
        "position",
        "front_facing",
        "frag_depth",
        "primitive_index",
        "sample_index",
        "sample_mask",
        "local_invocation_id",
        "local_invocation_index",
        "global_invocation_id",
        "global_invocation_index",
        "workgroup_id",
        "workgroup_index",
        "num_workgroups",
        "subgroup_invocation_id",
        "subgroup_size",
        "subgroup_id",
        "num_subgroups",
    }
)
"""The names that `@builtin` accepts (WGSL, "Built-in Values")."""

_TEXEL_FORMATS = """
    rgba8unorm rgba8snorm rgba8uint rgba8sint rgba16unorm rgba16snorm rgba16uint rgba16sint rgba16float rg8unorm
    rg8snorm rg8uint rg8sint rg16unorm rg16snorm rg16uint rg16sint rg16float r32uint r32sint r32float rg32uint
    rg32sint rg32float rgba32uint rgba32sint rgba32float bgra8unorm r8unorm r8snorm r8uint r8sint r16unorm r16snorm
    r16uint r16sint r16float rgb10a2unorm rgb10a2uint rg11b10ufloat
"""
TEXEL_FORMATS: Final = frozenset(_TEXEL_FORMATS.split())
"""The formats of storage textures (WGSL, "Texel Formats")."""
