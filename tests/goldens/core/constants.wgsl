const size = 4;
const table = array(1.5, 2.5, 3.5);
alias Pair = vec2<i32>;
const_assert size > 3;
@group(0) @binding(0) var<storage, read_write> out: array<f32, size>;

@compute @workgroup_size(size)
fn main(@builtin(local_invocation_index) i: u32) {
  const offset = Pair(1, -2);
  let unused = 3;
  out[i] = table[i % 3] + f32(offset.x) + f32(unused);
  const_assert offset.y == -2;
}
