// secp256k1, as in field_values.wgsl, written for pointers: results go to where the caller says.

alias Limbs = array<u32, 8>;
struct Jacobian { x: Limbs, y: Limbs, z: Limbs }

@group(0) @binding(0) var<storage, read> scalars: array<Limbs>;
@group(0) @binding(1) var<storage, read_write> points: array<array<u32, 16>>;
@group(0) @binding(2) var<uniform> bits: u32;

const P = Limbs(0xfffffc2fu, 0xfffffffeu, 0xffffffffu, 0xffffffffu, 0xffffffffu, 0xffffffffu, 0xffffffffu, 0xffffffffu);
const R2 = Limbs(0x000e90a1u, 0x000007a2u, 1u, 0u, 0u, 0u, 0u, 0u);
const ONE = Limbs(1u, 0u, 0u, 0u, 0u, 0u, 0u, 0u);
const GX = Limbs(0x16f81798u, 0x59f2815bu, 0x2dce28d9u, 0x029bfcdbu, 0xce870b07u, 0x55a06295u, 0xf9dcbbacu, 0x79be667eu);
const GY = Limbs(0xfb10d4b8u, 0x9c47d08fu, 0xa6855419u, 0xfd17b448u, 0x0e1108a8u, 0x5da4fbfcu, 0x26a3c465u, 0x483ada77u);

// *low gets the low word of a * b + *low + *carry, *carry the high one.
fn mac(low: ptr<function, u32>, a: u32, b: u32, carry: ptr<function, u32>) {
    let al = a & 0xffffu; let ah = a >> 16u; let bl = b & 0xffffu; let bh = b >> 16u;
    let ll = al * bl; let lh = al * bh; let hl = ah * bl;
    let mid = (ll >> 16u) + (lh & 0xffffu) + (hl & 0xffffu);
    var l = (ll & 0xffffu) | (mid << 16u);
    var h = ah * bh + (lh >> 16u) + (hl >> 16u) + (mid >> 16u);
    l += *low;
    h += u32(l < *low);
    l += *carry;
    h += u32(l < *carry);
    *low = l;
    *carry = h;
}

fn adc(a: ptr<function, u32>, b: u32, carry: ptr<function, u32>) {
    let s = *a + b;
    let t = s + *carry;
    *carry = u32(s < b) | u32(t < s);
    *a = t;
}

fn sbb(a: ptr<function, u32>, b: u32, borrow: ptr<function, u32>) {
    let d = *a - b;
    let e = d - *borrow;
    *borrow = u32(*a < b) | u32(d < *borrow);
    *a = e;
}

fn subtract_prime_if_needed(a: ptr<function, Limbs>, carry: u32) {
    var t = *a;
    var borrow = 0u;
    for (var i = 0; i < 8; i++) { var w = t[i]; sbb(&w, P[i], &borrow); t[i] = w; }
    if carry != 0u || borrow == 0u { *a = t; }
}

// *a += *b
fn fe_add(a: ptr<function, Limbs>, b: ptr<function, Limbs>) {
    var carry = 0u;
    for (var i = 0; i < 8; i++) { var w = (*a)[i]; adc(&w, (*b)[i], &carry); (*a)[i] = w; }
    subtract_prime_if_needed(a, carry);
}

fn fe_double(a: ptr<function, Limbs>) {
    var b = *a;
    fe_add(a, &b);
}

// *a -= *b
fn fe_sub(a: ptr<function, Limbs>, b: ptr<function, Limbs>) {
    var borrow = 0u;
    for (var i = 0; i < 8; i++) { let w = &(*a)[i]; var v = *w; sbb(&v, (*b)[i], &borrow); *w = v; }
    if borrow == 0u { return; }
    var carry = 0u;
    for (var i = 0; i < 8; i++) { var w = (*a)[i]; adc(&w, P[i], &carry); (*a)[i] = w; }
}

// *a *= *b
fn fe_mul(a: ptr<function, Limbs>, b: ptr<function, Limbs>) {
    var t: array<u32, 9>;
    for (var i = 0; i < 8; i++) {
        var carry = 0u;
        for (var j = 0; j < 8; j++) { var w = t[j]; mac(&w, (*a)[j], (*b)[i], &carry); t[j] = w; }
        var top = t[8];
        var over = 0u;
        adc(&top, carry, &over);
        let m = t[0] * 0xd2253531u;
        var low = t[0];
        carry = 0u;
        mac(&low, m, P[0], &carry);
        for (var j = 1; j < 8; j++) { var w = t[j]; mac(&w, m, P[j], &carry); t[j - 1] = w; }
        var over2 = 0u;
        adc(&top, carry, &over2);
        t[7] = top;
        t[8] = over + over2;
    }
    for (var i = 0; i < 8; i++) { (*a)[i] = t[i]; }
    subtract_prime_if_needed(a, t[8]);
}

fn fe_square(a: ptr<function, Limbs>) {
    var b = *a;
    fe_mul(a, &b);
}

fn fe_is_zero(a: ptr<function, Limbs>) -> bool {
    for (var i = 0; i < 8; i++) { if (*a)[i] != 0u { return false; } }
    return true;
}

fn point_double(p: ptr<function, Jacobian>) {
    var x = (*p).x; var y = (*p).y; var z = (*p).z;
    var a = x;
    fe_square(&a);
    var b = y;
    fe_square(&b);
    var c = b;
    fe_square(&c);
    var d = x;
    fe_add(&d, &b);
    fe_square(&d);
    fe_sub(&d, &a);
    fe_sub(&d, &c);
    fe_double(&d);
    var e = a;
    fe_double(&e);
    fe_add(&e, &a);
    x = e;
    fe_square(&x);
    fe_sub(&x, &d);
    fe_sub(&x, &d);
    fe_mul(&z, &y);
    fe_double(&z);
    y = d;
    fe_sub(&y, &x);
    fe_mul(&y, &e);
    for (var i = 0; i < 3; i++) { fe_double(&c); }
    fe_sub(&y, &c);
    *p = Jacobian(x, y, z);
}

// *p += *q
fn point_add(p: ptr<function, Jacobian>, q: ptr<function, Jacobian>) {
    var z1 = (*p).z; var z2 = (*q).z;
    if fe_is_zero(&z1) { *p = *q; return; }
    if fe_is_zero(&z2) { return; }
    var zz1 = z1;
    fe_square(&zz1);
    var zz2 = z2;
    fe_square(&zz2);
    var u1 = (*p).x;
    fe_mul(&u1, &zz2);
    var h = (*q).x;
    fe_mul(&h, &zz1);
    fe_sub(&h, &u1);
    var s1 = (*p).y;
    fe_mul(&s1, &z2);
    fe_mul(&s1, &zz2);
    var r = (*q).y;
    fe_mul(&r, &z1);
    fe_mul(&r, &zz1);
    fe_sub(&r, &s1);
    fe_double(&r);
    if fe_is_zero(&h) {
        if fe_is_zero(&r) { point_double(p); } else { *p = Jacobian(); }
        return;
    }
    var i = h;
    fe_double(&i);
    fe_square(&i);
    var j = h;
    fe_mul(&j, &i);
    var v = u1;
    fe_mul(&v, &i);
    var x = r;
    fe_square(&x);
    fe_sub(&x, &j);
    fe_sub(&x, &v);
    fe_sub(&x, &v);
    var y = v;
    fe_sub(&y, &x);
    fe_mul(&y, &r);
    fe_mul(&j, &s1);
    fe_double(&j);
    fe_sub(&y, &j);
    fe_add(&z1, &z2);
    fe_square(&z1);
    fe_sub(&z1, &zz1);
    fe_sub(&z1, &zz2);
    fe_mul(&z1, &h);
    (*p).x = x;
    (*p).y = y;
    (*p).z = z1;
}

fn fe_invert(a: ptr<function, Limbs>) {
    var t = ONE; var r2 = R2;
    fe_mul(&t, &r2);
    for (var bit = 255; bit >= 0; bit--) {
        fe_square(&t);
        let word = P[bit / 32] - select(0u, 2u, bit < 32);
        if ((word >> u32(bit % 32)) & 1u) == 1u { fe_mul(&t, a); }
    }
    *a = t;
}

@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= arrayLength(&scalars) { return; }
    var r2 = R2;
    var one = ONE;
    var gx = GX; var gy = GY; var gz = ONE;
    fe_mul(&gx, &r2);
    fe_mul(&gy, &r2);
    fe_mul(&gz, &r2);
    var g = Jacobian(gx, gy, gz);
    var sum: Jacobian;
    for (var bit = i32(bits) - 1; bit >= 0; bit--) {
        point_double(&sum);
        if ((scalars[id.x][bit / 32] >> u32(bit % 32)) & 1u) == 1u { point_add(&sum, &g); }
    }
    var x = sum.x; var y = sum.y; var z = sum.z;
    fe_invert(&z);
    var w = z;
    fe_square(&w);
    fe_mul(&x, &w);
    fe_mul(&x, &one);
    fe_mul(&w, &z);
    fe_mul(&y, &w);
    fe_mul(&y, &one);
    for (var k = 0; k < 8; k++) { points[id.x][k] = x[k]; points[id.x][k + 8] = y[k]; }
}
