@group(0) @binding(0) var<storage, read_write> a: u32;
@group(0) @binding(1) var<storage, read_write> b: u32;

fn early() -> u32 {
  if a > 1 { return 1; } else { return 2; }
  a = 7;
}

@compute @workgroup_size(1)
fn main() {
  loop {
    if early() == 1 { break; a = 8; }
    continue;
    a = 9;
  }
  return;
  _ = b;
}
