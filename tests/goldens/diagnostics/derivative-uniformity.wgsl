@fragment
fn main(@location(0) x: f32) -> @location(0) vec4f {
    var slope = 0.0;
    if x > 0.5 {
        slope = dpdx(x);
    }
    return vec4f(slope);
}
// a derivative, or a texture sample that needs one, is taken where control flow may not be uniform
