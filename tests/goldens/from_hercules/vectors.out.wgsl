@group(0) @binding(0) var<storage, read_write> points: array<vec4f>;
var<workgroup> tile: array<vec4f, 8>;

@compute @workgroup_size(8u, 1u, 1u)
fn main(@builtin(local_invocation_id) local_invocation_id: vec3u) {
    let local_invocation_id_x = local_invocation_id.x;
    let t = points[local_invocation_id_x];
    tile[local_invocation_id_x] = vec4f(t.x * 2.0, t.y * 2.0, t.z * 2.0, t.w * 2.0);
    workgroupBarrier();
    storageBarrier();
    let t_1 = tile[7u - local_invocation_id_x];
    let t_2 = points[local_invocation_id_x];
    points[local_invocation_id_x] = vec4f(t_1.x + t_2.w, t_1.y + t_2.z, t_1.z + t_2.y, 1.0);
}
