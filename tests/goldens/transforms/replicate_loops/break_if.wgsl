// passes: replicate_loops{n=3}
// what the continuing part sees is made in each copy; the loop ends by break if
@group(0) @binding(0) var<storage, read_write> data: array<u32, 8>;

@compute @workgroup_size(1)
fn main() {
    var x = data[0];
    loop {
        var square: u32;
        square += x * x;
        let odd = x & 1;
        if square > 30 {
            data[1] += square;
            continue;
        }
        data[2] += 1;
        continuing {
            data[3] += odd;
            x++;
            break if x + square > 40;
        }
    }
}
