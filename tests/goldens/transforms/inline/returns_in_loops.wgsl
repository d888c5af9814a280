// passes: inline
@group(0) @binding(0) var<storage, read_write> data: array<u32>;

fn find(x: u32) -> u32 {
    for (var k = 0u; k < 8; k++) {
        if data[k] == x { return k; }
        switch k {
            case 3: { if x > 100 { return 77; } }
            case 5: { return 55; }
            default: {}
        }
        data[k] += 1;
    }
    return 99;
}
@compute @workgroup_size(1)
fn main() {
    for (var n = 0u; n < 3; n++) { data[8 + n] = find(n + 2) + find(200 - n); }
}
