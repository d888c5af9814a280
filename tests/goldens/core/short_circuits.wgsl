@group(0) @binding(0) var<storage, read_write> data: array<u32>;

fn check(i: u32) -> bool { data[0] += i; return data[i] > 2; }

@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let both = check(1) && check(2);
  if both || (check(3) && !check(4)) { data[1] = 1; }
  while id.x < 4 || check(id.x) { break; }
  _ = data[2];
  _ = check(5) && check(6);
}
