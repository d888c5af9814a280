diagnostic(off);
// a diagnostic filter is not a severity and a rule
