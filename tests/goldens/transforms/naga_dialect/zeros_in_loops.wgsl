// passes: naga_dialect
// variables without a value: those in loops get one, others are zeroed once anyway
struct Pair { first: u32, rest: array<u32, 2> }
@group(0) @binding(0) var<storage, read_write> data: array<u32, 8>;

@compute @workgroup_size(1)
fn main() {
    var sum: u32;
    for (var i = 0u; i < 3; i++) {
        var pair: Pair;
        pair.first += i;
        while pair.rest[i & 1] < 2 {
            var seen: bool;
            if !seen {
                pair.rest[i & 1]++;
            }
            seen = true;
        }
        sum += pair.first + pair.rest[1];
    }
    data[0] = sum;
}
