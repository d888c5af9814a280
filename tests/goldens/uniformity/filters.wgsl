diagnostic(warning, derivative_uniformity);

var<private> shade: f32;

@fragment
fn main() {
    if shade > 0.0 {
        _ = dpdx(shade);
    }
    @diagnostic(info, derivative_uniformity)
    if shade > 1.0 {
        _ = dpdy(shade);
    }
    @diagnostic(off, derivative_uniformity)
    if shade > 2.0 {
        _ = fwidth(shade);
    }
}
