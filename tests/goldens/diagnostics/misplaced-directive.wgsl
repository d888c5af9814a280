const a = 1;
enable f16;
// a directive stands behind a declaration
