@group(0) @binding(0) var<storage, read_write> calls: atomic<u32>;

@compute @workgroup_size(1)
fn main() {
    // @debugPrintf("call %u", atomicAdd(&calls, 1));
}
// A comment that begins with `@debugPrintf` is no statement for printing, or changes what the shader does
