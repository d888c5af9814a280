diagnostic(off, derivative_uniformity);
diagnostic(error, derivative_uniformity);
// two directives give one diagnostic rule different severities
