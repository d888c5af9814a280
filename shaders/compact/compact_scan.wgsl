// Stream compaction as in compact, with one atomic addition for each workgroup: a scan of flags tells each value its
// place among those that the workgroup keeps.

const WIDTH = 256u;

struct Kept {
    index: u32,
    value: f32,
}

@group(0) @binding(0) var<uniform> threshold: f32;
@group(0) @binding(1) var<storage, read> values: array<f32>;
@group(0) @binding(2) var<storage, read_write> count: atomic<u32>;
@group(0) @binding(3) var<storage, read_write> kept: array<Kept>;

var<workgroup> places: array<u32, WIDTH>;
var<workgroup> base: u32;

@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) lane: u32) {
    var value = 0.0;
    var keep = false;
    if id.x < arrayLength(&values) {
        value = values[id.x];
        keep = value > threshold;
    }

    places[lane] = u32(keep);
    workgroupBarrier();
    for (var step = 1u; step < WIDTH; step <<= 1u) {
        var place = places[lane];
        if lane >= step {
            place += places[lane - step];
        }
        workgroupBarrier();
        places[lane] = place;
        workgroupBarrier();
    }

    if lane == WIDTH - 1u {
        base = atomicAdd(&count, places[lane]);
    }
    workgroupBarrier();
    if keep {
        kept[base + places[lane] - 1u] = Kept(id.x, value);
    }
}
