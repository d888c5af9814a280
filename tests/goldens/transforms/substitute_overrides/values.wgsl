// passes: substitute_overrides{3=8, scale=0.25}
@id(3) override size: u32 = 4;
override scale: f32 = 0.5;
override doubled = size * 2;
override is_big = size > 6 && scale < 1.0;

@group(0) @binding(0) var<storage, read_write> out: array<f32>;
var<workgroup> tile: array<f32, doubled + 1>;
var<private> start: f32 = scale * 2.0;

@compute @workgroup_size(size, doubled / 4)
fn main(@builtin(local_invocation_index) index: u32) {
    tile[index] = start;
    if is_big {
        out[index] = tile[size] * scale;
    }
}
