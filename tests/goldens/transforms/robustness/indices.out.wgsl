struct Block {
    head: vec4i,
    rows: array<array<i32, 8>, 4>,
    tail: array<i32>,
}

@group(0) @binding(0) var<storage, read_write> block: Block;
@group(0) @binding(1) var<storage, read> where_: array<i32>;

const table = array<i32, 3>(5, 6, 7);

fn part(p: ptr<storage, array<i32>, read_write>, i: i32) -> i32 {
    return (*p)[min(u32(i), arrayLength(p) - 1u)];
}

@compute @workgroup_size(8, 2)
fn main(
    @builtin(global_invocation_id) id: vec3u,
    @builtin(local_invocation_id) local: vec3u,
    @builtin(local_invocation_index) index: u32,
) {
    let i = where_[min(id.x, arrayLength(&where_) - 1u)];
    block.tail[min(u32(i), arrayLength(&block.tail) - 1u)] = 1;
    block.rows[min(u32(i), 3u)][min(id.y, 7u)] = block.rows[3][0];
    block.rows[local.y][local.x] = block.rows[index / 4u][index & 7u];
    block.head[min(u32(i), 3u)] += block.head[id.x % 4u];
    let v = vec3i(i, i, 1);
    block.tail[0] = v[min(u32(i), 2u)] + table[min(u32(i), 2u)] + i32(mat2x2f(vec2f(1.0, 2.0), vec2f(3.0, 4.0))[min(u32(i), 1u)][min(index, 1u)]) + part(&block.tail, i);
    block.tail[min(u32(i), arrayLength(&block.tail) - 1u)]++;
}
