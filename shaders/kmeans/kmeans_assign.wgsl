// A step of k-means on the colours of a picture: each pixel gets the number of the nearest of 16 colours, the first of
// those equally near. Counts and sums of the pixels of each colour are added up by atomics, in the workgroup's memory
// first.

const K = 16u;

@group(0) @binding(0) var<storage, read> pixels: array<u32>; // a byte each for red, green and blue
@group(0) @binding(1) var<uniform> colours: array<vec4f, K>;
@group(0) @binding(2) var<storage, read_write> labels: array<u32>;
@group(0) @binding(3) var<storage, read_write> totals: array<array<atomic<u32>, 4>, K>; // red, green, blue, pixels

var<workgroup> own_totals: array<array<atomic<u32>, 4>, K>;

fn squared_distance(a: vec3f, b: vec3f) -> f32 {
    let d = a - b;
    return dot(d, d);
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) local: u32) {
    atomicStore(&own_totals[local / 4u][local % 4u], 0u);
    workgroupBarrier();

    if id.x < arrayLength(&pixels) {
        let pixel = pixels[id.x];
        let rgb = vec3u(pixel, pixel >> 8u, pixel >> 16u) & vec3u(255u);
        let colour = vec3f(rgb);
        var nearest = 0u;
        var least = squared_distance(colour, colours[0].rgb);
        for (var c = 1u; c < K; c++) {
            let distance = squared_distance(colour, colours[c].rgb);
            if distance < least {
                least = distance;
                nearest = c;
            }
        }
        labels[id.x] = nearest;
        atomicAdd(&own_totals[nearest][0], rgb.r);
        atomicAdd(&own_totals[nearest][1], rgb.g);
        atomicAdd(&own_totals[nearest][2], rgb.b);
        atomicAdd(&own_totals[nearest][3], 1u);
    }
    workgroupBarrier();

    let own = atomicLoad(&own_totals[local / 4u][local % 4u]);
    if own > 0u {
        atomicAdd(&totals[local / 4u][local % 4u], own);
    }
}
