// Values that change places around a loop need one more variable; others are assigned in an order that needs none.
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@compute @workgroup_size(1)
fn main() {
    var a = data[0];
    var b = data[1];
    var c = data[2];
    for (var i = 0u; i < data[3]; i++) {
        let t = a;
        a = b;
        b = t + c;
        c = c * 2u + i;
    }
    data[4] = a;
    data[5] = b;
    data[6] = c;
}
