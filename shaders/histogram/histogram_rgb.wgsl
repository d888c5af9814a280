// Histograms of the red, green and blue of a picture, whose pixels are four bytes each. A workgroup has 16 by 16
// invocations and looks at such a tile of pixels, then at those a whole dispatch further right and further down.

@group(0) @binding(0) var<uniform> size: vec2<u32>;
@group(0) @binding(1) var<storage, read> pixels: array<u32>;
@group(0) @binding(2) var<storage, read_write> counts: array<atomic<u32>, 768>;

var<workgroup> own: array<atomic<u32>, 768>;

fn count_byte(channel: u32, pixel: u32) {
    let level = (pixel >> (8u * channel)) & 0xffu;
    atomicAdd(&own[channel * 256u + level], 1u);
}

@compute @workgroup_size(16, 16)
fn main(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    for (var bin = local; bin < 768u; bin += 256u) {
        atomicStore(&own[bin], 0u);
    }
    workgroupBarrier();
    let step = groups.xy * vec2<u32>(16u, 16u);
    for (var y = id.y; y < size.y; y += step.y) {
        for (var x = id.x; x < size.x; x += step.x) {
            let pixel = pixels[y * size.x + x];
            count_byte(0u, pixel);
            count_byte(1u, pixel);
            count_byte(2u, pixel);
        }
    }
    workgroupBarrier();
    for (var bin = local; bin < 768u; bin += 256u) {
        let count = atomicLoad(&own[bin]);
        if (count != 0u) {
            atomicAdd(&counts[bin], count);
        }
    }
}
