var<private> grid: array<vec4f, 4>;

fn bump(p: ptr<private, vec4f>, q: ptr<function, f32>) { p.x += *q; (*p)[1] = 2; }

@compute @workgroup_size(1)
fn main(@builtin(local_invocation_index) i: u32) {
  var x = 1f;
  let p = &grid[i];
  let q = &x;
  bump(p, q);
  *q = (*p).w;
  let same = p;
  same.y = *q;
}
