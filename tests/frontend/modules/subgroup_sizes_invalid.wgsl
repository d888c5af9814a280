enable subgroup_size_control;

var<private> size: u32;

@compute @workgroup_size(64) @subgroup_size(24) // error: invalid-attribute
fn no_power() {}

@compute @workgroup_size(64) @subgroup_size(0) // error: invalid-attribute
fn none() {}

@compute @workgroup_size(64) @subgroup_size(2.0) // error: type-mismatch
fn real() {}

@compute @workgroup_size(64) @subgroup_size(size) // error: expected-constant
fn late() {}

@fragment @subgroup_size(32) // error: invalid-attribute
fn picture() {}

@subgroup_size(32) // error: invalid-attribute
fn helper() {}
