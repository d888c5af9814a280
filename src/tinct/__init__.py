"""tinct compiles WGSL compute shaders in Python: one kernel, every device, the same answer."""

__version__ = "0.1.0"
