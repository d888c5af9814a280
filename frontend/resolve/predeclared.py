"""Names every module can use without declaring them (WGSL, "Predeclared Types and Type-Generators Summary", …)."""

from __future__ import annotations

from functools import cache

from ...ir.builtins import builtin_names
from ...ir.language import TEXEL_FORMATS
from ...ir.types import (
    F16,
    F32,
    I32,
    SCALARS,
    U32,
    Access,
    AddressSpace,
    TextureKind,
    Type,
    matrix,
    sampler,
    texture,
    vector,
)

_SUFFIXES = {"i": I32, "u": U32, "f": F32, "h": F16}
_SIZES = (2, 3, 4)


def _types() -> dict[str, Type]:
    found: dict[str, Type] = dict(SCALARS)
    for suffix, scalar in _SUFFIXES.items():
        found |= {f"vec{width}{suffix}": vector(width, scalar) for width in _SIZES}
    for suffix in "fh":
        scalar = _SUFFIXES[suffix]
        found |= {f"mat{c}x{r}{suffix}": matrix(c, r, scalar) for c in _SIZES for r in _SIZES}
    for dimension in ("2d", "2d_array", "cube", "cube_array"):
        found[f"texture_depth_{dimension}"] = texture(TextureKind.DEPTH, dimension)
    found["texture_depth_multisampled_2d"] = texture(TextureKind.DEPTH_MULTISAMPLED, "2d")
    found["texture_external"] = texture(TextureKind.EXTERNAL, "2d")
    found["sampler"] = sampler(comparison=False)
    found["sampler_comparison"] = sampler(comparison=True)
    return found


TYPES = _types()
"""Types that take no template arguments, aliases included."""

SAMPLED_TEXTURES = {
    f"texture_{dimension}": dimension for dimension in ("1d", "2d", "2d_array", "3d", "cube", "cube_array")
}
STORAGE_TEXTURES = {f"texture_storage_{dimension}": dimension for dimension in ("1d", "2d", "2d_array", "3d")}
VECTORS = {f"vec{width}": width for width in _SIZES}
MATRICES = {f"mat{columns}x{rows}": (columns, rows) for columns in _SIZES for rows in _SIZES}

_OTHER_GENERATORS = ("array", "atomic", "buffer", "ptr", "texture_multisampled_2d")
GENERATORS = frozenset({*VECTORS, *MATRICES, *SAMPLED_TEXTURES, *STORAGE_TEXTURES, *_OTHER_GENERATORS})
"""Names that make a type of template arguments."""

ACCESS_MODES = {access.value: access for access in Access}
ADDRESS_SPACES = {space.value: space for space in AddressSpace if space is not AddressSpace.HANDLE}
ENUMERANTS = frozenset({*ACCESS_MODES, *ADDRESS_SPACES, *TEXEL_FORMATS})


def is_predeclared(name: str) -> bool:
    """Whether the name denotes something without a declaration."""
    return name in TYPES or name in GENERATORS or name in ENUMERANTS or name in builtin_names()


def is_type_name(name: str) -> bool:
    """Whether a predeclared name denotes a type or a type generator."""
    return name in TYPES or name in GENERATORS


@cache
def names() -> tuple[str, ...]:
    """All predeclared names."""
    return (*TYPES, *GENERATORS, *ENUMERANTS, *builtin_names())
