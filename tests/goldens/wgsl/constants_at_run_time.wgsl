@group(0) @binding(0) var<storage, read_write> out: array<i32>;

@compute @workgroup_size(1)
fn main() {
    let zero = 0;
    let big = 2147483647;
    let far = 40u;
    out[0] = out[1] / zero;
    out[2] = 1 % zero;
    out[3] = big + 1;
    out[4] = out[5] << far;
    let low = 3;
    let high = 1;
    out[6] = clamp(out[7], low, high);
    let two = 2;
    out[8] = two * 3 + out[9];
    let f = 0.0;
    out[10] = i32(1.0 / f);
}
