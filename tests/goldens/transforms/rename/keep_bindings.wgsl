// passes: rename
@group(0) @binding(0) var<storage, read_write> data: array<u32>;

struct Inner { value: u32 }
struct Outer { inner: Inner, rest: array<Inner, 2> }
override scale: u32 = 3;
var<private> counter: u32;
fn advance(outer: Outer, by: u32) -> u32 { let result = outer.inner.value + outer.rest[1].value * by; counter += result; return result; }
@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    var outer = Outer(Inner(i), array(Inner(1), Inner(2)));
    outer.rest[0].value = scale;
    data[i] = advance(outer, 4) + counter;
}
