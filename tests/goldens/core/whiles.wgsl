@group(0) @binding(0) var<storage, read_write> out: u32;

@compute @workgroup_size(1)
fn main() {
  while out < 10 { out += 3; }
  while true { if out > 20 { break; } out *= 2; }
}
