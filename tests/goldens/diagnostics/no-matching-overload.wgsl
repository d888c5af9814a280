@compute @workgroup_size(1)
fn main() {
    let a = dot(vec3f(), vec2f());
    let b = max(1, 2, 3);
    let c = vec3f(1, 2);
}
// no overload of a builtin function or constructor takes these arguments
