"""What no device runs yet is refused with its place, on every device."""

from __future__ import annotations

import numpy as np
import pytest

import tinct
from tinct.devices import DEVICES
from tinct.ir.diagnostics import ShaderError

OUT = "@group(0) @binding(0) var<storage, read_write> out: array<u32>;\n"


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    ("declarations", "attribute", "statement", "message", "line"),
    [
        ("", "@subgroup_size(2)", "out[0] = 1;", "subgroups of 2 invocations: they have 4 to 128", 3),
    ],
)
def test_refused(device: str, declarations: str, attribute: str, statement: str, message: str, line: int) -> None:
    enable = "enable subgroup_size_control; " if attribute else ""
    main = f"@compute @workgroup_size(4) {attribute} fn main() {{ {statement} }}"
    shader = tinct.load(f"{enable}{OUT}{declarations}\n{main}")
    with pytest.raises(ShaderError) as raised:
        shader["main"].run({"out": np.zeros(4, np.uint32)}, workgroups=1, device=device)
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.code == "not-supported"
    assert message in diagnostic.message
    assert raised.value.source is not None
    assert diagnostic.span is not None
    assert raised.value.source.position(diagnostic.span.start).line == line
