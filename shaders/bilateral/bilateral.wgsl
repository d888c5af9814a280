// A bilateral filter of a grey picture: the mean of 7 x 7 pixels, weighted by how near they are and how alike, so that
// edges stay sharp. Beyond the border the picture goes on with the nearest pixel.

const RADIUS: i32 = 3;

struct Filter {
    size: vec2u,
    nearness: f32, // 1 / (2 sigma^2), of distances in pixels
    likeness: f32, // the same, of differences in brightness
}

@group(0) @binding(0) var<uniform> params: Filter;
@group(0) @binding(1) var<storage, read> image: array<f32>;
@group(0) @binding(2) var<storage, read_write> filtered: array<f32>;

@compute @workgroup_size(16, 16)
fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= params.size.x || id.y >= params.size.y {
        return;
    }
    let width = i32(params.size.x);
    let height = i32(params.size.y);
    let centre = image[id.y * params.size.x + id.x];

    var weight_sum = 0.0;
    var sum = 0.0;
    for (var dy = -RADIUS; dy <= RADIUS; dy++) {
        for (var dx = -RADIUS; dx <= RADIUS; dx++) {
            let x = clamp(i32(id.x) + dx, 0, width - 1);
            let y = clamp(i32(id.y) + dy, 0, height - 1);
            let value = image[y * width + x];
            let difference = value - centre;
            let distance = f32(dx * dx + dy * dy);
            let weight = exp(
                -(distance * params.nearness + difference * difference * params.likeness)
            );
            weight_sum += weight;
            sum += weight * value;
        }
    }
    filtered[id.y * params.size.x + id.x] = sum / weight_sum;
}
