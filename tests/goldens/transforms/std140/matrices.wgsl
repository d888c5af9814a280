// passes: std140
struct Inner { scale: f32, turn: mat2x2f, shift: vec2f }
struct Scene { inner: Inner, @align(16) many: array<mat4x2f, 2>, wide: mat3x3f, @size(32) last: mat3x2f, end: f32 }
@group(0) @binding(0) var<storage, read_write> data: array<f32>;
@group(0) @binding(1) var<uniform> scene: Scene;
@group(0) @binding(2) var<uniform> alone: mat2x2f;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    let inner = scene.inner;
    let turned = scene.inner.turn * vec2(1.0, 2.0) + scene.last[i % 3] + alone[1] + inner.turn[0];
    let all = scene;
    data[i] = turned.x + turned.y * scene.many[i & 1][2].y + scene.wide[1].z + scene.inner.turn[i & 1][1];
    data[i + 4] = all.many[1][i].x + scene.end + all.last[2].y + scene.inner.shift.y;
}
