diagnostic(off, derivative_uniformty);
// there is no diagnostic rule of that name; the filter does nothing
