// workgroups: 3
// particles: 24
struct Particle { pos: vec3f, speed: f32 }
@group(0) @binding(0) var<storage, read_write> particles: array<Particle>;

@compute @workgroup_size(2)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  let neighbour = particles[(i + 5) % 6].pos.y;
  particles[i].pos = vec3f(f32(i), neighbour + 1, 0);
}
