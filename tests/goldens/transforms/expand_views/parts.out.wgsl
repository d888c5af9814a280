enable f16;
requires buffer_view;

@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@group(0) @binding(1) var<storage, read> some: array<u32>;
var<workgroup> shared_halves: array<atomic<u32>, 3>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) lane: u32) {
    let t = arrayLength(&some) * 4u;
    let t_1 = t >= 8u;
    let t_2 = min(8u, t - 8u) & 4294967288u;
    let t_3 = min(lane * 2u, 8u) & 4294967294u;
    let t_4 = (t - t_2) / 8u;
    let t_5 = t_3 / 4u;
    let t_6 = (t_3 & 2u) * 8u;
    atomicAnd(&shared_halves[t_5], 4294901760u >> t_6);
    atomicOr(&shared_halves[t_5], pack2x16float(vec2f(f32(f16(bitcast<f32>(select(0u, some[(t_2 + min(lane, t_4 - 1u) * 8u + 4u) / 4u], t_1)))), 0.0)) << t_6);
    workgroupBarrier();
    out[lane] = atomicLoad(&shared_halves[1u]) + select(1u, t_4, t_1) + 10u;
}
