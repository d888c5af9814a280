"""The implementations that are compared, each a module with one class that is a `Peer`."""

from __future__ import annotations

from .base import Peer, Prepared, Unsupported
from .c import PlainC, TunedC
from .ispc import Ispc
from .numba_loops import NumbaLoops
from .numpy_calls import NumpyCalls
from .opencl import IntelOpenCL, Pocl
from .tinct_cpu import TinctAvx2, TinctContracted, TinctCpu
from .wgpu_vulkan import WgpuVulkan

__all__ = ["OURS", "Peer", "Prepared", "Unsupported", "all_peers"]

OURS = TinctCpu.name
"""The peer that ratios are relative to."""


def all_peers() -> list[Peer]:
    """Every peer, ours first."""
    return [
        TinctCpu(), TinctContracted(), TinctAvx2(), WgpuVulkan(), Pocl(), IntelOpenCL(), NumbaLoops(), NumpyCalls(),
        PlainC(), TunedC(), Ispc(),
    ]  # fmt: skip
