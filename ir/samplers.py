"""Samplers: how a texture is filtered (WebGPU, "GPUSamplerDescriptor"), and their memory off the GPU.

That memory is ten words: the address modes along u, v and w, the three filters, the comparison and the greatest
anisotropy as u32, then the least and the greatest level of detail as f32. A choice is written as its index among
the choices below; a sampler without a comparison has the comparison 0.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, get_args

from ..base.errors import InputError
from ..base.records import dataclass
from .hints import unknown_name
from .types import F32, U32, Struct, StructMember, Type

AddressMode: TypeAlias = Literal["clamp-to-edge", "repeat", "mirror-repeat"]
Filter: TypeAlias = Literal["nearest", "linear"]
Comparison: TypeAlias = Literal[
    "never", "less", "equal", "less-equal", "greater", "not-equal", "greater-equal", "always"
]

ADDRESS_MODES: tuple[AddressMode, ...] = get_args(AddressMode)
FILTERS: tuple[Filter, ...] = get_args(Filter)
COMPARISONS: tuple[Comparison | None, ...] = (None, *get_args(Comparison))

MOST_ANISOTROPY = 16
"""WebGPU allows a larger `max_anisotropy`, and takes it as the largest that the platform has, which is 16."""

_LARGEST_F32 = float.fromhex("0x1.fffffep127")
_WORDS = struct.Struct("<8I2f")
SAMPLER_BYTES = _WORDS.size

_CHOICES: dict[str, tuple[str | None, ...]] = {
    "address_mode_u": ADDRESS_MODES,
    "address_mode_v": ADDRESS_MODES,
    "address_mode_w": ADDRESS_MODES,
    "mag_filter": FILTERS,
    "min_filter": FILTERS,
    "mipmap_filter": FILTERS,
    "compare": COMPARISONS,
}


@dataclass(frozen=True, slots=True)
class Sampler:
    """How a texture is sampled, with the names and defaults of WebGPU's GPUSamplerDescriptor.

    `lod_min_clamp` and `lod_max_clamp` are levels of detail. A sampler with `compare` is a `sampler_comparison`. Raises
    InputError for values that WebGPU refuses, such as a `max_anisotropy` above 1 without linear filters.
    """

    address_mode_u: AddressMode = "clamp-to-edge"
    address_mode_v: AddressMode = "clamp-to-edge"
    address_mode_w: AddressMode = "clamp-to-edge"
    mag_filter: Filter = "nearest"
    min_filter: Filter = "nearest"
    mipmap_filter: Filter = "nearest"
    lod_min_clamp: float = 0.0
    lod_max_clamp: float = 32.0
    compare: Comparison | None = None
    max_anisotropy: int = 1

    def __post_init__(self) -> None:
        for name, words in _CHOICES.items():
            given: object = getattr(self, name)
            if not (given is None or isinstance(given, str)) or given not in words:
                allowed = ", ".join(repr(word) for word in words)
                raise InputError(f"a sampler's {name} is one of {allowed}, not {given!r}")
        self._check_levels()
        self._check_anisotropy()

    @property
    def is_filtering(self) -> bool:
        """Whether it blends texels, so that WebGPU calls it filtering."""
        return "linear" in (self.mag_filter, self.min_filter, self.mipmap_filter)

    def _check_levels(self) -> None:
        for name in ("lod_min_clamp", "lod_max_clamp"):
            given: object = getattr(self, name)
            if isinstance(given, bool) or not isinstance(given, (int, float)) or not abs(given) <= _LARGEST_F32:
                raise InputError(f"a sampler's {name} is a finite number, not {given!r}")
        if not 0 <= self.lod_min_clamp <= self.lod_max_clamp:
            raise InputError(
                f"a sampler's levels of detail from {self.lod_min_clamp} to {self.lod_max_clamp} must be at least 0, "
                "and lod_min_clamp at most lod_max_clamp"
            )

    def _check_anisotropy(self) -> None:
        given = self.max_anisotropy
        if not _is_whole(given) or not 1 <= given <= 0xFFFF:
            raise InputError(f"a sampler's max_anisotropy is a whole number from 1 to 65535, not {given!r}")
        if given > 1 and {self.mag_filter, self.min_filter, self.mipmap_filter} != {"linear"}:
            raise InputError(
                f"a sampler with max_anisotropy {given} needs 'linear' as mag_filter, min_filter and mipmap_filter"
            )


def sampler_from(fields: Mapping[str, Any]) -> Sampler:
    """The sampler with these fields, as a file or a command line states them. Raises InputError."""
    known = Sampler.__dataclass_fields__
    for name in fields:
        if name not in known:
            raise InputError(unknown_name(f"a sampler has no {name!r}", name, known))
    return Sampler(**fields)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def pack_sampler(sampler: Sampler) -> bytes:
    """The `SAMPLER_BYTES` bytes of a sampler."""
    choices = [words.index(getattr(sampler, name)) for name, words in _CHOICES.items()]
    anisotropy = min(sampler.max_anisotropy, MOST_ANISOTROPY)
    return _WORDS.pack(*choices, anisotropy, sampler.lod_min_clamp, sampler.lod_max_clamp)


def read_sampler(data: bytes | bytearray | memoryview) -> Sampler:
    """The sampler whose bytes these are."""
    words: tuple[int, int, int, int, int, int, int, int, float, float] = _WORDS.unpack_from(data)
    u, v, w, mag, min_, mipmap, compare, anisotropy, least, greatest = words
    return Sampler(
        address_mode_u=ADDRESS_MODES[u],
        address_mode_v=ADDRESS_MODES[v],
        address_mode_w=ADDRESS_MODES[w],
        mag_filter=FILTERS[mag],
        min_filter=FILTERS[min_],
        mipmap_filter=FILTERS[mipmap],
        lod_min_clamp=least,
        lod_max_clamp=greatest,
        compare=COMPARISONS[compare],
        max_anisotropy=anisotropy,
    )


def read_modes(data: bytes | bytearray | memoryview) -> dict[str, int]:
    """The words of a sampler that are choices, by the names of members of `storage_type`."""
    return dict(zip(_CHOICES, _WORDS.unpack_from(data), strict=False))


def storage_type() -> Struct:
    """The memory of a sampler as a WGSL structure."""
    members: list[tuple[str, Type]] = [(name, U32) for name in (*_CHOICES, "max_anisotropy")]
    members += [("lod_min_clamp", F32), ("lod_max_clamp", F32)]
    return Struct("sampler", tuple(StructMember(name, type) for name, type in members))
