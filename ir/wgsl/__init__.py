"""The syntax tree of WGSL, and what a resolved program means."""
