struct Row {
    count: u32,
    cells: array<u32, 4>,
}

@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@group(0) @binding(1) var<storage, read_write> rows: array<Row>;

fn bump_2(cell_index: u32, cell_index_1: u32, by: u32) {
    rows[cell_index].cells[cell_index_1] += by;
}

fn bump_3(cell_index: u32, by: u32) {
    rows[cell_index].count += by;
}

fn fill_1(row_index: u32) {
    for (var k = 0u; k < 4u; k++) {
        bump_2(row_index, k, k);
    }
    bump_3(row_index, 1u);
}

fn bump_1(cell_index: u32, by: u32) {
    data[cell_index] += by;
}

@compute @workgroup_size(1)
fn main(@builtin(local_invocation_index) i: u32) {
    fill_1(i / 2u);
    bump_1(i, rows[0].count);
}
