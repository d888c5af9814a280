"""Kernels for streams."""

from __future__ import annotations

import tinct
from tinct.backend.gpu import GpuDevice

DEVICES = ["interp", "cpu"] + (["gpu"] if GpuDevice.available() is not None else [])

SHADER = tinct.load(
    """
override SCALE: u32 = 1u;

struct Params { width: u32, offset: i32 }

@group(0) @binding(0) var<storage, read> src: array<u32>;
@group(0) @binding(1) var<storage, read_write> dst: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;

@compute @workgroup_size(4)
fn shift(@builtin(global_invocation_id) id: vec3u) {
    if id.x < arrayLength(&src) {
        dst[id.x] += src[id.x] * SCALE + u32(params.offset) + params.width;
    }
}

@group(0) @binding(3) var<storage, read_write> total: atomic<u32>;

@compute @workgroup_size(4)
fn count(@builtin(global_invocation_id) id: vec3u) {
    if id.x < arrayLength(&src) && src[id.x] != 0u {
        atomicAdd(&total, 1u);
    }
}

@group(0) @binding(4) var<uniform> value: u32;

@compute @workgroup_size(1)
fn fill(@builtin(global_invocation_id) id: vec3u) {
    dst[id.x] = value;
}
"""
)
shift, count, fill = (SHADER[name] for name in ("shift", "count", "fill"))
