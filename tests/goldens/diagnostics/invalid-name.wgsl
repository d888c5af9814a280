var<private> mut: i32;
const __size = 1;
// a word cannot be used as a name
