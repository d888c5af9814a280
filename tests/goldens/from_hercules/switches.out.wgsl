@group(0) @binding(0) var<storage, read_write> data: array<i32>;

@compute @workgroup_size(1u, 1u, 1u)
fn main(@builtin(workgroup_id) workgroup_id: vec3u) {
    var state: i32;
    let workgroup_id_x = workgroup_id.x;
    let kind = data[workgroup_id_x];
    switch kind {
        case 7: {
            state = 1;
        }
        case 9: {
            var i = 0;
            state = kind;
            while i < 6 {
                let t = state;
                let more = t * 3;
                switch t & 3 {
                    case 0: {
                        switch i % 3 {
                            case 0: {
                                state++;
                            }
                            case 1: {
                                state += more;
                            }
                            default: {
                                state -= more;
                            }
                        }
                    }
                    case 1: {
                        state = more + i;
                    }
                    case 2: {
                        var j = 0;
                        while j < 3 {
                            if state > 50 {
                                break;
                            }
                            let t_1 = j;
                            let t_2 = state + t_1;
                            j = t_1 + 1;
                            state = t_2;
                        }
                    }
                    default: {
                        state = more >> 1u;
                    }
                }
                i++;
            }
        }
        case 6, 8: {
            var state_1 = kind;
            loop {
                let t_3 = state_1 & 7;
                if t_3 == 5 {
                    state_1 += 4;
                } else {
                    if t_3 == 2 {
                        break;
                    }
                    if t_3 == 1 {
                        state_1 += 9;
                    } else {
                        state_1++;
                    }
                }
            }
            state = state_1 * 3;
        }
        default: {
            switch kind {
                case -1: {
                    state = 10;
                }
                case 2, 4: {
                    state = 20;
                }
                case 3: {
                    state = data[1u];
                }
                default: {
                    state = 30;
                }
            }
        }
    }
    data[workgroup_id_x] = state;
}
