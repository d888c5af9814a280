var<private> state: vec3i;

fn next() -> i32 {
  state.x += 1;
  return state.x;
}

@compute @workgroup_size(1)
fn main() {
  var a = array<i32, 4>();
  a[next()] = next();
  a[next()] *= next() + 2;
  a[0]++;
  state.z--;
  state <<= vec3u(1);
  var b = true;
  b = b & false;
  b |= state.x > 3;
}
