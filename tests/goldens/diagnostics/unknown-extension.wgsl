enable f61;
requires pointer_composite_acces;
// there is no extension or language feature of that name
