// Values, and an array, of one invocation that live across a barrier are its variables, not workgroup memory.
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
var<workgroup> tile: array<u32, 4>;
@compute @workgroup_size(2, 2)
fn main(@builtin(local_invocation_index) i: u32) {
    var digits: array<u32, 12>;
    for (var d = 0u; d < 12u; d++) {
        digits[d] = (data[i] >> d) & 1u;
    }
    let before = data[i] * data[i + 4u];
    tile[i] = before;
    workgroupBarrier();
    data[i] = before + tile[3u - i] + digits[data[i] % 12u];
}
