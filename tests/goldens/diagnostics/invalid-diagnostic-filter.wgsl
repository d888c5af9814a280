diagnostic(warn, derivative_uniformity);
// the severity of a diagnostic filter is not one
