// Random numbers without state: O'Neill's PCG-RXS-M-XS hash of the index, applied a number of rounds.

struct Params {
    seed: u32,
    rounds: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> hashes: array<u32>;
@group(0) @binding(2) var<storage, read_write> unit_floats: array<f32>;

fn pcg(input: u32) -> u32 {
    let state = input * 747796405u + 2891336453u;
    let word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
    return (word >> 22u) ^ word;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= arrayLength(&hashes) {
        return;
    }
    var hash = id.x + params.seed;
    for (var round = 0u; round < params.rounds; round++) {
        hash = pcg(hash);
    }
    hashes[id.x] = hash;
    // Mantissa bits under the exponent of 1 make a float of [1, 2).
    unit_floats[id.x] = bitcast<f32>(0x3f800000u | (hash >> 9u)) - 1.0;
}
