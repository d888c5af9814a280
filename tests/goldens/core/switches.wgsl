@group(0) @binding(0) var<storage, read_write> out: i32;

fn pick(x: u32) -> i32 {
  switch x {
    case 0, 1: { return 3; }
    case 2u: { }
    default: { return 4; }
  }
  switch x { default { return 5; } }
}

@compute @workgroup_size(1)
fn main() {
  switch out {
    case 1: { out = 2; break; }
    case -2, default: { if out == 5 { break; } out = 3; }
    case 7: { out = pick(1); }
  }
  for (var i = 0; i < 3; i++) {
    switch i { case 1: { continue; } default: { } }
    out++;
  }
}
