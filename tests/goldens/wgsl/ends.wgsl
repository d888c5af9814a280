struct S {
    a: vec3f,
    b: array<mat2x2f, 2>,
    c: bool,
}

fn a_loop(n: u32) -> f32 {
    var i = n;
    loop {
        if i > 3 {
            return 1;
        }
        i++;
    }
    return 2;
}

fn a_loop_without_a_head(n: u32) -> vec3i {
    var i = n;
    for (;;) {
        if i > 3 {
            return vec3i(1);
        }
        i++;
    }
}

fn a_loop_that_may_end(n: u32) -> u32 {
    var i = n;
    while true {
        if i > 3 {
            return 1;
        }
        i++;
    }
    return 2;
}

fn no_value(n: u32) {
    var i = n;
    loop {
        if i > 3 {
            return;
        }
        i++;
    }
}

fn both_arms(n: u32) -> bool {
    if n > 3 {
        return true;
    } else {
        return false;
    }
}

fn an_arm_with_a_loop(n: u32) -> mat2x3f {
    if n > 3 {
        return mat2x3f();
    } else {
        loop {
            if n > 2 {
                return mat2x3f();
            }
            continuing {
                let m = n;
            }
        }
    }
}

fn an_arm_that_goes_on(n: u32) -> i32 {
    if n > 3 {
        loop {
            if n > 5 {
                return 1;
            }
        }
    }
    return 2;
}

fn all_cases(n: u32) -> array<u32, 3> {
    switch n {
        case 1 {
            return array(1, 2, 3);
        }
        case 2, default {
            if n > 3 {
                return array(4, 5, 6);
            } else if n > 2 {
                return array(7, 8, 9);
            } else {
                return array(0, 0, 1);
            }
        }
    }
}

fn a_case_with_a_loop(n: u32) -> S {
    switch n {
        case 1 {
            return S(vec3f(1), array(mat2x2f(), mat2x2f()), true);
        }
        default {
            loop {
                switch n {
                    case 7 {
                        return S();
                    }
                    default {
                    }
                }
            }
        }
    }
}

fn a_loop_in_a_loop(n: u32) -> i32 {
    loop {
        loop {
            if n > 1 {
                return 1;
            }
            if n > 7 {
                break;
            }
        }
    }
}

fn a_block(n: u32) -> i32 {
    {
        loop {
            {
                return 1;
            }
        }
    }
}
