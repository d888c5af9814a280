@group(0) @binding(0) var<read> data: array<u32>;
// a place needs one of the names of an enumeration
