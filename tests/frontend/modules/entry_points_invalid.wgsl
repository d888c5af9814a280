// Attributes, interfaces of entry points, resources.
@group(0) @binding(0) var<uniform> one: u32;
@group(0) @binding(0) var<uniform> two: u32;  // error: binding-collision
@group(1) var<uniform> unbound: u32;  // error: missing-binding
@group(0) var<private> bound: u32;  // error: invalid-attribute
var<private> unset: u32 = one;  // error: expected-constant
var<workgroup> scratch: u32 = 1;  // error: invalid-initializer
var<workgroup> shared_word: u32;
@id(1) override first = 1;
@id(1) override second = 2;  // error: duplicate-override-id
override vector = vec2f();  // error: invalid-type
@vertex @fragment fn both() {}  // error: invalid-attribute
@compute fn sizeless() {}  // error: missing-workgroup-size
@compute @workgroup_size(0) fn zero() {}  // error: invalid-attribute
@compute @workgroup_size(1, 2u, 3i) fn mixed() {}  // error: type-mismatch
@workgroup_size(1) fn no_stage() {}  // error: invalid-attribute
@compute @workgroup_size(1) fn collides() { _ = one; _ = two; }
@compute @workgroup_size(1) fn plain_input(x: u32) {}  // error: invalid-io
@compute @workgroup_size(1) fn located(@location(0) x: u32) {}  // error: invalid-io
@compute @workgroup_size(1) fn wrong_type(@builtin(workgroup_id) x: u32) {}  // error: type-mismatch
@compute @workgroup_size(1) fn wrong_stage(@builtin(position) x: vec4f) {}  // error: invalid-io
@compute @workgroup_size(1) fn unknown(@builtin(workgroup) x: vec3u) {}  // error: unknown-builtin-value
@compute @workgroup_size(1) fn gives() -> u32 { return 1; }  // error: invalid-io
@vertex fn no_position() -> @location(0) f32 { return 1; }  // error: invalid-io
@fragment fn uses_workgroup() { _ = shared_word; }  // error: invalid-stage
@fragment fn waits() { workgroupBarrier(); }  // error: invalid-stage
@fragment fn integers(@location(0) x: u32) {}  // error: invalid-io
@fragment fn repeated(@location(0) x: f32, @location(0) y: f32) {}  // error: invalid-io
@must_use fn valueless() {}  // error: invalid-attribute
@wrokgroup_size(1) fn misspelt() {}  // error: invalid-attribute
@must_use @must_use fn repeats() -> u32 { return 1; }  // error: repeated-attribute
fn not_an_entry(@builtin(workgroup_id) x: vec3u) {}  // error: invalid-attribute
fn alias_target(a: ptr<function, u32>, b: ptr<function, u32>) { *a = *b; }
fn aliases() { var x: u32; alias_target(&x, &x); }  // error: aliased-pointer
