"""Running kernels on every device, and what is said to those who call it wrongly."""

from __future__ import annotations

import numpy as np
import pytest

import tinct
from tinct.backend.gpu import GpuDevice

from .shaders import LENGTH, POINTS, SAXPY

PARAMS = {"a": 2.0, "n": 5}
X, Y = np.arange(5, dtype=np.float32), np.ones(5, np.float32)


@pytest.fixture(params=list(tinct.DEVICES))
def device(request: pytest.FixtureRequest) -> str:
    if request.param == "gpu" and (reason := GpuDevice.unavailable_reason()) is not None:
        pytest.skip(f"no GPU: {reason}")
    return str(request.param)


def test_every_device_gives_the_answer(device: str) -> None:
    x, y = X.copy(), Y.copy()
    outputs = tinct.load(SAXPY)["main"].run({"x": x, "y": y, "params": PARAMS}, threads=5, device=device)
    assert outputs.keys() == {"y"}
    np.testing.assert_array_equal(outputs["y"], [1, 3, 5, 7, 9])
    np.testing.assert_array_equal(y, Y, "the inputs stay as they are")
    assert outputs["y"].dtype == np.float32


def test_structures_and_runtime_sized_tails(device: str) -> None:
    kernel = tinct.load(POINTS)["main"]
    points = [{"at": [1, 2, 3], "mass": 4, "tag": [5, 6]}, {"at": [7, 8, 9], "mass": 10, "tag": [11, 12]}]
    buffers = {"cloud": {"count": 0, "centre": [0, 0, 0], "points": points}, "normals": np.zeros((2, 3), np.float32)}
    outputs = kernel.run(buffers, workgroups=2, device=device)
    assert outputs["cloud"]["count"] == 2
    assert outputs["cloud"]["points"]["mass"].tolist() == [8, 20]
    assert outputs["normals"].tolist() == [[1, 2, 3], [7, 8, 9]]


def test_an_array_in_the_exact_layout_comes_back_in_it() -> None:
    kernel = tinct.load(POINTS)["main"]
    dtype = kernel.shader.bindings["cloud"].dtype_with(2)
    cloud = np.zeros((), dtype)
    cloud["points"]["mass"] = [1, 2]
    outputs = kernel.run({"cloud": cloud, "normals": np.zeros((2, 4), np.float32)}, workgroups=2)
    assert outputs["cloud"].dtype == dtype
    assert outputs["cloud"]["points"]["mass"].tolist() == [2, 4]
    assert outputs["normals"].shape == (2, 4)


def test_outputs_have_the_shape_of_what_was_given() -> None:
    kernel = tinct.load(SAXPY)["main"]
    image = np.ones((5, 3), np.float64)
    outputs = kernel.run({"x": image, "y": image, "params": (2.0, 15)}, threads=15)
    assert (outputs["y"].shape, outputs["y"].dtype) == ((5, 3), np.float32)


@pytest.mark.parametrize(("size", "expected"), [(8, 1), (12, 1), (20, 2), (24, 3)])
def test_a_runtime_sized_array_has_as_many_elements_as_fit(size: int, expected: int) -> None:
    for device in ("cpu", "interp", "hercules"):
        outputs = tinct.load(LENGTH)["main"].run({"data": bytes(size), "length": 0}, workgroups=1, device=device)
        assert outputs["length"] == expected, device


def test_a_zero_runs_nothing(device: str) -> None:
    outputs = tinct.load(SAXPY)["main"].run({"x": X, "y": Y, "params": PARAMS}, workgroups=(1, 0), device=device)
    np.testing.assert_array_equal(outputs["y"], Y)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x": None}, "no array is given for x: array<f32>"),
        ({"z": Y}, "no buffer named 'z'"),
        ({"parms": Y}, "did you mean 'params'"),
        ({"x": np.zeros(0, np.float32)}, "x: array<f32> needs at least 4 bytes, but 0"),
        ({"x": b"abc"}, "x: array<f32> needs at least 4 bytes, but 3"),
        ({"params": bytes(4)}, "params: Params needs at least 8 bytes, but 4"),
        ({"x": np.zeros(5, complex)}, "x: .*complex"),
        ({"x": "hello"}, "x: array<f32> takes an array or a list, not 'hello'"),
        ({"x": object()}, "x: array<f32> takes an array or a list, not <object"),
        ({"x": [1, "two"]}, r"x\[1\]: f32 takes a number, not 'two'"),
        ({"x": (1 for _ in "x")}, "x: array<f32> takes an array or a list, not <generator"),
        ({1: Y}, "no buffer named 1; there are"),
        ({"x": [[1, 2], [3]]}, r"x\[0\]: f32 takes a number, not \[1, 2\]"),
        ({"params": {"a": 1.0}}, "no value for the member 'n'"),
        ({"params": {"a": 1.0, "n": 1, "m": 1}}, "Params has no member 'm'"),
        ({"params": {"a": 1.0, "n": 1.5}}, "params.n: 1.5 is not a whole number, which u32 takes"),
        ({"params": {"a": 1.0, "n": -1}}, "params.n: -1 is out of range for u32"),
        ({"params": {"a": [1.0, 2.0], "n": 1}}, r"params.a: f32 takes one number, not shape \(2,\)"),
        ({"params": 3}, "params: "),
    ],
)
def test_buffers_that_do_not_fit(change: dict[str, object], message: str) -> None:
    buffers = {"x": X, "y": Y, "params": PARAMS, **change}
    given = {name: value for name, value in buffers.items() if value is not None}
    with pytest.raises(tinct.InputError, match=message):
        tinct.load(SAXPY)["main"].run(given, threads=5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("size", "message"),
    [
        ({}, "either as workgroups or as threads"),
        ({"threads": 5, "workgroups": 1}, "either as workgroups or as threads"),
        ({"threads": 1.5}, "whole numbers"),
        ({"threads": "64"}, "whole numbers"),
        ({"threads": ()}, "one to three"),
        ({"threads": (1, 2, 3, 4)}, "one to three"),
        ({"workgroups": -1}, "negative"),
        ({"workgroups": 65536}, "over the limit: 65535"),
        ({"threads": (64, 1 << 40)}, "over the limit: 65535"),
    ],
)
def test_dispatches_that_do_not_fit(size: dict[str, object], message: str) -> None:
    with pytest.raises(tinct.InputError, match=message):
        tinct.load(SAXPY)["main"].run({"x": X, "y": Y, "params": PARAMS}, **size)  # type: ignore[arg-type]


def test_an_unknown_device() -> None:
    with pytest.raises(tinct.InputError, match="did you mean 'gpu'"):
        tinct.load(SAXPY)["main"].run({"x": X, "y": Y, "params": PARAMS}, threads=5, device="gp")


def test_what_a_device_lacks_is_said_with_its_place() -> None:
    wgsl = "/* a table */ var<private> a: array<u32, 0x50000>; @compute @workgroup_size(1) fn main() { a[1] = 1; }"
    with pytest.raises(tinct.ShaderError, match="not supported: private variables of 1310720 bytes") as caught:
        tinct.load(wgsl)["main"].run({}, workgroups=1)
    assert "1:28" in str(caught.value)
