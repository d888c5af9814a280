var<private> x;
// a declaration has neither type nor initial value
