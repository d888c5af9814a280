// passes: polyfill{without=bits+packed_dot}
@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    let x = data[i] * 0x9E3779B9;
    let s = vec2(i32(x), i32(i) - 1);
    data[0] = extractBits(x, i, 7u) + insertBits(x, 5u, i * 9, 6u);
    data[1] = u32(extractBits(s, i, 9u).x) + firstLeadingBit(x) + u32(firstLeadingBit(s).y);
    data[2] = firstTrailingBit(x) + countTrailingZeros(x << i);
    data[3] = dot4U8Packed(x, data[1]) + u32(dot4I8Packed(x, data[0]));
}
