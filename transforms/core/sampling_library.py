"""Sampling of textures written in WGSL, one function for each kind of call: see `lower_samplers`.

Each operation is rounded to f32, in the order that is written here, which is that of the interpreter (see
`ir.core.interp_sampling`): all devices off the GPU give the same bits. The source is Vulkan's chapter "Image
Operations", with `a + f * (b - a)` as the weighted mean, by which a constant texture stays constant. A cube is an
array of its faces here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...ir.samplers import storage_type
from ...ir.types import F32, Texture, TextureKind, Type, texture

SAMPLER = "sampler_state"
"""The name of the structure that holds a sampler."""
STRUCTURES = (SAMPLER, "axis_place", "cube_place", "mip_place")
"""The names of all structures."""

_AXES = "xyz"
_WEIGHTED = "\n".join(
    f"fn weighted_{name}(a: {type}, b: {type}, f: f32) -> {type} {{ return a + f * (b - a); }}"
    for name, type in (("f32", "f32"), ("vec4", "vec4f"))
)

_COMMON = f"""
struct {SAMPLER} {{
{"".join(f"    {member.name}: {member.type},{chr(10)}" for member in storage_type().members)}}}

struct axis_place {{ first: u32, second: u32, fraction: f32 }}
struct cube_place {{ index: i32, fraction: f32 }}
struct mip_place {{ level: u32, fraction: f32 }}

fn known(value: f32) -> f32 {{ return select(0.0, value, value == value); }}

{_WEIGHTED}

// The place along an axis in texels. Clamped, it stays as far outside of the texture as an offset can bring back.
fn position(u: f32, extent: f32, mode: u32) -> f32 {{
    if mode == 0u {{
        return min(max(known(u) * extent, -16.0), extent + 16.0);
    }}
    if mode == 1u {{
        return known(u - floor(u)) * extent;
    }}
    return known(u - 2.0 * floor(u * 0.5)) * extent;
}}

// The place along an axis: `half` is 0.5 between the centres of texels, 0 in the texel itself.
fn place(u: f32, extent: u32, mode: u32, half: f32) -> axis_place {{
    let count = i32(extent);
    let most = count - 1;
    let x = position(u, f32(extent), mode) - half;
    let below = floor(x);
    var first = i32(below);
    var second = first + 1;
    if mode == 1u {{
        first = select(first, most, first < 0);
        first = select(first, first - count, first >= count);
        second = select(second, second - count, second >= count);
    }} else if mode == 2u {{
        first = select(first, 2 * count - 1 - first, first >= count);
        second = select(second, 2 * count - 1 - second, second >= count);
    }}
    return axis_place(u32(clamp(first, 0, most)), u32(clamp(second, 0, most)), x - below);
}}

// An index that an offset may have moved out of the texture by any distance that WGSL allows.
fn wrapped(index: i32, count: i32, mode: u32) -> u32 {{
    if mode == 0u {{
        return u32(clamp(index, 0, count - 1));
    }}
    if mode == 1u {{
        return u32(index + 16 * count) % u32(count);
    }}
    let twice = u32(index + 16 * count) % u32(2 * count);
    return min(twice, u32(2 * count - 1) - twice);
}}

fn place_with_offset(u: f32, extent: u32, mode: u32, half: f32, offset: i32) -> axis_place {{
    let x = position(u, f32(extent), mode) - half;
    let below = floor(x);
    let first = i32(below) + offset;
    return axis_place(wrapped(first, i32(extent), mode), wrapped(first + 1, i32(extent), mode), x - below);
}}

fn mips_of(lod: f32, mipmap_filter: u32, levels: u32) -> mip_place {{
    if mipmap_filter == 0u {{
        return mip_place(min(u32(floor(lod + 0.5)), levels - 1u), 0.0);
    }}
    let inside = min(lod, f32(levels - 1u));
    let below = floor(inside);
    return mip_place(u32(below), inside - below);
}}

// The bits of `comparison - 1` say whether less, equal and greater are true.
fn compared(comparison: u32, reference: f32, texel: f32) -> f32 {{
    let wanted = comparison - 1u;
    let is_less = reference < texel;
    let is_equal = reference == texel;
    let is_greater = reference > texel;
    let is_ordered = is_less | is_equal | is_greater;
    let found = (is_less & ((wanted & 1u) != 0u)) | (is_equal & ((wanted & 2u) != 0u))
        | (is_greater & ((wanted & 4u) != 0u)) | (!is_ordered & ((wanted & 5u) == 5u));
    return select(0.0, 1.0, found);
}}

// Half of the logarithm to the base 2 of the larger of two squares.
fn level_of(dx: f32, dy: f32) -> f32 {{
    let square = max(known(dx), known(dy));
    let bits = bitcast<u32>(square);
    let exponent = f32(i32(bits >> 23u) - 127);
    let mantissa = bitcast<f32>((bits & 0x7fffffu) | 0x3f800000u);
    let t = (mantissa - 1.0) / (mantissa + 1.0);
    let z = t * t;
    let p = t * (2.8853900817779268 + z * (0.9617966939259756 + z * (0.5770780163555854 + z * (0.41219858311113244
        + z * (0.3205988979753252 + z * 0.26230818925253884)))));
    return 0.5 * (exponent + p);
}}

// Faces: +x, -x, +y, -y, +z, -z.
fn face_of(d: vec3f) -> u32 {{
    let size = abs(d);
    if size.z >= size.x && size.z >= size.y {{
        return select(4u, 5u, d.z < 0.0);
    }}
    if size.y >= size.x {{
        return select(2u, 3u, d.y < 0.0);
    }}
    return select(0u, 1u, d.x < 0.0);
}}

// A direction along a face's s and t, and out of the face.
fn on_face(face: u32, d: vec3f) -> vec3f {{
    switch face {{
        case 0u {{ return vec3f(-d.z, -d.y, d.x); }}
        case 1u {{ return vec3f(d.z, -d.y, -d.x); }}
        case 2u {{ return vec3f(d.x, d.z, d.y); }}
        case 3u {{ return vec3f(d.x, -d.z, -d.y); }}
        case 4u {{ return vec3f(d.x, -d.y, d.z); }}
        default {{ return vec3f(-d.x, -d.y, -d.z); }}
    }}
}}

// The inverse of `on_face`.
fn from_face(face: u32, p: vec3f) -> vec3f {{
    switch face {{
        case 0u {{ return vec3f(p.z, -p.y, -p.x); }}
        case 1u {{ return vec3f(-p.z, -p.y, p.x); }}
        case 2u {{ return vec3f(p.x, p.z, p.y); }}
        case 3u {{ return vec3f(p.x, -p.z, -p.y); }}
        case 4u {{ return vec3f(p.x, -p.y, p.z); }}
        default {{ return vec3f(-p.x, -p.y, -p.z); }}
    }}
}}

fn place_on_face(u: f32, extent: u32, half: f32) -> cube_place {{
    let x = min(max(known(u), 0.0), 1.0) * f32(extent) - half;
    let below = floor(x);
    return cube_place(i32(below), x - below);
}}

// The texel (x, y, face) next to a face's edge, where the index is out of the face along one axis. Twice the distances
// from the face's centre are whole numbers: a texel past the edge is the neighbour's first, one step further down.
fn cube_texel(face: u32, i: i32, j: i32, extent: u32) -> vec3u {{
    let n = i32(extent);
    if i >= 0 && i < n && j >= 0 && j < n {{
        return vec3u(u32(i), u32(j), face);
    }}
    let is_outside = vec2<bool>(i < 0 || i >= n, j < 0 || j >= n);
    if all(is_outside) {{
        return vec3u(u32(clamp(i, 0, n - 1)), u32(clamp(j, 0, n - 1)), face);
    }}
    let place = clamp(vec2i(2 * i + 1 - n, 2 * j + 1 - n), vec2i(-n), vec2i(n));
    let direction = from_face(face, vec3f(vec2f(place), f32(n - 1)));
    let other = face_of(direction);
    let found = vec2i(on_face(other, direction).xy);
    return vec3u(vec2u((found + vec2i(n - 1)) / 2), other);
}}

fn is_corner(i: i32, j: i32, extent: u32) -> bool {{
    let n = i32(extent);
    return (i < 0 || i >= n) && (j < 0 || j >= n);
}}
"""


@dataclass(frozen=True)
class SamplingCall:
    """What the function for a call depends on: the builtin function, the texture, the types of the arguments after the
    sampler, and the component that a gather takes.
    """

    function: str
    texture: Texture
    arguments: tuple[Type, ...]
    component: int = 0

    @property
    def name(self) -> str:
        """The name of the function."""
        texture = str(self.texture).replace("<", "_").replace(">", "")
        types = "_".join(str(type).replace("<", "").replace(">", "") for type in self.arguments[1:])
        return f"{self.function}_{self.component}_{texture}_{types}"


def as_faces(given: Texture) -> Texture:
    """The type of a texture in the functions here: a cube is an array of faces."""
    if not given.dimension.startswith("cube"):
        return given
    return texture(given.kind, "2d_array", sampled=given.sampled)


def library(calls: Sequence[SamplingCall]) -> str:
    """WGSL with a function for each kind of call, by its name. Its parameters are the texture, the sampler's structure,
    and the arguments of the call after them.
    """
    return "\n".join([_COMMON, *(_Function(call).text() for call in dict.fromkeys(calls))])


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
            return "\n".join([head, *self._layer(), *self._place_on_cube(), "let level = 0u;", *self._gather(), "}"])
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

        def sample(level: str) -> str:
            return f"{self._inner_name}({', '.join(passed)}, {level}, is_linear)"

        return [
            *self._level_of_detail(),
            "let is_linear = select(s.min_filter, s.mag_filter, lod <= 0.0) == 1u;",
            "let mips = mips_of(lod, s.mipmap_filter, textureNumLevels(t));",
            # One loop for both levels, rather than two copies of the code.
            f"var found: {self.texel};",
            "for (var far = 0u; far < 2u; far++) {",
            f"let value = {sample('mips.level + far')};",
            "if far == 1u {",
            f"found = {self.weighted('found', 'value', 'mips.fraction')};",
            "} else {",
            "found = value;",
            "if mips.fraction == 0.0 { break; }",
            "}",
            "}",
            "return found;",
        ]

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
        parameters += ["level: u32", "is_linear: bool"]
        return "\n".join(
            [
                f"fn {self._inner_name}({', '.join(parameters)}) -> {self.texel} {{",
                "if is_linear {",
                *self._footprint(half="0.5"),
                *self._mean(),
                "}",
                *self._footprint(half="0.0"),
                f"return {self._nearest()};",
                "}",
            ]
        )

    def _footprint(self, *, half: str) -> list[str]:
        """The place along each axis."""
        lines = ["let size = textureDimensions(t, level);"]
        for axis, letter in zip(self.axes, "uvw", strict=False):
            at = f"{self._component('at', axis)}, {self._component('size', axis)}"
            offset = f", {self._component('offset', axis)}" if self.has_offset else ""
            if self.is_cube:
                lines.append(f"let {axis} = place_on_face(at.{axis}, size.x, {half});")
            else:
                function = "place_with_offset" if self.has_offset else "place"
                lines.append(f"let {axis} = {function}({at}, s.address_mode_{letter}, {half}{offset});")
        return lines

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
        texel = f"textureLoad(t, {at}, {layer + ', ' if layer else ''}level)"
        if self.is_comparison:
            return f"compared(s.compare, reference, {texel})"
        return f"{texel}.{'xyzw'[self.call.component]}" if self.is_gather and not self.is_depth else texel

    def _mean(self) -> list[str]:
        if self.is_cube:
            return [*self._cube_footprint(), *self._without_corner(), f"return {self._bilinear(*_FOOTPRINT)};"]
        if self.rank == 1:
            return [f"return {self.weighted(self._fetch(['first']), self._fetch(['second']), 'x.fraction')};"]
        if self.rank == 2:
            return [f"return {self._bilinear(*(self._fetch([i, j]) for i, j in _ENDS))};"]
        near, far = (self._bilinear(*(self._fetch([i, j, k]) for i, j in _ENDS)) for k in ("first", "second"))
        return [f"return {self.weighted(near, far, 'z.fraction')};"]

    def _bilinear(self, t00: str, t10: str, t01: str, t11: str) -> str:
        first, second = self.weighted(t00, t10, "x.fraction"), self.weighted(t01, t11, "x.fraction")
        return self.weighted(first, second, "y.fraction")

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
            t00, t10, t01, t11 = (self._fetch([i, j]) for i, j in _ENDS)
        return [*lines, f"return {self.result}({t01}, {t11}, {t10}, {t00});"]


_FOOTPRINT = ("t00", "t10", "t01", "t11")
_ENDS = (("first", "first"), ("second", "first"), ("first", "second"), ("second", "second"))
