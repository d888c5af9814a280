// Twisted Edwards points over the scalar field of BLS12-377: 20 limbs of 13 bits, so that products need no carries.

struct BigInt { limbs: array<u32, 20> }
struct Point { x: BigInt, y: BigInt, t: BigInt, z: BigInt }

@group(0) @binding(0) var<storage, read> given: array<array<u32, 20>>;
@group(0) @binding(1) var<storage, read_write> found: array<array<u32, 20>>;
@group(0) @binding(2) var<uniform> rounds: u32;

const WORD = 13u;
const MASK = 8191u;
const N0 = 8191u; // -1/p modulo 2^13
const PRIME = array<u32, 20>(
    1u, 0u, 0u, 768u, 4257u, 0u, 0u, 8154u, 2678u, 2765u, 3072u, 6255u, 4581u, 6694u, 6530u, 5290u, 6700u, 2804u,
    2777u, 37u);

fn prime() -> BigInt { return BigInt(PRIME); }

fn bigger_or_equal(a: ptr<function, BigInt>, b: ptr<function, BigInt>) -> bool {
    for (var i = 19u; i < 20u; i--) {
        if (*a).limbs[i] < (*b).limbs[i] { return false; }
        if (*a).limbs[i] > (*b).limbs[i] { return true; }
    }
    return true;
}

fn subtract(a: ptr<function, BigInt>, b: ptr<function, BigInt>) -> BigInt {
    var result: BigInt;
    var borrow = 0u;
    for (var i = 0u; i < 20u; i++) {
        let d = (*a).limbs[i] - (*b).limbs[i] - borrow;
        borrow = d >> 31u;
        result.limbs[i] = d & MASK;
    }
    return result;
}

fn reduced(a: ptr<function, BigInt>) -> BigInt {
    var p = prime();
    if bigger_or_equal(a, &p) { return subtract(a, &p); }
    return *a;
}

fn add(a: ptr<function, BigInt>, b: ptr<function, BigInt>) -> BigInt {
    var sum: BigInt;
    var carry = 0u;
    for (var i = 0u; i < 20u; i++) {
        let s = (*a).limbs[i] + (*b).limbs[i] + carry;
        carry = s >> WORD;
        sum.limbs[i] = s & MASK;
    }
    return reduced(&sum);
}

fn sub(a: ptr<function, BigInt>, b: ptr<function, BigInt>) -> BigInt {
    if bigger_or_equal(a, b) { return subtract(a, b); }
    var p = prime();
    var d = subtract(b, a);
    return subtract(&p, &d);
}

fn mul(x: ptr<function, BigInt>, y: ptr<function, BigInt>) -> BigInt {
    var s: BigInt;
    for (var i = 0u; i < 20u; i++) {
        var t = s.limbs[0] + (*x).limbs[i] * (*y).limbs[0];
        let q = ((t & MASK) * N0) & MASK;
        var c = (t + q * PRIME[0]) >> WORD;
        s.limbs[0] = s.limbs[1] + (*x).limbs[i] * (*y).limbs[1] + q * PRIME[1] + c;
        for (var j = 2u; j < 20u; j++) {
            s.limbs[j - 1u] = s.limbs[j] + (*x).limbs[i] * (*y).limbs[j] + q * PRIME[j];
        }
        s.limbs[19] = 0u;
    }
    var carry = 0u;
    for (var i = 0u; i < 20u; i++) {
        let v = s.limbs[i] + carry;
        carry = v >> WORD;
        s.limbs[i] = v & MASK;
    }
    return reduced(&s);
}

fn add_points(p: ptr<function, Point>, q: ptr<function, Point>) -> Point {
    var x1 = (*p).x; var y1 = (*p).y; var t1 = (*p).t; var z1 = (*p).z;
    var x2 = (*q).x; var y2 = (*q).y; var t2 = (*q).t; var z2 = (*q).z;
    var a = mul(&x1, &x2);
    var b = mul(&y1, &y2);
    var c = mul(&t1, &t2);
    var d = mul(&z1, &z2);
    var s = add(&x1, &y1);
    var u = add(&x2, &y2);
    var e = mul(&s, &u);
    e = sub(&e, &a);
    e = sub(&e, &b);
    var f = sub(&d, &c);
    var g = add(&d, &c);
    var h = add(&a, &b);
    return Point(mul(&e, &f), mul(&g, &h), mul(&e, &h), mul(&f, &g));
}

fn double_point(p: ptr<function, Point>) -> Point {
    var q = *p;
    return add_points(p, &q);
}

@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= arrayLength(&given) { return; }
    var p: Point;
    p.x = BigInt(given[id.x]);
    p.y = BigInt(PRIME);
    p.y.limbs[0] = 0u; // minus one
    p.z = p.x;
    p.t = p.y;
    var q = p;
    for (var i = 0u; i < rounds; i++) {
        q = double_point(&q);
        if (i & 1u) == 1u { q = add_points(&q, &p); }
        q = double_point(&q);
        var r = add_points(&q, &p);
        p = add_points(&r, &q);
    }
    var result = mul(&q.x, &p.y);
    result = add(&result, &q.z);
    for (var i = 0u; i < 20u; i++) { found[id.x][i] = result.limbs[i]; }
}
