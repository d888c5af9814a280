"""The functions in WGSL that sampling needs beside those for calls (see `sampling_library`)."""

from __future__ import annotations

import re
from functools import cache

from ...ir.samplers import storage_type

SAMPLER = "sampler_state"
"""The name of the structure that holds a sampler."""
STRUCTURES = (SAMPLER, "axis_place", "cube_place", "mip_place")
"""The names of all structures."""

MODES = ("clamped", "repeated", "mirrored")
"""The first words of functions for one address mode, by the word of the mode. A function without such a word takes the
mode as an argument.
"""

_HEAD = f"""
struct {SAMPLER} {{
{"".join(f"    {member.name}: {member.type},{chr(10)}" for member in storage_type().members)}}}
"""
_TEXT = """
struct axis_place { first: u32, second: u32, fraction: f32 }

struct cube_place { index: i32, fraction: f32 }

struct mip_place { level: u32, fraction: f32 }

fn known(value: f32) -> f32 { return select(0.0, value, value == value); }

// The place along an axis, in texels. Clamped, it stays as far outside of the texture as an offset can bring back.
fn clamped_position(u: f32, extent: f32) -> f32 { return min(max(known(u) * extent, -16.0), extent + 16.0); }

fn repeated_position(u: f32, extent: f32) -> f32 { return known(u - floor(u)) * extent; }

fn mirrored_position(u: f32, extent: f32) -> f32 { return known(u - 2.0 * floor(u * 0.5)) * extent; }

// The place along an axis: `half` is 0.5 between the centres of texels, 0 in the texel itself.
fn clamped_place(u: f32, extent: u32, half: f32) -> axis_place {
    let x = clamped_position(u, f32(extent)) - half;
    let below = floor(x);
    return inside(i32(below), i32(below) + 1, extent, x - below);
}

fn repeated_place(u: f32, extent: u32, half: f32) -> axis_place {
    let x = repeated_position(u, f32(extent)) - half;
    let below = floor(x);
    let count = i32(extent);
    let start = i32(below);
    let first = select(start, count - 1, start < 0);
    let second = start + 1;
    return inside(
        select(first, first - count, first >= count),
        select(second, second - count, second >= count),
        extent,
        x - below,
    );
}

fn mirrored_place(u: f32, extent: u32, half: f32) -> axis_place {
    let x = mirrored_position(u, f32(extent)) - half;
    let below = floor(x);
    let count = i32(extent);
    let first = i32(below);
    let second = first + 1;
    return inside(
        select(first, 2 * count - 1 - first, first >= count),
        select(second, 2 * count - 1 - second, second >= count),
        extent,
        x - below,
    );
}

fn inside(first: i32, second: i32, extent: u32, fraction: f32) -> axis_place {
    let most = i32(extent - 1u);
    return axis_place(u32(clamp(first, 0, most)), u32(clamp(second, 0, most)), fraction);
}

fn place(u: f32, extent: u32, mode: u32, half: f32) -> axis_place {
    if mode == 0u { return clamped_place(u, extent, half); }
    if mode == 1u { return repeated_place(u, extent, half); }
    return mirrored_place(u, extent, half);
}

// An index that an offset may have moved out of the texture by any distance that WGSL allows.
fn clamped_index(index: i32, count: i32) -> u32 { return u32(clamp(index, 0, i32(u32(count) - 1u))); }

fn repeated_index(index: i32, count: i32) -> u32 { return u32(index + 16 * count) % u32(count); }

fn mirrored_index(index: i32, count: i32) -> u32 {
    let twice = u32(index + 16 * count) % u32(2 * count);
    return min(twice, u32(2 * count - 1) - twice);
}

fn clamped_place_with_offset(u: f32, extent: u32, half: f32, offset: i32) -> axis_place {
    let x = clamped_position(u, f32(extent)) - half;
    let first = i32(floor(x)) + offset;
    let count = i32(extent);
    return axis_place(clamped_index(first, count), clamped_index(first + 1, count), x - floor(x));
}

fn repeated_place_with_offset(u: f32, extent: u32, half: f32, offset: i32) -> axis_place {
    let x = repeated_position(u, f32(extent)) - half;
    let first = i32(floor(x)) + offset;
    let count = i32(extent);
    return axis_place(repeated_index(first, count), repeated_index(first + 1, count), x - floor(x));
}

fn mirrored_place_with_offset(u: f32, extent: u32, half: f32, offset: i32) -> axis_place {
    let x = mirrored_position(u, f32(extent)) - half;
    let first = i32(floor(x)) + offset;
    let count = i32(extent);
    return axis_place(mirrored_index(first, count), mirrored_index(first + 1, count), x - floor(x));
}

fn place_with_offset(u: f32, extent: u32, mode: u32, half: f32, offset: i32) -> axis_place {
    if mode == 0u { return clamped_place_with_offset(u, extent, half, offset); }
    if mode == 1u { return repeated_place_with_offset(u, extent, half, offset); }
    return mirrored_place_with_offset(u, extent, half, offset);
}

fn mips_of(lod: f32, mipmap_filter: u32, levels: u32) -> mip_place {
    if mipmap_filter == 0u {
        return mip_place(min(u32(floor(lod + 0.5)), levels - 1u), 0.0);
    }
    let inside = min(lod, f32(levels - 1u));
    let below = floor(inside);
    return mip_place(u32(below), inside - below);
}

// The bits of `comparison - 1` say whether less, equal and greater are true.
fn compared(comparison: u32, reference: f32, texel: f32) -> f32 {
    let wanted = comparison - 1u;
    let is_less = reference < texel;
    let is_equal = reference == texel;
    let is_greater = reference > texel;
    let is_ordered = is_less | is_equal | is_greater;
    let found = (is_less & ((wanted & 1u) != 0u)) | (is_equal & ((wanted & 2u) != 0u))
        | (is_greater & ((wanted & 4u) != 0u)) | (!is_ordered & ((wanted & 5u) == 5u));
    return select(0.0, 1.0, found);
}

// Half of the logarithm to the base 2 of the larger of two squares.
fn level_of(dx: f32, dy: f32) -> f32 {
    let square = max(known(dx), known(dy));
    let bits = bitcast<u32>(square);
    let exponent = f32(i32(bits >> 23u) - 127);
    let mantissa = bitcast<f32>((bits & 0x7fffffu) | 0x3f800000u);
    let t = (mantissa - 1.0) / (mantissa + 1.0);
    let z = t * t;
    let p = t * (2.8853900817779268 + z * (0.9617966939259756 + z * (0.5770780163555854 + z * (0.41219858311113244
        + z * (0.3205988979753252 + z * 0.26230818925253884)))));
    return 0.5 * (exponent + p);
}

// Faces: +x, -x, +y, -y, +z, -z.
fn face_of(d: vec3f) -> u32 {
    let size = abs(d);
    if size.z >= size.x && size.z >= size.y {
        return select(4u, 5u, d.z < 0.0);
    }
    if size.y >= size.x {
        return select(2u, 3u, d.y < 0.0);
    }
    return select(0u, 1u, d.x < 0.0);
}

// A direction along a face's s and t, and out of the face.
fn on_face(face: u32, d: vec3f) -> vec3f {
    switch face {
        case 0u { return vec3f(-d.z, -d.y, d.x); }
        case 1u { return vec3f(d.z, -d.y, -d.x); }
        case 2u { return vec3f(d.x, d.z, d.y); }
        case 3u { return vec3f(d.x, -d.z, -d.y); }
        case 4u { return vec3f(d.x, -d.y, d.z); }
        default { return vec3f(-d.x, -d.y, -d.z); }
    }
}

// The inverse of `on_face`.
fn from_face(face: u32, p: vec3f) -> vec3f {
    switch face {
        case 0u { return vec3f(p.z, -p.y, -p.x); }
        case 1u { return vec3f(-p.z, -p.y, p.x); }
        case 2u { return vec3f(p.x, p.z, p.y); }
        case 3u { return vec3f(p.x, -p.z, -p.y); }
        case 4u { return vec3f(p.x, -p.y, p.z); }
        default { return vec3f(-p.x, -p.y, -p.z); }
    }
}

fn place_on_face(u: f32, extent: u32, half: f32) -> cube_place {
    let x = min(max(known(u), 0.0), 1.0) * f32(extent) - half;
    let below = floor(x);
    return cube_place(i32(below), x - below);
}

// The texel (x, y, face) next to a face's edge, where the index is out of the face along one axis. Twice the distances
// from the face's centre are whole numbers: a texel past the edge is the neighbour's first, one step further down.
fn cube_texel(face: u32, i: i32, j: i32, extent: u32) -> vec3u {
    let n = i32(extent);
    if i >= 0 && i < n && j >= 0 && j < n {
        return vec3u(u32(i), u32(j), face);
    }
    let is_outside = vec2<bool>(i < 0 || i >= n, j < 0 || j >= n);
    if all(is_outside) {
        return vec3u(u32(clamp(i, 0, n - 1)), u32(clamp(j, 0, n - 1)), face);
    }
    let place = clamp(vec2i(2 * i + 1 - n, 2 * j + 1 - n), vec2i(-n), vec2i(n));
    let direction = from_face(face, vec3f(vec2f(place), f32(n - 1)));
    let other = face_of(direction);
    let found = vec2i(on_face(other, direction).xy);
    return vec3u(vec2u((found + vec2i(n - 1)) / 2), other);
}

fn is_corner(i: i32, j: i32, extent: u32) -> bool {
    let n = i32(extent);
    return (i < 0 || i >= n) && (j < 0 || j >= n);
}

fn weighted_f32(a: f32, b: f32, f: f32) -> f32 { return a + f * (b - a); }

fn weighted_vec4(a: vec4f, b: vec4f, f: f32) -> vec4f { return a + f * (b - a); }
"""
_DECLARED = re.compile(r"^(?:fn|struct) (\w+)", re.MULTILINE)
_NAME = re.compile(r"\w+")


@cache
def _declarations() -> dict[str, str]:
    """All declarations, which blank lines separate, by their names."""
    return {name: text for text in (_HEAD + _TEXT).split("\n\n") for name in _DECLARED.findall(text)}


def with_helpers(text: str, *names: str) -> str:
    """WGSL, and before it what it needs of the functions and structures here, and those of some names."""
    needed, pending = dict[str, str](), [text, *names]
    while pending:
        for name in _NAME.findall(pending.pop()):
            if name in _declarations() and name not in needed:
                needed[name] = _declarations()[name]
                pending.append(needed[name])
    return "\n".join([*needed.values(), text])
