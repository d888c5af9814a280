// passes: replicate_loops{n=2,short=8}
// a loop that is known to be short stays; what is around it counts as innermost
@group(0) @binding(0) var<storage, read_write> data: array<u32, 8>;

@compute @workgroup_size(1)
fn main() {
    for (var i = 0u; i < data[0]; i++) {
        for (var j = 0u; j < 4; j++) {
            data[j + 1] += i;
        }
    }
}
