var<private> m: mat2x2<i32>;
var<private> v: vec3<vec2f>;

fn f(x: atomic<u32>) {
}
// a type that cannot stand here
