"""The bandwidth that copies reach on a GPU, measured beside each nest: WebGPU's command, or a kernel, if it is faster.

On an NVIDIA H200 the command reaches a fifth of what the kernel does.
"""

from __future__ import annotations

from typing import Final

import numpy as np

import tinct
from tinct.sessions import Session
from tinct.sessions.calls import Options
from tinct.sessions.gpu_replay import CopyStep, GpuReplay, replay_of

from .limits import Limits

_BYTES: Final = 1 << 29
_REPEATS: Final = 10
_ROW: Final = 1 << 15
"""Workgroups along x."""
_WGSL: Final = """
@group(0) @binding(0) var<storage, read> source: array<vec4f>;
@group(0) @binding(1) var<storage, read_write> copy: array<vec4f>;

@compute @workgroup_size(256)
fn copied(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
    let at = (group.x + group.y * 32768u) * 256u + lane;
    copy[at] = source[at];
}
"""


class GpuCopy(Limits):
    """Two buffers that are larger than caches, and copies from one to the other."""

    def __init__(self, device: str) -> None:
        self._session = session = Session(device)
        source, copy = (session.empty(np.float32, (_BYTES // 16, 4), label=it) for it in ("source", "copy"))
        command = GpuReplay(session.gpu(device), "a copy", [[CopyStep(source.memory, 0, copy.memory, 0, _BYTES)]])
        command.prepare()
        groups = _ROW, _BYTES // (16 * 256 * _ROW), 1
        options = Options(groups, None, None, device, contract=False, is_trial=False)
        launch = session.prepared(tinct.load(_WGSL)["copied"], {"source": source, "copy": copy}, options)
        kernel = replay_of(session.gpu(device), "a copy", [launch])
        self._ways = [command] if kernel is None else [command, kernel]

    def measure(self) -> dict[str, float]:
        """The bytes a second of some copies in the faster way, read and written together."""
        return {"copy": 2 * _BYTES * _REPEATS / min(it.seconds(_REPEATS) for it in self._ways)}

    def close(self) -> None:
        """Release the buffers."""
        self._session.close()
