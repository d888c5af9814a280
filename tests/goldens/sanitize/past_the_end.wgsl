// workgroups: 1
// data: 6
struct Row { scale: f32, cells: array<f32, 4> }
@group(0) @binding(0) var<storage, read_write> data: array<f32>;
var<private> rows: array<Row, 2>;
const table = array(1.0, 2.0);

fn put(row: ptr<private, Row>, column: i32) {
  row.cells[column] = 1;
}

@compute @workgroup_size(8)
fn main(@builtin(local_invocation_index) i: u32) {
  data[i] += table[i / 3];
  let column = i32(i) - 1;
  put(&rows[0], column);
  rows[i].scale = 2;
}
