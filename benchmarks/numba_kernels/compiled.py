"""The decorators: `kernel` for what is called, `inline` for what a kernel calls."""

from __future__ import annotations

from numba import njit

kernel = njit(parallel=True, fastmath=False, error_model="numpy")
inline = njit(fastmath=False, error_model="numpy")
