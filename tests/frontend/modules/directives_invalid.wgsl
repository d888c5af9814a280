enable subgroup_size_control; // error: not-supported
requires buffer_view; // error: not-supported
enable f61;  // error: unknown-extension
requires pointers;  // error: unknown-extension
diagnostic(fatal, derivative_uniformity);  // error: invalid-diagnostic-filter
diagnostic(off, subgroup_uniformity);
diagnostic(error, subgroup_uniformity);  // error: conflicting-diagnostic-filter
diagnostic(off, derivative_uniformty);  // warning: unknown-diagnostic-rule

var<immediate> constants: vec4f; // error: not-supported
