// Ray marching through a scene of nested unions, intersections and differences of shapes; functions take and give values.

struct Camera { width: u32, height: u32, steps: u32, time: f32 }
struct Hit { distance: f32, material: u32 }

@group(0) @binding(0) var<uniform> camera: Camera;
@group(0) @binding(1) var<storage, read_write> image: array<vec4f>;

fn sphere(p: vec3f, radius: f32) -> f32 { return length(p) - radius; }

fn box(p: vec3f, size: vec3f) -> f32 {
    let q = abs(p) - size;
    return length(max(q, vec3f(0.0))) + min(max(q.x, max(q.y, q.z)), 0.0);
}

fn torus(p: vec3f, size: vec2f) -> f32 {
    let q = vec2f(length(p.xz) - size.x, p.y);
    return length(q) - size.y;
}

fn cylinder(p: vec3f, radius: f32, height: f32) -> f32 {
    let d = vec2f(length(p.xz) - radius, abs(p.y) - height);
    return min(max(d.x, d.y), 0.0) + length(max(d, vec2f(0.0)));
}

fn turned(p: vec3f, cosine: f32, sine: f32) -> vec3f {
    return vec3f(cosine * p.x - sine * p.z, p.y, sine * p.x + cosine * p.z);
}

fn nearer(a: Hit, b: Hit) -> Hit { if a.distance < b.distance { return a; } return b; }

fn without(a: Hit, b: f32) -> Hit { return Hit(max(a.distance, -b), a.material); }

fn within(a: Hit, b: f32) -> Hit { return Hit(max(a.distance, b), a.material); }

fn smooth_union(a: Hit, b: Hit, k: f32) -> Hit {
    let h = clamp(0.5 + 0.5 * (b.distance - a.distance) / k, 0.0, 1.0);
    let d = mix(b.distance, a.distance, h) - k * h * (1.0 - h);
    return Hit(d, select(b.material, a.material, h > 0.5));
}

fn wheel(p: vec3f) -> Hit {
    var hit = Hit(torus(p.xzy, vec2f(0.5, 0.12)), 1u);
    for (var i = 0u; i < 5u; i++) {
        let q = turned(p.xzy, 0.5, 0.75) + vec3f(0.0, 0.0, 0.1 * f32(i));
        hit = nearer(hit, Hit(cylinder(q, 0.05, 0.5), 2u));
    }
    return without(hit, sphere(p, 0.1));
}

fn axle(p: vec3f) -> Hit {
    let left = wheel(p - vec3f(0.0, 0.0, 0.9));
    let right = wheel(p + vec3f(0.0, 0.0, 0.9));
    return nearer(nearer(left, right), Hit(cylinder(p.xzy, 0.08, 0.9), 3u));
}

fn cabin(p: vec3f) -> Hit {
    let shell = Hit(box(p, vec3f(0.6, 0.4, 0.7)), 4u);
    let hollow = without(shell, box(p, vec3f(0.5, 0.35, 0.6)));
    let door = without(hollow, box(p - vec3f(0.0, -0.1, 0.7), vec3f(0.2, 0.25, 0.2)));
    return within(door, sphere(p, 0.95));
}

fn wagon(p: vec3f) -> Hit {
    let front = axle(p - vec3f(0.9, -0.4, 0.0));
    let back = axle(p + vec3f(0.9, 0.4, 0.0));
    let body = smooth_union(Hit(box(p, vec3f(1.2, 0.2, 0.6)), 5u), cabin(p - vec3f(-0.4, 0.5, 0.0)), 0.2);
    return nearer(nearer(front, back), body);
}

fn train(p: vec3f) -> Hit {
    var hit = wagon(p);
    hit = nearer(hit, wagon(p - vec3f(3.0, 0.0, 0.0)));
    hit = smooth_union(hit, wagon(turned(p, 0.0, 1.0) + vec3f(3.0, 0.0, 0.5)), 0.05);
    return nearer(hit, Hit(p.y + 1.0, 6u));
}

fn normal(p: vec3f) -> vec3f {
    let e = 0.01;
    let x = train(p + vec3f(e, 0.0, 0.0)).distance - train(p - vec3f(e, 0.0, 0.0)).distance;
    let y = train(p + vec3f(0.0, e, 0.0)).distance - train(p - vec3f(0.0, e, 0.0)).distance;
    let z = train(p + vec3f(0.0, 0.0, e)).distance - train(p - vec3f(0.0, 0.0, e)).distance;
    return normalize(vec3f(x, y, z) + vec3f(0.0, 1e-6, 0.0));
}

fn march(origin: vec3f, direction: vec3f) -> vec2f {
    var t = 0.0;
    for (var i = 0u; i < camera.steps; i++) {
        let hit = train(origin + direction * t);
        if hit.distance < 0.02 { return vec2f(t, f32(hit.material)); }
        t += hit.distance;
        if t > 20.0 { break; }
    }
    return vec2f(t, 0.0);
}

fn shadow(origin: vec3f, direction: vec3f) -> f32 {
    var light = 1.0;
    var t = 0.1;
    for (var i = 0u; i < 8u; i++) {
        let d = train(origin + direction * t).distance;
        light = min(light, 8.0 * d / t);
        t += clamp(d, 0.05, 0.5);
    }
    return max(light, 0.0);
}

@compute @workgroup_size(8, 4)
fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= camera.width || id.y >= camera.height { return; }
    let uv = (vec2f(id.xy) + 0.5) / vec2f(f32(camera.width), f32(camera.height)) - 0.5;
    let origin = vec3f(1.0, 1.5, 6.0 + camera.time);
    let direction = normalize(vec3f(uv.x, -uv.y - 0.2, -1.0));
    let found = march(origin, direction);
    var color = vec3f(0.4, 0.6, 0.9);
    if found.y > 0.0 {
        let p = origin + direction * found.x;
        let n = normal(p);
        let sun = normalize(vec3f(0.5, 1.0, 0.6));
        color = vec3f(found.y / 6.0, 0.5, 1.0 - found.y / 6.0) * (0.2 + 0.8 * max(dot(n, sun), 0.0) * shadow(p, sun));
    }
    image[id.y * camera.width + id.x] = vec4f(color, found.x);
}
