struct Inner {
    scale: f32,
    turn: mat2x2f,
    shift: vec2f,
}

struct Scene {
    inner: Inner,
    @align(16) many: array<mat4x2f, 2>,
    wide: mat3x3f,
    @size(32) last: mat3x2f,
    end: f32,
}

struct Inner_std140 {
    scale: f32,
    @size(8) turn_0: vec2f,
    @size(8) turn_1: vec2f,
    shift: vec2f,
}

struct columns_4x2_f32 {
    c0: vec2f,
    c1: vec2f,
    c2: vec2f,
    c3: vec2f,
}

struct Scene_std140 {
    @size(32) inner: Inner_std140,
    @align(16) @size(64) many: array<columns_4x2_f32, 2>,
    wide: mat3x3f,
    @size(8) last_0: vec2f,
    @size(8) last_1: vec2f,
    @size(16) last_2: vec2f,
    end: f32,
}

struct columns_2x2_f32 {
    c0: vec2f,
    c1: vec2f,
}

@group(0) @binding(0) var<storage, read_write> data: array<f32>;
@group(0) @binding(1) var<uniform> scene: Scene_std140;
@group(0) @binding(2) var<uniform> alone: columns_2x2_f32;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    let inner = Inner(scene.inner.scale, mat2x2f(scene.inner.turn_0, scene.inner.turn_1), scene.inner.shift);
    let turned = mat2x2f(scene.inner.turn_0, scene.inner.turn_1) * vec2f(1.0, 2.0) + mat3x2f(scene.last_0, scene.last_1, scene.last_2)[i % 3u] + alone.c1 + inner.turn[0];
    let all = Scene(Inner(scene.inner.scale, mat2x2f(scene.inner.turn_0, scene.inner.turn_1), scene.inner.shift), array<mat4x2f, 2>(mat4x2f(scene.many[0u].c0, scene.many[0u].c1, scene.many[0u].c2, scene.many[0u].c3), mat4x2f(scene.many[1u].c0, scene.many[1u].c1, scene.many[1u].c2, scene.many[1u].c3)), scene.wide, mat3x2f(scene.last_0, scene.last_1, scene.last_2), scene.end);
    data[i] = turned.x + turned.y * scene.many[i & 1u].c2.y + scene.wide[1].z + mat2x2f(scene.inner.turn_0, scene.inner.turn_1)[i & 1u].y;
    data[i + 4u] = all.many[1][i].x + scene.end + all.last[2].y + scene.inner.shift.y;
}
