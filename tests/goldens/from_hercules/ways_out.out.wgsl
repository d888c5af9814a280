@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(1u, 1u, 1u)
fn main(@builtin(workgroup_id) workgroup_id: vec3u) {
    let workgroup_id_x = workgroup_id.x;
    var i = workgroup_id_x;
    var value: u32;
    loop {
        if !(i < 10u) {
            value = 99u;
            break;
        }
        if data[i] == 7u {
            value = i * 2u;
            break;
        }
        i++;
    }
    data[workgroup_id_x] = value;
}
