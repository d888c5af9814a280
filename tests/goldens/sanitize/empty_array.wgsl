// workgroups: 1
// buffer: 2
struct List { length: u32, items: array<vec2f> }
@group(0) @binding(0) var<storage, read_write> buffer: List;

@compute @workgroup_size(1)
fn main() {
  buffer.items[buffer.length].y += 1;
}
