// A 3x3 binomial blur of a grey picture; beyond its border the picture goes on with the nearest pixel.

const WEIGHTS = array(
    vec3f(0.0625, 0.125, 0.0625),
    vec3f(0.125, 0.25, 0.125),
    vec3f(0.0625, 0.125, 0.0625),
);

@group(0) @binding(0) var<uniform> size: vec2u;
@group(0) @binding(1) var<storage, read> source: array<f32>;
@group(0) @binding(2) var<storage, read_write> blurred: array<f32>;

fn pixel(at: vec2i) -> f32 {
    let inside = vec2u(clamp(at, vec2i(0), vec2i(size) - 1));
    return source[inside.y * size.x + inside.x];
}

@compute @workgroup_size(16, 4)
fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= size.x || id.y >= size.y {
        return;
    }
    var weights = WEIGHTS;
    var sum = 0.0;
    for (var y = 0; y < 3; y++) {
        for (var x = 0; x < 3; x++) {
            sum += weights[y][x] * pixel(vec2i(id.xy) + vec2i(x, y) - 1);
        }
    }
    blurred[id.y * size.x + id.x] = sum;
}
