// Types where they cannot be.
var<private> no_f16: f16;  // error: extension-required
var<private> half_literal = 1h;  // error: extension-required
var<private> bare: vec3;  // error: missing-template
var<private> too_many: f32<i32>;  // error: unexpected-template
var<private> of_vectors: vec2<vec2f>;  // error: invalid-type
var<private> whole_matrix: mat2x2<i32>;  // error: invalid-type
var<private> runtime: array<i32>;  // error: invalid-store-type
var<private> none: array<i32, 0>;  // error: invalid-element-count
var<private> negative: array<i32, 2 - 3>;  // error: invalid-element-count
var<private> real: array<i32, 2.0>;  // error: invalid-element-count
var<private> nested: array<array<i32>, 2>;  // error: invalid-type
var<private> bool_atomic: atomic<bool>;  // error: invalid-type
var<private> private_atomic: atomic<u32>;  // error: invalid-store-type
var<private> a_pointer: ptr<private, i32>;  // error: invalid-store-type
var handle: i32;  // error: invalid-store-type
@group(0) @binding(0) var<uniform> not_shareable: bool;  // error: invalid-store-type
@group(0) @binding(1) var<storage> read_atomic: atomic<u32>;  // error: invalid-store-type
@group(0) @binding(2) var<storage> texture: texture_2d<f32>;  // error: invalid-store-type
@group(0) @binding(3) var format: texture_storage_2d<rgba8unrom, write>;  // error: unresolved-identifier
override size = 4;
struct Sized { a: array<i32, size> }  // error: invalid-type
struct NotLast { a: array<i32>, b: i32 }  // error: invalid-type
struct Twice { a: i32, a: i32 }  // error: redeclaration
struct BadAlign { @align(3) a: i32 }  // error: invalid-attribute
struct LowAlign { @align(4) a: vec4f }  // error: invalid-attribute
struct LowSize { @size(8) a: vec4f }  // error: invalid-attribute
alias Unknown = ptr<global, i32>;  // error: unresolved-identifier
alias Confused = ptr<read, i32>;  // error: expected-enumerant
alias Mode = ptr<private, i32, read>;  // error: invalid-access-mode
fn by_texture() -> texture_2d<f32> {}  // error: invalid-type
fn by_array(a: array<i32>) {}  // error: invalid-type
