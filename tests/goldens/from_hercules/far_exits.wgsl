// Jumps past the end of an inner loop, and past code after conditions, which WGSL has no word for.
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
fn steps(n: u32) -> u32 {
    var count = 0u;
    for (var i = 0u; i < n; i++) {
        for (var j = i; j < 9u; j++) {
            if data[j] > 100u {
                return count;
            }
            if data[j] == n {
                count += 3u;
                break;
            }
            count++;
        }
        if (count & 1u) == 0u {
            if data[i] == 5u {
                if count > 20u {
                    continue;
                }
                count += 5u;
            } else {
                count += 2u;
            }
            count ^= i;
        }
        count += 1u;
    }
    return count + 1000u;
}
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
    data[id.x] = steps(data[id.x]);
}
