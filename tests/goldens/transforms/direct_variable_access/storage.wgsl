// passes: direct_variable_access
@group(0) @binding(0) var<storage, read_write> data: array<u32>;

struct Row { count: u32, cells: array<u32, 4> }
@group(0) @binding(1) var<storage, read_write> rows: array<Row>;
fn bump(cell: ptr<storage, u32, read_write>, by: u32) { *cell += by; }
fn fill(row: ptr<storage, Row, read_write>) { for (var k = 0u; k < 4; k++) { bump(&(*row).cells[k], k); } bump(&row.count, 1); }
@compute @workgroup_size(1)
fn main(@builtin(local_invocation_index) i: u32) {
    fill(&rows[i / 2]); bump(&data[i], rows[0].count);
}
