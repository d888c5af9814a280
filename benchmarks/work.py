"""How much arithmetic the kernels do that are limited by it; the others are limited by the memory they move."""

from __future__ import annotations

from collections.abc import Callable, Mapping


def _product(sizes: Mapping[str, int]) -> int:
    return 2 * sizes["m"] * sizes["k"] * sizes["n"]


def _convolution(sizes: Mapping[str, int]) -> int:
    return 2 * 17 * sizes["width"] * sizes["height"]


FLOPS: Mapping[str, Callable[[Mapping[str, int]], int]] = {
    "matmul_naive": _product,
    "matmul_tiled": _product,
    "matmul_flat_tiles": _product,
    "matmul_blocks": _product,
    "matmul_vec4": _product,
    "convolve_rows": _convolution,
    "convolve_columns": _convolution,
    # Two products of 32 dimensions for each query and key.
    "attention": lambda sizes: 2 * 2 * 32 * sizes["queries"] * sizes["keys"],
    # Three differences, three products and sums of the distance, the root as one, four of the strength, three
    # products and sums.
    "nbody": lambda sizes: 20 * sizes["n"] ** 2,
}
"""Floating-point operations of a dispatch, by kernel. A fused multiply-add is two."""

LATENCY_BOUND = frozenset(
    {"mandelbrot", "pcg_hash", "collatz", "bitonic_sort", "bitonic_pairs", "odd_even_merge", "radix_pass", "path_trace"}
    | {"histogram_global", "histogram_bytes", "compact", "kmeans_assign", "boids_all", "boids_grid", "bilateral"}
)
"""Kernels that are limited by latency, neither by arithmetic nor by memory bandwidth."""
