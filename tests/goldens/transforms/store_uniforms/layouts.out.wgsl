struct Inner {
    a: f32,
    b: f32,
}

struct Close {
    first: f32,
    inner: Inner,
}

struct Apart {
    first: f32,
    @align(16) inner: Inner,
    @align(16) last: f32,
}

@group(0) @binding(0) var<storage, read> numbers: array<f32, 6>;
@group(0) @binding(1) var<storage, read> close: Close;
@group(0) @binding(2) var<uniform> apart: Apart;
@group(0) @binding(3) var<uniform> rows: array<vec4f, 2>;
@group(0) @binding(4) var<storage, read_write> out: array<f32, 8>;

fn sum_1() -> f32 {
    return close.inner.a + close.inner.b;
}

fn sum_2() -> f32 {
    return apart.inner.a + apart.inner.b;
}

@compute @workgroup_size(1)
fn main(@builtin(workgroup_id) group: vec3u) {
    out[0] = numbers[group.x] + numbers[5];
    out[1] = sum_1() + sum_2();
    out[2] = rows[1].y + apart.last;
    let all = numbers;
    out[3] = all[2];
}
