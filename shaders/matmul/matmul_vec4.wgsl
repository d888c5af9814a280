// c = a * b as in matmul_naive, for k and n that are multiples of four: an invocation makes four rows of four columns,
// each a vector.

struct Size {
    m: u32,
    k: u32,
    n: u32,
}

@group(0) @binding(0) var<uniform> size: Size;
@group(0) @binding(1) var<storage, read> a: array<vec4f>;
@group(0) @binding(2) var<storage, read> b: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> c: array<vec4f>;

fn row_of_a(row: u32, step: u32) -> vec4f {
    return a[min(row, size.m - 1u) * (size.k / 4u) + step];
}

fn row_times_block(row: vec4f, b0: vec4f, b1: vec4f, b2: vec4f, b3: vec4f) -> vec4f {
    return row.x * b0 + row.y * b1 + row.z * b2 + row.w * b3;
}

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let columns = size.n / 4u;
    let column = id.x;
    let row = id.y * 4u;
    if column >= columns || row >= size.m {
        return;
    }

    var sum0 = vec4f(0.0);
    var sum1 = vec4f(0.0);
    var sum2 = vec4f(0.0);
    var sum3 = vec4f(0.0);
    for (var step = 0u; step < size.k / 4u; step++) {
        let b0 = b[(4u * step + 0u) * columns + column];
        let b1 = b[(4u * step + 1u) * columns + column];
        let b2 = b[(4u * step + 2u) * columns + column];
        let b3 = b[(4u * step + 3u) * columns + column];
        sum0 += row_times_block(row_of_a(row + 0u, step), b0, b1, b2, b3);
        sum1 += row_times_block(row_of_a(row + 1u, step), b0, b1, b2, b3);
        sum2 += row_times_block(row_of_a(row + 2u, step), b0, b1, b2, b3);
        sum3 += row_times_block(row_of_a(row + 3u, step), b0, b1, b2, b3);
    }

    c[row * columns + column] = sum0;
    if row + 1u < size.m {
        c[(row + 1u) * columns + column] = sum1;
    }
    if row + 2u < size.m {
        c[(row + 2u) * columns + column] = sum2;
    }
    if row + 3u < size.m {
        c[(row + 3u) * columns + column] = sum3;
    }
}
