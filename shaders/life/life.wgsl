// A generation of Conway's game of life on a torus; a cell is 1 or 0.

@group(0) @binding(0) var<uniform> size: vec2i;
@group(0) @binding(1) var<storage, read> cells: array<u32>;
@group(0) @binding(2) var<storage, read_write> next_cells: array<u32>;

fn cell_index(at: vec2i) -> i32 {
    let wrapped = (at + size) % size;
    return wrapped.y * size.x + wrapped.x;
}

fn neighbours(at: vec2i) -> u32 {
    var count = 0u;
    for (var y = -1; y <= 1; y++) {
        for (var x = -1; x <= 1; x++) {
            if x == 0 && y == 0 {
                continue;
            }
            count += cells[cell_index(at + vec2(x, y))];
        }
    }
    return count;
}

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let at = vec2i(id.xy);
    if any(at >= size) {
        return;
    }
    let here = cell_index(at);
    switch neighbours(at) {
        case 2u: {
            next_cells[here] = cells[here];
        }
        case 3u: {
            next_cells[here] = 1u;
        }
        default: {
            next_cells[here] = 0u;
        }
    }
}
