@vertex
fn main(@location(0) at: vec4f) -> @location(0) vec4f {
    return at;
}
// the inputs or outputs of an entry point break the rules of its stage
