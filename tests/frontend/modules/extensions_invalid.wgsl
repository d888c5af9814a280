requires buffer_view, immediate_address_space, fragment_depth;

override some = 16u;

@group(0) @binding(0) var<storage, read_write> any: buffer;
@group(0) @binding(1) var<storage> sixteen: buffer<16>;
@group(0) @binding(2) var<uniform> endless: buffer; // error: invalid-store-type
@group(0) @binding(3) var<storage> later: buffer<some>; // error: invalid-store-type
var<workgroup> tile: buffer; // error: invalid-store-type
var<private> own: buffer<16>; // error: invalid-store-type
@group(0) @binding(4) var<uniform> nothing: buffer<0>; // error: invalid-element-count
@group(0) @binding(5) var<uniform> odd: buffer<6>; // error: invalid-element-count
@group(0) @binding(6) var<uniform> real: buffer<4.0>; // error: invalid-element-count
@group(0) @binding(7) var<uniform> two: buffer<4, 4>; // error: wrong-template-count

struct Holder {
    a: buffer<4>, // error: invalid-type
}

alias Buffers = array<buffer<4>, 2>; // error: invalid-type

struct Tail {
    first: u32,
    rest: array<vec2f>,
}

fn takes_ten(p: ptr<storage, buffer<20>>) {}
fn in_function(p: ptr<function, buffer>) {} // error: invalid-store-type

fn views(at: u32) {
    _ = bufferView<atomic<u32>>(&any, 0); // error: invalid-type
    _ = bufferView<bool>(&any, 0); // error: invalid-type
    _ = bufferView<buffer>(&any, 0); // error: invalid-type
    _ = bufferView<f16>(&any, 0); // error: extension-required
    _ = bufferView<u32>(&any, -4); // error: evaluation-error
    _ = bufferView<u32>(&any, 2); // error: evaluation-error
    _ = bufferView<u32>(&any, 4.0); // error: no-matching-overload
    _ = bufferView(&any, 4); // error: no-matching-overload
    _ = bufferView<vec4f>(&sixteen, 16); // error: evaluation-error
    _ = bufferView<mat4x4f>(&sixteen, at); // error: evaluation-error
    bufferView<u32>(&any, 0); // error: unused-value
    *bufferView<u32>(&sixteen, 0) = 1; // error: invalid-assignment
    _ = bufferArrayView<array<u32, 4>>(&any, 0, 16); // error: invalid-type
    _ = bufferArrayView<array<u32>>(&any, 0, 15); // error: evaluation-error
    _ = bufferArrayView<array<u32>>(&any, 0, 0); // error: evaluation-error
    _ = bufferArrayView<Tail>(&any, 0, 20); // error: evaluation-error
    _ = bufferArrayView<array<u32>>(&sixteen, at, 20); // error: evaluation-error
    _ = bufferArrayView<array<u32>>(&sixteen, 16, at); // error: evaluation-error
    takes_ten(&sixteen); // error: type-mismatch
    let p: ptr<storage, buffer> = &sixteen; // error: type-mismatch
    let loaded = any; // error: invalid-load
    var made = buffer<4>(); // error: not-constructible
}

fn write(a: ptr<storage, u32, read_write>, b: ptr<storage, u32, read_write>) {
    *a = *b;
}

fn overlapping() {
    write(bufferView<u32>(&any, 0), bufferView<u32>(&any, 4)); // error: aliased-pointer
}

struct Numbers {
    a: array<vec4f, 2>,
}

var<immediate> one: u32;
var<immediate> other: u32; // error: binding-collision
var<immediate> numbers: Numbers; // error: invalid-store-type
var<immediate> flag: bool; // error: invalid-store-type
var<immediate> given: u32 = 1; // error: invalid-initializer
var<immediate, read> readable: u32; // error: invalid-access-mode
@group(1) // error: invalid-attribute
var<immediate> bound: u32;

@compute @workgroup_size(16)
fn both() {
    one = 1; // error: invalid-assignment
    _ = one + other;
}

@compute @workgroup_size(16) @subgroup_size(16) // error: extension-required
fn demanding() {}

@fragment
fn middle() -> @builtin(frag_depth, any) f32 { // error: invalid-attribute
    return 0.5;
}

@fragment
fn mask() -> @builtin(sample_mask, less) u32 { // error: invalid-attribute
    return 1;
}
