// Exclusive prefix sums of blocks of 2 * WIDTH numbers, after Blelloch: sums up a tree, then down again.

const WIDTH = 64u;
const BLOCK = 2u * WIDTH;

@group(0) @binding(0) var<storage, read> values: array<i32>;
@group(0) @binding(1) var<storage, read_write> sums: array<i32>;
@group(0) @binding(2) var<storage, read_write> block_sums: array<i32>;

var<workgroup> tree: array<i32, BLOCK>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) block: vec3u, @builtin(local_invocation_index) local: u32) {
    let start = block.x * BLOCK;
    for (var i = local; i < BLOCK; i += WIDTH) {
        tree[i] = 0;
        if start + i < arrayLength(&values) {
            tree[i] = values[start + i];
        }
    }

    var stride = 1u;
    for (var nodes = WIDTH; nodes > 0u; nodes /= 2u) {
        workgroupBarrier();
        if local < nodes {
            let right = stride * (2u * local + 2u) - 1u;
            tree[right] += tree[right - stride];
        }
        stride *= 2u;
    }

    workgroupBarrier();
    if local == 0u {
        block_sums[block.x] = tree[BLOCK - 1u];
        tree[BLOCK - 1u] = 0;
    }

    for (var nodes = 1u; nodes <= WIDTH; nodes *= 2u) {
        stride /= 2u;
        workgroupBarrier();
        if local < nodes {
            let right = stride * (2u * local + 2u) - 1u;
            let left = right - stride;
            let sum = tree[left];
            tree[left] = tree[right];
            tree[right] += sum;
        }
    }

    workgroupBarrier();
    for (var i = local; i < BLOCK; i += WIDTH) {
        if start + i < arrayLength(&values) {
            sums[start + i] = tree[i];
        }
    }
}
