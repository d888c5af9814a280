// passes: flatten_loops
// a value and a variable cross from segment to segment; break and continue in both loops
@group(0) @binding(0) var<storage, read_write> data: array<u32, 8>;

@compute @workgroup_size(1)
fn main() {
    for (var i = 0u; i < data[0] + 4; i++) {
        let base = data[1] * i;
        var sum = 3u;
        if i == 1 {
            continue;
        }
        for (var j = 0u; j < i + data[2]; j++) {
            if (j & 1) == 1 {
                continue;
            }
            if j > 5 {
                break;
            }
            sum += base + j;
        }
        data[3] += sum;
        if data[3] > 60 {
            break;
        }
    }
}
