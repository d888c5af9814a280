"""Builtin functions that sample a texture, in the interpreter: the meaning of samplers off the GPU.

The source is Vulkan's "Texel Input Operations", "Texel Filtering" and "Image Operation Steps", with the choices below
where it leaves some. Each operation is rounded to f32, in the order that is written here, so that generated code with
the same operations gets the same bits. `known(a)` is a, and 0 for NaN; `lerp(a, b, f)` is `a + f * (b - a)`, so that a
constant texture stays constant. n is an extent of the mip level, N the same as f32, o the offset.

- Place along an axis. Clamp to edge: `x = min(max(known(u) * N, -16), N + 16)`. Repeat: `x = known(u - floor(u)) * N`.
  Mirror: `x = known(u - 2 * floor(u * 0.5)) * N`. So infinities are 0 where the texture repeats. Nearest takes the
  texel `floor(x)`. Linear filters and gathers take `i = floor(x - 0.5)` and i + 1, with the fraction `(x - 0.5) - i`.
- The index i + o is then wrapped in integers: clamped, or modulo n, or modulo 2n and mirrored.
- Linear: `lerp` along x, then y, then z. All two, four or eight texels count, also with the fraction 0.
- Level of detail: `min(max(known(level), lod_min_clamp), lod_max_clamp)`; 0 for `textureSampleCompareLevel` and
  `textureSampleBaseClampToEdge`. Up to 0 `mag_filter` holds, above it `min_filter`. Mip filter nearest: the level
  `floor(lod + 0.5)`, at most the last. Linear: `d = min(lod, last)`, the levels floor(d) and the next, `lerp` by
  `d - floor(d)`, where the second is not looked at if that is 0. Gathers take level 0.
- Gradients: for ddx and ddy the squares of `d * N` of level 0 are added along x, y, z; `q` is the larger sum, where NaN
  is 0, and the level of detail is `half_log2(q)`. Anisotropy is not used: Vulkan allows any number of samples up to the
  sampler's, and one sample at the isotropic level is what `max_anisotropy` 1 gives.
- A comparison is made with each texel, `reference OP texel`, and its results, 0 or 1, are filtered. The reference
  is not clamped, as depths are f32.
- `textureSampleBaseClampToEdge` first clamps with `m = 0.5 / N` of level 0: `min(max(known(u), m), 1 - m)`.
- Array indices are clamped; a negative one is 0.
- Cubes: the face of the largest component (`interp_cubes`), `0.5 * (s / r) + 0.5` on it, clamped to the edge. A
  footprint crosses the edges of faces; the texel that is missing at a corner is `((a + b) + c) / 3` of the others, in
  the order (0, 0), (1, 0), (0, 1), (1, 1), and for gathers the face's own. Gradients on the face are `0.5 * ((r * ds -
  s * dr) / (r * r))`.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias, cast

from ..constants import RawValue
from ..samplers import SAMPLER_BYTES, Comparison, Sampler, read_sampler
from ..scalars import bits_of, from_bits, round_f32
from ..textures import TextureExtent, format_in, is_layered, is_loadable, level_extent, rank, read_extent
from ..types import F32, Texture
from . import nodes
from .interp_cubes import Triple, cube_texel, face_of, is_corner, on_face
from .interp_frame import Frame, Memory, Operation
from .interp_textures import texel_offset

Texel: TypeAlias = tuple[float, ...]
Fetch: TypeAlias = Callable[[Sequence[int]], Texel]
"""What is filtered, at the index of a texel: x, y, and z or the layer."""

_OWN_ARGUMENTS = {
    "textureSampleLevel": 1,
    "textureSampleGrad": 2,
    "textureSampleCompareLevel": 1,
    "textureSampleBaseClampToEdge": 0,
    "textureGather": 0,
    "textureGatherCompare": 1,
}
"""The functions, with the number of their arguments between the array index and the offset."""
_LOG2 = (2.8853900817779268, 0.9617966939259756, 0.5770780163555854, 0.41219858311113244, 0.3205988979753252)
_LOG2_LAST = 0.26230818925253884
"""2 / ln 2 / (2k + 1), the series of log2((1 + t) / (1 - t)) in t squared; its error is below 1e-6."""
_GATHERED = ((0, 1), (1, 1), (1, 0), (0, 0))
"""The order of a gather's texels (WGSL, "textureGather")."""
_MARGIN = 16


@dataclass(frozen=True, slots=True)
class _Slots:
    """The frame slots of a call's arguments."""

    texture: int
    sampler: int
    coordinates: int
    layer: int | None
    own: tuple[int, ...]
    offset: int | None
    component: int | None


def sampling_operation(node: nodes.BuiltinCall, arguments: tuple[int, ...], target: int) -> Operation | None:
    """The closure of a call that takes a sampler; None for any other call."""
    texture = next((it.type for it in node.arguments if isinstance(it.type, Texture)), None)
    if node.function not in _OWN_ARGUMENTS or texture is None or not is_loadable(texture):
        return None
    slots = _slots(node, texture, arguments)
    is_gather = node.function.startswith("textureGather")
    sample = _gathered if is_gather else _sampled
    is_scalar = texture.sampled is None and not is_gather

    def run(frame: Frame) -> None:
        found = sample(_Sampling(node.function, texture, slots, frame))
        frame[target] = found[0] if is_scalar else found

    return run


def _slots(node: nodes.BuiltinCall, texture: Texture, arguments: tuple[int, ...]) -> _Slots:
    rest = list(arguments)
    component = None if isinstance(node.arguments[0].type, Texture) else rest.pop(0)
    of_texture, sampler, coordinates = rest[:3]
    del rest[:3]
    layer = rest.pop(0) if texture.dimension in ("2d_array", "cube_array") else None
    count = _OWN_ARGUMENTS[node.function]
    offset = rest[count] if len(rest) > count else None
    return _Slots(of_texture, sampler, coordinates, layer, tuple(rest[:count]), offset, component)


class _Sampling:
    """One call with the values of its arguments."""

    def __init__(self, function: str, texture: Texture, slots: _Slots, frame: Frame) -> None:
        memory: Memory = frame[slots.texture]
        self.function = function
        self.texture = texture
        self.memory = memory
        self.extent: TextureExtent = read_extent(memory)
        self.sampler = _known_sampler(bytes(frame[slots.sampler][:SAMPLER_BYTES]))
        self.own: list[RawValue] = [frame[it] for it in slots.own]
        self.is_cube = texture.dimension.startswith("cube")
        self.axes = 2 if self.is_cube else rank(texture)
        self.offset = [0] * self.axes if slots.offset is None else cast("list[int]", _parts(frame[slots.offset]))
        self.component: int = 0 if slots.component is None else frame[slots.component]
        self.layer = self._first_layer(0 if slots.layer is None else frame[slots.layer])
        self.direction = cast("Triple", tuple(_parts(frame[slots.coordinates]))) if self.is_cube else None
        self.face = 0 if self.direction is None else face_of(self.direction)
        self.at = self._place(frame[slots.coordinates])

    def _first_layer(self, index: int) -> int:
        """The layer, of a cube the one of its first face."""
        faces = 6 if self.is_cube else 1
        return faces * max(0, min(index, self.extent.depth // faces - 1)) if is_layered(self.texture) else 0

    def _place(self, coordinates: RawValue) -> list[float]:
        """The coordinates, of a cube those on its face."""
        if self.direction is not None:
            s, t, r = on_face(self.face, self.direction)
            places = [_known(_add(_multiply(0.5, _divide(it, r)), 0.5)) for it in (s, t)]
            return [min(max(it, 0.0), 1.0) for it in places]  # only a direction with a NaN leaves its face
        given = _parts(coordinates)
        if self.function != "textureSampleBaseClampToEdge":
            return given
        margins = [_divide(0.5, float(size)) for size in level_extent(self.texture, self.extent, 0)]
        return [min(max(_known(u), m), _add(1.0, -m)) for u, m in zip(given, margins, strict=False)]

    @property
    def reference(self) -> float | None:
        """The value that texels are compared with."""
        return cast("float", self.own[0]) if "Compare" in self.function else None

    def fetch(self, level: int) -> Fetch:
        """What is filtered at a level: texels, or the results of comparisons with them."""
        form = format_in(self.texture, self.memory)
        words = struct.Struct(f"<{form.words}I")
        reference, compare = self.reference, self.sampler.compare

        def read(at: Sequence[int]) -> Texel:
            offset = texel_offset(form, self.texture, self.extent, at, level)
            texel = form.decode(words.unpack_from(self.memory, offset))
            if self.texture.sampled is not None:
                return cast("Texel", texel)
            depth = cast("float", texel[0])
            return (depth if reference is None else _compared(compare, reference, depth),)

        return read

    def sizes(self, level: int) -> tuple[int, ...]:
        """The extents of a level along the axes."""
        return level_extent(self.texture, self.extent, level)[: self.axes]

    def places(self, level: int, half: float) -> list[tuple[int, float]]:
        """The index of the texel before the place, not wrapped, and the fraction, along each axis."""
        modes = ["clamp-to-edge"] * 2 if self.is_cube else self.modes
        return [_axis(u, n, mode, half) for u, n, mode in zip(self.at, self.sizes(level), modes, strict=False)]

    @property
    def modes(self) -> list[str]:
        """The address modes along the axes."""
        sampler = self.sampler
        return [sampler.address_mode_u, sampler.address_mode_v, sampler.address_mode_w]

    def texel(self, level: int, indices: Sequence[int]) -> list[int]:
        """The texel at indices that are out of the level, or of the cube's face, by any distance."""
        sizes = self.sizes(level)
        if self.is_cube:
            x, y, face = cube_texel(self.face, indices[0], indices[1], sizes[0])
            return [x, y, self.layer + face]
        moved = [i + o for i, o in zip(indices, self.offset, strict=True)]
        wrapped = [_wrapped(i, n, mode) for i, n, mode in zip(moved, sizes, self.modes, strict=False)]
        return [*wrapped, *[0] * (2 - self.axes), *([self.layer] if self.axes < 3 else [])]

    def is_missing(self, level: int, indices: Sequence[int]) -> bool:
        """Whether the indices are at the corner of a cube's face, where no texel is."""
        return self.is_cube and is_corner(indices[0], indices[1], self.sizes(level)[0])

    def level_of_detail(self) -> float:
        """Before it is clamped."""
        if self.function == "textureSampleLevel":
            return _known(round_f32(float(cast("float", self.own[0]))))
        return self._steepness() if self.function == "textureSampleGrad" else 0.0

    def _steepness(self) -> float:
        squares = [0.0, 0.0]
        for number, given in enumerate(self.own):
            steps = [_multiply(d, float(n)) for d, n in zip(self._gradient(_parts(given)), self.sizes(0), strict=True)]
            total = _multiply(steps[0], steps[0])
            for step in steps[1:]:
                total = _add(total, _multiply(step, step))
            squares[number] = _known(total)
        return half_log2(max(squares))

    def _gradient(self, given: Sequence[float]) -> list[float]:
        """The change of the coordinates, of a cube those on its face."""
        if self.direction is None:
            return list(given)
        s, t, r = on_face(self.face, self.direction)
        ds, dt, dr = on_face(self.face, cast("Triple", tuple(given)))
        square = _multiply(r, r)
        crossed = [_add(_multiply(r, d), -_multiply(p, dr)) for p, d in ((s, ds), (t, dt))]
        return [_multiply(0.5, _divide(it, square)) for it in crossed]


@lru_cache(maxsize=64)
def _known_sampler(data: bytes) -> Sampler:
    return read_sampler(data)


def _gathered(call: _Sampling) -> Texel:
    """One component of each of the four texels around a place of level 0."""
    places = call.places(0, 0.5)
    fetch, found = call.fetch(0), list[float]()
    for ends in _GATHERED:
        texel = fetch(call.texel(0, [i + end for (i, _), end in zip(places, ends, strict=True)]))
        found.append(texel[call.component])
    return tuple(found)


def _sampled(call: _Sampling) -> Texel:
    sampler, last = call.sampler, call.extent.count - 1
    lod = min(max(call.level_of_detail(), sampler.lod_min_clamp), sampler.lod_max_clamp)
    is_linear = (sampler.mag_filter if lod <= 0 else sampler.min_filter) == "linear"
    sample = _linear if is_linear else _nearest
    if sampler.mipmap_filter == "nearest":
        return sample(call, min(math.floor(_add(lod, 0.5)), last))
    inside = min(lod, float(last))
    level = math.floor(inside)
    near, fraction = sample(call, level), _add(inside, -float(level))
    return _lerp(near, sample(call, level + 1), fraction) if fraction > 0 else near


def _nearest(call: _Sampling, level: int) -> Texel:
    indices = [i for i, _ in call.places(level, 0.0)]
    if call.is_cube:
        indices = [min(i, call.sizes(level)[0] - 1) for i in indices]
    return call.fetch(level)(call.texel(level, indices))


def _linear(call: _Sampling, level: int) -> Texel:
    """The mean of the texels around a place, along x first."""
    places = call.places(level, 0.5)
    values = _footprint(call, level, [i for i, _ in places])
    for _, fraction in places:
        values = [_lerp(a, b, fraction) for a, b in zip(values[::2], values[1::2], strict=True)]
    return values[0]


def _footprint(call: _Sampling, level: int, first: Sequence[int]) -> list[Texel]:
    """The texels at the indices and one further along each axis, those along x side by side."""
    fetch = call.fetch(level)
    corners = [[i + (number >> axis & 1) for axis, i in enumerate(first)] for number in range(1 << len(first))]
    found = [fetch(call.texel(level, corner)) for corner in corners]
    missing = next((number for number, corner in enumerate(corners) if call.is_missing(level, corner)), None)
    if missing is not None:
        a, b, c = (texel for number, texel in enumerate(found) if number != missing)
        found[missing] = tuple(_divide(_add(_add(x, y), z), 3.0) for x, y, z in zip(a, b, c, strict=True))
    return found


def _axis(u: float, count: int, mode: str, half: float) -> tuple[int, float]:
    """The index before the place along an axis, and the fraction between it and the next."""
    size = float(count)
    if mode == "clamp-to-edge":
        x = min(max(_multiply(_known(u), size), -float(_MARGIN)), _add(size, float(_MARGIN)))
    elif mode == "repeat":
        x = _multiply(_known(_add(u, -_floor(u))), size)
    else:
        x = _multiply(_known(_add(u, -_multiply(2.0, _floor(_multiply(u, 0.5))))), size)
    x = _add(x, -half)
    index = math.floor(x)
    return index, _add(x, -float(index))


def _wrapped(index: int, count: int, mode: str) -> int:
    if mode == "clamp-to-edge":
        return max(0, min(index, count - 1))
    if mode == "repeat":
        return index % count
    place = index % (2 * count)
    return min(place, 2 * count - 1 - place)


def half_log2(square: float) -> float:
    """Half of the logarithm to the base 2 of an f32 that is not negative: from the exponent and a series for the
    mantissa; about -63.5 for 0 and 64 for infinity.
    """
    bits = bits_of(F32, square)
    mantissa = cast("float", from_bits(F32, bits & 0x7FFFFF | 0x3F800000))
    t = _divide(_add(mantissa, -1.0), _add(mantissa, 1.0))
    z, series = _multiply(t, t), round_f32(_LOG2_LAST)
    for coefficient in reversed(_LOG2):
        series = _add(round_f32(coefficient), _multiply(z, series))
    return _multiply(0.5, _add(float((bits >> 23) - 127), _multiply(t, series)))


_COMPARE: dict[Comparison | None, Callable[[float, float], bool]] = {
    "never": lambda reference, texel: False,
    "less": lambda reference, texel: reference < texel,
    "equal": lambda reference, texel: reference == texel,
    "less-equal": lambda reference, texel: reference <= texel,
    "greater": lambda reference, texel: reference > texel,
    "not-equal": lambda reference, texel: reference != texel,
    "greater-equal": lambda reference, texel: reference >= texel,
    "always": lambda reference, texel: True,
}


def _compared(compare: Comparison | None, reference: float, texel: float) -> float:
    return float(_COMPARE[compare](reference, texel))


# Operations of f32


def _parts(value: RawValue) -> list[float]:
    return list(cast("Sequence[float]", value)) if isinstance(value, Sequence) else [cast("float", value)]


def _known(value: float) -> float:
    return 0.0 if math.isnan(value) else value


def _floor(value: float) -> float:
    return float(math.floor(value)) if math.isfinite(value) else value


def _add(a: float, b: float) -> float:
    return round_f32(a + b)


def _multiply(a: float, b: float) -> float:
    return round_f32(a * b)


def _divide(a: float, b: float) -> float:
    if b != 0 or math.isnan(a) or a == 0:
        return round_f32(a / b) if b != 0 else math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


def _lerp(a: Texel, b: Texel, fraction: float) -> Texel:
    return tuple(_add(x, _multiply(fraction, _add(y, -x))) for x, y in zip(a, b, strict=True))
