// A sparse matrix in the ELLPACK format times a vector: all rows have the same number of places, those of one number
// side by side for all rows. A place with a negative column is empty.

struct Matrix {
    rows: u32,
    places: u32,
}

@group(0) @binding(0) var<uniform> matrix: Matrix;
@group(0) @binding(1) var<storage, read> columns: array<i32>;
@group(0) @binding(2) var<storage, read> elements: array<f32>;
@group(0) @binding(3) var<storage, read> vector: array<f32>;
@group(0) @binding(4) var<storage, read_write> product: array<f32>;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let row = id.x;
    if (row < matrix.rows) {
        var sum: f32 = 0.0;
        for (var place: u32 = 0u; place < matrix.places; place = place + 1u) {
            let at = place * matrix.rows + row;
            let column = columns[at];
            if (column >= 0) {
                sum = sum + elements[at] * vector[column];
            }
        }
        product[row] = sum;
    }
}
