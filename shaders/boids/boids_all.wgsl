// A step of a flock. A boid heads for the middle of the boids in sight, keeps away from those too close, and flies as
// those near it do; it looks at all boids of the flock.

struct Boid {
    position: vec2f,
    velocity: vec2f,
}

struct Rules {
    time_step: f32,
    sight: f32,
    closest: f32,
    near: f32,
    cohesion: f32,
    separation: f32,
    alignment: f32,
    top_speed: f32,
}

@group(0) @binding(0) var<uniform> rules: Rules;
@group(0) @binding(1) var<storage, read> boids: array<Boid>;
@group(0) @binding(2) var<storage, read_write> moved: array<Boid>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let index = id.x;
    if index >= arrayLength(&boids) {
        return;
    }
    var position = boids[index].position;
    var velocity = boids[index].velocity;

    var centre = vec2f(0.0);
    var in_sight = 0u;
    var away = vec2f(0.0);
    var heading = vec2f(0.0);
    var neighbours = 0u;
    for (var i = 0u; i < arrayLength(&boids); i++) {
        if i == index {
            continue;
        }
        let offset = boids[i].position - position;
        let squared = dot(offset, offset);
        if squared < rules.sight * rules.sight {
            centre += boids[i].position;
            in_sight++;
        }
        if squared < rules.closest * rules.closest {
            away -= offset;
        }
        if squared < rules.near * rules.near {
            heading += boids[i].velocity;
            neighbours++;
        }
    }
    if in_sight > 0u {
        velocity += (centre / f32(in_sight) - position) * rules.cohesion;
    }
    velocity += away * rules.separation;
    if neighbours > 0u {
        velocity += heading / f32(neighbours) * rules.alignment;
    }

    let speed = length(velocity);
    if speed > rules.top_speed {
        velocity *= rules.top_speed / speed;
    }
    position += velocity * rules.time_step;
    moved[index] = Boid(position, velocity);
}
