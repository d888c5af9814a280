"""Small shaders that several tests use."""

SAXPY = """
struct Params { a: f32, n: u32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
override width: u32 = 64;

@compute @workgroup_size(width)
fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x < params.n {
        y[id.x] += params.a * x[id.x];
    }
}
"""

TWO_ENTRIES = """
@group(0) @binding(0) var<storage, read_write> y: array<u32>;
@compute @workgroup_size(1) fn first() { y[0] = 1; }
@compute @workgroup_size(1) fn second() { y[0] = 2; }
"""

LENGTH = """
@group(0) @binding(0) var<storage, read> data: array<vec2u>;
@group(0) @binding(1) var<storage, read_write> length: u32;
@compute @workgroup_size(1) fn main() { length = arrayLength(&data); }
"""

POINTS = """
struct Point { at: vec3f, mass: f32, tag: vec2u }
struct Cloud { count: u32, centre: vec3f, points: array<Point> }
@group(0) @binding(0) var<storage, read_write> cloud: Cloud;
@group(0) @binding(1) var<storage, read_write> normals: array<vec3f>;
@compute @workgroup_size(1) fn main(@builtin(workgroup_id) id: vec3u) {
    cloud.points[id.x].mass *= 2;
    cloud.count = arrayLength(&cloud.points);
    normals[id.x] = cloud.points[id.x].at;
}
"""
