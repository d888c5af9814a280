// Conway's game of life on a torus; a cell is 1 or 0.

struct Board {
    width: u32,
    height: u32,
}

@group(0) @binding(0) var<uniform> board: Board;
@group(0) @binding(1) var<storage, read> cells: array<u32>;
@group(0) @binding(2) var<storage, read_write> next_cells: array<u32>;

fn cell(x: u32, y: u32) -> u32 {
    return cells[y % board.height * board.width + x % board.width];
}

@compute @workgroup_size(8, 8)
fn step(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= board.width || id.y >= board.height {
        return;
    }
    let here = cell(id.x, id.y);
    var count = 0u;
    for (var y = board.height - 1u; y <= board.height + 1u; y++) {
        for (var x = board.width - 1u; x <= board.width + 1u; x++) {
            count += cell(id.x + x, id.y + y);
        }
    }
    next_cells[id.y * board.width + id.x] = u32(count == 3u || (count == 4u && here == 1u));
}

// Adds the number of living cells to one of several totals.
@group(0) @binding(2) var<storage, read_write> totals: array<atomic<u32>>;
@group(0) @binding(3) var<uniform> generation: u32;

@compute @workgroup_size(64)
fn count(@builtin(global_invocation_id) id: vec3u) {
    if id.x < arrayLength(&cells) {
        atomicAdd(&totals[generation], cells[id.x]);
    }
}
