@group(0) @binding(0) var<storage, read_write> data: array<u32, 8>;

@compute @workgroup_size(1)
fn main() {
    var x = data[0];
    loop {
        var square_1: u32;
        square_1 += x * x;
        let odd_1 = x & 1u;
        if square_1 > 30u {
            data[1] += square_1;
        } else {
            data[2]++;
        }
        data[3] += odd_1;
        x++;
        if x + square_1 > 40u {
            break;
        }
        var square_2: u32;
        square_2 += x * x;
        let odd_2 = x & 1u;
        if square_2 > 30u {
            data[1] += square_2;
        } else {
            data[2]++;
        }
        data[3] += odd_2;
        x++;
        if x + square_2 > 40u {
            break;
        }
        var square: u32;
        square += x * x;
        let odd = x & 1u;
        if square > 30u {
            data[1] += square;
            continue;
        }
        data[2]++;
        continuing {
            data[3] += odd;
            x++;
            break if x + square > 40u;
        }
    }
}
