"""The first call in a process imports what it needs, and no more: imports are most of the time that it takes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tinct.backend.cpu.target import current_target

KERNEL = """
import sys
import numpy as np
import tinct.first_calls
tinct.first_calls.INTERPRETED_SECONDS = 60.0  # on a busy machine, too
tinct.first_calls.INTERPRETING_PROCESSES = 1
kernel = tinct.load(sys.argv[1])["main"]
print(kernel.run({"out": np.ones(64, np.float32)}, threads=64)["out"].sum())
print(*sys.modules)
"""
FUNCTION = """
import sys
import numpy as np
import tinct.first_calls
tinct.first_calls.INTERPRETED_SECONDS = 60.0
tinct.first_calls.INTERPRETING_PROCESSES = 1
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
    *("tinct.graphs", "tinct.ir.core.verifier", "tinct.ir.hercules.verify", "tinct.printing"),
    *("tinct.sessions.buffer", "tinct.transforms.hercules.pipelines", "tinct.transforms.pipelines", "tinct.wgpu_py"),
    *("fractions", "numpy.ma", "numpy.typing", "tempfile", "wgpu"),
)
TO_READ = ("tinct.frontend", "tinct.ir.builtins", "tinct.ir.core.nodes", "tinct.ir.wgsl", "tree_sitter")
TO_COMPILE = (
    *("tinct.backend.cpu.emit", "tinct.backend.cpu.images", "tinct.ir.hercules.nodes", "tinct.transforms.hercules"),
    *("tinct.transforms.to_hercules", "llvmlite"),
)
TO_RUN_CODE = ("dataclasses", "tinct.backend.cpu.jit", "tinct.backend.cpu.tiered")
TO_INTERPRET = ("tinct.ir.core.interp",)
BY_LLVM = ("fractions", "tempfile")
"""What LLVM's bindings import."""
FIRST, SECOND, THIRD = 172, 268 if current_target().has_avx512 else 272, 95
"""Maximum numbers of modules of ours. A first process imports 170, one that compiles 262, without AVX-512 269, and then
others 95.
"""


@pytest.mark.parametrize("program", [KERNEL, FUNCTION], ids=["kernel", "function"])
def test_a_first_call_imports_little(tmp_path: Path, program: str) -> None:
    """The first process interprets, the second one compiles, the third one finds machine code in the cache."""
    file = tmp_path / "add.wgsl"
    file.write_text(WGSL)
    environment = os.environ | {
        "TINCT_CACHE": "on",
        "TINCT_CACHE_DIR": str(tmp_path / "cache"),
        "TINCT_CPU_TIER": "auto",
    }
    processes = (
        ({*NEVER, *TO_COMPILE, *TO_RUN_CODE}, FIRST),
        ({*NEVER, *TO_INTERPRET}.difference(BY_LLVM), SECOND),
        ({*NEVER, *TO_INTERPRET, *TO_READ, *TO_COMPILE}, THIRD),
    )
    for absent, most in processes:
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
