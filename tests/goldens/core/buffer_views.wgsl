enable subgroup_size_control;
requires buffer_view, immediate_address_space;

override bytes = 64u;

@group(0) @binding(0) var<storage, read_write> any: buffer;
@group(0) @binding(1) var<uniform> fixed: buffer<64>;
var<workgroup> tile: buffer<bytes>;
var<immediate> scale: vec4u;

fn length_of(p: ptr<uniform, buffer<16>>) -> u32 {
    return bufferLength(p);
}

@compute @workgroup_size(bytes) @subgroup_size(bytes / 2)
fn main() {
    let p = bufferView<vec4u>(&any, scale.x);
    *p = *bufferView<vec4u>(&tile, 16);
    *bufferView<u32>(&any, 4) += length_of(&fixed);
    let rows = bufferArrayView<array<vec4u>>(&fixed, 0, scale.y);
    (*p).y = rows[1].x + arrayLength(rows);
}
