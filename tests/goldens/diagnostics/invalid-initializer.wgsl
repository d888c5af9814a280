var<workgroup> sum: u32 = 1;
// a variable of this address space cannot have an initial value
