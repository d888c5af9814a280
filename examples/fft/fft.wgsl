// The Fourier transform of the columns of a matrix of complex numbers, after Stockham: a pass with radix r joins r
// transforms of `span` numbers each to one, and leaves all in order. Neighbouring invocations have neighbouring columns,
// so that memory is accessed in whole rows. The rows of a matrix are the columns of the transposed one.

struct Pass {
    width: u32,
    radix: u32,
    span: u32, // the product of the radices of the passes before
    butterflies: u32, // of a column: its length / radix
    roots_apart: u32, // butterflies / span
}

const PI = 3.14159265358979;
const SQRT_HALF = 0.70710678118655;
const COS_8TH = 0.92387953251129; // of pi / 8
const SIN_8TH = 0.38268343236509;

// All n-th roots of unity: exp(-2 pi i k / n). Angles are from -pi to pi, where cos and sin are accurate.
@group(0) @binding(0) var<uniform> n: u32;
@group(0) @binding(1) var<storage, read_write> roots: array<vec2f>;

@compute @workgroup_size(64)
fn make_roots(@builtin(global_invocation_id) id: vec3u) {
    if id.x < n {
        let k = i32(id.x) - select(0i, i32(n), id.x > n / 2u);
        let angle = -2.0 * PI * f32(k) / f32(n);
        roots[id.x] = vec2f(cos(angle), sin(angle));
    }
}

@group(0) @binding(0) var<uniform> step: Pass;
@group(0) @binding(1) var<storage, read> unit_roots: array<vec2f>;
@group(0) @binding(2) var<storage, read> signal: array<vec2f>;
@group(0) @binding(3) var<storage, read_write> spectrum: array<vec2f>;

fn product(a: vec2f, b: vec2f) -> vec2f {
    return vec2f(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

// A number times -i.
fn turned(a: vec2f) -> vec2f {
    return vec2f(a.y, -a.x);
}

// What a butterfly reads and writes: element k is `stride` rows after element k - 1 in the signal, `span` in the spectrum.
// Where a butterfly reads its numbers and writes its results, as indices and distances of elements.
struct Places {
    source: u32,
    source_apart: u32,
    root: u32,
    goal: u32,
    goal_apart: u32,
}

fn places(column: u32, butterfly: u32) -> Places {
    let within = butterfly & (step.span - 1u);
    let goal_row = (butterfly - within) * step.radix + within;
    return Places(
        butterfly * step.width + column,
        step.butterflies * step.width,
        within * step.roots_apart,
        goal_row * step.width + column,
        step.span * step.width,
    );
}

fn input(at: Places, k: u32) -> vec2f {
    return product(signal[at.source + k * at.source_apart], unit_roots[k * at.root]);
}

fn output(at: Places, k: u32, value: vec2f) {
    spectrum[at.goal + k * at.goal_apart] = value;
}

// The transform of four numbers.
fn of_four(a: vec2f, b: vec2f, c: vec2f, d: vec2f) -> array<vec2f, 4> {
    let sum = a + c;
    let difference = a - c;
    let other_sum = b + d;
    let other_difference = turned(b - d);
    return array(
        sum + other_sum,
        difference + other_difference,
        sum - other_sum,
        difference - other_difference,
    );
}

fn radix_2(at: Places) {
    let a = signal[at.source];
    let b = input(at, 1u);
    output(at, 0u, a + b);
    output(at, 1u, a - b);
}

fn radix_4(at: Places) {
    let all = of_four(signal[at.source], input(at, 1u), input(at, 2u), input(at, 3u));
    output(at, 0u, all[0]);
    output(at, 1u, all[1]);
    output(at, 2u, all[2]);
    output(at, 3u, all[3]);
}

fn radix_8(at: Places) {
    let even = of_four(signal[at.source], input(at, 2u), input(at, 4u), input(at, 6u));
    let odd = of_four(input(at, 1u), input(at, 3u), input(at, 5u), input(at, 7u));
    let odd_1 = product(odd[1], vec2f(SQRT_HALF, -SQRT_HALF));
    let odd_2 = turned(odd[2]);
    let odd_3 = product(odd[3], vec2f(-SQRT_HALF, -SQRT_HALF));
    output(at, 0u, even[0] + odd[0]);
    output(at, 1u, even[1] + odd_1);
    output(at, 2u, even[2] + odd_2);
    output(at, 3u, even[3] + odd_3);
    output(at, 4u, even[0] - odd[0]);
    output(at, 5u, even[1] - odd_1);
    output(at, 6u, even[2] - odd_2);
    output(at, 7u, even[3] - odd_3);
}

// Sixteen numbers as four rows of four: transforms of the columns, then of the rows.
fn radix_16(at: Places) {
    let a = of_four(signal[at.source], input(at, 4u), input(at, 8u), input(at, 12u));
    let b = of_four(input(at, 1u), input(at, 5u), input(at, 9u), input(at, 13u));
    let c = of_four(input(at, 2u), input(at, 6u), input(at, 10u), input(at, 14u));
    let d = of_four(input(at, 3u), input(at, 7u), input(at, 11u), input(at, 15u));
    output_four(at, 0u, of_four(a[0], b[0], c[0], d[0]));
    output_four(at, 1u, of_four(
        a[1],
        product(b[1], vec2f(COS_8TH, -SIN_8TH)),
        product(c[1], vec2f(SQRT_HALF, -SQRT_HALF)),
        product(d[1], vec2f(SIN_8TH, -COS_8TH)),
    ));
    output_four(at, 2u, of_four(
        a[2],
        product(b[2], vec2f(SQRT_HALF, -SQRT_HALF)),
        turned(c[2]),
        product(d[2], vec2f(-SQRT_HALF, -SQRT_HALF)),
    ));
    output_four(at, 3u, of_four(
        a[3],
        product(b[3], vec2f(SIN_8TH, -COS_8TH)),
        product(c[3], vec2f(-SQRT_HALF, -SQRT_HALF)),
        product(d[3], vec2f(-COS_8TH, SIN_8TH)),
    ));
}

fn output_four(at: Places, first: u32, all: array<vec2f, 4>) {
    output(at, first, all[0]);
    output(at, first + 4u, all[1]);
    output(at, first + 8u, all[2]);
    output(at, first + 12u, all[3]);
}

// Any other radix, 1 included, by the definition of the transform.
fn any_radix(at: Places) {
    let roots_apart = step.butterflies;
    for (var i = 0u; i < step.radix; i++) {
        var sum = vec2f(0.0);
        for (var k = 0u; k < step.radix; k++) {
            sum += product(input(at, k), unit_roots[i * k % step.radix * roots_apart]);
        }
        output(at, i, sum);
    }
}

@compute @workgroup_size(64)
fn columns(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= step.width || id.y >= step.butterflies {
        return;
    }
    let at = places(id.x, id.y);
    switch step.radix {
        case 16u: {
            radix_16(at);
        }
        case 8u: {
            radix_8(at);
        }
        case 4u: {
            radix_4(at);
        }
        case 2u: {
            radix_2(at);
        }
        default: {
            any_radix(at);
        }
    }
}

// The transposed matrix, through tiles: both matrices are accessed in rows. The column of padding keeps the
// invocations of a row of the transposed tile in different memory banks.
struct Size {
    width: u32,
    height: u32,
}

const TILE = 16u;

@group(0) @binding(0) var<uniform> size: Size;
@group(0) @binding(1) var<storage, read> matrix: array<vec2f>;
@group(0) @binding(2) var<storage, read_write> transposed: array<vec2f>;

var<workgroup> tile: array<array<vec2f, TILE + 1u>, TILE>;

@compute @workgroup_size(TILE, TILE)
fn transpose(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u) {
    let source = group.xy * TILE + local.xy;
    if source.x < size.width && source.y < size.height {
        tile[local.y][local.x] = matrix[source.y * size.width + source.x];
    }
    workgroupBarrier();
    let goal = group.yx * TILE + local.xy;
    if goal.x < size.height && goal.y < size.width {
        transposed[goal.y * size.height + goal.x] = tile[local.x][local.y];
    }
}
