// row_argmax_0[2](x, greatest: written, positions: written): 2 threads in 2 workgroups of 8
@group(0) @binding(1) var<storage, read_write> greatest: array<f32, 2>;
@group(0) @binding(2) var<storage, read_write> positions: array<u32, 2>;
@group(0) @binding(0) var<storage, read> x: array<array<f32, 16>, 2>;
var<workgroup> best: array<f32, 8>;
var<workgroup> at: array<u32, 8>;
var<workgroup> kept_thread: array<u32, 8>;

@compute @workgroup_size(8u, 1u, 1u)
fn row_argmax_0(
    @builtin(workgroup_id) workgroup_id: vec3u,
    @builtin(num_workgroups) num_workgroups: vec3u,
    @builtin(local_invocation_index) local_invocation_index: u32,
) {
    best[local_invocation_index] = 0.0;
    at[local_invocation_index] = 0u;
    kept_thread[local_invocation_index] = 0u;
    workgroupBarrier();
    let thread = workgroup_id.y * num_workgroups.x + workgroup_id.x;
    if thread >= 2u {
        return;
    }
    var bits = 4286578688u;
    var best_1 = bitcast<f32>(bits);
    var at_1 = 0u;
    var kept_thread_1 = 0u;
    for (var i = 0u; i < 2u; i++) {
        let j = i * 8u + local_invocation_index;
        let value = x[thread][j];
        let t = best_1;
        let is_better = value > t;
        let next_at = select(at_1, j, is_better);
        let next_best = select(t, value, is_better);
        let t_1 = select(kept_thread_1, j + 1u, is_better);
        best_1 = next_best;
        at_1 = next_at;
        kept_thread_1 = t_1;
    }
    best[local_invocation_index] = best_1;
    at[local_invocation_index] = at_1;
    kept_thread[local_invocation_index] = kept_thread_1;
    workgroupBarrier();
    if local_invocation_index < 4u {
        let t_2 = best[local_invocation_index];
        let t_3 = kept_thread[local_invocation_index];
        let t_4 = local_invocation_index + 4u;
        let t_5 = best[t_4];
        let t_6 = kept_thread[t_4];
        let t_7 = (t_5 > t_2) | ((t_5 == t_2) & (t_6 < t_3));
        let t_8 = select(at[local_invocation_index], at[t_4], t_7);
        best[local_invocation_index] = select(t_2, t_5, t_7);
        at[local_invocation_index] = t_8;
        kept_thread[local_invocation_index] = select(t_3, t_6, t_7);
    }
    workgroupBarrier();
    if local_invocation_index < 2u {
        let t_9 = best[local_invocation_index];
        let t_10 = kept_thread[local_invocation_index];
        let t_11 = local_invocation_index + 2u;
        let t_12 = best[t_11];
        let t_13 = kept_thread[t_11];
        let t_14 = (t_12 > t_9) | ((t_12 == t_9) & (t_13 < t_10));
        let t_15 = select(at[local_invocation_index], at[t_11], t_14);
        best[local_invocation_index] = select(t_9, t_12, t_14);
        at[local_invocation_index] = t_15;
        kept_thread[local_invocation_index] = select(t_10, t_13, t_14);
    }
    workgroupBarrier();
    let t_16 = local_invocation_index < 1u;
    if t_16 {
        let t_17 = best[local_invocation_index];
        let t_18 = kept_thread[local_invocation_index];
        let t_19 = local_invocation_index + 1u;
        let t_20 = best[t_19];
        let t_21 = kept_thread[t_19];
        let t_22 = (t_20 > t_17) | ((t_20 == t_17) & (t_21 < t_18));
        let t_23 = select(at[local_invocation_index], at[t_19], t_22);
        best[local_invocation_index] = select(t_17, t_20, t_22);
        at[local_invocation_index] = t_23;
        kept_thread[local_invocation_index] = select(t_18, t_21, t_22);
    }
    workgroupBarrier();
    let t_24 = best[0u];
    let t_25 = at[0u];
    if t_16 {
        greatest[thread] = t_24;
        positions[thread] = t_25;
    }
}
