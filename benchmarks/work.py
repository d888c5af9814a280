"""How much arithmetic the kernels do that are limited by it; the others are limited by the memory they move."""

from __future__ import annotations

from collections.abc import Callable, Mapping

FLOPS: Mapping[str, Callable[[Mapping[str, int]], int]] = {
    "matmul_naive": lambda sizes: 2 * sizes["m"] * sizes["k"] * sizes["n"],
    "matmul_tiled": lambda sizes: 2 * sizes["m"] * sizes["k"] * sizes["n"],
    # Three differences, three products and sums of the distance, the root as one, four of the strength, three
    # products and sums.
    "nbody": lambda sizes: 20 * sizes["n"] ** 2,
}
"""Floating-point operations of a dispatch, by kernel. A fused multiply-add is two."""

LATENCY_BOUND = frozenset({"mandelbrot", "pcg_hash", "collatz", "bitonic_sort", "histogram_global", "compact"})
"""Kernels for which neither limit says much."""
