@group(0) @binding(0) var<storage, read_write> out: array<i32>;
@group(0) @binding(1) var<storage, read_write> counter: atomic<i32>;

fn next() -> i32 {
    return atomicAdd(&counter, 1);
}

@compute @workgroup_size(1)
fn main() {
    let before = out[0];
    out[0] = 7;
    out[1] = before;
    out[2] = next() - next() * next();
    out[next()] += next();
    out[next()] = out[3] + next();
    let first = next();
    let second = next();
    out[4] = second - first;
    next();
    atomicStore(&counter, out[5]);
    var local = array<i32, 4>(1, 2, 3, 4);
    local[out[6]]++;
    out[7] = local[1];
    local[0] = next();
    out[8] = local[0] + out[7];
    var v = vec4i();
    v[out[9]] *= 3;
    v.y += next();
    out[10] = v.x;
}
