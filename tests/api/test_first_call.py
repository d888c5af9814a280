"""The first call in a process imports what it needs, and no more: imports are most of the time that it takes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

KERNEL = """
import sys
import numpy as np
import tinct
kernel = tinct.load(sys.argv[1])["main"]
print(kernel.run({"out": np.ones(64, np.float32)}, threads=64)["out"].sum())
print(*sys.modules)
"""
FUNCTION = """
import sys
import numpy as np
import tinct
print(tinct.load(sys.argv[1]).functions["twice"](np.arange(8.0))[7] + 114)
print(*sys.modules)
"""
WGSL = """
@group(0) @binding(0) var<storage, read_write> out: array<f32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) { out[id.x] += 1; }
fn twice(x: f32) -> f32 { return x * 2; }
"""
NEVER = (
    *("tinct.backend.cpu.gangs.emit", "tinct.backend.gpu", "tinct.debugging", "tinct.functions", "tinct.gpu"),
    *("tinct.graphs", "tinct.ir.core.interp", "tinct.ir.core.verifier", "tinct.ir.hercules.verify", "tinct.printing"),
    *("tinct.sessions.buffer", "tinct.transforms.hercules.pipelines", "tinct.transforms.pipelines", "tinct.wgpu_py"),
    *("numpy.ma", "wgpu"),
)
TO_COMPILE = (
    *("tinct.backend.cpu.emit", "tinct.frontend", "tinct.ir.builtins", "tinct.ir.core.nodes"),
    *("tinct.ir.hercules.nodes", "tinct.ir.wgsl", "tinct.transforms", "tree_sitter"),
    *("llvmlite", "tinct.backend.cpu.images"),
)
COLD, WARM = 268, 92
"""Maximum numbers of modules of ours. With nothing in the cache a first call of a function imports 257, else 86."""


@pytest.mark.parametrize("program", [KERNEL, FUNCTION], ids=["kernel", "function"])
def test_a_first_call_imports_little(tmp_path: Path, program: str) -> None:
    file = tmp_path / "add.wgsl"
    file.write_text(WGSL)
    environment = os.environ | {
        "TINCT_CACHE": "on",
        "TINCT_CACHE_DIR": str(tmp_path / "cache"),
        "TINCT_CPU_TIER": "auto",
    }
    for absent, most in ((NEVER, COLD), ((*NEVER, *TO_COMPILE), WARM)):  # at the second time, the cache has all
        command = [sys.executable, "-c", program, str(file)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        total, modules = done.stdout.splitlines()
        assert float(total) == 128
        imported = set(modules.split())
        assert imported.isdisjoint(absent), sorted(imported.intersection(absent))
        ours = [it for it in imported if it.partition(".")[0] == "tinct"]
        assert len(ours) <= most, sorted(ours)


def test_public_modules_are_imported_when_they_are_wanted() -> None:
    program = "import tinct; print(tinct.passes.optimised, tinct.testing.assert_agrees, tinct.coverage.measure)"
    subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
