struct Pair {
    first: u32,
    rest: array<u32, 2>,
}

@group(0) @binding(0) var<storage, read_write> data: array<u32, 8>;

@compute @workgroup_size(1)
fn main() {
    var sum: u32;
    for (var i = 0u; i < 3u; i++) {
        var pair = Pair();
        pair.first += i;
        while pair.rest[i & 1u] < 2u {
            var seen = false;
            if !seen {
                pair.rest[i & 1u]++;
            }
            seen = true;
        }
        sum += pair.first + pair.rest[1];
    }
    data[0] = sum;
}
