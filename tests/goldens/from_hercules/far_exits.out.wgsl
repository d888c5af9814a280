@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(1u, 1u, 1u)
fn main(@builtin(workgroup_id) workgroup_id: vec3u) {
    var leave_1: bool;
    var leave: bool;
    let workgroup_id_x = workgroup_id.x;
    let t = data[workgroup_id_x];
    leave = false;
    var i = 0u;
    var count = 0u;
    loop {
        if i < t {
            var j = i;
            while j < 9u {
                let t_1 = data[j];
                if t_1 > 100u {
                    leave = true;
                    break;
                }
                if t_1 == t {
                    count += 3u;
                    break;
                }
                let t_2 = count + 1u;
                j++;
                count = t_2;
            }
            if leave {
                break;
            }
            leave_1 = false;
            if (count & 1u) == 0u {
                var count_1: u32;
                if data[i] == 5u {
                    if count > 20u {
                        leave_1 = true;
                    } else {
                        count_1 = count + 5u;
                    }
                } else {
                    count_1 = count + 2u;
                }
                if !leave_1 {
                    count = count_1 ^ i;
                }
            }
            if !leave_1 {
                count++;
            }
            i++;
        } else {
            count += 1000u;
            break;
        }
    }
    data[workgroup_id_x] = count;
}
