// The dot product of two vectors, a part for each workgroup. An invocation first strides over all of the vectors, and a
// tree in workgroup memory adds up what the invocations have.

const WORKGROUP_SIZE = 256u;

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> y: array<f32>;
@group(0) @binding(2) var<storage, read_write> partial_products: array<f32>;

var<workgroup> scratch: array<f32, WORKGROUP_SIZE>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(global_invocation_id) id: vec3u,
    @builtin(local_invocation_id) local: vec3u,
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
) {
    let n = arrayLength(&x);
    let stride = groups.x * WORKGROUP_SIZE;
    var accumulator = 0.0;
    for (var i = id.x; i < n; i += stride) {
        accumulator += x[i] * y[i];
    }
    scratch[local.x] = accumulator;

    var active_lanes = WORKGROUP_SIZE;
    while active_lanes > 1u {
        active_lanes >>= 1u;
        workgroupBarrier();
        if local.x < active_lanes {
            scratch[local.x] += scratch[local.x + active_lanes];
        }
    }
    if local.x == 0u {
        partial_products[group.x] = scratch[0];
    }
}
