"""Value numbering merges integers that constants move from one other integer by the same distance."""

from __future__ import annotations

import numpy as np
import pytest

from tinct.ir.hercules import nodes as h
from tinct.ir.source import Source
from tinct.shader import Shader

HEAD = """
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@group(0) @binding(1) var<storage> x: array<u32, 8>;
@compute @workgroup_size(8) fn main(@builtin(local_invocation_index) t: u32) {"""


@pytest.mark.parametrize(
    ("body", "reads"),
    [
        ("out[t] = x[t + 1 - 3] + x[t - 2];", 1),
        ("out[t] = x[5 + (t + 1)] + x[t + 6] + x[t + 8 - 2];", 1),
        ("out[t] = x[t + 3 - 3] + x[t];", 1),
        ("out[t] = x[t + 4294967295] + x[t - 1];", 1),
        ("out[t] = x[u32(i32(t + 2) - 3)] + x[u32(i32(t + 1) - 2)];", 2),
        ("out[t] = x[t + 1 - 3] + x[t - 1];", 2),
        ("out[t] = x[3 - t] + x[t - 3];", 2),
        ("out[t] = u32(i32(t) + 1) + x[t + 1];", 1),
    ],
)
def test_sums_of_constants_are_compared(body: str, reads: int) -> None:
    kernel = Shader(Source.from_text(f"{HEAD} {body} }}")).kernel()
    nodes = kernel.compilation().hercules.function.nodes
    assert sum(isinstance(it, h.Read) and len(it.indices) > 0 for it in nodes) == reads
    given = {"out": np.zeros(8, np.uint32), "x": np.arange(1, 9, dtype=np.uint32) ** 3}
    found, expected = (kernel.run(given, workgroups=1, device=it)["out"] for it in ("cpu", "interp"))
    np.testing.assert_array_equal(found, expected)
