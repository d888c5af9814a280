// passes: mem2reg
@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    var x = data[i];
    var v = vec2(1u, 2u);
    if x > 3 { x = 7; v.y = x; }
    switch i { case 0: { x += 1; } case 1: { if x > 1 { break; } x = 9; } default: { v.x = 5; } }
    data[i] = x + v.x * v.y;
}
