@must_use fn square(x: f32) -> f32 { return x * x; }
fn touch(p: ptr<function, array<f32, 4>>, i: u32) { (*p)[i] = square((*p)[i]); p[0] += 1; }
fn nothing() {}

@compute @workgroup_size(1)
fn main() {
  var values = array(1f, 2f, 3f, 4f);
  touch(&values, 2);
  nothing();
  _ = square(values[3]);
}
