// A time step of three kinds of particles in a box: drifting ones, swirling ones, and sparks that fall and burn out.

const DRIFTING = 0u;
const SWIRLING = 1u;
const SPARK = 2u;

struct Particle {
    position: vec2f,
    velocity: vec2f,
    kind: u32,
    age: f32,
    bounces: u32,
}

struct World {
    swirl: mat2x2f,
    gravity: vec2f,
    half_size: vec2f,
    time_step: f32,
    lifetime: f32,
    restitution: f32,
}

@group(0) @binding(0) var<uniform> world: World;
@group(0) @binding(1) var<storage, read_write> particles: array<Particle>;

// Reflects a coordinate at ±half; true if it was outside.
fn bounce(coordinate: ptr<function, f32>, speed: ptr<function, f32>, half: f32) -> bool {
    let outside = abs(*coordinate) - half;
    if outside <= 0.0 {
        return false;
    }
    *coordinate -= 2.0 * outside * sign(*coordinate);
    *speed *= -world.restitution;
    return true;
}

fn keep_in_box(particle: ptr<function, Particle>) {
    var x = (*particle).position.x;
    var y = (*particle).position.y;
    var speed_x = (*particle).velocity.x;
    var speed_y = (*particle).velocity.y;
    let bounced_x = bounce(&x, &speed_x, world.half_size.x);
    let bounced_y = bounce(&y, &speed_y, world.half_size.y);
    (*particle).position = vec2f(x, y);
    (*particle).velocity = vec2f(speed_x, speed_y);
    (*particle).bounces += u32(bounced_x) + u32(bounced_y);
}

// Changes the velocity as the kind wants; false for a particle that is no more.
fn accelerate(particle: ptr<function, Particle>) -> bool {
    switch (*particle).kind {
        case DRIFTING: {
            return true;
        }
        case SWIRLING: {
            (*particle).velocity = world.swirl * (*particle).velocity;
        }
        case SPARK: {
            (*particle).velocity += world.time_step * world.gravity;
            if (*particle).age >= world.lifetime {
                return false;
            }
        }
        default: {
            return false;
        }
    }
    return true;
}

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let i = id.x;
    if i >= arrayLength(&particles) {
        return;
    }
    var particle = particles[i];
    if !accelerate(&particle) {
        particles[i] = Particle();
        return;
    }
    particle.position += world.time_step * particle.velocity;
    keep_in_box(&particle);
    particle.age += world.time_step;
    particles[i] = particle;
}
