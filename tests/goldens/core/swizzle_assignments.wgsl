// several components are assigned at once: the vector is loaded once the value is known, and stored whole
requires swizzle_assignment;

@group(0) @binding(0) var<storage, read_write> v: array<vec4f>;
var<private> seen: vec4i;

fn next() -> vec2i {
  seen.w += 1;
  return seen.zw;
}

@compute @workgroup_size(1)
fn main(@builtin(local_invocation_index) i: u32) {
  v[i].zy = v[0].xw;
  v[i].rgb *= 2;
  v[1].wzyx = v[0];
  v[2].wx = vec2f(3, 4);
  v[i].xyz.zy = vec2f(f32(i));
  v[i].zyx.y = 5;
  v[i].zyx[2] = 6;
  v[i].zyx[i] += 7;
  seen.xy -= next();
}
