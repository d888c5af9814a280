// Vectors that were taken apart are loaded and stored whole again, also in workgroup memory.
@group(0) @binding(0) var<storage, read_write> points: array<vec4f>;
var<workgroup> tile: array<vec4f, 8>;
@compute @workgroup_size(8)
fn main(@builtin(local_invocation_index) i: u32) {
    tile[i] = points[i] * 2.0;
    workgroupBarrier();
    points[i] = vec4f(tile[7u - i].xyz + points[i].wzy, 1.0);
}
