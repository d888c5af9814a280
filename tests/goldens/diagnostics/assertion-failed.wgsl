const SIZE = 48;
const_assert SIZE % 32 == 0;
// the condition of a `const_assert` is false
