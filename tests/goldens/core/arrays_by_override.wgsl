override width: u32 = 8;
@id(7) override height = width * 2;
var<workgroup> row: array<f32, width>;
var<workgroup> tile: array<vec2i, width * height>;

@compute @workgroup_size(width, height / 2)
fn main(@builtin(local_invocation_index) i: u32) {
  row[i] = 1;
  tile[i] = vec2i(2);
}
