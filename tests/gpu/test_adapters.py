"""Which adapter runs shaders."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tinct
from tinct.backend.gpu import GpuDevice, GpuError
from tinct.backend.gpu.adapters import ListedAdapter, choose

TOOLS = Path(__file__).parents[2] / "tools"
OPENGL = ListedAdapter("llvmpipe (LLVM 15.0.6, 256 bits)", "OpenGL", "CPU")
OPENGL_ES = ListedAdapter("Mali-G52", "OpenGLES", "IntegratedGPU")
SOFTWARE = ListedAdapter("llvmpipe (LLVM 15.0.6, 256 bits)", "Vulkan", "CPU")
INTEGRATED = ListedAdapter("Intel(R) UHD Graphics 620", "Vulkan", "IntegratedGPU")
DISCRETE = ListedAdapter("AMD Radeon RX 7600", "Vulkan", "DiscreteGPU")
VIRTUAL = ListedAdapter("Virtio-GPU Venus", "Vulkan", "Unknown")
MAC = ListedAdapter("Apple M3", "Metal", "IntegratedGPU")


@pytest.mark.parametrize(
    ("adapters", "wanted", "chosen"),
    [
        ([OPENGL, SOFTWARE], "", SOFTWARE),
        ([SOFTWARE, OPENGL], "", SOFTWARE),
        ([SOFTWARE, INTEGRATED, DISCRETE, OPENGL], "", DISCRETE),
        ([SOFTWARE, VIRTUAL, OPENGL], "", VIRTUAL),
        ([MAC], "", MAC),
        ([OPENGL], "opengl", OPENGL),
        ([OPENGL_ES], "OpenGL", OPENGL_ES),
        ([SOFTWARE, OPENGL], " OpenGL ", OPENGL),
        ([OPENGL, SOFTWARE], "vulkan", SOFTWARE),
        ([OPENGL, SOFTWARE], "llvmpipe", SOFTWARE),
        ([DISCRETE, INTEGRATED, SOFTWARE], "uhd", INTEGRATED),
        ([DISCRETE, INTEGRATED, SOFTWARE], "LLVM 15", SOFTWARE),
    ],
)
def test_the_fastest_suitable_adapter_is_chosen(
    adapters: list[ListedAdapter], wanted: str, chosen: ListedAdapter
) -> None:
    assert adapters[choose(adapters, wanted)] is chosen


def test_of_equals_the_first_is_chosen() -> None:
    assert choose([OPENGL, SOFTWARE, SOFTWARE]) == 1


@pytest.mark.parametrize(
    ("adapters", "wanted", "words"),
    [
        ([], "", "^no adapter answers$"),
        ([], "opengl", "^no adapter answers$"),
        ([], "radeon", "^no adapter answers$"),
        ([OPENGL], "", r"^no Vulkan, Metal or D3D12 adapter answers, only llvmpipe .*\(OpenGL\); .*'gpu:opengl'$"),
        ([OPENGL, SOFTWARE], "metal", r"^no Metal adapter answers, only llvmpipe .*\(OpenGL\), llvmpipe .*\(Vulkan\)$"),
    ],
)
def test_without_a_suitable_adapter_there_is_a_reason(adapters: list[ListedAdapter], wanted: str, words: str) -> None:
    with pytest.raises(GpuError, match=words) as caught:
        choose(adapters, wanted)
    assert caught.value.kind == "unavailable"


@pytest.mark.parametrize(
    ("adapters", "wanted", "words"),
    [
        ([SOFTWARE, OPENGL], "opengll", "did you mean 'opengl'"),
        ([SOFTWARE, OPENGL], "vulcan", "did you mean 'vulkan'"),
        ([DISCRETE, SOFTWARE], "radon", "did you mean 'radeon'"),
        ([DISCRETE], "zzz", "there are AMD Radeon RX 7600, vulkan, metal, d3d12, opengl"),
        ([OPENGL], "llvmpipe", "has 'llvmpipe' in its name"),
    ],
)
def test_a_name_that_no_adapter_has(adapters: list[ListedAdapter], wanted: str, words: str) -> None:
    with pytest.raises(tinct.InputError, match=words):
        choose(adapters, wanted)


INDEX = """
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3u) { out[id.x] = id.x; }
"""


def run_on(device: str) -> list[int]:
    return tinct.load(INDEX)["main"].run({"out": np.zeros(4, np.uint32)}, threads=4, device=device)["out"].tolist()


def test_an_adapter_is_named_by_its_backend_or_a_part_of_its_name() -> None:
    adapter = GpuDevice.available()
    if adapter is None:
        pytest.skip(f"no GPU: {GpuDevice.unavailable_reason()}")
    for name in (adapter.backend, adapter.name.upper(), adapter.name[1:5]):
        assert run_on(f"gpu:{name}") == [0, 1, 2, 3]


def test_opengl_runs_with_a_warning() -> None:
    reason = GpuDevice.unavailable_reason("opengl")
    if reason is not None:
        pytest.skip(f"no OpenGL: {reason}")
    with pytest.warns(RuntimeWarning, match="OpenGL, which lacks parts of WebGPU"):
        assert run_on("gpu:opengl") == [0, 1, 2, 3]


@pytest.mark.parametrize("device", ["gpu:", "gpu: ", "gpu:\0", "gpu:\ud800", "gpu:\n", "cpu:1", "GPU"])
def test_names_that_no_device_can_have(device: str) -> None:
    with pytest.raises(tinct.InputError, match="no device is named"):
        run_on(device)


def test_the_driver_is_judged_by_the_same_rule() -> None:
    """On a machine that has only OpenGL, `make` must go on to install a Vulkan driver."""
    nowhere = {"VK_DRIVER_FILES": "/nonexistent", "VK_ICD_FILENAMES": "/nonexistent"}
    script = "import vulkan_driver; print(type(vulkan_driver.find()).__name__)"
    found = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, **nowhere, "PYTHONPATH": os.pathsep.join([str(TOOLS), *filter(None, sys.path)])},
        capture_output=True,
        check=True,
        timeout=60,
    )
    assert found.stdout.decode().strip() == "str"
