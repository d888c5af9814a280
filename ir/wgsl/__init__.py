"""The syntax tree of WGSL, and the facts of a resolved program."""
