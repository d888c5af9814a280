// Every statement, with the types that its context asks for.
var<private> total: u32;
@group(0) @binding(0) var<storage, read_write> hits: atomic<u32>;

@must_use fn twice(x: f32) -> f32 { return x * 2; }
fn touch() -> u32 { total += 1; return total; }
fn swap(a: ptr<function, u32>, b: ptr<private, u32>) { let t = *a; *a = *b; *b = t; }

fn choose(kind: i32) -> i32 {
  switch kind {
    case 1, 2, default: { return 1; }
    case -3: { break; }
  }
  switch 4u { default {} case 4: {} }
  return 0;
}

fn spin(limit: u32) -> u32 {
  var i = 0u;
  loop {
    if i == limit { break; }
    let next = i + 1;
    continuing { i = next; break if i > 100; }
  }
  while i > 3 { i--; if i == 7 { continue; } }
  loop { return i; }
}

@compute @workgroup_size(8, 4u)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) index: u32) {
  var local = id.x;
  swap(&local, &total);
  local <<= 2;
  local %= 3;
  touch();
  _ = twice(1);
  _ = touch();
  _ = &hits;
  atomicAdd(&hits, 1);
  _ = 5000000000;
  _ = array(1, 2.5e300);
  _ = false && twice(5000000000) == 1;
  if false && 1 / 0 == 1 { return; }
  const_assert true || 1 / 0 == 1;
  workgroupBarrier();
}
