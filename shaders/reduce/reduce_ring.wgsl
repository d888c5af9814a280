// The least and the greatest number of each block of 128, known to all of the block's invocations in the end: in each
// turn an invocation takes in the extremes of the one `reach` further around the ring. Each number is then scaled so
// that its block spans 0 to 1.

const WIDTH = 128u;

@group(0) @binding(0) var<storage, read> values: array<f32>;
@group(0) @binding(1) var<storage, read_write> extremes: array<vec2f>;
@group(0) @binding(2) var<storage, read_write> scaled: array<f32>;

var<workgroup> ring: array<vec2f, WIDTH>;

@compute @workgroup_size(WIDTH)
fn main(
    @builtin(global_invocation_id) id: vec3u,
    @builtin(workgroup_id) block: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    // Invocations past the end double the last number, which changes no extreme.
    let value = values[min(id.x, arrayLength(&values) - 1u)];
    var mine = vec2f(value);
    ring[local] = mine;
    workgroupBarrier();

    for (var reach = 1u; reach < WIDTH; reach *= 2u) {
        let other = ring[(local + reach) % WIDTH];
        workgroupBarrier();
        mine = vec2f(min(mine.x, other.x), max(mine.y, other.y));
        ring[local] = mine;
        workgroupBarrier();
    }

    if local == 0u {
        extremes[block.x] = mine;
    }
    if id.x < arrayLength(&scaled) {
        scaled[id.x] = select((value - mine.x) / (mine.y - mine.x), 0.0, mine.x == mine.y);
    }
}
