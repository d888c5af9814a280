const length = 3;
var<private> x: length;
// a place needs the name of a type
