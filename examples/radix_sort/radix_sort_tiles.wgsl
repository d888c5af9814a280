// The radix sort for processors: each workgroup is one invocation, which sorts a long tile of keys one after another. As
// many tiles as there are cores are enough, so that digits may have eight bits, and four rounds sort all keys.

const TILE = 65536u;
const RADIX = 256u;
const DIGIT_BITS = 8u;

@group(0) @binding(0) var<uniform> shift: u32;
@group(0) @binding(1) var<storage, read> keys: array<u32>;

var<private> places: array<u32, RADIX>;

fn digit_of(key: u32) -> u32 {
    return (key >> shift) & (RADIX - 1u);
}

// How often each digit occurs in a tile: all tiles of digit 0, then those of digit 1, and so on.
@group(0) @binding(2) var<storage, read_write> counts: array<u32>;

@compute @workgroup_size(1)
fn count(@builtin(workgroup_id) tile: vec3u, @builtin(num_workgroups) tiles: vec3u) {
    let first = tile.x * TILE;
    let end = min(first + TILE, arrayLength(&keys));
    for (var i = first; i < end; i++) {
        places[digit_of(keys[i])]++;
    }
    for (var digit = 0u; digit < RADIX; digit++) {
        counts[digit * tiles.x + tile.x] = places[digit];
    }
}

// Replaces each number by the sum of those before it.
@group(0) @binding(2) var<storage, read_write> sums: array<u32>;

@compute @workgroup_size(1)
fn scan() {
    var before = 0u;
    for (var i = 0u; i < arrayLength(&sums); i++) {
        let here = sums[i];
        sums[i] = before;
        before += here;
    }
}

// Puts each key behind those with the same digit that come before it.
@group(0) @binding(2) var<storage, read> starts: array<u32>;
@group(0) @binding(3) var<storage, read_write> sorted: array<u32>;

@compute @workgroup_size(1)
fn scatter(@builtin(workgroup_id) tile: vec3u, @builtin(num_workgroups) tiles: vec3u) {
    for (var digit = 0u; digit < RADIX; digit++) {
        places[digit] = starts[digit * tiles.x + tile.x];
    }
    let first = tile.x * TILE;
    let end = min(first + TILE, arrayLength(&keys));
    for (var i = first; i < end; i++) {
        let key = keys[i];
        let digit = digit_of(key);
        sorted[places[digit]] = key;
        places[digit]++;
    }
}
