// c = a * b as in matmul_naive. A workgroup of 16 x 16 makes 64 x 64 elements of c, each invocation a block of 4 x 4
// that stays in registers, from tiles of 64 x 16 elements of a and 16 x 64 of b.

const BM = 64u;
const BN = 64u;
const BK = 16u;
const TM = 4u;
const TN = 4u;
const THREADS = 256u;

struct Size {
    m: u32,
    k: u32,
    n: u32,
}

@group(0) @binding(0) var<uniform> size: Size;
@group(0) @binding(1) var<storage, read> a: array<f32>;
@group(0) @binding(2) var<storage, read> b: array<f32>;
@group(0) @binding(3) var<storage, read_write> c: array<f32>;

var<workgroup> a_tile: array<f32, BM * BK>;
var<workgroup> b_tile: array<f32, BK * BN>;

@compute @workgroup_size(BN / TN, BM / TM)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(local_invocation_id) thread: vec3u,
    @builtin(local_invocation_index) index: u32,
) {
    let top = group.y * BM;
    let left = group.x * BN;
    var sums: array<f32, TM * TN>;

    for (var start = 0u; start < size.k; start += BK) {
        for (var i = index; i < BM * BK; i += THREADS) {
            let row = top + i / BK;
            let column = start + i % BK;
            if row < size.m && column < size.k {
                a_tile[i] = a[row * size.k + column];
            } else {
                a_tile[i] = 0.0;
            }
        }
        for (var i = index; i < BK * BN; i += THREADS) {
            let row = start + i / BN;
            let column = left + i % BN;
            if row < size.k && column < size.n {
                b_tile[i] = b[row * size.n + column];
            } else {
                b_tile[i] = 0.0;
            }
        }
        workgroupBarrier();

        for (var k = 0u; k < BK; k++) {
            var a_part: array<f32, TM>;
            var b_part: array<f32, TN>;
            for (var i = 0u; i < TM; i++) {
                a_part[i] = a_tile[(thread.y * TM + i) * BK + k];
            }
            for (var j = 0u; j < TN; j++) {
                b_part[j] = b_tile[k * BN + thread.x * TN + j];
            }
            for (var i = 0u; i < TM; i++) {
                for (var j = 0u; j < TN; j++) {
                    sums[i * TN + j] += a_part[i] * b_part[j];
                }
            }
        }
        workgroupBarrier();
    }

    for (var i = 0u; i < TM; i++) {
        for (var j = 0u; j < TN; j++) {
            let row = top + thread.y * TM + i;
            let column = left + thread.x * TN + j;
            if row < size.m && column < size.n {
                c[row * size.n + column] = sums[i * TN + j];
            }
        }
    }
}
