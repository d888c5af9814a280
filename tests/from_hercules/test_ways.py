"""`via="hercules"`: from Python, and from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import tinct
from tinct.backend.gpu import GpuDevice
from tinct.cli import tinct as command

SHADERS = Path(__file__).parents[2] / "shaders"
SAXPY = str(SHADERS / "saxpy" / "saxpy.wgsl")
BUFFERS = {
    "params": {"a": 2.0, "n": 5},
    "x": np.arange(5, dtype=np.float32),
    "y": np.ones(5, np.float32),
}


@pytest.fixture
def gpu() -> None:
    reason = GpuDevice.unavailable_reason()
    if reason is not None:
        pytest.skip(f"no GPU: {reason}")


@pytest.mark.usefixtures("gpu")
def test_run() -> None:
    found = tinct.load(SAXPY)["main"].run(BUFFERS, threads=5, device="gpu", via="hercules")
    assert found["y"].tolist() == [1, 3, 5, 7, 9]


def test_the_cpu_goes_by_way_of_hercules_anyway() -> None:
    found = tinct.load(SAXPY)["main"].run(BUFFERS, threads=5, device="cpu", via="hercules")
    assert found["y"].tolist() == [1, 3, 5, 7, 9]


def test_the_interpreter_has_no_other_way() -> None:
    with pytest.raises(tinct.InputError, match="via 'hercules' is for the devices 'gpu' and 'cpu', not 'interp'"):
        tinct.load(SAXPY)["main"].run(BUFFERS, threads=5, device="interp", via="hercules")


def test_an_unknown_way() -> None:
    with pytest.raises(tinct.InputError, match="there is no way via 'hercule'"):
        tinct.load(SAXPY)["main"].run(BUFFERS, threads=5, device="gpu", via="hercule")


def test_compile() -> None:
    found = CliRunner().invoke(command, ["compile", SAXPY, "--emit", "wgsl", "--via", "hercules"])
    assert found.exit_code == 0
    assert "var<storage, read_write> y: array<f32>;" in found.stdout
    assert "workgroup_id.x * 64u" in found.stdout


def test_compile_timings() -> None:
    arguments = ["compile", SAXPY, "--emit", "wgsl", "--via", "hercules", "--timings", "--format", "json"]
    found = CliRunner().invoke(command, arguments)
    assert {"translate", "from hercules", "tidy", "write WGSL"} <= json.loads(found.stdout).keys()


def test_only_wgsl_is_written_by_another_way() -> None:
    found = CliRunner().invoke(command, ["compile", SAXPY, "--emit", "core", "--via", "hercules"])
    assert found.exit_code == 2
    assert "--via hercules is for --emit wgsl, not core" in found.stderr


@pytest.mark.usefixtures("gpu")
def test_run_from_the_command_line() -> None:
    buffers = ["-b", "x=arange:5", "-b", "y=zeros:5", "-b", 'params={"a": 2, "n": 5}']
    arguments = ["run", SAXPY, *buffers, "--threads", "5", "--device", "gpu", "--via", "hercules"]
    found = CliRunner().invoke(command, [*arguments, "--format", "json"])
    assert json.loads(found.stdout) == {"y": [0, 2, 4, 6, 8]}
    assert found.stderr.startswith("gpu via hercules: compiled in")


@pytest.mark.usefixtures("gpu")
def test_compare_has_a_column() -> None:
    arguments = ["compare", str(SHADERS / "saxpy"), "--device", "gpu", "--via", "hercules", "--format", "json"]
    found = CliRunner().invoke(command, arguments)
    assert found.exit_code == 0
    assert {it["device"] for it in json.loads(found.stdout)} == {"gpu", "gpu via hercules"}


@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize("name", ["sharpen", "voxels"])
def test_textures_become_memory(name: str) -> None:
    found = CliRunner().invoke(command, ["compare", str(SHADERS / name), "--device", "gpu", "--via", "hercules"])
    assert found.exit_code == 0, found.stdout
