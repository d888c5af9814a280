// passes: array_length_from_uniform{group=1,binding=3}
@group(0) @binding(0) var<storage, read_write> data: array<u32>;

struct Tail { n: u32, pad: u32, items: array<vec2u> }
@group(0) @binding(2) var<storage, read_write> tail: Tail;
fn count() -> u32 { return arrayLength(&tail.items); }
@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    data[i] = arrayLength(&data) * 100 + count();
}
