"""Graphs over Dask arrays."""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np
import pytest

import tinct
import tinct.dask
from tinct.graphs import zeros

from .shaders import TEXT

SHADER = tinct.load(TEXT)
PICTURE = np.random.default_rng(3).random((61, 45), dtype=np.float32)


@tinct.graph
def twice(src, width, height):
    extents, room = {"width": width, "height": height}, zeros(src.length)
    once = SHADER["blur"]({"extents": extents, "src": src, "dst": room}, threads=(width, height))
    again = SHADER["blur"]({"extents": extents, "src": once["dst"], "dst": room}, threads=(width, height))
    counted = SHADER["histogram"]({"src": src, "counts": zeros()}, threads=src.length)
    return {"blurred": again["dst"], "counts": counted["counts"]}


GIVEN = {"width": lambda block: block.shape[1], "height": lambda block: block.shape[0]}


@pytest.mark.parametrize("chunks", [(61, 45), (20, 17), (2, 45)])
def test_blocks_of_a_graph_with_a_halo(chunks: Any) -> None:
    expected = twice.run({"src": PICTURE, "width": 45, "height": 61})
    picture = da.from_array(PICTURE, chunks=chunks)
    blurred = tinct.dask.map_blocks(twice, {"src": picture, **GIVEN}, depth=2, outputs=["blurred"])["blurred"]
    assert (blurred.shape, blurred.dtype) == (PICTURE.shape, np.float32)
    np.testing.assert_array_equal(blurred.compute(), expected["blurred"].reshape(PICTURE.shape))
    counts = tinct.dask.fold_blocks(twice.program, {"src": picture, **GIVEN}, combine=np.add)
    assert (counts.shape, counts.dtype) == ((16,), np.uint32)
    np.testing.assert_array_equal(counts.compute(), expected["counts"])


def test_elements_of_a_graphs_output_may_be_vectors() -> None:
    @tinct.host(inputs={"x": "array<f32>"}, outputs={"pairs": "array<vec2f>"})
    def paired(x):
        return {"pairs": np.stack([x, -x], axis=1)}

    graph = tinct.Graph()
    node = graph.node(paired)
    graph.bind_input("x", node["x"])
    graph.bind_output(node["pairs"], "pairs")
    pairs = tinct.dask.map_blocks(graph, {"x": da.from_array(PICTURE, chunks=30)})
    assert pairs.shape == (61, 45, 2)
    np.testing.assert_array_equal(pairs.compute(), np.stack([PICTURE, -PICTURE], axis=2))
    assert pairs.name == tinct.dask.map_blocks(graph, {"x": da.from_array(PICTURE, chunks=30)}).name


def test_an_output_of_another_length() -> None:
    short = tinct.Graph()
    node = short.node(lambda x: x[:1], inputs={"x": "array<f32>"}, outputs={"pairs": "array<f32>"})
    short.bind_input("x", node["x"])
    short.bind_output(node["pairs"], "pairs")
    found = tinct.dask.map_blocks(short, {"x": da.zeros(2, dtype=np.float32)})
    with pytest.raises(tinct.InputError, match="pairs has 1 elements, but the block 2"):
        found.compute()


def test_empty_blocks() -> None:
    empty = da.zeros((0, 4), dtype=np.float32)
    found = tinct.dask.map_blocks(twice, {"src": empty, **GIVEN}, outputs=["blurred"])
    assert found["blurred"].compute().shape == (0, 4)


def test_mistakes() -> None:
    picture = da.from_array(PICTURE, chunks=30)
    with pytest.raises(tinct.InputError, match="threads is for kernels; the nodes of a graph have their own"):
        tinct.dask.map_blocks(twice, {"src": picture}, threads=4)
    with pytest.raises(tinct.InputError, match=r"graph 'twice' has no buffer named 'scr'; did you mean 'src'\?"):
        tinct.dask.map_blocks(twice, {"scr": picture})
    with pytest.raises(tinct.InputError, match="blocks are run by a kernel or a graph, not 3"):
        tinct.dask.map_blocks(3, {"scr": picture})  # type: ignore[arg-type]
    with pytest.raises(tinct.InputError, match="counts is written by every block, but is no array of blocks"):
        tinct.dask.map_blocks(twice, {"src": picture, **GIVEN}, outputs=["counts"])
    with pytest.raises(tinct.InputError, match="nothing is given for the input width: u32, height: u32"):
        tinct.dask.map_blocks(twice, {"src": picture}, outputs=["blurred"])["blurred"].compute()
