// secp256k1: scalar multiplication in Jacobian coordinates, over a field in Montgomery form. Values go in and out.

struct Field { limbs: array<u32, 8> }
struct Point { x: Field, y: Field, z: Field }

@group(0) @binding(0) var<storage, read> scalars: array<array<u32, 8>>;
@group(0) @binding(1) var<storage, read_write> points: array<array<u32, 16>>;
@group(0) @binding(2) var<uniform> bits: u32;

const PRIME = array<u32, 8>(
    0xfffffc2fu, 0xfffffffeu, 0xffffffffu, 0xffffffffu, 0xffffffffu, 0xffffffffu, 0xffffffffu, 0xffffffffu);
const INVERSE = 0xd2253531u; // -1/p modulo 2^32
const SQUARE_OF_R = array<u32, 8>(0x000e90a1u, 0x000007a2u, 1u, 0u, 0u, 0u, 0u, 0u);
const GENERATOR_X = array<u32, 8>(
    0x16f81798u, 0x59f2815bu, 0x2dce28d9u, 0x029bfcdbu, 0xce870b07u, 0x55a06295u, 0xf9dcbbacu, 0x79be667eu);
const GENERATOR_Y = array<u32, 8>(
    0xfb10d4b8u, 0x9c47d08fu, 0xa6855419u, 0xfd17b448u, 0x0e1108a8u, 0x5da4fbfcu, 0x26a3c465u, 0x483ada77u);

// The product of two words, as (low, high).
fn wide(a: u32, b: u32) -> vec2u {
    let low = (a & 0xffffu) * (b & 0xffffu);
    let first = (a >> 16u) * (b & 0xffffu);
    let second = (a & 0xffffu) * (b >> 16u);
    let high = (a >> 16u) * (b >> 16u);
    let middle = (low >> 16u) + (first & 0xffffu) + (second & 0xffffu);
    return vec2u((low & 0xffffu) | (middle << 16u), high + (first >> 16u) + (second >> 16u) + (middle >> 16u));
}

// a * b + c + d, as (low, high).
fn multiply_add(a: u32, b: u32, c: u32, d: u32) -> vec2u {
    var product = wide(a, b);
    product.x += c;
    product.y += select(0u, 1u, product.x < c);
    product.x += d;
    product.y += select(0u, 1u, product.x < d);
    return product;
}

// a + b + carry, as (sum, carry).
fn add_with_carry(a: u32, b: u32, carry: u32) -> vec2u {
    let partial = a + b;
    let sum = partial + carry;
    return vec2u(sum, select(0u, 1u, partial < a) + select(0u, 1u, sum < partial));
}

// a - b - borrow, as (difference, borrow).
fn subtract_with_borrow(a: u32, b: u32, borrow: u32) -> vec2u {
    let partial = a - b;
    let difference = partial - borrow;
    return vec2u(difference, select(0u, 1u, a < b) + select(0u, 1u, partial < borrow));
}

// Minus the prime, where the number is not below it.
fn reduce_once(a: Field, carry: u32) -> Field {
    var result: Field;
    var borrow = 0u;
    for (var i = 0u; i < 8u; i++) {
        let step = subtract_with_borrow(a.limbs[i], PRIME[i], borrow);
        result.limbs[i] = step.x;
        borrow = step.y;
    }
    if carry == 0u && borrow == 1u { return a; }
    return result;
}

fn add(a: Field, b: Field) -> Field {
    var result: Field;
    var carry = 0u;
    for (var i = 0u; i < 8u; i++) {
        let step = add_with_carry(a.limbs[i], b.limbs[i], carry);
        result.limbs[i] = step.x;
        carry = step.y;
    }
    return reduce_once(result, carry);
}

fn sub(a: Field, b: Field) -> Field {
    var result: Field;
    var borrow = 0u;
    for (var i = 0u; i < 8u; i++) {
        let step = subtract_with_borrow(a.limbs[i], b.limbs[i], borrow);
        result.limbs[i] = step.x;
        borrow = step.y;
    }
    if borrow == 0u { return result; }
    var carry = 0u;
    for (var i = 0u; i < 8u; i++) {
        let step = add_with_carry(result.limbs[i], PRIME[i], carry);
        result.limbs[i] = step.x;
        carry = step.y;
    }
    return result;
}

// a * b / 2^256 modulo p: Montgomery's product, word by word.
fn mul(a: Field, b: Field) -> Field {
    var sum: array<u32, 10>;
    for (var i = 0u; i < 8u; i++) {
        var carry = 0u;
        for (var j = 0u; j < 8u; j++) {
            let step = multiply_add(a.limbs[j], b.limbs[i], sum[j], carry);
            sum[j] = step.x;
            carry = step.y;
        }
        var top = add_with_carry(sum[8], carry, 0u);
        sum[8] = top.x;
        sum[9] = top.y;
        let factor = sum[0] * INVERSE;
        carry = multiply_add(factor, PRIME[0], sum[0], 0u).y;
        for (var j = 1u; j < 8u; j++) {
            let step = multiply_add(factor, PRIME[j], sum[j], carry);
            sum[j - 1u] = step.x;
            carry = step.y;
        }
        top = add_with_carry(sum[8], carry, 0u);
        sum[7] = top.x;
        sum[8] = sum[9] + top.y;
    }
    var result: Field;
    for (var i = 0u; i < 8u; i++) { result.limbs[i] = sum[i]; }
    return reduce_once(result, sum[8]);
}

fn square(a: Field) -> Field { return mul(a, a); }

fn double(a: Field) -> Field { return add(a, a); }

fn is_zero(a: Field) -> bool {
    var all = 0u;
    for (var i = 0u; i < 8u; i++) { all |= a.limbs[i]; }
    return all == 0u;
}

// 1/a by Fermat's little theorem: a to the power of p - 2.
fn invert(a: Field) -> Field {
    var result = to_montgomery(Field(array<u32, 8>(1u, 0u, 0u, 0u, 0u, 0u, 0u, 0u)));
    for (var i = 0u; i < 256u; i++) {
        let bit = 255u - i;
        result = square(result);
        var word = PRIME[bit / 32u];
        if bit < 32u { word -= 2u; }
        if ((word >> (bit % 32u)) & 1u) == 1u { result = mul(result, a); }
    }
    return result;
}

fn to_montgomery(a: Field) -> Field { return mul(a, Field(SQUARE_OF_R)); }

fn from_montgomery(a: Field) -> Field { return mul(a, Field(array<u32, 8>(1u, 0u, 0u, 0u, 0u, 0u, 0u, 0u))); }

fn double_point(p: Point) -> Point {
    let a = square(p.x);
    let b = square(p.y);
    let c = square(b);
    let d = double(sub(sub(square(add(p.x, b)), a), c));
    let e = add(double(a), a);
    let f = square(e);
    var result: Point;
    result.x = sub(f, double(d));
    result.y = sub(mul(e, sub(d, result.x)), double(double(double(c))));
    result.z = double(mul(p.y, p.z));
    return result;
}

fn add_points(p: Point, q: Point) -> Point {
    if is_zero(p.z) { return q; }
    if is_zero(q.z) { return p; }
    let z1z1 = square(p.z);
    let z2z2 = square(q.z);
    let u1 = mul(p.x, z2z2);
    let u2 = mul(q.x, z1z1);
    let s1 = mul(mul(p.y, q.z), z2z2);
    let s2 = mul(mul(q.y, p.z), z1z1);
    let h = sub(u2, u1);
    let r = double(sub(s2, s1));
    if is_zero(h) {
        if is_zero(r) { return double_point(p); }
        return Point();
    }
    let i = square(double(h));
    let j = mul(h, i);
    let v = mul(u1, i);
    var result: Point;
    result.x = sub(sub(square(r), j), double(v));
    result.y = sub(mul(r, sub(v, result.x)), double(mul(s1, j)));
    result.z = mul(sub(sub(square(add(p.z, q.z)), z1z1), z2z2), h);
    return result;
}

fn multiply_point(scalar: array<u32, 8>, p: Point) -> Point {
    var words = scalar;
    var result = Point();
    for (var i = 0u; i < bits; i++) {
        let bit = bits - 1u - i;
        result = double_point(result);
        if ((words[bit / 32u] >> (bit % 32u)) & 1u) == 1u { result = add_points(result, p); }
    }
    return result;
}

@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= arrayLength(&scalars) { return; }
    let one = to_montgomery(Field(array<u32, 8>(1u, 0u, 0u, 0u, 0u, 0u, 0u, 0u)));
    let generator = Point(to_montgomery(Field(GENERATOR_X)), to_montgomery(Field(GENERATOR_Y)), one);
    let product = multiply_point(scalars[id.x], generator);
    let inverse = invert(product.z);
    let inverse2 = square(inverse);
    let x = from_montgomery(mul(product.x, inverse2));
    let y = from_montgomery(mul(product.y, mul(inverse2, inverse)));
    for (var i = 0u; i < 8u; i++) {
        points[id.x][i] = x.limbs[i];
        points[id.x][i + 8u] = y.limbs[i];
    }
}
