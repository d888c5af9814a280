@group(0) @binding(0) var<storage, read_write> out: i32;

@compute @workgroup_size(1)
fn main() {
  var i = 0;
  loop {
    i += 1;
    if i == 3 { continue; }
    let twice = i * 2;
    loop { break; }
    continuing {
      i += 1;
      break if i > 10;
    }
  }
  loop {
    if i > 20 { break; }
    continuing { i *= 2; }
  }
  loop { if i == 0 { break; } return; }
  out = i;
}
