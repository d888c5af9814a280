// passes: single_entry_point{entry_point=main}
struct Kept {
    value: u32,
}

struct Dropped {
    value: f32,
}

override size: u32 = 4;
override elsewhere: u32;
@group(0) @binding(0) var<storage, read_write> kept: array<Kept>;
@group(0) @binding(1) var<storage, read_write> dropped: array<Dropped>;
@group(0) @binding(2) var<storage, read> mentioned: array<u32>;
var<workgroup> tile: array<u32, size * 2>;

fn used() -> u32 {
    return tile[0];
}

fn unused() -> f32 {
    return dropped[elsewhere].value;
}

@compute @workgroup_size(1)
fn main() {
    _ = mentioned[0];
    kept[0].value = used();
}

@compute @workgroup_size(elsewhere)
fn other() {
    dropped[0].value = unused();
}
