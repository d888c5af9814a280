// Scopes, reserved words, cycles.
fn twins(a: i32, a: i32) {}  // error: redeclaration
fn repeated() { let x = 1; let x = 2; }  // error: redeclaration
fn parameter(a: i32) { let a = 1; }  // error: redeclaration
fn nested(a: i32) { { let a = 1u; _ = a; } }
fn early() { _ = soon; let soon = 1; }  // error: unresolved-identifier
fn scope() { { let inner = 1; } _ = inner; }  // error: unresolved-identifier
fn self_use() { let me = me; }  // error: unresolved-identifier
const typedef = 1;  // error: invalid-name
const __x = 1;  // error: invalid-name
fn loops_forever() { loops_back(); }  // error: cyclic-dependency
fn loops_back() { loops_forever(); }
const a = b;  // error: cyclic-dependency
const b = a;
struct Endless { inner: array<Endless, 2> }  // error: cyclic-dependency
alias Again = vec2<Again>;  // error: cyclic-dependency
fn hidden() { let max = 1; _ = max(1, 2); }  // error: not-callable
fn a_value() { _ = i32; }  // error: expected-value
fn an_enumerant() { _ = read; }  // error: expected-value
fn a_type() { var x: twins; }  // error: expected-type
var<private> taken: i32;
const taken = 2;  // error: redeclaration
