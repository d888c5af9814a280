// A machine of eight registers that runs programs from a buffer; each operation takes the machine and gives it back.

struct Machine { registers: array<u32, 8>, counter: u32, flags: u32 }

@group(0) @binding(0) var<storage, read> code: array<u32>;
@group(0) @binding(1) var<storage, read> inputs: array<vec2u>;
@group(0) @binding(2) var<storage, read_write> results: array<vec4u>;
@group(0) @binding(3) var<uniform> turns: u32;

fn at(m: Machine, index: u32) -> u32 { return m.registers[index & 7u]; }

fn put(m: Machine, index: u32, value: u32) -> Machine {
    var result = m;
    result.registers[index & 7u] = value;
    result.flags = select(0u, 1u, value == 0u) | select(0u, 2u, (value >> 31u) == 1u);
    return result;
}

fn jump(m: Machine, target_: u32) -> Machine {
    var result = m;
    result.counter = target_;
    return result;
}

fn rotated(v: u32, by: u32) -> u32 { return (v << (by & 31u)) | (v >> ((32u - by) & 31u)); }

fn squared_root(v: u32) -> u32 {
    var root = 0u;
    var bit = 1u << 30u;
    var rest = v;
    while bit > rest { bit >>= 2u; }
    while bit != 0u {
        if rest >= root + bit { rest -= root + bit; root = (root >> 1u) + bit; } else { root >>= 1u; }
        bit >>= 2u;
    }
    return root;
}

fn common_divisor(a: u32, b: u32) -> u32 {
    var x = a;
    var y = b;
    while y != 0u { let r = x % y; x = y; y = r; }
    return x;
}

fn exchanged(m: Machine, a: u32, b: u32) -> Machine {
    return put(put(m, a, at(m, b)), b, at(m, a));
}

fn step(m: Machine, word: u32) -> Machine {
    let a = (word >> 8u) & 7u;
    let b = (word >> 12u) & 7u;
    let c = (word >> 16u) & 7u;
    let value = word >> 20u;
    switch word & 31u {
        case 0u: { return put(m, a, at(m, b) + at(m, c)); }
        case 1u: { return put(m, a, at(m, b) - at(m, c)); }
        case 2u: { return put(m, a, at(m, b) * at(m, c)); }
        case 3u: { return put(m, a, at(m, b) / at(m, c)); }
        case 4u: { return put(m, a, at(m, b) % at(m, c)); }
        case 5u: { return put(m, a, at(m, b) & at(m, c)); }
        case 6u: { return put(m, a, at(m, b) | at(m, c)); }
        case 7u: { return put(m, a, at(m, b) ^ at(m, c)); }
        case 8u: { return put(m, a, at(m, b) << (at(m, c) & 31u)); }
        case 9u: { return put(m, a, at(m, b) >> (at(m, c) & 31u)); }
        case 10u: { return put(m, a, rotated(at(m, b), at(m, c))); }
        case 11u: { return put(m, a, value); }
        case 12u: { return put(m, a, at(m, b) + value); }
        case 13u: { return put(m, a, countOneBits(at(m, b))); }
        case 14u: { return put(m, a, squared_root(at(m, b))); }
        case 15u: { return put(m, a, common_divisor(at(m, b), at(m, c))); }
        case 16u: { if (m.flags & 1u) == 1u { return jump(m, value); } return m; }
        case 17u: { if (m.flags & 1u) == 0u { return jump(m, value); } return m; }
        case 18u: { return jump(m, value); }
        case 19u: { return exchanged(m, a, b); }
        case 20u: { return put(m, a, min(at(m, b), at(m, c))); }
        case 21u: { return put(m, a, max(at(m, b), at(m, c))); }
        case 22u: { return put(m, a, reverseBits(at(m, b))); }
        case 23u: { return put(m, a, code[(at(m, b) + value) % arrayLength(&code)]); }
        case 24u: { return exchanged(exchanged(m, a, b), b, c); }
        default: { return m; }
    }
}

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= arrayLength(&inputs) { return; }
    var m: Machine;
    m.registers[0] = inputs[id.x].x;
    m.registers[1] = inputs[id.x].y;
    m.registers[2] = id.x;
    for (var i = 0u; i < turns && m.counter < arrayLength(&code); i++) {
        let word = code[m.counter];
        m.counter++;
        m = step(m, word);
    }
    results[id.x] = vec4u(m.registers[0], m.registers[1], m.registers[7], m.counter);
}
