var<private> x: array<f32, 3 - 3>;
// the element count of an array is not a positive number that is known early
