@group(0) @binding(0) var<storage, read_write> out: array<i32>;

@compute @workgroup_size(1u)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let id_x = id.x;
    var x = i32(id_x);
    var t: i32;
    if x < 5 {
        t = 3;
    } else {
        x *= 2;
        t = 4;
    }
    var t_1 = 8;
    if x > 3 {
        t_1 = 7;
    }
    var a = 0;
    var b = 1;
    while a < 10 {
        let t_2 = a + b;
        a = b;
        b = t_2;
    }
    var k = 0;
    loop {
        continuing {
            k++;
            break if k > t;
        }
    }
    var t_3 = 0;
    out[id_x] = (b + k + t_1) / t_3;
}
