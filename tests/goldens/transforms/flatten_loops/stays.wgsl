// passes: flatten_loops
// a nest with a barrier stays: invocations that leave the inner loop early must wait for others there
var<workgroup> shared_data: array<u32, 4>;
@group(0) @binding(0) var<storage, read_write> data: array<u32, 8>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) lane: u32) {
    for (var i = 0u; i < 2; i++) {
        for (var j = 0u; j < lane; j++) {
            shared_data[lane] += j;
        }
        workgroupBarrier();
    }
    for (var i = 0u; i < 2; i++) {
        for (var j = 0u; j < lane; j++) {
            data[lane] += shared_data[j];
        }
    }
}
