enable f16;

@group(0) @binding(0) var<storage, read_write> out: array<f32>;
@group(0) @binding(1) var<storage, read_write> half: array<f16>;

@compute @workgroup_size(1)
fn main() {
    var i = -2147483648;
    i += 2147483647;
    var u = 4294967295u;
    u &= 0xffu;
    out[0] = 0.1;
    out[1] = 16777216.0 + f32(i) + f32(u);
    out[2] = 3.40282346638528859812e+38;
    out[3] = 1e-45;
    out[4] = -0.0;
    out[5] = 0x1.8p3;
    out[6] = 1e20;
    half[0] = 0.1h;
    half[1] = 65504.0h;
    var v = vec4f(1.0);
    v += vec4f();
    var m = mat2x2f(1.0, 0.0, 0.0, 1.0);
    m *= mat2x2f();
    var big = array<i32, 1000>();
    big[0] = 1;
    out[7] = v.x + m[0].y + f32(big[1]);
}
