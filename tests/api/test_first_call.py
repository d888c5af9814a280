"""The first call of a kernel imports what it needs, and no more."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import sys
import numpy as np
import tinct
kernel = tinct.load(sys.argv[1])["main"]
print(kernel.run({"out": np.ones(64, np.float32)}, threads=64)["out"].sum())
print(*sys.modules)
"""
WGSL = """
@group(0) @binding(0) var<storage, read_write> out: array<f32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) { out[id.x] += 1; }
"""
NEVER = (
    *("tinct.backend.gpu", "tinct.debugging", "tinct.functions", "tinct.gpu", "tinct.graphs", "tinct.ir.core.interp"),
    *("tinct.printing", "tinct.sessions.session", "tinct.wgpu_py", "tinct.wgsl_functions", "numpy.ma", "wgpu"),
)
TO_COMPILE = ("tinct.backend.cpu.emit", "tinct.ir.core.nodes", "tinct.ir.hercules.placement", "tinct.transforms")


def test_a_first_call_imports_little(tmp_path: Path) -> None:
    file = tmp_path / "add.wgsl"
    file.write_text(WGSL)
    environment = os.environ | {
        "TINCT_CACHE": "on",
        "TINCT_CACHE_DIR": str(tmp_path / "cache"),
        "TINCT_CPU_TIER": "auto",
    }
    for absent in (NEVER, (*NEVER, *TO_COMPILE)):  # at the second time, machine code is in the cache
        command = [sys.executable, "-c", PROGRAM, str(file)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        total, modules = done.stdout.splitlines()
        assert float(total) == 128
        imported = set(modules.split())
        assert imported.isdisjoint(absent), sorted(imported.intersection(absent))
        assert "tinct.backend.cpu.gangs.emit" not in imported


def test_public_modules_are_imported_when_they_are_wanted() -> None:
    program = "import tinct; print(tinct.passes.optimised, tinct.testing.assert_agrees, tinct.coverage.measure)"
    subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
