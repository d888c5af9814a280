struct Tail {
    n: u32,
    pad: u32,
    items: array<vec2u>,
}

@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@group(0) @binding(2) var<storage, read_write> tail: Tail;
@group(1) @binding(3) var<uniform> buffer_sizes: array<vec4u, 1>;

fn count() -> u32 {
    _ = &tail;
    return (buffer_sizes[0u].y - 8u) / 8u;
}

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    data[i] = buffer_sizes[0u].x / 4u * 100u + count();
}
