@group(0) @binding(0) var<storage, read_write> data: array<u32, 8>;

@compute @workgroup_size(1)
fn main() {
    var a_2 = 0u;
    var b_2 = 1u;
    var i_2 = 0u;
    while i_2 < data[0] + 4u {
        let c_1 = a_2 + b_2;
        let i_3 = i_2 + 1u;
        if !(i_3 < data[0] + 4u) {
            a_2 = b_2;
            b_2 = c_1;
            break;
        }
        let c_2 = b_2 + c_1;
        let i = i_3 + 1u;
        if !(i < data[0] + 4u) {
            a_2 = c_1;
            b_2 = c_2;
            break;
        }
        let c = c_1 + c_2;
        i_2 = i + 1u;
        a_2 = c_2;
        b_2 = c;
    }
    data[1] = a_2;
    data[2] = b_2;
}
