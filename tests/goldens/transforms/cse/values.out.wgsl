@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    let t = i * 3u;
    let t_1 = data[i];
    let a = t + t_1;
    let b = t - t_1;
    if a > b {
        data[i] = (a - b) * t;
    } else {
        data[i] = (b - a) ^ (a - b);
    }
}
