"""Shaders of the tests on Dask arrays."""

TEXT = """
struct Extents { width: u32, height: u32 }
@group(0) @binding(0) var<uniform> extents: Extents;
@group(0) @binding(1) var<storage, read> src: array<f32>;
@group(0) @binding(2) var<storage, read_write> dst: array<f32>;
@group(0) @binding(3) var<storage, read_write> counts: array<atomic<u32>, 16>;
@group(0) @binding(4) var<storage, read_write> points: array<vec2f>;
@group(0) @binding(5) var<storage, read_write> squares: array<f32>;

@compute @workgroup_size(8, 8)
fn blur(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= extents.width || id.y >= extents.height { return; }
    let last = vec2i(i32(extents.width), i32(extents.height)) - 1;
    var sum = 0.0;
    for (var y = -1; y <= 1; y++) {
        for (var x = -1; x <= 1; x++) {
            let at = vec2u(clamp(vec2i(id.xy) + vec2i(x, y), vec2i(0), last));
            sum += src[at.y * extents.width + at.x];
        }
    }
    dst[id.y * extents.width + id.x] = sum / 9.0;
}

@compute @workgroup_size(64)
fn histogram(@builtin(global_invocation_id) id: vec3u) {
    if id.x < arrayLength(&src) { atomicAdd(&counts[u32(src[id.x] * 16.0)], 1u); }
}

@compute @workgroup_size(64)
fn spread(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= arrayLength(&src) { return; }
    points[id.x] = points[id.x] * src[id.x];
    squares[id.x] = dot(points[id.x], points[id.x]);
}

@compute @workgroup_size(64)
fn long(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= arrayLength(&dst) { return; }
    var x = dst[id.x];
    for (var i = 0u; i < 400000u; i++) { x = x * 1.0000001 + 1e-9; }
    dst[id.x] = x;
}
"""
