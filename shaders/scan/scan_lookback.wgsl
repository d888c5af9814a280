// Inclusive prefix sums of a whole array in one pass, with decoupled look-back (Merrill and Garland, 2016). A block
// publishes the sum of its values, looks back over the blocks before it until one has published the sum of all values
// up to its end, and then publishes its own.
//
// What this relies on:
// - The state of a block and its sum are one atomic word, of which the two lowest bits are the state. All atomics of
//   WGSL are relaxed, so a flag in a word of its own would say nothing about a sum in another one. Sums therefore have
//   30 bits, and are right modulo 2^30.
// - Blocks are numbered in the order in which workgroups begin, by a counter: all blocks before one have begun, in
//   whatever order a device takes workgroups.
// - Nothing is relied on for progress. WGSL does not promise that other workgroups go on while one waits; so after some
//   looks, a workgroup that still finds nothing adds up the values of the block that it waits for, itself.
//
// The counter and the states are zero at the start.

const WIDTH = 256u;
const LOOKS = 16u;

const STATE = 3u;
const EMPTY = 0u;
const OWN_SUM = 1u; // of the block's values
const FULL_SUM = 2u; // of all values up to the block's end

@group(0) @binding(0) var<storage, read> values: array<u32>;
@group(0) @binding(1) var<storage, read_write> sums: array<u32>;
@group(0) @binding(2) var<storage, read_write> begun: atomic<u32>;
@group(0) @binding(3) var<storage, read_write> states: array<atomic<u32>>;

var<workgroup> block_number: u32;
var<workgroup> before: u32;
var<workgroup> scanned: array<u32, WIDTH>;

fn value_at(i: u32) -> u32 {
    if i < arrayLength(&values) {
        return values[i];
    }
    return 0u;
}

// The word of a block, as soon as it holds a sum; one that is added up here if that does not come.
fn published(block: u32) -> u32 {
    for (var look = 0u; look < LOOKS; look++) {
        let word = atomicLoad(&states[block]);
        if (word & STATE) != EMPTY {
            return word;
        }
    }
    var sum = 0u;
    for (var i = 0u; i < WIDTH; i++) {
        sum += values[block * WIDTH + i];
    }
    return (sum << 2u) | OWN_SUM;
}

// The sum of all values before a block.
fn sum_before(block: u32) -> u32 {
    var sum = 0u;
    var other = block;
    while other > 0u {
        other--;
        let word = published(other);
        sum += word >> 2u;
        if (word & STATE) == FULL_SUM {
            break;
        }
    }
    return sum;
}

@compute @workgroup_size(WIDTH)
fn main(@builtin(local_invocation_index) local: u32) {
    if local == 0u {
        block_number = atomicAdd(&begun, 1u);
    }
    let block = workgroupUniformLoad(&block_number);
    let i = block * WIDTH + local;

    scanned[local] = value_at(i);
    workgroupBarrier();
    for (var reach = 1u; reach < WIDTH; reach *= 2u) {
        var sum = scanned[local];
        if local >= reach {
            sum += scanned[local - reach];
        }
        workgroupBarrier();
        scanned[local] = sum;
        workgroupBarrier();
    }

    if local == WIDTH - 1u {
        let own = scanned[local];
        atomicStore(&states[block], (own << 2u) | OWN_SUM);
        let sum = sum_before(block);
        atomicStore(&states[block], ((sum + own) << 2u) | FULL_SUM);
        before = sum;
    }
    let sum = workgroupUniformLoad(&before);
    if i < arrayLength(&sums) {
        sums[i] = (sum + scanned[local]) & 0x3fffffffu;
    }
}
