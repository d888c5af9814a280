"""From WGSL source text to a checked program."""
