@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(1)
fn main(@builtin(local_invocation_index) i: u32) {
    var sum: u32;
    var k: u32;
    var sum_1 = 0u;
    var k_1 = 0u;
    loop {
        if !(k_1 < 3u) {
            sum = sum_1;
            k = k_1;
            break;
        }
        let t = sum_1 + k_1;
        continuing {
            sum_1 = t;
            k_1++;
        }
    }
    let sum_3_2 = sum + data[0u];
    let sum_3_3 = sum_3_2 + data[1u];
    var sum_4: u32;
    var k_2: u32;
    var sum_5 = sum_3_3;
    var k_2_1 = 0u;
    loop {
        if !(k_2_1 < 2u) {
            sum_4 = sum_5;
            k_2 = k_2_1;
            break;
        }
        if sum_5 > 5u {
            sum_4 = sum_5;
            k_2 = k_2_1;
            break;
        }
        let t_1 = sum_5 + 9u;
        continuing {
            sum_5 = t_1;
            k_2_1++;
        }
    }
    var sum_6: u32;
    var k_3: u32;
    var sum_7 = sum_4;
    var k_3_1 = 0u;
    loop {
        if !(k_3_1 < i) {
            sum_6 = sum_7;
            k_3 = k_3_1;
            break;
        }
        let t_2 = sum_7 + k_3_1;
        continuing {
            sum_7 = t_2;
            k_3_1++;
        }
    }
    data[i] = sum_6;
}
