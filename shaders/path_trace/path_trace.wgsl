// Path tracing of spheres under a bright sky. A sphere reflects light in all directions, by its colour; a path ends in
// the sky, or dark after some reflections. Directions are drawn by rejection, from a generator seeded by the pixel.

const BOUNCES = 4u;
const NEAREST = 1e-3;
const FARTHEST = 1e30;

struct Camera {
    size: vec2u,
    samples: u32,
    seed: u32,
    position: vec3f,
    zoom: f32,
}

struct Sphere {
    centre: vec3f,
    radius: f32,
    colour: vec4f,
}

struct Ray {
    origin: vec3f,
    direction: vec3f,
}

@group(0) @binding(0) var<uniform> camera: Camera;
@group(0) @binding(1) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(2) var<storage, read_write> image: array<vec4f>;

var<private> random_state: u32;

fn random() -> f32 {
    random_state = random_state * 747796405u + 2891336453u;
    let word = ((random_state >> ((random_state >> 28u) + 4u)) ^ random_state) * 277803737u;
    return f32(((word >> 22u) ^ word) >> 8u) / 16777216.0;
}

fn random_in_unit_ball() -> vec3f {
    var point = vec3f(1.0);
    while dot(point, point) > 1.0 {
        point = 2.0 * vec3f(random(), random(), random()) - 1.0;
    }
    return point;
}

// The distance at which a ray meets a sphere, at least NEAREST; FARTHEST if it does not.
fn intersect(ray: Ray, sphere: Sphere) -> f32 {
    let to_centre = sphere.centre - ray.origin;
    let along = dot(to_centre, ray.direction);
    let discriminant = along * along - dot(to_centre, to_centre) + sphere.radius * sphere.radius;
    if discriminant < 0.0 {
        return FARTHEST;
    }
    let half_chord = sqrt(discriminant);
    if along - half_chord > NEAREST {
        return along - half_chord;
    }
    return select(FARTHEST, along + half_chord, along + half_chord > NEAREST);
}

fn sky(direction: vec3f) -> vec3f {
    return mix(vec3f(1.0), vec3f(0.5, 0.7, 1.0), 0.5 * direction.y + 0.5);
}

fn trace(first: Ray) -> vec3f {
    var ray = first;
    var light = vec3f(1.0);
    for (var bounce = 0u; bounce < BOUNCES; bounce++) {
        var distance = FARTHEST;
        var hit = 0u;
        for (var i = 0u; i < arrayLength(&spheres); i++) {
            let d = intersect(ray, spheres[i]);
            if d < distance {
                distance = d;
                hit = i;
            }
        }
        if distance == FARTHEST {
            return light * sky(ray.direction);
        }
        let point = ray.origin + distance * ray.direction;
        var normal = (point - spheres[hit].centre) / spheres[hit].radius;
        if dot(normal, ray.direction) > 0.0 {
            normal = -normal;
        }
        light *= spheres[hit].colour.rgb;
        ray = Ray(point, normalize(normal + 0.9 * random_in_unit_ball()));
    }
    return vec3f(0.0);
}

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3u) {
    if any(id.xy >= camera.size) {
        return;
    }
    let index = id.y * camera.size.x + id.x;
    random_state = index * 9781u + camera.seed;
    var colour = vec3f(0.0);
    for (var s = 0u; s < camera.samples; s++) {
        let jitter = vec2f(random(), random());
        let at = (2.0 * (vec2f(id.xy) + jitter) - vec2f(camera.size)) / f32(camera.size.y);
        colour += trace(Ray(camera.position, normalize(vec3f(at.x, -at.y, camera.zoom))));
    }
    image[index] = vec4f(colour / f32(camera.samples), 1.0);
}
