// passes: flatten_loops
// two loops, one after the other, in a loop that ends by break if
@group(0) @binding(0) var<storage, read_write> data: array<u32, 8>;

@compute @workgroup_size(1)
fn main() {
    var i = 0u;
    loop {
        var low = data[0];
        while low > 1 {
            low /= 2;
            data[1]++;
        }
        let middle = low + i;
        loop {
            low++;
            data[2] += middle;
            continuing {
                break if low > 3 + i;
            }
        }
        data[3] += low;
        continuing {
            i++;
            break if i + data[4] > 6;
        }
    }
}
