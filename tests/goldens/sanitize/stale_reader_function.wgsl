// workgroups: 1
// data: 8
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
var<workgroup> a: array<u32, 4>;
var<workgroup> b: array<u32, 4>;

fn load(source: ptr<workgroup, array<u32, 4>>, i: u32) -> u32 { return source[i]; }

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
  a[i] = i;
  b[i] = 2 * i;
  workgroupBarrier();
  data[i] = load(&a, 3 - i);
  for (var step = 0u; step < 2; step++) {
    b[(i + step) % 4] = load(&b, i) + 1;
  }
}
