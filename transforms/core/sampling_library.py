"""Sampling of textures written in WGSL, one function for each kind of call: see `lower_samplers`.

Each operation is rounded to f32, in the order that is written here, which is that of the interpreter (see
`ir.core.interp_sampling`): all devices off the GPU give the same bits. The source is Vulkan's chapter "Image
Operations", with `a + f * (b - a)` as the weighted mean, by which a constant texture stays constant. A cube is an
array of its faces here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...ir.handle_facts import NOTHING_KNOWN, SamplerFacts
from ...ir.types import F32, Texture, TextureKind, Type, texture
from .sampling_helpers import MODES, SAMPLER, with_helpers

_AXES = "xyz"


@dataclass(frozen=True)
class SamplingCall:
    """What the function for a call depends on: the builtin function, the texture, the types of the arguments after the
    sampler, the component that a gather takes, and what is known of the texture and of the sampler.

    `is_spread`: whether the function's spread is computed (see `SPREADS`), rather than its value.
    """

    function: str
    texture: Texture
    arguments: tuple[Type, ...]
    component: int = 0
    has_one_level: bool = False
    sampler: SamplerFacts = NOTHING_KNOWN
    is_spread: bool = False

    @property
    def name(self) -> str:
        """The name of the function."""
        texture = str(self.texture).replace("<", "_").replace(">", "")
        types = "_".join(str(type).replace("<", "").replace(">", "") for type in self.arguments[1:])
        known = "_".join(f"{member}{word}" for member, word in self.sampler.words)
        found = "spread" * self.is_spread + str(self.component)
        return f"{self.function}_{found}_{texture}_{types}_{'one_' * self.has_one_level}{known}"

    def word(self, member: str) -> str:
        """A word of the sampler `s`."""
        word = self.sampler.word(member)
        return f"s.{member}" if word is None else f"{word}u"

    @property
    def is_linear(self) -> bool | None:
        """Whether texels are blended at all levels of detail; None if the sampler or the level decides that."""
        filters = {self.sampler.word("min_filter"), self.sampler.word("mag_filter")}
        return None if len(filters) > 1 or None in filters else filters == {1}


def as_faces(given: Texture) -> Texture:
    """The type of a texture in the functions here: a cube is an array of faces."""
    if not given.dimension.startswith("cube"):
        return given
    return texture(given.kind, "2d_array", sampled=given.sampled)


def library(calls: Sequence[SamplingCall]) -> str:
    """WGSL with the sampler's structure, and a function for each kind of call, by its name. Its parameters are the
    texture, that structure, and the arguments of the call after them.
    """
    functions = [(_Spread if call.is_spread else _Function)(call) for call in dict.fromkeys(calls)]
    return with_helpers("\n".join(it.text() for it in functions), SAMPLER)


class _Function:
    """Writes the function for one kind of call."""

    def __init__(self, call: SamplingCall) -> None:
        self.call = call
        self.texture = call.texture
        self.is_cube = self.texture.dimension.startswith("cube")
        self.is_layered = self.texture.dimension in ("2d_array", "cube_array")
        self.rank = {"1d": 1, "2d": 2, "2d_array": 2}.get(self.texture.dimension, 3)
        self.axes = _AXES[: 2 if self.is_cube else self.rank]
        self.names = self._names()
        self.has_offset = "offset" in self.names
        self.is_gather = call.function.startswith("textureGather")
        self.is_depth = self.texture.kind is TextureKind.DEPTH
        self.is_comparison = "reference" in self.names
        self.has_one_level = call.has_one_level

    def _names(self) -> list[str]:
        names = ["coordinates", *(["array_index"] if self.is_layered else [])]
        match self.call.function:
            case "textureSampleLevel":
                names.append("level")
            case "textureSampleGrad":
                names += ["dx", "dy"]
            case "textureSampleCompareLevel" | "textureGatherCompare":
                names.append("reference")
            case _:
                pass
        return [*names, *(["offset"] if len(self.call.arguments) > len(names) else [])]

    # Types

    @property
    def texel(self) -> str:
        """The type of what is filtered."""
        return "f32" if self.is_depth else "vec4f"

    @property
    def result(self) -> str:
        if not self.is_gather:
            return self.texel
        return f"vec4<{F32 if self.texture.sampled is None else self.texture.sampled}>"

    def weighted(self, first: str, second: str, fraction: str) -> str:
        return f"weighted_{'f32' if self.is_depth else 'vec4'}({first}, {second}, {fraction})"

    # The text

    def text(self) -> str:
        """The function, and the one that it calls for each mip level."""
        given = zip(self.names, self.call.arguments, strict=True)
        parameters = ", ".join(f"{name}: {type}" for name, type in given)
        head = f"fn {self.call.name}(t: {as_faces(self.texture)}, s: {SAMPLER}, {parameters}) -> {self.result} {{"
        if self.is_gather:
            return "\n".join([head, *self._layer(), *self._place_on_cube(), *self._gather(), "}"])
        return "\n".join([self._filtered(), head, *self._layer(), *self._place_on_cube(), *self._levels(), "}"])

    def _layer(self) -> list[str]:
        """The layer; of a cube array, the first layer of the cube."""
        if not self.is_layered:
            return ["let layer = 0u;"] if self.is_cube else []
        index = "array_index" if str(self.call.arguments[1]) == "u32" else "u32(max(array_index, 0))"
        if not self.is_cube:
            return [f"let layer = min({index}, textureNumLayers(t) - 1u);"]
        return [f"let layer = 6u * min({index}, textureNumLayers(t) / 6u - 1u);"]

    def _place_on_cube(self) -> list[str]:
        if not self.is_cube:
            return ["let at = coordinates;"] if self.call.function != "textureSampleBaseClampToEdge" else self._inside()
        return [
            "let face = face_of(coordinates);",
            "let p = on_face(face, coordinates);",
            "let at = 0.5 * (p.xy / p.z) + 0.5;",
        ]

    def _inside(self) -> list[str]:
        """Coordinates at least half a texel from the border."""
        inside = [f"min(max(known(coordinates.{a}), margin.{a}), 1.0 - margin.{a})" for a in "xy"]
        return ["let margin = 0.5 / vec2f(textureDimensions(t));", f"let at = vec2f({', '.join(inside)});"]

    def _levels(self) -> list[str]:
        """The result for the two levels next to the level of detail."""
        passed = ["t", "s", "at", *(["layer"] if self.is_layered or self.is_cube else [])]
        passed += ["face"] if self.is_cube else []
        passed += [it for it in ("reference", "offset") if it in self.names]

        passed += [] if self.has_one_level else ["level"]
        passed += [] if self.call.is_linear is not None else ["is_linear"]
        sample = f"{self._inner_name}({', '.join(passed)})"
        if self.has_one_level and self.call.is_linear is not None:
            return [f"return {self._whole(sample, 'false')};"]
        least, most = self.call.word("min_filter"), self.call.word("mag_filter")
        lines = [*self._level_of_detail()]
        lines += [f"let is_linear = select({least}, {most}, lod <= 0.0) == 1u;"] if self.call.is_linear is None else []
        if self.has_one_level:
            return [*lines, f"return {self._whole(sample, 'false')};"]
        return [
            *lines,
            f"let mips = mips_of(lod, {self.call.word('mipmap_filter')}, textureNumLevels(t));",
            # One loop for both levels, rather than two copies of the code.
            f"var found: {self.texel};",
            "for (var far = 0u; far < 2u; far++) {",
            "let level = mips.level + far;",
            f"let value = {sample};",
            "if far == 1u {",
            f"found = {self._of_levels('found', 'value')};",
            "} else {",
            "found = value;",
            "if mips.fraction == 0.0 { break; }",
            "}",
            "}",
            f"return {self._whole('found', 'mips.fraction != 0.0')};",
        ]

    def _of_levels(self, near: str, far: str) -> str:
        """What follows from the values for two levels."""
        return self.weighted(near, far, "mips.fraction")

    def _whole(self, found: str, has_two_levels: str) -> str:
        """The result, from what was found of one level or two."""
        del has_two_levels
        return found

    def _level_of_detail(self) -> list[str]:
        level = "level" if "level" in self.names else "0.0"
        if self.call.function == "textureSampleGrad":
            return [*self._gradient(), "let lod = min(max(steepness, s.lod_min_clamp), s.lod_max_clamp);"]
        return [f"let lod = min(max(known(f32({level})), s.lod_min_clamp), s.lod_max_clamp);"]

    def _gradient(self) -> list[str]:
        """The level of detail that two derivatives ask for."""
        if self.is_cube:
            lines = [f"let q{a} = on_face(face, d{a});" for a in "xy"]
            lines += [f"let d{a}_face = 0.5 * ((p.z * q{a}.xy - p.xy * q{a}.z) / (p.z * p.z));" for a in "xy"]
            names = ["dx_face", "dy_face"]
        else:
            lines, names = [], ["dx", "dy"]
        extent = {1: "f32", 2: "vec2f"}.get(len(self.axes), "vec3f")
        lines += ["let base = " + extent + "(textureDimensions(t));"]
        lines += [f"let steps_{a} = {name} * base;" for a, name in zip("xy", names, strict=True)]
        squares = [self._sum_of_squares(f"steps_{a}") for a in "xy"]
        return [*lines, f"let steepness = level_of({squares[0]}, {squares[1]});"]

    def _sum_of_squares(self, name: str) -> str:
        return " + ".join(f"{it} * {it}" for it in (self._component(name, axis) for axis in self.axes))

    def _component(self, name: str, axis: str) -> str:
        return name if self.rank == 1 else f"{name}.{axis}"

    @property
    def _inner_name(self) -> str:
        return f"filtered_{self.call.name}"

    # One level

    def _filtered(self) -> str:
        at = {1: "f32", 2: "vec2f"}.get(len(self.axes), "vec3f")
        parameters = [f"t: {as_faces(self.texture)}", f"s: {SAMPLER}", f"at: {at}"]
        parameters += ["layer: u32"] if self.is_layered or self.is_cube else []
        parameters += ["face: u32"] if self.is_cube else []
        parameters += ["reference: f32"] if self.is_comparison else []
        parameters += [f"offset: {self.call.arguments[-1]}"] if self.has_offset else []
        parameters += [] if self.has_one_level else ["level: u32"]
        parameters += [] if self.call.is_linear is not None else ["is_linear: bool"]
        blended, nearest = [*self._footprint(half="0.5"), *self._mean()], self._nearest_lines()
        ways = {True: blended, False: nearest, None: ["if is_linear {", *blended, "}", *nearest]}
        return "\n".join(
            [
                f"fn {self._inner_name}({', '.join(parameters)}) -> {self.texel} {{",
                *ways[self.call.is_linear],
                "}",
            ]
        )

    def _nearest_lines(self) -> list[str]:
        return [*self._footprint(half="0.0"), f"return {self._nearest()};"]

    @property
    def level(self) -> str:
        """The level in the functions that load texels."""
        return "0u" if self.has_one_level or self.is_gather else "level"

    def _footprint(self, *, half: str) -> list[str]:
        """The place along each axis."""
        lines = [f"let size = textureDimensions(t, {self.level});"]
        for axis, letter in zip(self.axes, "uvw", strict=False):
            at = f"{self._component('at', axis)}, {self._component('size', axis)}"
            if self.is_cube:
                lines.append(f"let {axis} = place_on_face(at.{axis}, size.x, {half});")
            else:
                lines.append(f"let {axis} = {self._place(at, axis, letter, half)};")
        return lines

    def _place(self, at: str, axis: str, letter: str, half: str) -> str:
        """A call of the function for the place along an axis."""
        mode = self.call.sampler.word(f"address_mode_{letter}")
        function = "place_with_offset" if self.has_offset else "place"
        offset = f", {self._component('offset', axis)}" if self.has_offset else ""
        if mode is not None:
            return f"{MODES[mode]}_{function}({at}, {half}{offset})"
        return f"{function}({at}, s.address_mode_{letter}, {half}{offset})"

    def _nearest(self) -> str:
        if not self.is_cube:
            return self._fetch(["first"] * len(self.axes))
        inside = [f"u32(clamp({axis}.index, 0, i32(size.x) - 1))" for axis in self.axes]
        return self._value(f"vec2u({', '.join(inside)})", "layer + face")

    def _fetch(self, ends: Sequence[str]) -> str:
        """The texel at an end of the place along each axis."""
        indices = [f"{axis}.{end}" for axis, end in zip(self.axes, ends, strict=True)]
        at = indices[0] if self.rank == 1 else f"vec{self.rank}u({', '.join(indices)})"
        return self._value(at, "layer" if self.is_layered else "")

    def _value(self, at: str, layer: str) -> str:
        """What is filtered or gathered of a texel."""
        texel = f"textureLoad(t, {at}, {layer + ', ' if layer else ''}{self.level})"
        if self.is_comparison:
            return f"compared({self.call.word('compare')}, reference, {texel})"
        return f"{texel}.{'xyzw'[self.call.component]}" if self.is_gather and not self.is_depth else texel

    def _mean(self) -> list[str]:
        if self.is_cube:
            return [*self._cube_footprint(), *self._without_corner(), *self._of_texels(_FOOTPRINT)]
        return self._of_texels([self._fetch(it) for it in _ends(len(self.axes))])

    def _of_texels(self, texels: Sequence[str]) -> list[str]:
        """Return the mean of the texels around a place, those along x side by side."""
        for axis in self.axes:
            pairs = zip(texels[::2], texels[1::2], strict=True)
            texels = [self.weighted(first, second, f"{axis}.fraction") for first, second in pairs]
        return [f"return {texels[0]};"]

    def _cube_footprint(self) -> list[str]:
        """The four texels around a place, on the faces where they are."""
        lines: list[str] = []
        for name, (i, j) in zip(_FOOTPRINT, ((0, 0), (1, 0), (0, 1), (1, 1)), strict=True):
            lines.append(f"let place_{name} = cube_texel(face, x.index + {i}, y.index + {j}, size.x);")
            lines.append(f"var {name} = {self._value(f'place_{name}.xy', f'layer + place_{name}.z')};")
        return lines

    def _without_corner(self) -> list[str]:
        """The mean of the others in the place of a texel that no face has."""
        lines: list[str] = []
        for name, (i, j) in zip(_FOOTPRINT, ((0, 0), (1, 0), (0, 1), (1, 1)), strict=True):
            a, b, c = (it for it in _FOOTPRINT if it != name)
            lines += [
                f"if is_corner(x.index + {i}, y.index + {j}, size.x) {{",
                f"{name} = (({a} + {b}) + {c}) / 3.0;",
                "}",
            ]
        return lines

    # Gathers

    def _gather(self) -> list[str]:
        lines = self._footprint(half="0.5")
        if self.is_cube:
            lines += self._cube_footprint()
            t00, t10, t01, t11 = _FOOTPRINT
        else:
            t00, t10, t01, t11 = map(self._fetch, _ends(2))
        return [*lines, f"return {self.result}({t01}, {t11}, {t10}, {t00});"]


class _Spread(_Function):
    """Writes the function for the spread of one kind of call (see `SPREADS`)."""

    def _of_levels(self, near: str, far: str) -> str:
        return f"{near} + {far}"

    def _whole(self, found: str, has_two_levels: str) -> str:
        """A weight is a product of a factor for each axis, and the share of its level if there are two."""
        return f"(select(0.0, 1.0, {has_two_levels}) + {len(self.axes) - 1}.0) * {found}"

    def _nearest_lines(self) -> list[str]:
        return [f"return {self.texel}();"]

    def _of_texels(self, texels: Sequence[str]) -> list[str]:
        names = [f"texel{number}" for number in range(len(texels))]
        lines = [f"let {name} = {texel};" for name, texel in zip(names, texels, strict=True)]
        lines.append(f"let mean = ({' + '.join(names)}) * {1 / len(texels)};")
        return [*lines, f"return {' + '.join(f'abs({it} - mean)' for it in names)};"]


def _ends(axes: int) -> list[list[str]]:
    """The ends along each axis of the texels around a place, those along x side by side."""
    return [[("first", "second")[number >> axis & 1] for axis in range(axes)] for number in range(1 << axes)]


_FOOTPRINT = ("t00", "t10", "t01", "t11")
