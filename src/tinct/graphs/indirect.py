"""A kernel of ours that turns numbers of invocations in a buffer into the arguments of an indirect dispatch.

    extents in buffers → `INDIRECT_WGSL`, one invocation → three numbers of workgroups, or zeros and an error

A dispatch that is too large would run nothing, silently, so the kernel checks: more invocations than the capacity, more
than 65,535 workgroups in a dimension (WebGPU's limit `maxComputeWorkgroupsPerDimension`), or a negative extent become
no workgroups, and the first such step of all leaves its number and its extents in the error buffer. After an error all
later arguments are zeros.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from ..kernel import Kernel
from ..shader import load
from .plan import Arguments, DataExtent, Dispatch

ARGUMENT_BYTES: Final = 12
ERROR_BYTES: Final = 16
SOURCES: Final = ("x_source", "y_source", "z_source")
"""The variables of the buffers with the extents, by dimension."""
_MOST: Final = 0xFFFFFFFF
MOST_CAPACITY: Final = _MOST - 1
"""The largest capacity that the kernel compares with: more invocations than a u32 has are one number to it."""

INDIRECT_WGSL: Final = """
struct Dimension { is_read: u32, is_signed: u32, value: u32, workgroup_size: u32 }
struct Request { dimensions: array<Dimension, 3>, capacity: u32, step: u32 }

@group(0) @binding(0) var<storage, read> x_source: array<u32>;
@group(0) @binding(1) var<storage, read> y_source: array<u32>;
@group(0) @binding(2) var<storage, read> z_source: array<u32>;
@group(0) @binding(3) var<storage, read> request: Request;
@group(0) @binding(4) var<storage, read_write> arguments: array<u32, 3>;
@group(0) @binding(5) var<storage, read_write> error: array<u32, 4>;

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
    var x = request.dimensions[0].value;
    var y = request.dimensions[1].value;
    var z = request.dimensions[2].value;
    if request.dimensions[0].is_read != 0u { x = x_source[x]; }
    if request.dimensions[1].is_read != 0u { y = y_source[y]; }
    if request.dimensions[2].is_read != 0u { z = z_source[z]; }
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


@dataclass(frozen=True, slots=True)
class ExtentWord:
    """A number of invocations: the u32, or i32, with this index in the buffer that is bound for its dimension."""

    index: int
    is_signed: bool = False


def packed_request(
    extents: Sequence[int | ExtentWord], workgroup_size: tuple[int, int, int], capacity: int | None, step: int
) -> bytes:
    """What `INDIRECT_WGSL` takes for a dispatch of up to three extents, with a number for the step.

    A capacity is at most `MOST_CAPACITY`; None is no limit.
    """
    words: list[int] = []
    for extent, size in zip((*extents, 1, 1)[:3], workgroup_size, strict=True):
        if isinstance(extent, ExtentWord):
            words += 1, extent.is_signed, extent.index, size
        else:
            words += 0, 0, min(extent, _MOST), size
    return struct.pack("<14I", *words, _MOST if capacity is None else capacity, step)


def refusal(error: bytes | bytearray) -> tuple[int, tuple[int, int, int]] | None:
    """The number of the first refused step and its extents, from the bytes of the error; None if there is none."""
    number, x, y, z = struct.unpack("<4I", error)
    return None if number == 0 else (number - 1, (x, y, z))


@cache
def indirect_kernel() -> Kernel:
    """`INDIRECT_WGSL`."""
    return load(INDIRECT_WGSL)["main"]


def indirect_buffers(step: Dispatch, arguments: Arguments) -> Mapping[str, int]:
    """The buffers of a plan that the kernel is bound to before a step, by the names of its variables."""
    read = [it.buffer if isinstance(it, DataExtent) else arguments.request for it in step.extents]
    sources = (*read, arguments.request, arguments.request, arguments.request)[: len(SOURCES)]
    made = {"request": arguments.request, "arguments": arguments.workgroups, "error": arguments.error}
    return {**dict(zip(SOURCES, sources, strict=True)), **made}
