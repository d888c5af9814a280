// Morton codes of points in the unit cube, as builders of bounding volume hierarchies sort by: ten bits of each
// coordinate, interleaved, x highest.

@group(0) @binding(0) var<storage, read> positions: array<f32>; // x, y, z of each point
@group(0) @binding(1) var<storage, read_write> codes: array<u32>;

// Two zeros between any two of the ten lowest bits.
fn expand_bits(value: u32) -> u32 {
    var v = (value * 0x00010001u) & 0xFF0000FFu;
    v = (v * 0x00000101u) & 0x0F00F00Fu;
    v = (v * 0x00000011u) & 0xC30C30C3u;
    v = (v * 0x00000005u) & 0x49249249u;
    return v;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) global_id: vec3<u32>) {
    let i = global_id.x;
    if i >= arrayLength(&codes) {
        return;
    }
    let point = vec3f(positions[3u * i], positions[3u * i + 1u], positions[3u * i + 2u]);
    let cell = vec3u(clamp(point * 1024.0, vec3f(0.0), vec3f(1023.0)));
    codes[i] = (expand_bits(cell.x) << 2u) | (expand_bits(cell.y) << 1u) | expand_bits(cell.z);
}
