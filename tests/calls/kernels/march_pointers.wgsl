// Ray marching as in march_values.wgsl, in another's style: the nearest hit is a variable that all functions improve.

struct Camera { width: u32, height: u32, steps: u32, time: f32 }
struct Scene { p: vec3f, distance: f32, material: u32 }

@group(0) @binding(0) var<uniform> camera: Camera;
@group(0) @binding(1) var<storage, read_write> image: array<vec4f>;

fn put(scene: ptr<function, Scene>, d: f32, material: u32) {
    if !((*scene).distance < d) { (*scene).distance = d; (*scene).material = material; }
}

fn blend(scene: ptr<function, Scene>, other: ptr<function, Scene>, k: f32) {
    let a = (*scene).distance;
    let b = (*other).distance;
    let h = clamp(0.5 + 0.5 * (b - a) / k, 0.0, 1.0);
    (*scene).distance = mix(b, a, h) - k * h * (1.0 - h);
    if !(h > 0.5) { (*scene).material = (*other).material; }
}

fn box(p: vec3f, size: vec3f, d: ptr<function, f32>) {
    let q = abs(p) - size;
    *d = length(max(q, vec3f(0.0))) + min(max(q.x, max(q.y, q.z)), 0.0);
}

fn cylinder(p: vec3f, radius: f32, height: f32, d: ptr<function, f32>) {
    let q = vec2f(length(p.xz) - radius, abs(p.y) - height);
    *d = min(max(q.x, q.y), 0.0) + length(max(q, vec2f(0.0)));
}

fn turn(p: ptr<function, vec3f>, cosine: f32, sine: f32) {
    let x = (*p).x;
    let z = (*p).z;
    (*p).x = cosine * x - sine * z;
    (*p).z = sine * x + cosine * z;
}

fn wheel(scene: ptr<function, Scene>, at: vec3f) {
    let p = (*scene).p - at;
    var own = Scene(p, 0.0, 1u);
    let ring = vec2f(length(p.xzy.xz) - 0.5, p.xzy.y);
    own.distance = length(ring) - 0.12;
    for (var i = 0; i < 5; i++) {
        var q = p.xzy;
        turn(&q, 0.5, 0.75);
        q += vec3f(0.0, 0.0, 0.1 * f32(i));
        var d: f32;
        cylinder(q, 0.05, 0.5, &d);
        put(&own, d, 2u);
    }
    own.distance = max(own.distance, -(length(p) - 0.1));
    put(scene, own.distance, own.material);
}

fn axle(scene: ptr<function, Scene>, at: vec3f) {
    let before = *scene;
    wheel(scene, at + vec3f(0.0, 0.0, 0.9));
    wheel(scene, at - vec3f(0.0, 0.0, 0.9));
    var d: f32;
    cylinder((before.p - at).xzy, 0.08, 0.9, &d);
    put(scene, d, 3u);
}

fn cabin(scene: ptr<function, Scene>, at: vec3f) {
    let p = (*scene).p - at;
    var d: f32;
    var cut: f32;
    box(p, vec3f(0.6, 0.4, 0.7), &d);
    box(p, vec3f(0.5, 0.35, 0.6), &cut);
    d = max(d, -cut);
    box(p - vec3f(0.0, -0.1, 0.7), vec3f(0.2, 0.25, 0.2), &cut);
    d = max(d, -cut);
    (*scene).distance = max(d, length(p) - 0.95);
    (*scene).material = 4u;
}

fn wagon(scene: ptr<function, Scene>) {
    axle(scene, vec3f(0.9, -0.4, 0.0));
    axle(scene, vec3f(-0.9, -0.4, 0.0));
    var body = *scene;
    var d: f32;
    box((*scene).p, vec3f(1.2, 0.2, 0.6), &d);
    body.distance = d;
    body.material = 5u;
    var top = *scene;
    cabin(&top, vec3f(-0.4, 0.5, 0.0));
    blend(&body, &top, 0.2);
    put(scene, body.distance, body.material);
}

fn train(p: vec3f) -> Scene {
    var first = Scene(p, 1e9, 0u);
    wagon(&first);
    var second = Scene(p - vec3f(3.0, 0.0, 0.0), 1e9, 0u);
    wagon(&second);
    put(&first, second.distance, second.material);
    var q = p;
    turn(&q, 0.0, 1.0);
    var third = Scene(q + vec3f(3.0, 0.0, 0.5), 1e9, 0u);
    wagon(&third);
    blend(&first, &third, 0.05);
    put(&first, p.y + 1.0, 6u);
    return first;
}

fn slope(p: vec3f, step: vec3f, result: ptr<function, f32>) {
    *result = train(p + step).distance - train(p - step).distance;
}

@compute @workgroup_size(8, 4)
fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= camera.width || id.y >= camera.height { return; }
    let uv = (vec2f(id.xy) + 0.5) / vec2f(f32(camera.width), f32(camera.height)) - 0.5;
    let origin = vec3f(1.0, 1.5, 6.0 + camera.time);
    let direction = normalize(vec3f(uv.x, -uv.y - 0.2, -1.0));
    var t = 0.0;
    var material = 0u;
    for (var i = 0u; i < camera.steps; i++) {
        let scene = train(origin + direction * t);
        if scene.distance < 0.02 { material = scene.material; break; }
        t += scene.distance;
        if t > 20.0 { break; }
    }
    var color = vec3f(0.4, 0.6, 0.9);
    if material > 0u {
        let p = origin + direction * t;
        var n: vec3f;
        var d: f32;
        slope(p, vec3f(0.01, 0.0, 0.0), &d);
        n.x = d;
        slope(p, vec3f(0.0, 0.01, 0.0), &d);
        n.y = d;
        slope(p, vec3f(0.0, 0.0, 0.01), &d);
        n.z = d;
        n = normalize(n + vec3f(0.0, 1e-6, 0.0));
        let sun = normalize(vec3f(0.5, 1.0, 0.6));
        var light = 1.0;
        var s = 0.1;
        for (var i = 0; i < 8; i++) {
            d = train(p + sun * s).distance;
            light = min(light, 8.0 * d / s);
            s += clamp(d, 0.05, 0.5);
        }
        let share = f32(material) / 6.0;
        color = vec3f(share, 0.5, 1.0 - share) * (0.2 + 0.8 * max(dot(n, sun), 0.0) * max(light, 0.0));
    }
    image[id.y * camera.width + id.x] = vec4f(color, t);
}
