// A step of a flock as in boids_all, for boids that are sorted by the cells of a grid: a boid looks at those of its own
// cell and of the eight around it. Positions are relative to the corner of the cell, so that they stay exact in a large
// world. A boid that leaves its cell has a position outside of it until the flock is sorted again.

struct Boid {
    position: vec2f,
    velocity: vec2f,
}

struct Flock {
    grid: vec2i, // cells across and down
    cell: f32, // length of a cell's side; no boid sees further
    sight: f32,
    closest: f32,
    cohesion: f32,
    separation: f32,
    alignment: f32,
    time_step: f32,
}

@group(0) @binding(0) var<uniform> flock: Flock;
@group(0) @binding(1) var<storage, read> boids: array<Boid>;
@group(0) @binding(2) var<storage, read> cells: array<i32>; // the cell of each boid
@group(0) @binding(3) var<storage, read> starts: array<u32>; // the first boid of each cell, and the end of the last
@group(0) @binding(4) var<storage, read_write> moved: array<Boid>;

@compute @workgroup_size(128)
fn main(@builtin(global_invocation_id) gid: vec3u) {
    if gid.x >= arrayLength(&boids) {
        return;
    }
    let me = boids[gid.x];
    let cell = vec2i(cells[gid.x] % flock.grid.x, cells[gid.x] / flock.grid.x);

    var offsets = vec2f();
    var headings = vec2f();
    var push = vec2f();
    var seen = 0.0;
    for (var y = max(cell.y - 1, 0); y <= min(cell.y + 1, flock.grid.y - 1); y++) {
        for (var x = max(cell.x - 1, 0); x <= min(cell.x + 1, flock.grid.x - 1); x++) {
            let corner = vec2f(vec2i(x, y) - cell) * flock.cell;
            let other_cell = y * flock.grid.x + x;
            for (var i = starts[other_cell]; i < starts[other_cell + 1]; i++) {
                let offset = corner + boids[i].position - me.position;
                let squared = dot(offset, offset);
                if i == gid.x || squared >= flock.sight * flock.sight {
                    continue;
                }
                offsets += offset;
                headings += boids[i].velocity;
                seen += 1.0;
                if squared < flock.closest * flock.closest {
                    push -= offset;
                }
            }
        }
    }

    var velocity = me.velocity + flock.separation * push;
    if seen > 0.0 {
        velocity += flock.cohesion * (offsets / seen)
            + flock.alignment * (headings / seen - me.velocity);
    }
    moved[gid.x].velocity = velocity;
    moved[gid.x].position = me.position + flock.time_step * velocity;
}
