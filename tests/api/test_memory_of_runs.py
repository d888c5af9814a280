"""`Kernel.run` reads arrays where they are, and returns memory of its own."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

import tinct

AXPY = tinct.load("""
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x < arrayLength(&y) { y[id.x] += 2 * x[id.x]; }
}
""")["main"]
COUNTS = (5, 20_000)
pytestmark = [pytest.mark.parametrize("device", ["cpu", "gpu", "interp"]), pytest.mark.usefixtures("needs_device")]


def at_offset(values: npt.NDArray[np.float32], offset: int) -> npt.NDArray[np.float32]:
    """The values in memory that begins so many bytes after a line of the cache."""
    room = np.zeros(values.nbytes + 128, np.uint8)
    start = -room.ctypes.data % 64 + offset
    found = room[start : start + values.nbytes].view(np.float32)
    found[:] = values
    return found


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("offset", [0, 4, 16])
def test_arrays_at_any_address(count: int, offset: int, device: str) -> None:
    values = np.arange(count, dtype=np.float32)
    x, y = at_offset(values, offset), at_offset(values, offset)
    found = AXPY.run({"x": x, "y": y}, threads=count, device=device)["y"]
    np.testing.assert_array_equal(found, 3 * values)
    np.testing.assert_array_equal(x, values)
    np.testing.assert_array_equal(y, values)


@pytest.mark.parametrize("count", COUNTS)
def test_results_are_memory_of_their_own(count: int, device: str) -> None:
    values = np.ones(count, np.float32)
    first = AXPY.run({"x": values, "y": values}, threads=count, device=device)["y"]
    second = AXPY.run({"x": first, "y": first}, threads=count, device=device)["y"]
    second[:] += 1
    third = AXPY.run({"x": first, "y": (None, count)}, threads=count, device=device)["y"]
    for found, expected in ((values, 1), (first, 3), (second, 10), (third, 6)):
        np.testing.assert_array_equal(found, np.full(count, expected, np.float32))


@pytest.mark.parametrize("count", COUNTS)
def test_arrays_that_may_not_be_written(count: int, device: str) -> None:
    values = np.ones(count, np.float32)
    values.flags.writeable = False
    found = AXPY.run({"x": values, "y": values}, threads=count, device=device)["y"]
    found[0] = 7
    np.testing.assert_array_equal(found[1:], np.full(count - 1, 3, np.float32))


@pytest.mark.parametrize(
    "x",
    [
        np.arange(8, dtype=np.float32)[::2],
        np.arange(4, dtype=">f4") * 2,
        np.arange(4, dtype=np.int16) * 2,
        [0, 2, 4, 6],
        (np.arange(4, dtype=np.float32) * 2).tobytes(),
    ],
    ids=["every other one", "big-endian", "i16", "list", "bytes"],
)
def test_what_has_other_bytes_in_memory(x: object, device: str) -> None:
    found = AXPY.run({"x": x, "y": (None, 4)}, threads=4, device=device)["y"]
    np.testing.assert_array_equal(found, np.array([0, 4, 8, 12], np.float32))
