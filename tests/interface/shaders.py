"""A shader with every kind of type and binding, and the shaders of the repository."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import tinct

ROOT = Path(__file__).parents[2]

EVERYTHING = """
enable f16;
struct In { a: f32, b: vec3f, @size(32) c: u32, d: f16, m: mat3x3h, n: mat2x4f }
struct f64 { class_: array<vec3f, 3>, @align(32) lambda: array<array<In, 2>, 2>, at: atomic<u32>, _pad_4: u32 }
struct Tail { n: u32, h: f16, t: array<f16> }
struct Rows { x: vec3f, t: array<vec3f> }
struct Deep { x: mat4x3f, y: mat3x2h, z: mat2x3h, t: array<f64> }
struct Only { all: array<atomic<i32>> }
struct bindings { at: vec2<f16>, dyn: i32, @size(5) last: f32 }
struct Private { flag: bool, large: vec4<bool> }
override size: u32 = 4;
override needed: f32;
@id(7) override is_set: bool = true;
override twice = size * 2;
override half_ = 0.5h;
var<workgroup> cache: array<vec3f, twice>;
var<private> hidden: Private;
@group(0) @binding(0) var<storage, read_write> np: f64;
@group(0) @binding(1) var<storage, read_write> tail: Tail;
@group(0) @binding(2) var<storage> rows: Rows;
@group(0) @binding(3) var<storage, read_write> deep: Deep;
@group(0) @binding(9) var<storage, read_write> only: Only;
@group(1) @binding(3) var<storage, read_write> except: array<vec3<f16>>;
@group(1) @binding(4) var<storage, read_write> several: array<In>;
@group(1) @binding(5) var<storage, read_write> table: array<array<In, 3>, 4>;
@group(1) @binding(6) var<uniform> params: bindings;
@group(2) @binding(5) var picture: texture_2d<f32>;
@group(2) @binding(6) var written: texture_storage_2d<r8unorm, write>;
@group(2) @binding(7) var smooth_: sampler;
@group(2) @binding(8) var compared: sampler_comparison;
@group(2) @binding(9) var depths: texture_depth_cube_array;
@group(2) @binding(10) var video: texture_external;
@group(2) @binding(11) var many: texture_multisampled_2d<i32>;
fn inner() { cache[0] = vec3f(); }
fn outer() { inner(); hidden.flag = is_set; }
struct Ids { @builtin(local_invocation_index) local: u32 }
@compute @workgroup_size(size, 2) fn main(@builtin(global_invocation_id) id: vec3u, ids: Ids) {
    outer(); _ = &np; _ = &tail; _ = &rows; _ = &deep; _ = &several; _ = params.dyn;
}
@compute @workgroup_size(u32(needed)) fn other() { _ = picture; _ = video; _ = compared; _ = half_; }
@fragment fn shade() -> @location(0) vec4f { return textureLoad(picture, vec2u(), 0); }
"""


@cache
def all_shaders() -> tuple[tinct.Shader, ...]:
    """The shader above and all of `shaders/`."""
    files = sorted((ROOT / "shaders").glob("*/*.wgsl"))
    assert len(files) > 20
    return (tinct.load(EVERYTHING), *(tinct.load(file) for file in files))
