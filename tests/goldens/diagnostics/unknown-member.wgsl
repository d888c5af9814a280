struct Particle {
    position: vec3f,
    velocity: vec3f,
}

fn f(p: Particle) -> vec3f {
    return p.postion;
}
// a structure has no member of that name
