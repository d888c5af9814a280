var<private, read> x: f32;
// an access mode that the address space does not have
