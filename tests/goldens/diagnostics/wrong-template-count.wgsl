var<private> x: vec3<f32, 3>;
var<private> p: array<f32, 2, 2>;
// a type generator has too few or too many template arguments
