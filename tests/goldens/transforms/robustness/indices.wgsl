// passes: robustness
struct Block {
    head: vec4i,
    rows: array<array<i32, 8>, 4>,
    tail: array<i32>,
}

@group(0) @binding(0) var<storage, read_write> block: Block;
@group(0) @binding(1) var<storage, read> where_: array<i32>;

fn part(p: ptr<storage, array<i32>, read_write>, i: i32) -> i32 {
    return (*p)[i];
}

@compute @workgroup_size(8, 2)
fn main(
    @builtin(global_invocation_id) id: vec3u,
    @builtin(local_invocation_id) local: vec3u,
    @builtin(local_invocation_index) index: u32,
) {
    let i = where_[id.x];
    block.tail[i] = 1;
    block.rows[i][id.y] = block.rows[3][0];
    block.rows[local.y][local.x] = block.rows[index / 4][index & 7];
    block.head[i] += block.head[id.x % 4];
    let v = vec3i(i, i, 1);
    let m = mat2x2f(1.0, 2.0, 3.0, 4.0);
    let table = array(5, 6, 7);
    block.tail[0] = v[i] + table[i] + i32(m[i][index]) + part(&block.tail, i);
    block.tail[i]++;
}
