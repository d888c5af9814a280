"""Small kernels whose answers are known by hand, on every device of this process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args

import numpy as np
import numpy.typing as npt
import pytest

from tinct.backend.cpu.emit import Tier
from tinct.ir.source import Source
from tinct.shader import Shader

TIERS: tuple[Tier, ...] = get_args(Tier)
DEVICES = ("interp", "hercules", *TIERS)
Array = npt.NDArray[Any]


@dataclass(frozen=True)
class KnownAnswer:
    """A kernel, its inputs, and the expected content of each buffer that it writes.

    `text` without an entry point is the body of one of 8 invocations, numbered `i`, over `out: array<u32>`.
    """

    name: str
    text: str
    expected: Sequence[int] | Mapping[str, Any]
    given: Mapping[str, Any] = field(default_factory=dict[str, Any])
    workgroups: int = 1
    entry: str | None = None
    constants: Mapping[str, float] = field(default_factory=dict[str, float])

    @property
    def wgsl(self) -> str:
        if "@compute" in self.text:
            return self.text
        declarations, _, body = self.text.rpartition("---")
        return f"""{declarations}
            @group(0) @binding(0) var<storage, read_write> out: array<u32>;
            @compute @workgroup_size(8) fn main(@builtin(local_invocation_index) i: u32) {{ {body} }}"""


def check(case: KnownAnswer, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a kernel and compare its results with the expected ones, bit for bit except NaNs."""
    monkeypatch.setenv("TINCT_CPU_TIER", device if device in TIERS else "gang")
    expected = case.expected if isinstance(case.expected, Mapping) else {"out": np.array(case.expected, np.uint32)}
    given = dict(case.given) or {"out": np.zeros(len(expected["out"]), np.uint32)}
    kernel = Shader(Source.from_text(case.wgsl)).kernel(case.entry)
    found = kernel.run(
        {info.name: given[info.name] for info in kernel.bindings},
        workgroups=case.workgroups,
        constants=case.constants,
        device="cpu" if device in TIERS else device,
    )
    for name, value in expected.items():
        np.testing.assert_array_equal(found[name], value, err_msg=f"{name} on {device}")


def named(kernels: Sequence[KnownAnswer]) -> list[Any]:
    """The parameters of a test that runs each kernel on each device."""
    return [pytest.param(it, device, id=f"{it.name}-{device}") for it in kernels for device in DEVICES]
