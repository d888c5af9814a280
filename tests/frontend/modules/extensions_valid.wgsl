enable subgroup_size_control;
requires buffer_view, immediate_address_space, fragment_depth, unrestricted_pointer_parameters;

override bytes = 64u;

@group(0) @binding(0) var<storage, read_write> any: buffer; // type: buffer
@group(0) @binding(1) var<uniform> fixed: buffer<64>; // type: buffer<64>
var<workgroup> tile: buffer<bytes>; // type: buffer<bytes>

struct Tail {
    first: u32,
    rest: array<vec2f>,
}

fn length_of(p: ptr<storage, buffer, read_write>) -> u32 {
    return bufferLength(p);
}

fn small(p: ptr<uniform, buffer<16>>) -> u32 {
    return bufferLength(p) + *bufferView<u32>(p, 12);
}

fn last(p: ptr<uniform, array<vec4f>>) -> vec4f {
    return p[arrayLength(p) - 1];
}

fn views(offset: u32) -> f32 {
    let p = bufferView<vec4u>(&any, offset); // type: ptr<storage, vec4<u32>, read_write>
    *p = vec4u(length_of(&any), small(&fixed), 0, 0);
    (*p).y += 1;
    *bufferView<f32>(&tile, 4) = 1;
    let tail = bufferArrayView<Tail>(&any, 16i, 24); // type: ptr<storage, Tail, read_write>
    tail.rest[1] = vec2f(2);
    let rows = bufferArrayView<array<vec4f>>(&fixed, 0, offset); // type: ptr<uniform, array<vec4<f32>>>
    return last(rows).x;
}

var<immediate> scale: vec4f; // type: vec4<f32>

fn scaled(p: ptr<immediate, vec4f>) -> f32 {
    return (*p).x * scale.y;
}

@compute @workgroup_size(bytes) @subgroup_size(bytes / 2)
fn main(@builtin(subgroup_size) size: u32) {
    if scale.x > 0 {
        workgroupBarrier();
    }
    _ = views(subgroupAdd(size));
    _ = scaled(&scale);
}

struct Fragment {
    @builtin(frag_depth, less) depth: f32,
    @location(0) color: vec4f,
}

@fragment
fn nearer() -> Fragment {
    return Fragment(0.5, scale);
}

@fragment
fn farther() -> @builtin(frag_depth, greater,) f32 {
    return 0.5;
}
