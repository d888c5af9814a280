@group(0) @binding(0) var<storage, read_write> x: i32;

@compute @workgroup_size(1)
fn main() {
  let y = x;
  var x = 1;
  if true { var x = 2; x += y; { let x = x; var x_1 = x; x_1 = 3; } }
  { let min = x; x = min; }
  x = min(x, y);
  for (var y = 0; y < 3; y++) { let z = y; x += z; }
  for (var y = 0; y < 3; y++) { let z = y; x += z; }
}
