// passes: fold_constants
@group(0) @binding(0) var<storage, read_write> data: array<u32>;

const table = array(10u, 20u, 30u);
@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    let zero = 0u;
    let big = 4000000000u;
    data[0] = 7 / zero + big * 2;
    data[1] = u32(vec3(1, 2, 3).y) << (zero + 33);
    data[2] = table[(i & zero) + 2] + table[zero + 2];
    data[3] = bitcast<u32>(1.5 / f32(zero));
    data[4] = data[zero - 1];
    if zero == 0 { data[5] = select(1u, 2u, zero > 0); }
}
