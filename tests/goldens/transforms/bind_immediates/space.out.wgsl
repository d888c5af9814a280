struct Settings {
    scale: vec3f,
    count: u32,
}

@group(0) @binding(1) var<storage, read> settings: Settings;
@group(0) @binding(1) var<storage, read> other: u32;
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@group(0) @binding(2) var<uniform> more: vec4u;

fn count(some: ptr<storage, Settings>) -> u32 {
    return (*some).count;
}

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) lane: u32) {
    out[lane] = count(&settings) + more.x;
}

@compute @workgroup_size(4)
fn second(@builtin(local_invocation_index) lane: u32) {
    out[lane] = other;
}
