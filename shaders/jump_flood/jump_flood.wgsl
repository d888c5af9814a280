// One step of jump flooding, which makes Voronoi diagrams and distance fields: a pixel takes the nearest of the seeds
// that it and the eight pixels `reach` away know. A seed is the index of its pixel; a negative number is none.

struct Step {
    size: vec2<i32>,
    reach: i32,
}

@group(0) @binding(0) var<uniform> flood: Step;
@group(0) @binding(1) var<storage, read> seeds: array<i32>;
@group(0) @binding(2) var<storage, read_write> nearest: array<i32>;

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let here = vec2<i32>(id.xy);
    if here.x >= flood.size.x || here.y >= flood.size.y {
        return;
    }
    var best = -1;
    var best_distance = 0x7fffffff;
    for (var dy = -1; dy <= 1; dy++) {
        for (var dx = -1; dx <= 1; dx++) {
            let there = here + flood.reach * vec2<i32>(dx, dy);
            if any(there < vec2<i32>(0)) || any(there >= flood.size) {
                continue;
            }
            let seed = seeds[there.y * flood.size.x + there.x];
            if seed < 0 {
                continue;
            }
            let way = vec2<i32>(seed % flood.size.x, seed / flood.size.x) - here;
            let distance = way.x * way.x + way.y * way.y;
            if distance < best_distance {
                best_distance = distance;
                best = seed;
            }
        }
    }
    nearest[here.y * flood.size.x + here.x] = best;
}
