@group(0) @binding(0) var<storage, read_write> out: array<i32>;

@compute @workgroup_size(1)
fn main() {
    var t = 0;
    out[0] = out[1] / t;
    var t_1 = 0;
    out[2] = 1 % t_1;
    out[3] = i32(-2147483648);
    var t_2 = 40u;
    out[4] = out[5] << t_2;
    var t_3 = 1;
    out[6] = clamp(out[7], 3, t_3);
    out[8] = 6 + out[9];
    var t_4 = 0.0;
    out[10] = i32(1.0 / t_4);
}
