@fragment
fn main(@location(0) x: f32) -> @location(0) f32 {
    var sum = 0.0;
    @diagnostic(off, derivative_uniformity) if x > 0.5 {
        sum = dpdx(x);
    }
    for (var i = 0; f32(i) < x; i++) @diagnostic(off, derivative_uniformity) {
        if sum > x {
            continue;
        }
        sum += dpdy(x);
    }
    loop {
        let before = sum;
        continuing @diagnostic(off, derivative_uniformity) {
            sum += dpdx(before);
            break if dpdx(sum) > x;
        }
    }
    switch i32(x) @diagnostic(info, derivative_uniformity) {
        case 1: {
            sum *= dpdx(x);
        }
        default @diagnostic(off, derivative_uniformity) {
            return dpdy(x);
        }
    }
    return sum;
}
fn alone_in_an_alternative(x: i32) -> i32 {
  if x > 1 {
    return 1;
  } else {
    @diagnostic(off, derivative_uniformity) if x == 1 {
      return 2;
    }
  }
  return 3;
}
