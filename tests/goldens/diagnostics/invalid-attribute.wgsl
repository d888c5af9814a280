@compute @workgroup_sise(64)
fn main() {
}

@location(0) var<private> x: f32;
// an attribute is unknown, stands in the wrong place, or has arguments that it does not take
