struct Kept {
    value: u32,
}

override size: u32 = 4u;

@group(0) @binding(0) var<storage, read_write> kept: array<Kept>;
@group(0) @binding(2) var<storage, read> mentioned: array<u32>;
var<workgroup> tile: array<u32, size * 2u>;

fn used() -> u32 {
    return tile[0];
}

@compute @workgroup_size(1)
fn main() {
    _ = &mentioned;
    kept[0].value = used();
}
