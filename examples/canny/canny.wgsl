// Edges of a grey picture, after Canny: blur, gradients, thinning, two limits, and weak edges that touch strong ones.
// Beyond its border the picture goes on with the nearest pixel.

struct Size {
    width: u32,
    height: u32,
}

struct Limits {
    low: f32,
    high: f32,
}

const NO_EDGE = 0u;
const WEAK = 1u;
const STRONG = 2u;

@group(0) @binding(0) var<uniform> size: Size;
@group(0) @binding(1) var<storage, read> picture: array<f32>;
@group(0) @binding(2) var<storage, read_write> blurred: array<f32>;

fn is_outside(id: vec3u) -> bool {
    return id.x >= size.width || id.y >= size.height;
}

fn index_of(at: vec2i) -> u32 {
    let inside = vec2u(clamp(at, vec2i(0), vec2i(i32(size.width), i32(size.height)) - 1));
    return inside.y * size.width + inside.x;
}

@compute @workgroup_size(16, 4)
fn blur(@builtin(global_invocation_id) id: vec3u) {
    if is_outside(id) {
        return;
    }
    let at = vec2i(id.xy);
    var sum = 0.0;
    for (var y = -1; y <= 1; y++) {
        for (var x = -1; x <= 1; x++) {
            let weight = f32((2 - abs(x)) * (2 - abs(y)));
            sum += weight * picture[index_of(at + vec2i(x, y))];
        }
    }
    blurred[index_of(at)] = sum / 16.0;
}

@group(0) @binding(1) var<storage, read> smooth_picture: array<f32>;
@group(0) @binding(2) var<storage, read_write> gradients: array<vec2f>;

fn smooth_at(at: vec2i, x: i32, y: i32) -> f32 {
    return smooth_picture[index_of(at + vec2i(x, y))];
}

@compute @workgroup_size(16, 4)
fn sobel(@builtin(global_invocation_id) id: vec3u) {
    if is_outside(id) {
        return;
    }
    let at = vec2i(id.xy);
    let right = smooth_at(at, 1, -1) + 2.0 * smooth_at(at, 1, 0) + smooth_at(at, 1, 1);
    let left = smooth_at(at, -1, -1) + 2.0 * smooth_at(at, -1, 0) + smooth_at(at, -1, 1);
    let below = smooth_at(at, -1, 1) + 2.0 * smooth_at(at, 0, 1) + smooth_at(at, 1, 1);
    let above = smooth_at(at, -1, -1) + 2.0 * smooth_at(at, 0, -1) + smooth_at(at, 1, -1);
    gradients[index_of(at)] = vec2f(right - left, below - above);
}

// Keeps the strength of a pixel that no neighbour along its gradient exceeds.
@group(0) @binding(1) var<storage, read> slopes: array<vec2f>;
@group(0) @binding(2) var<storage, read_write> strengths: array<f32>;

fn strength_at(at: vec2i) -> f32 {
    let slope = abs(slopes[index_of(at)]);
    return slope.x + slope.y;
}

fn direction(slope: vec2f) -> vec2i {
    let steep = abs(slope);
    if steep.x >= 2.0 * steep.y {
        return vec2i(1, 0);
    }
    if steep.y >= 2.0 * steep.x {
        return vec2i(0, 1);
    }
    return vec2i(1, select(-1, 1, slope.x * slope.y > 0.0));
}

@compute @workgroup_size(16, 4)
fn thin(@builtin(global_invocation_id) id: vec3u) {
    if is_outside(id) {
        return;
    }
    let at = vec2i(id.xy);
    let here = strength_at(at);
    let along = direction(slopes[index_of(at)]);
    let is_top = here >= strength_at(at + along) && here >= strength_at(at - along);
    strengths[index_of(at)] = select(0.0, here, is_top);
}

@group(0) @binding(1) var<storage, read> thinned: array<f32>;
@group(0) @binding(2) var<storage, read_write> marks: array<u32>;
@group(0) @binding(3) var<uniform> limits: Limits;

@compute @workgroup_size(16, 4)
fn mark(@builtin(global_invocation_id) id: vec3u) {
    if is_outside(id) {
        return;
    }
    let at = id.y * size.width + id.x;
    let strength = thinned[at];
    marks[at] = select(select(NO_EDGE, WEAK, strength >= limits.low), STRONG, strength >= limits.high);
}

// A weak edge that touches a strong one becomes strong.
@group(0) @binding(1) var<storage, read> edges: array<u32>;
@group(0) @binding(2) var<storage, read_write> grown: array<u32>;

@compute @workgroup_size(16, 4)
fn grow(@builtin(global_invocation_id) id: vec3u) {
    if is_outside(id) {
        return;
    }
    let at = vec2i(id.xy);
    var strongest = NO_EDGE;
    for (var y = -1; y <= 1; y++) {
        for (var x = -1; x <= 1; x++) {
            strongest = max(strongest, edges[index_of(at + vec2i(x, y))]);
        }
    }
    let here = edges[index_of(at)];
    grown[index_of(at)] = select(here, strongest, here == WEAK);
}
