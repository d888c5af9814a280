@group(0) @binding(0) var<storage, read_write> out: array<i32>;

@compute @workgroup_size(1)
fn main() {
  for (var i = 0; i < 8; i++) { out[i] = i; }
  var n = 3;
  for (; n > 0;) { n -= 1; }
  for (var i = 0; ; i += 2) {
    if i == 4 { continue; }
    if i > 6 { break; }
    out[i] += n;
  }
}
