@group(0) @binding(0) var<storage, read_write> data: array<u32, 8>;

@compute @workgroup_size(1)
fn main() {
    for (var i = 0u; i < data[0]; i++) {
        data[1] += i * data[2];
        for (var j_1 = 1u; j_1 < i; j_1 += 2u) {
            data[3] ^= j_1 << i;
            j_1 += 2u;
            if !(j_1 < i) {
                break;
            }
            data[3] ^= j_1 << i;
            j_1 += 2u;
            if !(j_1 < i) {
                break;
            }
            data[3] ^= j_1 << i;
        }
        i++;
        if !(i < data[0]) {
            break;
        }
        data[1] += i * data[2];
        for (var j_2 = 1u; j_2 < i; j_2 += 2u) {
            data[3] ^= j_2 << i;
            j_2 += 2u;
            if !(j_2 < i) {
                break;
            }
            data[3] ^= j_2 << i;
            j_2 += 2u;
            if !(j_2 < i) {
                break;
            }
            data[3] ^= j_2 << i;
        }
        i++;
        if !(i < data[0]) {
            break;
        }
        data[1] += i * data[2];
        for (var j = 1u; j < i; j += 2u) {
            data[3] ^= j << i;
            j += 2u;
            if !(j < i) {
                break;
            }
            data[3] ^= j << i;
            j += 2u;
            if !(j < i) {
                break;
            }
            data[3] ^= j << i;
        }
    }
}
