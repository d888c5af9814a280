@group(0) @binding(0) var<storage, read_write> out: array<i32>;

@compute @workgroup_size(1)
fn main() {
    let n = out[0];
    for (var i = 0; i < n; i++) {
        out[i] = i;
    }
    var j = n;
    while j > 0 {
        j -= 2;
        if j == 5 {
            continue;
        }
        out[j]--;
    }
    for (; j < 10;) {
        j += 1;
    }
    var k = 0;
    for (k = 3; k < n; k = k * 2 + 1) {
    }
    loop {
        if k == 3 {
            break;
        }
        k++;
    }
    loop {
        k--;
        let before = k;
        if k < 2 {
            continue;
        }
        if k == 77 {
            return;
        }
        continuing {
            k -= before;
            out[0] = k;
            break if k < 0;
        }
    }
    for (var a = 0; ; a++) {
        let step = a;
        if out[a] == step {
            break;
        }
    }
    for (var x = 0; x < 4; x++) {
        for (var x = 0; x < 4; x++) {
            if x == 2 {
                break;
            }
        }
    }
}
fn next() -> u32 { return 1; }
fn a_declaration_before_what_it_could_notice(p: ptr<function, u32>) -> u32 {
  var i = *p;
  var sum = next();
  for (; i < 10; i++) { sum += i; }
  var k = 0;
  let first = sum;
  for (; k < 3; k++) { sum *= first; }
  return sum;
}
fn ways_on_that_go_without_saying(x: i32) -> i32 {
  var y = x;
  for (var i = 0; i < x; i++) { if i == y { y += 1; continue; } else { y += 2; continue; } }
  switch x {
    case 1: { if y > 2 { y = 3; break; } else { y = 4; break; } }
    default: { if y > 5 { break; } y = 6; }
  }
  return y;
}
