const a: u32 = -1;
const b = 5000000000i;
const c: f32 = 1e39;
// a number does not fit its type
