const a = 10;
const b = a / (a - 10);
// an expression that is evaluated early has no value, such as a division by zero
