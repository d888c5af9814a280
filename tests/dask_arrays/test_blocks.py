"""Kernels over Dask arrays give what they give over whole arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import dask.array as da
import numpy as np
import pytest
from dask.base import tokenize

import tinct
import tinct.dask
from tinct.dask import Block

from .shaders import TEXT

SHADER = tinct.load(TEXT)
PICTURE = np.random.default_rng(3).random((61, 45), dtype=np.float32)


def extents(block: Block) -> tuple[int, int]:
    return block.shape[1], block.shape[0]


def blurred() -> np.ndarray[Any, np.dtype[np.float32]]:
    height, width = PICTURE.shape
    buffers = {"extents": (width, height), "src": PICTURE, "dst": np.zeros_like(PICTURE)}
    return SHADER["blur"].run(buffers, threads=(width, height))["dst"]


@pytest.mark.parametrize("chunks", [(61, 45), (20, 17), (7, 45), ((1, 1, 59), (1, 1, 43)), ((40, 1, 20), (2, 43))])
@pytest.mark.parametrize("boundary", ["none", "nearest"])
def test_a_stencil_with_a_halo(chunks: Any, boundary: str) -> None:
    picture = da.from_array(PICTURE, chunks=chunks)
    buffers = {"extents": extents, "src": picture, "dst": None}
    result = tinct.dask.map_blocks(SHADER["blur"], buffers, depth=1, boundary=boundary)
    assert result.chunks == picture.chunks
    assert result.dtype == np.float32
    np.testing.assert_array_equal(result.compute(), blurred())


@pytest.mark.parametrize("device", ["cpu", "interp"])
def test_a_halo_that_differs_by_axis(device: str) -> None:
    picture = da.from_array(PICTURE, chunks=(30, 45))
    buffers = {"extents": extents, "src": picture, "dst": None}
    result = tinct.dask.map_blocks(SHADER["blur"], buffers, depth=(2, 0), device=device)
    np.testing.assert_array_equal(result.compute(), blurred())


def test_blocks_say_where_they_lie() -> None:
    found: list[Block] = []

    def note(block: Block) -> tuple[int, int]:
        found.append(block)
        return extents(block)

    picture = da.from_array(PICTURE, chunks=(40, 30))
    buffers = {"extents": note, "src": picture, "dst": None}
    tinct.dask.map_blocks(SHADER["blur"], buffers, depth=(3, 0), boundary=("periodic", "none")).compute()
    assert sorted(found, key=lambda it: it.number) == [
        Block((0, 0), (0, 0), (46, 30), (3, 0), (3, 0)),
        Block((0, 1), (0, 30), (46, 15), (3, 0), (3, 0)),
        Block((1, 0), (40, 0), (27, 30), (3, 0), (3, 0)),
        Block((1, 1), (40, 30), (27, 15), (3, 0), (3, 0)),
    ]


def spread(chunks: int) -> Mapping[str, Any]:
    scale, points = np.arange(50, dtype=np.float32), np.ones((50, 2), np.float32)
    buffers = {"src": da.from_array(scale, chunks=chunks), "points": da.from_array(points, chunks=9), "squares": None}
    return tinct.dask.map_blocks(SHADER["spread"], buffers)


@pytest.mark.parametrize("chunks", [1, 13, 50])
def test_several_outputs_and_axes_that_are_not_cut(chunks: int) -> None:
    results = spread(chunks)
    points, squares = da.compute(results["points"], results["squares"])
    expected = np.arange(50, dtype=np.float32)
    np.testing.assert_array_equal(points, np.stack([expected, expected], axis=1))
    np.testing.assert_array_equal(squares, 2 * expected**2)


def test_named_outputs() -> None:
    picture = da.from_array(PICTURE, chunks=30)
    buffers = {"extents": extents, "src": picture, "dst": None}
    results = tinct.dask.map_blocks(SHADER["blur"], buffers, depth=1, outputs=["dst"])
    np.testing.assert_array_equal(results["dst"].compute(), blurred())


@pytest.mark.parametrize("split_every", [2, 3, 100])
def test_fold(split_every: int) -> None:
    picture = da.from_array(PICTURE, chunks=(11, 20))
    counts = tinct.dask.fold_blocks(
        SHADER["histogram"],
        {"src": picture, "counts": np.zeros(16, np.uint32)},
        combine=np.add,
        threads=lambda block: block.shape[0] * block.shape[1],
        split_every=split_every,
    )
    assert counts.compute().tolist() == np.histogram(PICTURE, 16, (0, 1))[0].tolist()


def test_equal_calls_are_equal_tasks() -> None:
    picture = da.from_array(PICTURE, chunks=30)
    buffers = {"extents": (45, 61), "src": picture, "dst": None}
    kernels = [tinct.load(text)["blur"] for text in (TEXT, TEXT, TEXT.replace("9.0", "8.0"))]
    first, second, other = (tinct.dask.map_blocks(it, buffers).name for it in kernels)
    assert first == second != other
    assert tokenize(kernels[0]) == tokenize(kernels[1]) != tokenize(kernels[2])


def test_empty_blocks() -> None:
    values = da.from_array(np.zeros(0, np.float32), chunks=4)
    assert tinct.dask.map_blocks(SHADER["long"], {"dst": values}).compute().shape == (0,)


@pytest.mark.parametrize(
    ("buffers", "options", "message"),
    [
        (
            {"src": PICTURE, "dst": None},
            {},
            "none of the buffers is a Dask array, so there are no blocks: use run",
        ),
        (
            {"sorce": da.zeros(4, chunks=2)},
            {},
            "the entry point uses no buffer named 'sorce'; there are extents, src, dst",
        ),
        (
            {"src": da.zeros((4, 4), chunks=2), "dst": da.zeros((4, 5), chunks=2)},
            {},
            "dst has the shape (4, 5), which does not begin like src's (4, 4)",
        ),
        (
            {"src": da.zeros((8, 2), chunks=(4, 1)), "dst": None},
            {"depth": 3},
            "src has 2 elements along axis 1, less than the depth 3",
        ),
        (
            {"src": da.zeros((8, 8)), "dst": None},
            {"depth": (1, 1, 1)},
            "depth has 3 entries, but the blocks have 2 axes",
        ),
        ({"src": da.zeros((8, 8)), "dst": None}, {"depth": -1}, "depth is a number of elements, 0 or more, not -1"),
        ({"src": da.zeros((8, 8)), "dst": None}, {"outputs": ["src"]}, "nothing that is written is named 'src'"),
        (
            {"src": da.zeros((8, 8)), "dst": np.zeros(64, np.float32)},
            {},
            "dst is written by every block, but is no array of blocks",
        ),
    ],
)
def test_mistakes(buffers: Mapping[str, Any], options: Mapping[str, Any], message: str) -> None:
    with pytest.raises(tinct.InputError) as error:
        tinct.dask.map_blocks(SHADER["blur"], buffers, **options)
    assert str(error.value).startswith(message)


def test_mistakes_in_folds() -> None:
    values = da.zeros(8, chunks=4, dtype=np.float32)
    with pytest.raises(tinct.InputError, match="split_every is 2 or more, not 1"):
        tinct.dask.fold_blocks(SHADER["histogram"], {"src": values}, combine=np.add, split_every=1)
    with pytest.raises(tinct.InputError, match="nothing to combine"):
        tinct.dask.fold_blocks(SHADER["histogram"], {"src": values}, combine=np.add)
    counts = np.zeros(16, np.uint32)
    with pytest.raises(tinct.InputError, match="combine has no function for counts"):
        tinct.dask.fold_blocks(SHADER["histogram"], {"src": values, "counts": counts}, combine={})


def test_a_block_that_fails_names_the_cause() -> None:
    picture = da.from_array(PICTURE, chunks=30)
    result = tinct.dask.map_blocks(SHADER["blur"], {"src": picture, "dst": None})
    with pytest.raises(tinct.InputError, match="no array is given for extents"):
        result.compute()
