"""The kernels of `texel_kernels` as leaves of plans, by names that no leaf of a graph has."""

from __future__ import annotations

from functools import cache

from ..kernel import Kernel
from ..shader import load
from ..texel_kernels import texel_wgsl


@cache
def texel_kernel(leaf: str) -> Kernel:
    """The kernel with that name."""
    return load(texel_wgsl(leaf))["main"]
