enable subgroup_size_contrl; // error: unknown-extension
requires bufferview; // error: unknown-extension
enable f61;  // error: unknown-extension
requires pointers;  // error: unknown-extension
diagnostic(fatal, derivative_uniformity);  // error: invalid-diagnostic-filter
diagnostic(off, subgroup_uniformity);
diagnostic(error, subgroup_uniformity);  // error: conflicting-diagnostic-filter
diagnostic(off, derivative_uniformty);  // warning: unknown-diagnostic-rule
