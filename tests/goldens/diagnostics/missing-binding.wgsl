@group(0) var<storage> data: array<f32>;
// a resource lacks its group or its binding
