"""Kernels as a Numba user writes them: loops, the outermost in parallel, no fastmath.

Parameters name buffers, sizes, constants or fields of uniform structures.
"""

from __future__ import annotations

from . import bodies, matrices, pictures, pointwise, sorting, sums

MODULES = (bodies, matrices, pictures, pointwise, sorting, sums)
"""Where the kernels are, each as a function of the shader's name."""
