override slots: u32 = 5u;

@group(0) @binding(0) var<storage, read_write> data: array<u32>;
var<workgroup> tile: array<u32, 32>;
var<workgroup> extra: array<u32, slots>;

@compute @workgroup_size(8, 4)
fn main(
    @builtin(global_invocation_id) id: vec3u,
    @builtin(local_invocation_id) local: vec3u,
    @builtin(local_invocation_index) index: u32,
) {
    tile[index] = 1u;
    tile[local.y * 8u + local.x]++;
    tile[min(local.y * 8u + local.x + 1u, 31u)]++;
    tile[data[0] & 31u]++;
    tile[data[0] % 32u]++;
    tile[min(data[0], 31u)]++;
    tile[clamp(data[0], 3u, 31u)]++;
    tile[data[0] >> 27u]++;
    tile[min(data[0] >> 26u, 31u)]++;
    if id.x >= arrayLength(&data) {
        return;
    }
    data[id.x]++;
    data[id.x / 2u]++;
    data[min(id.y, arrayLength(&data) - 1u)]++;
    data[id.y % arrayLength(&data)]++;
    data[min(id.y, arrayLength(&data) - 1u)]++;
    let near = i32(data[0]) - 2;
    if near >= 0 && near < 32 {
        tile[near]++;
    } else {
        tile[min(u32(near + 40), 31u)]++;
    }
    for (var i = 0; i < 32; i++) {
        tile[i]++;
    }
    for (var i_1 = 0; i_1 <= 32; i_1++) {
        tile[min(u32(i_1), 31u)]++;
    }
    for (var i_2 = 3; i_2 > 0; i_2--) {
        tile[min(u32(i_2), 31u)]++;
    }
    for (var i_3 = index; i_3 < slots; i_3 += 32u) {
        extra[i_3] = tile[i_3 & 31u];
    }
    for (var i_4 = 0; i_4 < 8; i_4++) {
        i_4 += i32(data[0]);
        tile[min(u32(i_4), 31u)]++;
    }
}
