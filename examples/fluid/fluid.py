"""A step of a fluid in a box, after Stam's "Stable Fluids": advection, divergence, pressure, projection.

The outputs have the names of the inputs that they take the place of: repeating the graph goes on in time. The pressure
of the step before is where Jacobi's method begins.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import tinct
from tinct.graphs import zeros

SHADER = tinct.load(Path(__file__).with_suffix(".wgsl"))
advect, diverge, jacobi, project = (SHADER[name] for name in ("advect", "diverge", "jacobi", "project"))

JACOBI_STEPS = 20
ACCURACY = {"rtol": 0, "atol": 2e-5}
"""Of velocities of about 1: a point between cells has the rounding error of its coordinate, which is up to some 30."""

Array = npt.NDArray[np.float32]


@tinct.graph
def relax(outflow, pressure, width, height):
    size, room = {"width": width, "height": height}, zeros(width * height)
    buffers = {"size": size, "outflow": outflow, "pressure": pressure, "next_pressure": room}
    return {"pressure": jacobi(buffers, threads=(width, height))["next_pressure"]}


@tinct.graph
def fluid(flow, dye, pressure, seconds, width, height):
    size, cells, grid = {"width": width, "height": height}, width * height, (width, height)
    moved = advect(
        {
            "size": size,
            "seconds": seconds,
            "flow": flow,
            "dye": dye,
            "next_flow": zeros(cells),
            "next_dye": zeros(cells),
        },
        threads=grid,
    )
    velocity = moved["next_flow"]
    outflow = diverge({"size": size, "velocity": velocity, "divergence": zeros(cells)}, threads=grid)["divergence"]
    start = {"outflow": outflow, "pressure": pressure, "width": width, "height": height}
    solved = relax(start, repeat=JACOBI_STEPS)["pressure"]
    flow = project({"size": size, "last_pressure": solved, "projected": velocity}, threads=grid)["projected"]
    return {"flow": flow, "dye": moved["next_dye"], "pressure": solved}


GRAPH = fluid


def inputs(random: np.random.Generator) -> dict[str, Any]:
    """A vortex with some noise, and a square of dye."""
    width, height = 33, 20
    y, x = np.mgrid[:height, :width].astype(np.float32)
    flow = np.stack([(y - 9.5) / 10, (16 - x) / 16], 2) + 0.2 * random.standard_normal((height, width, 2))
    dye = ((abs(x - 10) < 4) & (abs(y - 10) < 4)).astype(np.float32)
    still = np.zeros((height, width), np.float32)
    numbers = {"seconds": 1.5, "width": width, "height": height}
    return {"flow": flow.astype(np.float32), "dye": dye, "pressure": still, **numbers}


def reference(given: dict[str, Any]) -> dict[str, Array]:
    flow, dye, pressure = given["flow"], given["dye"], given["pressure"]
    height, width = dye.shape
    y, x = np.mgrid[:height, :width].astype(np.float32)
    x = np.clip(x - np.float32(given["seconds"]) * flow[..., 0], 0, width - 1)
    y = np.clip(y - np.float32(given["seconds"]) * flow[..., 1], 0, height - 1)
    dye, flow = between(dye[..., None], x, y)[..., 0], between(flow, x, y)
    left, right, above, below = neighbours(np.pad(flow, ((1, 1), (1, 1), (0, 0)), mode="edge"))
    left[:, 0] *= -1
    right[:, -1] *= -1
    above[0] *= -1
    below[-1] *= -1
    outflow = np.float32(0.5) * (right[..., 0] - left[..., 0] + below[..., 1] - above[..., 1])
    for _ in range(JACOBI_STEPS):
        pressure = np.float32(0.25) * (sum(neighbours(np.pad(pressure, 1, mode="edge"))) - outflow)
    left, right, above, below = neighbours(np.pad(pressure, 1, mode="edge"))
    flow = flow - np.float32(0.5) * np.stack([right - left, below - above], 2)
    return {"flow": flow, "dye": dye, "pressure": pressure}


def in_order(session: tinct.Session, given: dict[str, Any]) -> dict[str, tinct.Buffer]:
    """The same as a sequence of dispatches in a session."""
    grid = given["width"], given["height"]
    size, cells = {"width": grid[0], "height": grid[1]}, grid[0] * grid[1]
    buffers = {"size": size, "seconds": given["seconds"], "dye": given["dye"].ravel()}
    buffers |= {"flow": given["flow"].reshape(-1, 2), "next_flow": (None, cells), "next_dye": (None, cells)}
    moved = session.run(advect, buffers, threads=grid)
    flow = moved["next_flow"]
    outflow = session.run(diverge, {"size": size, "velocity": flow, "divergence": (None, cells)}, threads=grid)
    pressure, spare = session.buffer(given["pressure"].ravel()), session.empty(np.float32, cells)
    for _ in range(JACOBI_STEPS):
        buffers = {"size": size, "outflow": outflow["divergence"], "pressure": pressure, "next_pressure": spare}
        session.run(jacobi, buffers, threads=grid)
        pressure, spare = spare, pressure
    session.run(project, {"size": size, "last_pressure": pressure, "projected": flow}, threads=grid)
    return {"flow": flow, "dye": moved["next_dye"], "pressure": pressure}


def neighbours(padded: Array) -> tuple[Array, Array, Array, Array]:
    """What is left of each cell, right, above and below."""
    left, right = padded[1:-1, :-2], padded[1:-1, 2:]
    return left.copy(), right.copy(), padded[:-2, 1:-1].copy(), padded[2:, 1:-1].copy()


def between(values: Array, x: Array, y: Array) -> Array:
    """Values at points between cells, by linear interpolation."""
    height, width = values.shape[:2]
    left, top = np.floor(x).astype(int), np.floor(y).astype(int)
    right, bottom = np.minimum(left + 1, width - 1), np.minimum(top + 1, height - 1)
    across, down = (x - left).astype(np.float32)[..., None], (y - top).astype(np.float32)[..., None]
    above = values[top, left] * (1 - across) + values[top, right] * across
    below = values[bottom, left] * (1 - across) + values[bottom, right] * across
    return above * (1 - down) + below * down


if __name__ == "__main__":
    given = inputs(np.random.default_rng(0))
    found = GRAPH.run(given, repeat=10)["dye"].reshape(given["dye"].shape)
    print("\n".join("".join(" .:-=+*#%@"[min(int(9 * dye), 9)] for dye in row) for row in found))
