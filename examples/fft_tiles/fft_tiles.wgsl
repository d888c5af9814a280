// The Fourier transform for processors, of matrices whose sizes are powers of two from 256 to 2048. One invocation
// transforms a column, and one workgroup a row. All passes of a column or a row are done before the next, so that the
// numbers between passes stay in the processor's caches. No matrix is transposed. A transform has three passes, after
// Stockham: with radix 16, 16, and length / 256.

struct Task {
    width: u32,
    height: u32,
}

const STRIP = 16u; // columns, which a workgroup transforms together
const ROW_LANES = 64u;
const LONGEST_ROW = 2048u;
const SPAN = 16u; // how many numbers the first pass joins
const LONG_SPAN = 256u; // how many numbers are joined after the second pass
const PI = 3.14159265358979;
const SQRT_HALF = 0.70710678118655;
const COS_8TH = 0.92387953251129; // of pi / 8
const SIN_8TH = 0.38268343236509;

// What numbers are multiplied by before the second pass, and then, from element LONG_SPAN, before the third. The factor
// of number k of butterfly j is element k * span + j % span.
@group(0) @binding(0) var<uniform> length: u32;
@group(0) @binding(1) var<storage, read_write> factors: array<vec2f>;

@compute @workgroup_size(64)
fn make_factors(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= arrayLength(&factors) {
        return;
    }
    let is_third = id.x >= LONG_SPAN;
    let place = id.x - select(0u, LONG_SPAN, is_third);
    let span = select(SPAN, LONG_SPAN, is_third);
    let joined = select(LONG_SPAN, length, is_third);
    let turn = (place / span) * (place % span) % joined;
    let angle = -2.0 * PI * f32(i32(turn) - select(0i, i32(joined), turn > joined / 2u)) / f32(joined);
    factors[id.x] = vec2f(cos(angle), sin(angle));
}

fn product(a: vec2f, b: vec2f) -> vec2f {
    return vec2f(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

// A number times -i.
fn turned(a: vec2f) -> vec2f {
    return vec2f(a.y, -a.x);
}

fn of_four(a: vec2f, b: vec2f, c: vec2f, d: vec2f) -> array<vec2f, 4> {
    let sum = a + c;
    let difference = a - c;
    let other_sum = b + d;
    let other_difference = turned(b - d);
    return array(sum + other_sum, difference + other_difference, sum - other_sum, difference - other_difference);
}

fn of_eight(all: array<vec2f, 8>) -> array<vec2f, 8> {
    let even = of_four(all[0], all[2], all[4], all[6]);
    let odd = of_four(all[1], all[3], all[5], all[7]);
    let odd_1 = product(odd[1], vec2f(SQRT_HALF, -SQRT_HALF));
    let odd_2 = turned(odd[2]);
    let odd_3 = product(odd[3], vec2f(-SQRT_HALF, -SQRT_HALF));
    return array(
        even[0] + odd[0], even[1] + odd_1, even[2] + odd_2, even[3] + odd_3,
        even[0] - odd[0], even[1] - odd_1, even[2] - odd_2, even[3] - odd_3,
    );
}

// Sixteen numbers as four rows of four: transforms of the columns, then of the rows.
fn of_sixteen(all: array<vec2f, 16>) -> array<vec2f, 16> {
    let a = of_four(all[0], all[4], all[8], all[12]);
    let b = of_four(all[1], all[5], all[9], all[13]);
    let c = of_four(all[2], all[6], all[10], all[14]);
    let d = of_four(all[3], all[7], all[11], all[15]);
    let e = of_four(a[0], b[0], c[0], d[0]);
    let f = of_four(
        a[1],
        product(b[1], vec2f(COS_8TH, -SIN_8TH)),
        product(c[1], vec2f(SQRT_HALF, -SQRT_HALF)),
        product(d[1], vec2f(SIN_8TH, -COS_8TH)),
    );
    let g = of_four(
        a[2],
        product(b[2], vec2f(SQRT_HALF, -SQRT_HALF)),
        turned(c[2]),
        product(d[2], vec2f(-SQRT_HALF, -SQRT_HALF)),
    );
    let h = of_four(
        a[3],
        product(b[3], vec2f(SIN_8TH, -COS_8TH)),
        product(c[3], vec2f(-SQRT_HALF, -SQRT_HALF)),
        product(d[3], vec2f(-COS_8TH, SIN_8TH)),
    );
    return array(
        e[0], f[0], g[0], h[0], e[1], f[1], g[1], h[1], e[2], f[2], g[2], h[2], e[3], f[3], g[3], h[3],
    );
}

@group(0) @binding(0) var<uniform> task: Task;
@group(0) @binding(1) var<storage, read> pass_factors: array<vec2f>;
@group(0) @binding(2) var<storage, read> signal: array<vec2f>;
@group(0) @binding(3) var<storage, read_write> spectrum: array<vec2f>;

fn sixteen_of_signal(first: u32, apart: u32) -> array<vec2f, 16> {
    return array(
        signal[first],
        signal[first + apart],
        signal[first + 2u * apart],
        signal[first + 3u * apart],
        signal[first + 4u * apart],
        signal[first + 5u * apart],
        signal[first + 6u * apart],
        signal[first + 7u * apart],
        signal[first + 8u * apart],
        signal[first + 9u * apart],
        signal[first + 10u * apart],
        signal[first + 11u * apart],
        signal[first + 12u * apart],
        signal[first + 13u * apart],
        signal[first + 14u * apart],
        signal[first + 15u * apart],
    );
}

fn put_eight(first: u32, apart: u32, all: array<vec2f, 8>) {
    spectrum[first] = all[0];
    spectrum[first + apart] = all[1];
    spectrum[first + 2u * apart] = all[2];
    spectrum[first + 3u * apart] = all[3];
    spectrum[first + 4u * apart] = all[4];
    spectrum[first + 5u * apart] = all[5];
    spectrum[first + 6u * apart] = all[6];
    spectrum[first + 7u * apart] = all[7];
}

fn put_four(first: u32, apart: u32, all: array<vec2f, 4>) {
    spectrum[first] = all[0];
    spectrum[first + apart] = all[1];
    spectrum[first + 2u * apart] = all[2];
    spectrum[first + 3u * apart] = all[3];
}

fn put_two(first: u32, apart: u32, a: vec2f, b: vec2f) {
    spectrum[first] = a + b;
    spectrum[first + apart] = a - b;
}

// Columns. `between` has room for two copies of a strip for each workgroup: one for the results of the first pass, one
// for those of the second. The sixteen real parts of a row are before its sixteen imaginary parts.

@group(0) @binding(4) var<storage, read_write> between: array<f32>;

const APART = 2u * STRIP;

fn kept(place: u32) -> vec2f {
    return vec2f(between[place], between[place + STRIP]);
}

fn keep(place: u32, number: vec2f) {
    between[place] = number.x;
    between[place + STRIP] = number.y;
}

fn keep_sixteen(first: u32, apart: u32, all: array<vec2f, 16>) {
    keep(first, all[0]);
    keep(first + apart, all[1]);
    keep(first + 2u * apart, all[2]);
    keep(first + 3u * apart, all[3]);
    keep(first + 4u * apart, all[4]);
    keep(first + 5u * apart, all[5]);
    keep(first + 6u * apart, all[6]);
    keep(first + 7u * apart, all[7]);
    keep(first + 8u * apart, all[8]);
    keep(first + 9u * apart, all[9]);
    keep(first + 10u * apart, all[10]);
    keep(first + 11u * apart, all[11]);
    keep(first + 12u * apart, all[12]);
    keep(first + 13u * apart, all[13]);
    keep(first + 14u * apart, all[14]);
    keep(first + 15u * apart, all[15]);
}

fn sixteen_kept(first: u32, apart: u32, factor: u32) -> array<vec2f, 16> {
    return array(
        kept(first),
        product(kept(first + apart), pass_factors[factor + SPAN]),
        product(kept(first + 2u * apart), pass_factors[factor + 2u * SPAN]),
        product(kept(first + 3u * apart), pass_factors[factor + 3u * SPAN]),
        product(kept(first + 4u * apart), pass_factors[factor + 4u * SPAN]),
        product(kept(first + 5u * apart), pass_factors[factor + 5u * SPAN]),
        product(kept(first + 6u * apart), pass_factors[factor + 6u * SPAN]),
        product(kept(first + 7u * apart), pass_factors[factor + 7u * SPAN]),
        product(kept(first + 8u * apart), pass_factors[factor + 8u * SPAN]),
        product(kept(first + 9u * apart), pass_factors[factor + 9u * SPAN]),
        product(kept(first + 10u * apart), pass_factors[factor + 10u * SPAN]),
        product(kept(first + 11u * apart), pass_factors[factor + 11u * SPAN]),
        product(kept(first + 12u * apart), pass_factors[factor + 12u * SPAN]),
        product(kept(first + 13u * apart), pass_factors[factor + 13u * SPAN]),
        product(kept(first + 14u * apart), pass_factors[factor + 14u * SPAN]),
        product(kept(first + 15u * apart), pass_factors[factor + 15u * SPAN]),
    );
}

fn eight_kept(first: u32, apart: u32, factor: u32) -> array<vec2f, 8> {
    return array(
        kept(first),
        product(kept(first + apart), pass_factors[factor + LONG_SPAN]),
        product(kept(first + 2u * apart), pass_factors[factor + 2u * LONG_SPAN]),
        product(kept(first + 3u * apart), pass_factors[factor + 3u * LONG_SPAN]),
        product(kept(first + 4u * apart), pass_factors[factor + 4u * LONG_SPAN]),
        product(kept(first + 5u * apart), pass_factors[factor + 5u * LONG_SPAN]),
        product(kept(first + 6u * apart), pass_factors[factor + 6u * LONG_SPAN]),
        product(kept(first + 7u * apart), pass_factors[factor + 7u * LONG_SPAN]),
    );
}

// The last pass: radix `height / LONG_SPAN`, which is 1, 2, 4 or 8. Butterfly j reads and writes the same places.
fn end_column(first: u32, goal: u32, j: u32) {
    let apart = LONG_SPAN * APART;
    let factor = LONG_SPAN + j;
    let goal_apart = LONG_SPAN * task.width;
    switch task.height / LONG_SPAN {
        case 8u: {
            put_eight(goal, goal_apart, of_eight(eight_kept(first, apart, factor)));
        }
        case 4u: {
            put_four(goal, goal_apart, of_four(
                kept(first),
                product(kept(first + apart), pass_factors[factor + LONG_SPAN]),
                product(kept(first + 2u * apart), pass_factors[factor + 2u * LONG_SPAN]),
                product(kept(first + 3u * apart), pass_factors[factor + 3u * LONG_SPAN]),
            ));
        }
        case 2u: {
            let b = product(kept(first + apart), pass_factors[factor + LONG_SPAN]);
            put_two(goal, goal_apart, kept(first), b);
        }
        default: {
            spectrum[goal] = kept(first);
        }
    }
}

@compute @workgroup_size(STRIP)
fn columns(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) lane: u32,
) {
    let half = task.height * APART;
    let first = group.x * 2u * half + lane;
    let second = first + half;
    let butterflies = task.height / 16u;
    for (var strip = group.x; strip * STRIP < task.width; strip += groups.x) {
        let column = strip * STRIP + lane;
        for (var j = 0u; j < butterflies; j++) {
            let all = sixteen_of_signal(j * task.width + column, butterflies * task.width);
            keep_sixteen(first + j * 16u * APART, APART, of_sixteen(all));
        }
        for (var j = 0u; j < butterflies; j++) {
            let within = j % SPAN;
            let all = sixteen_kept(first + j * APART, butterflies * APART, within);
            keep_sixteen(second + ((j - within) * 16u + within) * APART, SPAN * APART, of_sixteen(all));
        }
        for (var j = 0u; j < LONG_SPAN; j++) {
            end_column(second + j * APART, j * task.width + column, j);
        }
    }
}

// Rows. The results of the first pass are in workgroup memory: result k of butterfly j at k * butterflies + j, so that
// neighbouring invocations write neighbouring elements. The last pass works in place.

var<workgroup> real_parts: array<f32, LONGEST_ROW>;
var<workgroup> imaginary_parts: array<f32, LONGEST_ROW>;

fn share(place: u32, number: vec2f) {
    real_parts[place] = number.x;
    imaginary_parts[place] = number.y;
}

fn shared_at(place: u32) -> vec2f {
    return vec2f(real_parts[place], imaginary_parts[place]);
}

fn share_sixteen(first: u32, apart: u32, all: array<vec2f, 16>) {
    share(first, all[0]);
    share(first + apart, all[1]);
    share(first + 2u * apart, all[2]);
    share(first + 3u * apart, all[3]);
    share(first + 4u * apart, all[4]);
    share(first + 5u * apart, all[5]);
    share(first + 6u * apart, all[6]);
    share(first + 7u * apart, all[7]);
    share(first + 8u * apart, all[8]);
    share(first + 9u * apart, all[9]);
    share(first + 10u * apart, all[10]);
    share(first + 11u * apart, all[11]);
    share(first + 12u * apart, all[12]);
    share(first + 13u * apart, all[13]);
    share(first + 14u * apart, all[14]);
    share(first + 15u * apart, all[15]);
}

fn sixteen_shared(first: u32, apart: u32, factor: u32) -> array<vec2f, 16> {
    return array(
        shared_at(first),
        product(shared_at(first + apart), pass_factors[factor + SPAN]),
        product(shared_at(first + 2u * apart), pass_factors[factor + 2u * SPAN]),
        product(shared_at(first + 3u * apart), pass_factors[factor + 3u * SPAN]),
        product(shared_at(first + 4u * apart), pass_factors[factor + 4u * SPAN]),
        product(shared_at(first + 5u * apart), pass_factors[factor + 5u * SPAN]),
        product(shared_at(first + 6u * apart), pass_factors[factor + 6u * SPAN]),
        product(shared_at(first + 7u * apart), pass_factors[factor + 7u * SPAN]),
        product(shared_at(first + 8u * apart), pass_factors[factor + 8u * SPAN]),
        product(shared_at(first + 9u * apart), pass_factors[factor + 9u * SPAN]),
        product(shared_at(first + 10u * apart), pass_factors[factor + 10u * SPAN]),
        product(shared_at(first + 11u * apart), pass_factors[factor + 11u * SPAN]),
        product(shared_at(first + 12u * apart), pass_factors[factor + 12u * SPAN]),
        product(shared_at(first + 13u * apart), pass_factors[factor + 13u * SPAN]),
        product(shared_at(first + 14u * apart), pass_factors[factor + 14u * SPAN]),
        product(shared_at(first + 15u * apart), pass_factors[factor + 15u * SPAN]),
    );
}

fn put_sixteen(first: u32, all: array<vec2f, 16>) {
    spectrum[first] = all[0];
    spectrum[first + SPAN] = all[1];
    spectrum[first + 2u * SPAN] = all[2];
    spectrum[first + 3u * SPAN] = all[3];
    spectrum[first + 4u * SPAN] = all[4];
    spectrum[first + 5u * SPAN] = all[5];
    spectrum[first + 6u * SPAN] = all[6];
    spectrum[first + 7u * SPAN] = all[7];
    spectrum[first + 8u * SPAN] = all[8];
    spectrum[first + 9u * SPAN] = all[9];
    spectrum[first + 10u * SPAN] = all[10];
    spectrum[first + 11u * SPAN] = all[11];
    spectrum[first + 12u * SPAN] = all[12];
    spectrum[first + 13u * SPAN] = all[13];
    spectrum[first + 14u * SPAN] = all[14];
    spectrum[first + 15u * SPAN] = all[15];
}

fn eight_of_spectrum(first: u32, factor: u32) -> array<vec2f, 8> {
    return array(
        spectrum[first],
        product(spectrum[first + LONG_SPAN], pass_factors[factor + LONG_SPAN]),
        product(spectrum[first + 2u * LONG_SPAN], pass_factors[factor + 2u * LONG_SPAN]),
        product(spectrum[first + 3u * LONG_SPAN], pass_factors[factor + 3u * LONG_SPAN]),
        product(spectrum[first + 4u * LONG_SPAN], pass_factors[factor + 4u * LONG_SPAN]),
        product(spectrum[first + 5u * LONG_SPAN], pass_factors[factor + 5u * LONG_SPAN]),
        product(spectrum[first + 6u * LONG_SPAN], pass_factors[factor + 6u * LONG_SPAN]),
        product(spectrum[first + 7u * LONG_SPAN], pass_factors[factor + 7u * LONG_SPAN]),
    );
}

fn end_row(place: u32, j: u32) {
    let factor = LONG_SPAN + j;
    switch task.width / LONG_SPAN {
        case 8u: {
            put_eight(place, LONG_SPAN, of_eight(eight_of_spectrum(place, factor)));
        }
        case 4u: {
            put_four(place, LONG_SPAN, of_four(
                spectrum[place],
                product(spectrum[place + LONG_SPAN], pass_factors[factor + LONG_SPAN]),
                product(spectrum[place + 2u * LONG_SPAN], pass_factors[factor + 2u * LONG_SPAN]),
                product(spectrum[place + 3u * LONG_SPAN], pass_factors[factor + 3u * LONG_SPAN]),
            ));
        }
        case 2u: {
            let b = product(spectrum[place + LONG_SPAN], pass_factors[factor + LONG_SPAN]);
            put_two(place, LONG_SPAN, spectrum[place], b);
        }
        default: {}
    }
}

@compute @workgroup_size(ROW_LANES)
fn rows(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
    let row = group.x * task.width;
    let butterflies = task.width / 16u;
    for (var j = lane; j < butterflies; j += ROW_LANES) {
        share_sixteen(j, butterflies, of_sixteen(sixteen_of_signal(row + j, butterflies)));
    }
    workgroupBarrier();
    for (var j = lane; j < butterflies; j += ROW_LANES) {
        let within = j % SPAN;
        let all = sixteen_shared(within * butterflies + j / SPAN, butterflies / SPAN, within);
        put_sixteen(row + (j - within) * 16u + within, of_sixteen(all));
    }
    storageBarrier();
    for (var j = lane; j < LONG_SPAN; j += ROW_LANES) {
        end_row(row + j, j);
    }
}
