@group(0) @binding(0) var<storage, read_write> data: array<u32, 8>;

@compute @workgroup_size(1)
fn main() {
    for (var i = 0u; i < data[0]; i++) {
        for (var j_1 = 0u; j_1 < 4u; j_1++) {
            data[j_1 + 1u] += i;
        }
        i++;
        if !(i < data[0]) {
            break;
        }
        for (var j = 0u; j < 4u; j++) {
            data[j + 1u] += i;
        }
    }
}
