// c = a * b for row-major matrices of size.m x size.k and size.k x size.n; one invocation an element of c.

struct Size {
    m: u32,
    k: u32,
    n: u32,
}

@group(0) @binding(0) var<uniform> size: Size;
@group(0) @binding(1) var<storage, read> a: array<f32>;
@group(0) @binding(2) var<storage, read> b: array<f32>;
@group(0) @binding(3) var<storage, read_write> c: array<f32>;

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let column = id.x;
    let row = id.y;
    if row >= size.m || column >= size.n {
        return;
    }
    var sum = 0.0;
    for (var i = 0u; i < size.k; i++) {
        sum += a[row * size.k + i] * b[i * size.n + column];
    }
    c[row * size.n + column] = sum;
}
