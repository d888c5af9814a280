"""The conjugate gradient method: a graph is one step; repeating it until `converged` solves a system of equations.

The matrix is sparse, symmetric and positive definite, in the ELLPACK form: each row has as many places as the fullest
row needs. Place k of row r is element `k * rows + r` of `columns` and `elements`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import tinct
from tinct.graphs import zeros

SHADER = tinct.load(Path(__file__).with_suffix(".wgsl"))
multiply, choose_step, advance, choose_turn, turn = (
    SHADER[name] for name in ("multiply", "choose_step", "advance", "choose_turn", "turn")
)

WIDTH = 256
ACCURACY = {"rtol": 1e-4, "atol": 1e-5}
"""Of one step: dot products of some hundred numbers in another order, and their quotients."""

Arrays = dict[str, npt.NDArray[Any]]


@tinct.graph
def conjugate_gradient(columns, elements, solution, residual, direction, scalars, target_square):
    """One step. `scalars` begins with the squared residual; `converged` is 1 if that is at most `target_square`."""
    rows = direction.length
    parts = rows.ceil_div(WIDTH)
    image = multiply(
        {
            "columns": columns,
            "elements": elements,
            "direction": direction,
            "image": zeros(rows),
            "partial_sums": zeros(parts),
        },
        threads=rows,
    )
    scalars = choose_step({"parts": image["partial_sums"], "scalars": scalars}, workgroups=1)["scalars"]
    advanced = advance(
        {
            "now": scalars,
            "along": direction,
            "image_along": image["image"],
            "solution": solution,
            "residual": residual,
            "partial_squares": zeros(parts),
        },
        threads=rows,
    )
    chosen = choose_turn(
        {
            "parts": advanced["partial_squares"],
            "scalars": scalars,
            "target_square": target_square,
            "converged": zeros(),
        },
        workgroups=1,
    )
    turned = turn({"now": chosen["scalars"], "rest": advanced["residual"], "next_direction": direction}, threads=rows)
    return {
        "solution": advanced["solution"],
        "residual": advanced["residual"],
        "direction": turned["next_direction"],
        "scalars": chosen["scalars"],
        "converged": chosen["converged"],
    }


GRAPH = conjugate_gradient


def started(columns: npt.NDArray[Any], elements: npt.NDArray[Any], right: npt.NDArray[Any]) -> dict[str, Any]:
    """The inputs of the first step, from a solution of zeros; the residual is to be a millionth of the right side."""
    square = float(right.astype(np.float64) @ right)
    return {
        "columns": columns,
        "elements": elements,
        "solution": np.zeros_like(right),
        "residual": right,
        "direction": right,
        "scalars": {"squared_residual": square, "step": 0, "turn": 0},
        "target_square": 1e-12 * square,
    }


def in_order(session: tinct.Session, given: dict[str, Any]) -> dict[str, tinct.Buffer]:
    """The same as a sequence of dispatches in a session."""
    return one_step(session, in_buffers(session, given), given["target_square"])


def in_buffers(session: tinct.Session, given: dict[str, Any]) -> dict[str, tinct.Buffer]:
    """The matrix and the state of the method as buffers."""
    state = {name: session.buffer(given[name]) for name in ("columns", "elements", "solution", "residual", "direction")}
    state["scalars"] = session.buffer(given["scalars"], SHADER.bindings["scalars"])
    return state


def one_step(session: tinct.Session, state: dict[str, tinct.Buffer], target_square: float) -> dict[str, tinct.Buffer]:
    """Does a step in the buffers of `state`, which it returns with `converged`."""
    scalars, direction, residual = state["scalars"], state["direction"], state["residual"]
    (rows,) = direction.shape
    parts = (None, -(-rows // WIDTH))
    buffers = {"columns": state["columns"], "elements": state["elements"], "direction": direction}
    image = session.run(multiply, buffers | {"image": (None, rows), "partial_sums": parts}, threads=rows)
    session.run(choose_step, {"parts": image["partial_sums"], "scalars": scalars}, workgroups=1)
    buffers = {"now": scalars, "along": direction, "image_along": image["image"], "solution": state["solution"]}
    squares = session.run(advance, buffers | {"residual": residual, "partial_squares": parts}, threads=rows)
    buffers = {"parts": squares["partial_squares"], "scalars": scalars, "target_square": target_square}
    made = session.run(choose_turn, buffers | {"converged": None}, workgroups=1)
    session.run(turn, {"now": scalars, "rest": residual, "next_direction": direction}, threads=rows)
    return state | made


def poisson(width: int, height: int) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.float32]]:
    """Columns and elements of Poisson's equation on a grid: 4 in the diagonal, and -1 for each neighbour."""
    cells = np.arange(width * height).reshape(height, width)
    y, x = np.divmod(cells.ravel(), width)
    columns, elements = [cells.ravel()], [np.full(cells.size, 4.0)]
    for across, down in ((0, -1), (-1, 0), (1, 0), (0, 1)):
        exists = (x + across >= 0) & (x + across < width) & (y + down >= 0) & (y + down < height)
        columns.append(np.where(exists, cells.ravel() + across + down * width, cells.ravel()))
        elements.append(np.where(exists, -1.0, 0.0))
    return np.array(columns, np.uint32), np.array(elements, np.float32)


def inputs(random: np.random.Generator) -> dict[str, Any]:
    columns, elements = poisson(23, 17)
    return started(columns, elements, random.standard_normal(columns.shape[1]).astype(np.float32))


def reference(given: dict[str, Any]) -> Arrays:
    """One step, in double precision."""
    now = {name: given[name].astype(np.float64) for name in ("solution", "residual", "direction")}
    before = given["scalars"]["squared_residual"]
    image = (given["elements"] * now["direction"][given["columns"]]).sum(0)
    step = before / (now["direction"] @ image)
    solution = now["solution"] + step * now["direction"]
    residual = now["residual"] - step * image
    square = residual @ residual
    found = {
        "scalars": [square, step, square / before],
        "solution": solution,
        "residual": residual,
        "direction": residual + square / before * now["direction"],
        "converged": np.uint32(square <= given["target_square"]),
    }
    return {name: np.asarray(array) for name, array in found.items()}


if __name__ == "__main__":
    data = inputs(np.random.default_rng(0))
    result = GRAPH.run_timed(data, until="converged", repeat=1000)
    image = (data["elements"] * result.outputs["solution"][data["columns"]]).sum(0)
    print(f"{result.executions} steps, residual {np.linalg.norm(data['residual'] - image):.1e}")
