// Stream compaction: appends the values above a threshold to a list, in any order. What the atomic counter held
// before tells each its place.

struct Kept {
    index: u32,
    value: f32,
}

@group(0) @binding(0) var<uniform> threshold: f32;
@group(0) @binding(1) var<storage, read> values: array<f32>;
@group(0) @binding(2) var<storage, read_write> count: atomic<u32>;
@group(0) @binding(3) var<storage, read_write> kept: array<Kept>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= arrayLength(&values) {
        return;
    }
    let value = values[id.x];
    if value > threshold {
        let place = atomicAdd(&count, 1u);
        if place < arrayLength(&kept) {
            kept[place] = Kept(id.x, value);
        }
    }
}
