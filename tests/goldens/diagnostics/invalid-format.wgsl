enable wgpu_debug_printf;

@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
    debugPrintf("%u", id);
    debugPrintf("%f at %q", 1, 2);
    debugPrintf("a\d");
    debugPrintf("%d and %v2f", 1);
    // @debugPrintf("%f", id.x);
}
// A format of `debugPrintf` is malformed, or does not fit the arguments
