// Turns RGBA pixels, red in the low byte, into grey ones with integer arithmetic, and finds the darkest and the
// brightest.

struct Range {
    darkest: atomic<u32>,
    brightest: atomic<u32>,
}

@group(0) @binding(0) var<storage, read> pixels: array<u32>;
@group(0) @binding(1) var<storage, read_write> grey_pixels: array<u32>;
@group(0) @binding(2) var<storage, read_write> range: Range;

const WEIGHTS = vec3u(77, 150, 29);

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= arrayLength(&pixels) {
        return;
    }
    let pixel = pixels[id.x];
    let channels = (vec3u(pixel) >> vec3u(0, 8, 16)) & vec3u(0xff);
    let grey = dot(channels, WEIGHTS) >> 8u;
    grey_pixels[id.x] = insertBits(grey * 0x010101u, pixel >> 24u, 24u, 8u);
    atomicMin(&range.darkest, grey);
    atomicMax(&range.brightest, grey);
}
