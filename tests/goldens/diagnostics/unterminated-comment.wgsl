const a = 1; /* the rest
is /* a */ comment
// a block comment has no end
