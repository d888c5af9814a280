// A step of k-means: the palette that fits the colours of a picture best. All numbers are whole, so that every device
// finds the same palette: colours of the palette are in sixteenths, and a step that changes no label is the last one.

const K = 16u;
const FRACTION = 16u;
const CHANNELS = 3u;
const NUMBERS = K * (CHANNELS + 1u); // the sums of red, green and blue, and the number of pixels, for each colour

@group(0) @binding(0) var<storage, read> pixels: array<u32>; // a byte each for red, green and blue
@group(0) @binding(1) var<storage, read> palette: array<vec3u, K>;
@group(0) @binding(2) var<storage, read_write> labels: array<u32>;
@group(0) @binding(3) var<storage, read_write> totals: array<atomic<u32>, NUMBERS>;
@group(0) @binding(4) var<storage, read_write> changes: atomic<u32>;

var<workgroup> own_totals: array<atomic<u32>, NUMBERS>;
var<workgroup> own_changes: atomic<u32>;

fn nearest(colour: vec3u) -> u32 {
    var best = 0u;
    var least = 0xffffffffu;
    for (var k = 0u; k < K; k++) {
        let d = vec3i(colour * FRACTION) - vec3i(palette[k]);
        let distance = u32(dot(d, d));
        if distance < least {
            least = distance;
            best = k;
        }
    }
    return best;
}

// Labels each pixel, and adds it to the totals of its label: in workgroup memory first.
@compute @workgroup_size(NUMBERS)
fn assign(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) lane: u32) {
    if id.x < arrayLength(&pixels) {
        let pixel = pixels[id.x];
        let colour = vec3u(pixel, pixel >> 8u, pixel >> 16u) & vec3u(0xffu);
        let label = nearest(colour);
        if label != labels[id.x] {
            labels[id.x] = label;
            atomicAdd(&own_changes, 1u);
        }
        let first = label * (CHANNELS + 1u);
        atomicAdd(&own_totals[first], colour.r);
        atomicAdd(&own_totals[first + 1u], colour.g);
        atomicAdd(&own_totals[first + 2u], colour.b);
        atomicAdd(&own_totals[first + CHANNELS], 1u);
    }
    workgroupBarrier();
    let own = atomicLoad(&own_totals[lane]);
    if own > 0u {
        atomicAdd(&totals[lane], own);
    }
    if lane == 0u && atomicLoad(&own_changes) > 0u {
        atomicAdd(&changes, atomicLoad(&own_changes));
    }
}

@group(0) @binding(0) var<storage, read> label_totals: array<u32, NUMBERS>;
@group(0) @binding(1) var<storage, read> label_changes: u32;
@group(0) @binding(2) var<storage, read_write> means: array<vec3u, K>;
@group(0) @binding(3) var<storage, read_write> converged: u32;

// The means in sixteenths, rounded. Sums are less than 2^28. A colour without pixels stays.
@compute @workgroup_size(K)
fn update(@builtin(local_invocation_index) k: u32) {
    let first = k * (CHANNELS + 1u);
    let count = label_totals[first + CHANNELS];
    if count > 0u {
        let sums = vec3u(label_totals[first], label_totals[first + 1u], label_totals[first + 2u]);
        means[k] = (sums * FRACTION + count / 2u) / count;
    }
    if k == 0u {
        converged = u32(label_changes == 0u);
    }
}
