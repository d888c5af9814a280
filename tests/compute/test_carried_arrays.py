"""Loops and branches of core IR that pass long arrays run on all devices."""

from __future__ import annotations

import numpy as np
import pytest

from tinct.compilation import Compilation
from tinct.ir.core.interp import run
from tinct.ir.hercules.dispatch import run_entry_point
from tinct.ir.source import Source
from tinct.ir.types import BindingPoint
from tinct.origins import CoreOrigin
from tinct.pipeline import Job

TEXT = """root {
  %out: ptr<storage, array<u32>, read_write> = var @group(0) @binding(0)
}
@compute @workgroup_size(8i) @resources(%out)
fn @main(%i: u32 @builtin(local_invocation_index)) -> void {
  b0: {
    %a: ptr<function, array<u32, 64>> = var array<u32, 64>{64 * 0u}
    %0: ptr<function, u32> = access %a, 3i
    store %0, %i
    %1: array<u32, 64> = load %a
    loop [start: b1(0u, %1, array<u32, 64>{64 * 7u}), continuing: b5, merge: b6]
  }
    b1(%j: u32, %first: array<u32, 64>, %second: array<u32, 64>): {
      %2: bool = less %j, %i
      if %2 [true: b2, false: b3, merge: b4]
    }
      b2: { branch b4 }
      b3: { branch b6(%first, %j) }
    b4: {
      branch b5
    }
    b5: {
      %3: u32 = add %j, 1u
      branch b1(%3, %second, %first)
    }
  b6(%last: array<u32, 64>, %turns: u32): {
    %4: ptr<storage, u32, read_write> = access %out, %i
    %5: u32 = access %last, 3i
    %6: u32 = multiply %5, 10u
    %7: u32 = add %6, %turns
    store %4, %7
    return
  }
}
"""


@pytest.mark.parametrize("device", ["interp", "hercules", "cpu", "wgsl"])
def test_loop_that_carries_arrays(device: str) -> None:
    compilation = Compilation(Job(CoreOrigin(Source("carried.core", TEXT.encode())), "main", {}))
    out = bytearray(32)
    bindings, groups = {BindingPoint(0, 0): out}, (1, 1, 1)
    match device:
        case "interp":
            run(compilation.specialised, "main", bindings, groups)
        case "hercules":
            run_entry_point(compilation.hercules, bindings, groups)
        case "cpu":
            compilation.cpu.run([out], groups)
        case _:
            compilation.via_hercules = True
            assert "loop" in compilation.wgsl
            return
    index = np.arange(8)
    assert np.frombuffer(out, np.uint32).tolist() == (np.where(index % 2, 7, index) * 10 + index).tolist()
