// The machine of machine_values.wgsl, whose operations change it where it is; it has private variables for its flags.

@group(0) @binding(0) var<storage, read> code: array<u32>;
@group(0) @binding(1) var<storage, read> inputs: array<vec2u>;
@group(0) @binding(2) var<storage, read_write> results: array<vec4u>;
@group(0) @binding(3) var<uniform> turns: u32;

alias Registers = array<u32, 16>;
struct Machine { registers: Registers, counter: u32 }
var<private> is_zero: bool;
var<private> sign: u32;

fn put(r: ptr<function, Registers>, index: u32, value: u32) {
    (*r)[index & 7u] = value;
    is_zero = value == 0u;
    sign = value >> 31u;
}

fn squared_root(v: ptr<function, u32>) {
    var root = 0u;
    for (var bit = 1u << 30u; bit != 0u; bit >>= 2u) {
        if *v >= root + bit { *v -= root + bit; root = (root >> 1u) + bit; } else { root >>= 1u; }
    }
    *v = root;
}

fn reduce(a: ptr<function, u32>, b: ptr<function, u32>) {
    loop {
        if *b == 0u { break; }
        let r = *a % *b;
        *a = *b;
        *b = r;
    }
}

fn exchange(r: ptr<function, Registers>, a: u32, b: u32) {
    let kept = (*r)[a];
    put(r, a, (*r)[b]);
    put(r, b, kept);
}

fn compute(r: ptr<function, Registers>, operation: u32, a: u32, x: u32, y: u32) -> bool {
    switch operation {
        case 0u: { put(r, a, x + y); }
        case 1u: { put(r, a, x - y); }
        case 2u: { put(r, a, x * y); }
        case 3u: { put(r, a, x / y); }
        case 4u: { put(r, a, x % y); }
        case 5u: { put(r, a, x & y); }
        case 6u: { put(r, a, x | y); }
        case 7u: { put(r, a, x ^ y); }
        case 8u: { put(r, a, x << (y & 31u)); }
        case 9u: { put(r, a, x >> (y & 31u)); }
        case 10u: { put(r, a, (x << (y & 31u)) | (x >> ((32u - y) & 31u))); }
        case 13u: { put(r, a, countOneBits(x)); }
        case 14u: { var v = x; squared_root(&v); put(r, a, v); }
        case 15u: { var v = x; var w = y; reduce(&v, &w); put(r, a, v); }
        case 20u: { put(r, a, min(x, y)); }
        case 21u: { put(r, a, max(x, y)); }
        case 22u: { put(r, a, reverseBits(x)); }
        default: { return false; }
    }
    return true;
}

fn step(m: ptr<function, Machine>) {
    let word = code[(*m).counter];
    (*m).counter++;
    let a = extractBits(word, 8u, 3u);
    let b = extractBits(word, 12u, 3u);
    let c = extractBits(word, 16u, 3u);
    let value = word >> 20u;
    var r = (*m).registers;
    if !compute(&r, word & 31u, a, r[b], r[c]) {
        switch word & 31u {
            case 11u: { put(&r, a, value); }
            case 12u: { put(&r, a, r[b] + value); }
            case 16u: { if is_zero { (*m).counter = value; } }
            case 17u: { if !is_zero { (*m).counter = value; } }
            case 18u: { (*m).counter = value; }
            case 19u: { exchange(&r, a, b); }
            case 23u: { put(&r, a, code[(r[b] + value) % arrayLength(&code)]); }
            case 24u: { exchange(&r, a, b); exchange(&r, b, c); }
            default: { }
        }
    }
    (*m).registers = r;
}

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= arrayLength(&inputs) { return; }
    var m: Machine;
    m.registers[0] = inputs[id.x].x;
    m.registers[1] = inputs[id.x].y;
    m.registers[2] = id.x;
    for (var i = 0u; i < turns && m.counter < arrayLength(&code); i++) { step(&m); }
    results[id.x] = vec4u(m.registers[0], m.registers[1], m.registers[7], m.counter);
}
