// Statements in wrong places or of wrong types.
struct S { a: i32 }
@group(0) @binding(0) var<storage> input: array<u32>;
override chosen = 1;
fn assignments(x: i32) {
  var v: vec3f;
  let c = 1;
  x = 2;  // error: invalid-assignment
  c++;  // error: invalid-assignment
  v.x += 1u;  // error: no-matching-operator
  v = 1;  // error: type-mismatch
  v.x++;  // error: type-mismatch
  input[0] = 1;  // error: invalid-assignment
  let p = &v;
  p = p;  // error: invalid-assignment
}
fn jumps() {
  break;  // error: invalid-jump
  continue;  // error: invalid-jump
  loop { break; continuing { continue; } }  // error: invalid-jump
  loop { break; continuing { return; } }  // error: invalid-return
  switch 1 { default: { continue; } }  // error: invalid-jump
  loop { if true { continue; } let late = 1; break; continuing { _ = late; } }  // error: bypassed-declaration
}
fn no_return(x: bool) -> i32 {
  if x { return 1; }
}  // error: missing-return
fn endless() {
  loop { }  // error: endless-loop
}
fn returns(x: f32) -> i32 {
  return x;  // error: type-mismatch
}
fn returns_nothing() { return 1; }  // error: invalid-return
fn conditions(i: i32) {
  if i { }  // error: type-mismatch
  while i { }  // error: type-mismatch
  for (; i; ) { }  // error: type-mismatch
  switch 1.0 { default {} }  // error: type-mismatch
  switch i { case 1u: {} default {} }  // error: type-mismatch
  switch i { case 1, 1: {} default {} }  // error: invalid-switch
  switch i { case 1: {} }  // error: invalid-switch
  switch i { case chosen: {} default {} }  // error: expected-constant
  const_assert i == 1;  // error: expected-constant
  const_assert 1 > 2;  // error: assertion-failed
}
fn declarations() {
  const runtime = chosen;  // error: expected-constant
  let s: S = 1;  // error: type-mismatch
  var untyped;  // error: missing-type
  var<private> here: i32;  // error: invalid-address-space
}
