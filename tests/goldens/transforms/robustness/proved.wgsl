// passes: robustness
override slots: u32 = 5;

@group(0) @binding(0) var<storage, read_write> data: array<u32>;
var<workgroup> tile: array<u32, 32>;
var<workgroup> extra: array<u32, slots>;

@compute @workgroup_size(8, 4)
fn main(
    @builtin(global_invocation_id) id: vec3u,
    @builtin(local_invocation_id) local: vec3u,
    @builtin(local_invocation_index) index: u32,
) {
    // Builtins of a workgroup whose size is known.
    tile[index] = 1;
    tile[local.y * 8 + local.x] += 1;
    tile[local.y * 8 + local.x + 1] += 1;
    // Operations.
    tile[data[0] & 31] += 1;
    tile[data[0] % 32] += 1;
    tile[min(data[0], 31)] += 1;
    tile[clamp(data[0], 3, 31)] += 1;
    tile[data[0] >> 27] += 1;
    tile[data[0] >> 26] += 1;
    // Guards.
    if id.x >= arrayLength(&data) {
        return;
    }
    data[id.x] += 1;
    data[id.x / 2] += 1;
    data[min(id.y, arrayLength(&data) - 1)] += 1;
    data[id.y % arrayLength(&data)] += 1;
    data[id.y] += 1;
    let near = i32(data[0]) - 2;
    if near >= 0 && near < 32 {
        tile[near] += 1;
    } else {
        tile[near + 40] += 1;
    }
    // Loops.
    for (var i = 0; i < 32; i++) {
        tile[i] += 1;
    }
    for (var i = 0; i <= 32; i++) {
        tile[i] += 1;
    }
    for (var i = 3; i > 0; i--) {
        tile[i] += 1;
    }
    for (var i = index; i < slots; i += 32) {
        extra[i] = tile[i & 31];
    }
    for (var i = 0; i < 8; i++) {
        i += i32(data[0]);
        tile[i] += 1;
    }
}
