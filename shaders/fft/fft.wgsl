// The Fourier transform of rows of 256 complex numbers, by radix 2 with decimation in time: a workgroup stores its row
// in bit-reversed order, and 128 invocations do a butterfly each in each of eight stages.

const N = 256u;
const LOG_N = 8u;
const HALF = N / 2u;
const PI = 3.14159265358979;

@group(0) @binding(0) var<storage, read> signal: array<vec2f>;
@group(0) @binding(1) var<storage, read_write> spectrum: array<vec2f>;

var<workgroup> work: array<vec2f, N>;
var<workgroup> twiddles: array<vec2f, HALF>;

fn complex_product(a: vec2f, b: vec2f) -> vec2f {
    return vec2f(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

@compute @workgroup_size(HALF)
fn main(@builtin(workgroup_id) row: vec3u, @builtin(local_invocation_index) t: u32) {
    let base = row.x * N;
    work[reverseBits(t) >> (32u - LOG_N)] = signal[base + t];
    work[reverseBits(t + HALF) >> (32u - LOG_N)] = signal[base + t + HALF];
    let angle = -2.0 * PI * f32(t) / f32(N);
    twiddles[t] = vec2f(cos(angle), sin(angle));
    workgroupBarrier();

    for (var span = 1u; span < N; span <<= 1u) {
        let k = t & (span - 1u);
        let upper = ((t - k) << 1u) + k;
        let lower = upper + span;
        let u = work[upper];
        let v = complex_product(work[lower], twiddles[k * (HALF / span)]);
        work[upper] = u + v;
        work[lower] = u - v;
        workgroupBarrier();
    }

    spectrum[base + t] = work[t];
    spectrum[base + t + HALF] = work[t + HALF];
}
