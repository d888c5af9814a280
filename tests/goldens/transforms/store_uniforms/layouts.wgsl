// passes: direct_variable_access,store_uniforms
// an array and a structure that do not begin in rows of 16 bytes move to storage, with pointers to them; others stay
struct Inner { a: f32, b: f32 }
struct Close { first: f32, inner: Inner }
struct Apart { first: f32, @align(16) inner: Inner, @align(16) last: f32 }
@group(0) @binding(0) var<uniform> numbers: array<f32, 6>;
@group(0) @binding(1) var<uniform> close: Close;
@group(0) @binding(2) var<uniform> apart: Apart;
@group(0) @binding(3) var<uniform> rows: array<vec4f, 2>;
@group(0) @binding(4) var<storage, read_write> out: array<f32, 8>;

fn sum(inner: ptr<uniform, Inner>) -> f32 { return inner.a + inner.b; }

@compute @workgroup_size(1)
fn main(@builtin(workgroup_id) group: vec3u) {
    let p = &numbers;
    out[0] = (*p)[group.x] + numbers[5];
    out[1] = sum(&close.inner) + sum(&apart.inner);
    out[2] = rows[1].y + apart.last;
    let all = numbers;
    out[3] = all[2];
}
