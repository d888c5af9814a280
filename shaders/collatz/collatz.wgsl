// How many steps the Collatz sequence of each number takes to reach 1: a divergent loop on integers. Numbers that
// would overflow on their way are given up.

const GIVEN_UP = -1;
const LARGEST = (0xffffffffu - 1u) / 3u;

@group(0) @binding(0) var<storage, read> starts: array<u32>;
@group(0) @binding(1) var<storage, read_write> lengths: array<i32>;

fn collatz_length(start: u32) -> i32 {
    var n = start;
    var steps = 0;
    while n > 1u {
        if (n & 1u) == 0u {
            let halvings = countTrailingZeros(n);
            n >>= halvings;
            steps += i32(halvings);
            continue;
        }
        if n > LARGEST {
            return GIVEN_UP;
        }
        n = 3u * n + 1u;
        steps++;
    }
    return steps;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let i = id.x;
    if i < arrayLength(&starts) {
        lengths[i] = collatz_length(starts[i]);
    }
}
