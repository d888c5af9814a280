// The Mandelbrot set: how soon each point of the plane escapes, as a number and as a colour (RGBA, red in the low
// byte).

struct View {
    centre: vec2f,
    pixel: f32,
    limit: u32,
    size: vec2u,
}

@group(0) @binding(0) var<uniform> view: View;
@group(0) @binding(1) var<storage, read_write> escapes: array<u32>;
@group(0) @binding(2) var<storage, read_write> picture: array<u32>;

fn escape_time(c: vec2f, limit: u32) -> u32 {
    var z = vec2f();
    var steps = 0u;
    while steps < limit && dot(z, z) <= 4.0 {
        z = vec2f(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + c;
        steps++;
    }
    return steps;
}

fn colour(steps: u32, limit: u32) -> u32 {
    if steps == limit {
        return 0xff000000u;
    }
    let red = min(255u, 8u * steps);
    let green = (5u * steps) % 256u;
    let blue = 255u - min(255u, 4u * steps);
    return 0xff000000u | (blue << 16) | (green << 8) | red;
}

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3u) {
    if any(id.xy >= view.size) {
        return;
    }
    let offset = vec2f(id.xy) + 0.5 - 0.5 * vec2f(view.size);
    let steps = escape_time(view.centre + view.pixel * offset, view.limit);
    let i = id.y * view.size.x + id.x;
    escapes[i] = steps;
    picture[i] = colour(steps, view.limit);
}
