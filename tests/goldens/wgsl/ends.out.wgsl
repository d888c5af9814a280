struct S {
    a: vec3f,
    b: array<mat2x2f, 2>,
    c: bool,
}

fn a_loop(n: u32) -> f32 {
    var i = n;
    loop {
        if i > 3u {
            return 1.0;
        }
        i++;
    }
    return 0.0;
}

fn a_loop_without_a_head(n: u32) -> vec3i {
    var i = n;
    loop {
        if i > 3u {
            return vec3i(1);
        }
        i++;
    }
    return vec3i(0);
}

fn a_loop_that_may_end(n: u32) -> u32 {
    var i = n;
    while true {
        if i > 3u {
            return 1u;
        }
        i++;
    }
    return 2u;
}

fn no_value(n: u32) {
    var i = n;
    loop {
        if i > 3u {
            return;
        }
        i++;
    }
}

fn both_arms(n: u32) -> bool {
    if n > 3u {
        return true;
    } else {
        return false;
    }
}

fn an_arm_with_a_loop(n: u32) -> mat2x3f {
    if n > 3u {
        return mat2x3f();
    } else {
        loop {
            if n > 2u {
                return mat2x3f();
            }
        }
    }
    return mat2x3f();
}

fn an_arm_that_goes_on(n: u32) -> i32 {
    if n > 3u {
        loop {
            if n > 5u {
                return 1;
            }
        }
    }
    return 2;
}

fn all_cases(n: u32) -> array<u32, 3> {
    switch n {
        case 1u: {
            return array<u32, 3>(1u, 2u, 3u);
        }
        case 2u, default: {
            if n > 3u {
                return array<u32, 3>(4u, 5u, 6u);
            } else if n > 2u {
                return array<u32, 3>(7u, 8u, 9u);
            } else {
                return array<u32, 3>(0u, 0u, 1u);
            }
        }
    }
}

fn a_case_with_a_loop(n: u32) -> S {
    switch n {
        case 1u: {
            return S(vec3f(1.0), array<mat2x2f, 2>(), true);
        }
        default: {
            loop {
                switch n {
                    case 7u: {
                        return S();
                    }
                    default: {}
                }
            }
        }
    }
    return S();
}

fn a_loop_in_a_loop(n: u32) -> i32 {
    loop {
        loop {
            if n > 1u {
                return 1;
            }
            if n > 7u {
                break;
            }
        }
    }
    return 0;
}

fn a_block(n: u32) -> i32 {
    loop {
        return 1;
    }
    return 0;
}
