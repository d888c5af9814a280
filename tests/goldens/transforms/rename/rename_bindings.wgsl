// passes: rename{bindings=rename}
@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    let long_name = data[i]; data[i] = long_name * long_name;
}
