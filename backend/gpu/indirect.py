"""A kernel of ours that turns numbers of invocations in a buffer into the arguments of an indirect dispatch.

    extents in a buffer → `INDIRECT_WGSL`, one invocation → three numbers of workgroups, or zeros and an error

A dispatch that is too large would run nothing, silently, so the kernel checks: more invocations than the capacity, more
than 65,535 workgroups in a dimension (WebGPU's limit `maxComputeWorkgroupsPerDimension`), or a negative extent become
no workgroups, and the first such step of all leaves its number and its extents in the error buffer. After an error all
later arguments are zeros.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from .binding_headers import BindingHeader

INDIRECT_ENTRY: Final = "main"
ARGUMENT_BYTES: Final = 12
ERROR_BYTES: Final = 16
_MOST: Final = 0xFFFFFFFF

INDIRECT_WGSL: Final = """
struct Dimension { is_read: u32, is_signed: u32, value: u32, workgroup_size: u32 }
struct Request { dimensions: array<Dimension, 3>, capacity: u32, step: u32 }

@group(0) @binding(0) var<storage, read> source: array<u32>;
@group(0) @binding(1) var<storage, read> request: Request;
@group(0) @binding(2) var<storage, read_write> arguments: array<u32, 3>;
@group(0) @binding(3) var<storage, read_write> error: array<u32, 4>;

fn extent(dimension: Dimension) -> u32 {
    if dimension.is_read == 0u { return dimension.value; }
    return source[dimension.value];
}

fn is_too_large(dimension: Dimension, count: u32) -> bool {
    return (dimension.is_signed == 1u && count > 0x7fffffffu)
        || count / dimension.workgroup_size > 65535u
        || (count / dimension.workgroup_size == 65535u && count % dimension.workgroup_size != 0u);
}

fn product(a: u32, b: u32) -> u32 {
    if a != 0u && b > 0xffffffffu / a { return 0xffffffffu; }
    return a * b;
}

fn workgroups(dimension: Dimension, count: u32) -> u32 {
    return count / dimension.workgroup_size + u32(count % dimension.workgroup_size != 0u);
}

@compute @workgroup_size(1) fn main() {
    let x = extent(request.dimensions[0]);
    let y = extent(request.dimensions[1]);
    let z = extent(request.dimensions[2]);
    let is_refused = is_too_large(request.dimensions[0], x)
        || is_too_large(request.dimensions[1], y)
        || is_too_large(request.dimensions[2], z)
        || product(product(x, y), z) > request.capacity;
    arguments = array<u32, 3>(0u, 0u, 0u);
    if error[0] != 0u { return; }
    if is_refused {
        error = array<u32, 4>(request.step + 1u, x, y, z);
        return;
    }
    arguments[0] = workgroups(request.dimensions[0], x);
    arguments[1] = workgroups(request.dimensions[1], y);
    arguments[2] = workgroups(request.dimensions[2], z);
}
"""

INDIRECT_BINDINGS: Final[tuple[BindingHeader, ...]] = (
    {"group": 0, "binding": 0, "kind": "read-only-storage"},
    {"group": 0, "binding": 1, "kind": "read-only-storage"},
    {"group": 0, "binding": 2, "kind": "storage"},
    {"group": 0, "binding": 3, "kind": "storage"},
)
"""The buffer with the extents, the packed request, the arguments, and the error, which begins as zeros."""


@dataclass(frozen=True, slots=True)
class ExtentWord:
    """A number of invocations: the u32, or i32, with this index in the buffer that is bound as the source."""

    index: int
    is_signed: bool = False


def packed_request(
    extents: Sequence[int | ExtentWord], workgroup_size: tuple[int, int, int], capacity: int | None, step: int
) -> bytes:
    """What `INDIRECT_WGSL` takes for a dispatch of up to three extents, with a number for the step."""
    words: list[int] = []
    for extent, size in zip((*extents, 1, 1)[:3], workgroup_size, strict=True):
        if isinstance(extent, ExtentWord):
            words += 1, extent.is_signed, extent.index, size
        else:
            words += 0, 0, min(extent, _MOST), size
    return struct.pack("<14I", *words, _MOST if capacity is None else min(capacity, _MOST), step)


def refusal(error: bytes | bytearray) -> tuple[int, tuple[int, int, int]] | None:
    """The number of the first refused step and its extents, from the bytes of the error; None if there is none."""
    number, x, y, z = struct.unpack("<4I", error)
    return None if number == 0 else (number - 1, (x, y, z))
