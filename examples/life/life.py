"""Four generations of the game of life: each goes on to the next one, and to a count of the living."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import tinct
from tinct.graphs import zeros

SHADER = tinct.load(Path(__file__).with_suffix(".wgsl"))
GENERATIONS = 4


def build() -> tinct.Graph:
    graph = tinct.Graph("life")
    cells, totals = None, None
    for generation in range(GENERATIONS):
        step = graph.node(SHADER["step"], threads=("width", "height"), name=f"step_{generation}")
        graph.bind_input("width", step["board.width"])
        graph.bind_input("height", step["board.height"])
        graph.bind_input(zeros("len(cells)"), step["next_cells"])
        if cells is None:
            graph.bind_input("cells", step["cells"])
        else:
            graph.edge(cells, step["cells"])
        cells, living = graph.split(step["next_cells"])
        count = graph.node(SHADER["count"], threads="len(cells)", name=f"count_{generation}")
        graph.edge(living, count["cells"])
        graph.bind_input(generation, count["generation"])
        if totals is None:
            graph.bind_input(zeros(GENERATIONS), count["totals"])
        else:
            graph.edge(totals, count["totals"])
        totals = count["totals"]
    graph.bind_output(cells, "cells")
    graph.bind_output(totals, "totals")
    return graph


GRAPH = build()


def inputs(random: np.random.Generator) -> dict[str, Any]:
    return {"cells": random.integers(0, 2, (13, 21), np.uint32), "width": 21, "height": 13}


def in_order(session: tinct.Session, given: dict[str, Any]) -> dict[str, tinct.Buffer]:
    """The same as a sequence of dispatches in a session, in two buffers."""
    count = given["cells"].size
    cells, spare = session.buffer(given["cells"].ravel()), session.empty(np.uint32, count)
    totals = session.empty(np.uint32, GENERATIONS)
    grid = given["width"], given["height"]
    for generation in range(GENERATIONS):
        buffers = {"board": {"width": grid[0], "height": grid[1]}, "cells": cells, "next_cells": spare}
        session.run(SHADER["step"], buffers, threads=grid)
        cells, spare = spare, cells
        buffers = {"cells": cells, "totals": totals, "generation": generation}
        session.run(SHADER["count"], buffers, threads=count)
    return {"cells": cells, "totals": totals}


def reference(given: dict[str, Any]) -> dict[str, npt.NDArray[np.uint32]]:
    cells, totals = given["cells"], []
    for _ in range(GENERATIONS):
        count = sum(np.roll(cells, (y, x), (0, 1)) for y in (-1, 0, 1) for x in (-1, 0, 1))
        cells = ((count == 3) | ((count == 4) & (cells == 1))).astype(np.uint32)
        totals.append(cells.sum())
    return {"cells": cells, "totals": np.array(totals, np.uint32)}


if __name__ == "__main__":
    data = inputs(np.random.default_rng(0))
    found, expected = GRAPH.run(data), reference(data)
    np.testing.assert_array_equal(found["cells"].reshape(data["cells"].shape), expected["cells"])
    print("living cells:", *found["totals"])
