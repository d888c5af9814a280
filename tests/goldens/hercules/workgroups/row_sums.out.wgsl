// row_sums_0[3](x, sums: written): 3 threads in 3 workgroups of 8
@group(0) @binding(1) var<storage, read_write> sums: array<u32, 3>;
@group(0) @binding(0) var<storage, read> x: array<array<u32, 10>, 3>;
var<workgroup> sum: array<u32, 8>;

@compute @workgroup_size(8u, 1u, 1u)
fn row_sums_0(
    @builtin(workgroup_id) workgroup_id: vec3u,
    @builtin(num_workgroups) num_workgroups: vec3u,
    @builtin(local_invocation_index) local_invocation_index: u32,
) {
    sum[local_invocation_index] = 0u;
    workgroupBarrier();
    let thread = workgroup_id.y * num_workgroups.x + workgroup_id.x;
    if thread >= 3u {
        return;
    }
    var sum_1 = 0u;
    for (var i = 0u; i < 2u; i++) {
        var value: u32;
        let j = i * 8u + local_invocation_index;
        if j < 10u {
            let value_1 = x[thread][j];
            let next_sum = sum_1 + value_1;
            value = next_sum;
        } else {
            value = sum_1;
        }
        sum_1 = value;
    }
    sum[local_invocation_index] = sum_1;
    workgroupBarrier();
    if local_invocation_index < 4u {
        sum[local_invocation_index] += sum[local_invocation_index + 4u];
    }
    workgroupBarrier();
    if local_invocation_index < 2u {
        sum[local_invocation_index] += sum[local_invocation_index + 2u];
    }
    workgroupBarrier();
    let t = local_invocation_index < 1u;
    if t {
        sum[local_invocation_index] += sum[local_invocation_index + 1u];
    }
    workgroupBarrier();
    let t_1 = sum[0u];
    if t {
        sums[thread] = t_1;
    }
}
