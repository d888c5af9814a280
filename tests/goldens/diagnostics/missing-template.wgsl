var<private> x: vec4;
// a type generator lacks its template arguments
