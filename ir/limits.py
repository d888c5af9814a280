"""The limits of WebGPU on workgroups (WebGPU, "Limits"), by the names of GPUSupportedLimits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

PROMISED: Final = {
    "maxComputeWorkgroupSizeX": 256,
    "maxComputeWorkgroupSizeY": 256,
    "maxComputeWorkgroupSizeZ": 64,
    "maxComputeInvocationsPerWorkgroup": 256,
    "maxComputeWorkgroupStorageSize": 16_384,
    "maxComputeWorkgroupsPerDimension": 65_535,
}
"""What every device has; a device has more if it is asked for and the adapter has it."""

MOST_WORKGROUPS: Final = PROMISED["maxComputeWorkgroupsPerDimension"]
"""The most workgroups along an axis of a dispatch, on every device."""

LARGEST_WORKGROUP: Final = (1024, 1024, 1024)
MOST_INVOCATIONS: Final = 1024
WORKGROUP_STORAGE: Final = 65_536
"""Adapters are not known to have more (invocations: Direct3D 12, Vulkan's and Metal's drivers; bytes: those of AMD)."""

IMMEDIATE_DATA: Final = 64
"""Bytes of immediate data."""

_WORKGROUP_ROUNDING: Final = 16


def limits_of_size(size: Sequence[int]) -> dict[str, int]:
    """The limits that workgroups of this size need, along x, y and z; what is left out is 1."""
    x, y, z = (*size, 1, 1, 1)[:3]
    return {
        "maxComputeWorkgroupSizeX": x,
        "maxComputeWorkgroupSizeY": y,
        "maxComputeWorkgroupSizeZ": z,
        "maxComputeInvocationsPerWorkgroup": x * y * z,
    }


def counted_storage(size: int) -> int:
    """What a variable of so many bytes takes of `maxComputeWorkgroupStorageSize`: a multiple of 16 bytes (WebGPU,
    "validating GPUProgrammableStage").
    """
    return -(-size // _WORKGROUP_ROUNDING) * _WORKGROUP_ROUNDING


def over_promised(needed: Mapping[str, int]) -> dict[str, int]:
    """Those of the limits that are over what every device has: a device must be asked for them."""
    return {name: value for name, value in needed.items() if value > PROMISED[name]}
