"""Core IR: the round-trip intermediate representation, between the syntax tree and Hercules IR."""
