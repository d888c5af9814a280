@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    let x = data[i] * 2654435769u;
    let s = vec2i(i32(x), i32(i) - 1);
    let t = min(i, 32u);
    let t_1 = min(7u, 32u - t);
    let t_2 = min(i * 9u, 32u);
    let t_3 = min(6u, 32u - t_2);
    let t_4 = (4294967295u >> (32u - t_3)) << t_2;
    data[0] = select((x << (32u - t - t_1)) >> (32u - t_1), 0u, t_1 == 0u) + select((x & ~t_4) | ((5u << t_2) & t_4), x, t_3 == 0u);
    let t_5 = min(i, 32u);
    let t_6 = min(9u, 32u - t_5);
    data[1] = u32(select((s << vec2u(32u - t_5 - t_6)) >> vec2u(32u - t_6), vec2i(0), t_6 == 0u).x) + (31u - countLeadingZeros(x)) + u32((vec2i(31) - countLeadingZeros(s ^ (s >> vec2u(31u)))).y);
    let t_7 = x << i;
    data[2] = select(countOneBits(~x & (x - 1u)), 4294967295u, x == 0u) + countOneBits(~t_7 & (t_7 - 1u));
    let t_8 = data[1];
    let t_9 = bitcast<i32>(x);
    let t_10 = bitcast<i32>(data[0]);
    data[3] = ((x >> 0u) & 255u) * ((t_8 >> 0u) & 255u) + ((x >> 8u) & 255u) * ((t_8 >> 8u) & 255u) + ((x >> 16u) & 255u) * ((t_8 >> 16u) & 255u) + ((x >> 24u) & 255u) * ((t_8 >> 24u) & 255u) + u32(((t_9 << 24u) >> 24u) * ((t_10 << 24u) >> 24u) + ((t_9 << 16u) >> 24u) * ((t_10 << 16u) >> 24u) + ((t_9 << 8u) >> 24u) * ((t_10 << 8u) >> 24u) + ((t_9 << 0u) >> 24u) * ((t_10 << 0u) >> 24u));
}
