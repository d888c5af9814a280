// A sparse matrix in compressed rows times a vector: the elements of row r are those from row_starts[r] to
// row_starts[r + 1].

struct Element {
    column: u32,
    value: f32,
}

@group(0) @binding(0) var<storage, read> row_starts: array<u32>;
@group(0) @binding(1) var<storage, read> elements: array<Element>;
@group(0) @binding(2) var<storage, read> vector: array<f32>;
@group(1) @binding(0) var<storage, read_write> product: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let row = id.x;
    if row >= arrayLength(&product) {
        return;
    }
    let end = row_starts[row + 1u];
    var sum = 0.0;
    var i = row_starts[row];
    loop {
        if i >= end {
            break;
        }
        let element = elements[i];
        sum = fma(element.value, vector[element.column], sum);

        continuing {
            i++;
        }
    }
    product[row] = sum;
}
