"""What takes more memory than an invocation may have is refused at once, on every device."""

from __future__ import annotations

import time

import numpy as np
import pytest

import tinct
from tinct.ir.core.runnable import LARGEST, check_runnable
from tinct.ir.core.text import parse, print_module
from tinct.ir.diagnostics import ShaderError
from tinct.ir.source import Source

HEAD = "@group(0) @binding(0) var<storage, read_write> out: array<u32>;\n"
MAIN = "@compute @workgroup_size(4) fn main(@builtin(local_invocation_index) i: u32)"
TOO_LARGE = {
    "private": (
        f"var<private> big: array<u32, 1073741823>; {MAIN} {{ big[i] = i; out[i] = big[0]; }}",
        "private variables of 4294967292 bytes",
    ),
    "private, together": (
        f"""var<private> a: array<u32, 200000>; var<private> b: array<vec3u, 20000>;
        {MAIN} {{ a[i] = i; b[i].x = i; out[i] = a[0] + b[0].x; }}""",
        "private variables of 1120000 bytes",
    ),
    "used by a function only": (
        f"""var<private> big: array<u32, 300000>; fn f(i: u32) -> u32 {{ big[i] += 1; return big[0]; }}
        fn g(i: u32) -> u32 {{ return f(i + 1); }} {MAIN} {{ out[i] = g(i); }}""",
        "private variables of 1200000 bytes",
    ),
    "function": (
        f"{MAIN} {{ var big: array<array<mat4x4f, 1000>, 1000>; big[i][i][0][0] = 1; out[i] = u32(big[0][0][0][0]); }}",
        "variables of a function of 64000000 bytes",
    ),
    "called function": (
        f"""struct S {{ a: array<u32, 300000> }} fn f(i: u32) -> u32 {{ var s: S; s.a[i] = 1; return s.a[0]; }}
        {MAIN} {{ out[i] = f(i); }}""",
        "variables of a function of 1200000 bytes",
    ),
    "value": (f"{MAIN} {{ let big = array<u32, 300000>(); out[i] = big[i]; }}", "a value of 1200000 bytes"),
}


@pytest.mark.parametrize("device", ["cpu", "interp", "hercules"])
@pytest.mark.parametrize("name", TOO_LARGE)
def test_too_large(name: str, device: str) -> None:
    text, message = TOO_LARGE[name]
    kernel = tinct.load(HEAD + text)["main"]
    start = time.perf_counter()
    with pytest.raises(ShaderError, match=f"not supported: {message}: at most {LARGEST} are run"):
        kernel.run({"out": np.zeros(4, np.uint32)}, workgroups=1, device=device, timeout=2)
    assert time.perf_counter() - start < 5


@pytest.mark.parametrize("device", ["cpu", "interp", "hercules"])
def test_just_small_enough(device: str) -> None:
    count = LARGEST // 4
    text = f"""var<private> a: array<u32, {count}>;
        fn f(i: u32) -> u32 {{ var b: array<u32, {count}>; b[i * 60000] = i; return b[a[i * 60000]]; }}
        {MAIN} {{ a[i * 60000] = i * 60000; out[i] = f(i); }}"""
    out = tinct.load(HEAD + text)["main"].run({"out": np.zeros(4, np.uint32)}, workgroups=1, device=device)
    assert out["out"].tolist() == [0, 1, 2, 3]


def test_workgroup_memory_of_core_ir() -> None:
    """WGSL's limit is the pipeline's, which a text of core IR does not meet."""
    text = f"{HEAD}var<workgroup> w: array<u32, 9>; {MAIN} {{ w[i] = i; workgroupBarrier(); out[i] = w[3 - i]; }}"
    core = print_module(tinct.load(text).compilation("main", {}).core)
    module = parse(Source("test.core", core.replace("array<u32, 9>", "array<u32, 300000>").encode()))
    with pytest.raises(ShaderError, match="workgroup variables of 1200000 bytes"):
        check_runnable(next(it for it in module.functions if it.name == "main"))
