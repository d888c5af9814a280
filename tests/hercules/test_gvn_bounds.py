"""Value numbering drops a bound of what has that bound already."""

from __future__ import annotations

import numpy as np

from tinct.ir.hercules import nodes as h
from tinct.ir.source import Source
from tinct.shader import Shader


def test_gvn_drops_bounds_of_what_has_that_bound() -> None:
    # Whatever the extent is, 0 and numbers above 2^31 included: `min(clamp(x, 0, n - 1), n - 1)`, signed and unsigned.
    main = "@compute @workgroup_size(8) fn main(@builtin(local_invocation_id) id: vec3u)"
    head = "@group(0) @binding(0) var<storage, read_write> out: array<u32>; @group(0) @binding(1) var<storage> n: u32;"
    bodies = {
        "min(u32(clamp(i32(id.x) - 2, 0, i32(n) - 1)), n - 1)": 0,
        "min(u32(clamp(i32(id.x) - 2, 0, i32(n - 1))), n - 1)": 0,
        "min(min(id.x, n - 1), n - 1)": 1,
        "min(u32(clamp(i32(id.x) - 2, 1, i32(n - 1))), n - 1)": 1,
        "min(u32(clamp(i32(id.x) - 2, 0, i32(n + 1))), n - 1)": 1,
        "min(bitcast<u32>(clamp(f32(id.x), 0, bitcast<f32>(n - 1))), n - 1)": 1,
    }
    for body, count in bodies.items():
        kernel = Shader(Source.from_text(f"{head} {main} {{ out[id.x] = {body}; }}")).kernel()
        nodes = kernel.compilation().hercules.function.nodes
        assert sum(isinstance(it, h.Intrinsic) and it.function == "min" for it in nodes) == count, body
        for n in (0, 1, 5, 1 << 31, (1 << 31) + 1):
            given = {"out": np.zeros(8, np.uint32), "n": np.array(n, np.uint32)}
            found, expected = (kernel.run(given, workgroups=1, device=it)["out"] for it in ("hercules", "interp"))
            np.testing.assert_array_equal(found, expected, err_msg=f"{body}, {n}")
