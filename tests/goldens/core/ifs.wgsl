@group(0) @binding(0) var<storage, read_write> out: i32;

@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
  if id.x == 0 { out = 1; }
  if id.x == 1 { out = 2; } else if id.x == 2 { out = 3; } else { out = 4; }
  if id.y == 0 { return; } else if id.z == 0 { return; }
  out = 5;
}
