"""Programs of `examples/` on the CPU beside NumPy, SciPy and Numba.

"session" is the dispatches of a program on buffers of a session. "graph" is `graph.run`, which also copies inputs and
outputs. Peers work on arrays that are there.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from typing import Any, Final

import numpy as np

import tinct
from tinct.graphs import zeros

from .examples import FOLDER, example
from .measuring import Bar, Call, Comparison, Effort, Part, medians

RANDOM_SEED: Final = 7
TILE: Final = 65536
RADIX: Final = 256


def ratio_bar(what: str, seconds: Mapping[str, float], names: tuple[str, str], wanted: float) -> Bar:
    """How many times as long as our way another takes: names are (ours, other)."""
    ours, other = names
    return Bar(f"{what}, {ours}: speed relative to {other}", seconds[other] / seconds[ours], "at least", wanted)


def missing(*modules: str) -> str | None:
    """Why peers cannot be run, or None."""
    absent = [name for name in modules if importlib.util.find_spec(name) is None]
    return f"{', '.join(absent)} not installed: pip install -e '.[bench]'" if absent else None


def sort(effort: Effort) -> Iterator[Comparison]:
    """Radix sorts, with 4 bits a round in workgroups of 256, and with 8 bits in tiles of one invocation each."""
    module = example("radix_sort")
    keys = np.random.default_rng(RANDOM_SEED).integers(0, 1 << 32, effort.pick((1 << 24) - 256, 3000), np.uint32)
    with tinct.Session() as session:
        source = session.buffer(keys)
        rooms = [session.empty(np.uint32, keys.shape) for _ in range(2)]
        tiles = tinct.load(FOLDER / "radix_sort" / "radix_sort_tiles.wgsl")
        in_session: dict[str, Callable[[], tinct.Buffer]] = {
            "sequential tiles": lambda: sort_in_tiles(session, tiles, source, rooms),
            "portable": lambda: module.sort_in(session, source, rooms),
        }
        calls: dict[str, Call] = {**in_session, "np.sort": lambda: np.sort(keys)}
        expected = np.sort(keys)
        for call in in_session.values():
            np.testing.assert_array_equal(call().numpy(), expected)
        seconds = medians(calls, min(effort.rounds, 5))
    bar = ratio_bar("sort", seconds, ("sequential tiles", "np.sort"), 4)
    note = f"portable form: speed relative to np.sort {seconds['np.sort'] / seconds['portable']:.2f}"
    yield Comparison(f"radix sort of {keys.size:,} keys", seconds, "sequential tiles", (bar,), (note,))


def sort_in_tiles(
    session: tinct.Session, shader: tinct.Shader, source: tinct.Buffer, rooms: list[tinct.Buffer]
) -> tinct.Buffer:
    """Sort keys by eight bits a round; the result is in one of the rooms."""
    tiles = -(-source.shape[0] // TILE)
    for turn, shift in enumerate(range(0, 32, 8)):
        buffers: dict[str, Any] = {"keys": source, "shift": shift}
        counts = session.run(shader["count"], buffers | {"counts": (None, tiles * RADIX)}, workgroups=tiles)["counts"]
        session.run(shader["scan"], {"sums": counts}, workgroups=1)
        buffers |= {"starts": counts, "sorted": rooms[turn % 2]}
        session.run(shader["scatter"], buffers, workgroups=tiles)
        source = rooms[turn % 2]
    return source


def transform(effort: Effort) -> Iterator[Comparison]:
    """Transforms of columns and rows in the processor's caches, and with a pass over all of the matrix at a time."""
    import scipy.fft

    module, portable, length = example("fft_tiles"), example("fft"), effort.pick(1024, 256)
    given = module.random_signal(np.random.default_rng(RANDOM_SEED), length, length)
    signal = given["signal"].view(np.complex64)[..., 0]
    with tinct.Session() as session:
        source, size = session.buffer(given["signal"]), (length, length)
        rooms = [session.empty(np.float32, source.shape) for _ in range(2)]
        in_session: dict[str, Callable[[], tinct.Buffer]] = {
            "session": lambda: module.transform_in(session, source, rooms, size),
            "portable": lambda: portable.transform_in(session, source, rooms, size),
        }
        calls: dict[str, Call] = {
            **in_session,
            "graph": lambda: module.GRAPH.run(given),
            "numpy": lambda: np.fft.fft2(signal),
            "scipy": lambda: scipy.fft.fft2(signal),
        }
        expected = module.as_pairs(np.fft.fft2(signal)).ravel()
        found = {name: call().numpy() for name, call in in_session.items()} | {
            "graph": module.GRAPH.run(given)["spectrum"]
        }
        for name, spectrum in found.items():
            np.testing.assert_allclose(spectrum.ravel(), expected, **module.ACCURACY, err_msg=name)
        repeat(calls, effort)
        seconds = medians(calls, effort.rounds)
    bars = tuple(
        ratio_bar("FFT", seconds, ("session", name), wanted) for name, wanted in (("numpy", 2.5), ("scipy", 1))
    )
    note = f"portable form: speed relative to numpy {seconds['numpy'] / seconds['portable']:.2f}"
    yield Comparison(f"Fourier transform, {length} by {length}", seconds, "session", bars, (note,))


def solve(effort: Effort) -> Iterator[Comparison]:
    """Steps of conjugate gradients on Poisson's equation. SciPy's matrix is in compressed rows, of f32."""
    import scipy.sparse

    module, width, steps = example("conjugate_gradient"), effort.pick(512, 16), effort.pick(100, 3)
    columns, elements = module.poisson(width, width)
    right = np.random.default_rng(RANDOM_SEED).standard_normal(columns.shape[1]).astype(np.float32)
    given = module.started(columns, elements, right) | {"target_square": 0}
    rows = np.tile(np.arange(right.size), len(columns))
    matrix = scipy.sparse.csr_matrix((elements.ravel(), (rows, columns.ravel())), dtype=np.float32)
    matrix.eliminate_zeros()
    with tinct.Session() as session:

        def in_session() -> np.ndarray:
            state: dict[str, tinct.Buffer] = module.in_buffers(session, given)
            for _ in range(steps):
                state = module.one_step(session, state, 0)
            return state["solution"].numpy()

        calls: dict[str, Callable[[], np.ndarray]] = {
            "graph": lambda: module.GRAPH.run(given, repeat=steps)["solution"],
            "session": in_session,
            "scipy": lambda: conjugate_gradient(matrix, right, steps),
        }
        expected = conjugate_gradient(matrix.astype(np.float64), right.astype(np.float64), steps)
        for name, call in calls.items():
            np.testing.assert_allclose(call(), expected, rtol=0, atol=1e-3 * abs(expected).max(), err_msg=name)
        seconds = medians(calls, min(effort.rounds, 7), steps)
    bar = ratio_bar("conjugate gradients", seconds, ("graph", "scipy"), 1.4)
    yield Comparison(f"a step of conjugate gradients, {right.size:,} unknowns", seconds, "graph", (bar,))


def conjugate_gradient(matrix: Any, right: np.ndarray, steps: int) -> np.ndarray:
    """The method with the operations of numpy and SciPy."""
    solution, residual, direction = np.zeros_like(right), right.copy(), right.copy()
    square = residual @ residual
    for _ in range(steps):
        image = matrix @ direction
        step = square / (direction @ image)
        solution += step * direction
        residual -= step * image
        before, square = square, residual @ residual
        direction *= square / before
        direction += residual
    return solution


@cache
def numba_steps() -> Mapping[str, Callable[..., None]]:
    """The stencils in Numba: loops over rows in parallel, with the indices of neighbours made once for a row."""
    import numba

    compiled: Callable[[Callable[..., None]], Callable[..., None]] = numba.njit(parallel=True)

    @compiled
    def life(cells: np.ndarray, after: np.ndarray) -> None:
        height, width = cells.shape
        for y in numba.prange(height):
            above, below = (y - 1) % height, (y + 1) % height
            for x in range(width):
                left = x - 1 if x > 0 else width - 1
                right = x + 1 if x + 1 < width else 0
                count = cells[above, left] + cells[above, x] + cells[above, right] + cells[y, left] + cells[y, right]
                count += cells[below, left] + cells[below, x] + cells[below, right]
                after[y, x] = np.uint32(count == 3 or (count == 2 and cells[y, x] == 1))

    @compiled
    def jacobi(outflow: np.ndarray, pressure: np.ndarray, after: np.ndarray) -> None:
        height, width = pressure.shape
        for y in numba.prange(height):
            above, below = max(y - 1, 0), min(y + 1, height - 1)
            for x in range(width):
                left, right = max(x - 1, 0), min(x + 1, width - 1)
                total = pressure[y, left] + pressure[y, right] + pressure[above, x] + pressure[below, x]
                after[y, x] = np.float32(0.25) * (total - outflow[y, x])

    return {"life": life, "jacobi": jacobi}


def swapped(step: Callable[..., None], read: tuple[np.ndarray, ...], start: np.ndarray, times: int) -> np.ndarray:
    """The result of a step that is done over and over between two arrays."""
    before, after = start.copy(), np.empty_like(start)
    for _ in range(times):
        step(*read, before, after)
        before, after = after, before
    return before


def repeated(graph: tinct.Graph, given: Mapping[str, int | np.ndarray], name: str, times: int) -> np.ndarray:
    """The output of a graph that is executed over and over."""
    return graph.run(given, repeat=times)[name]


def life_graph() -> tinct.Graph:
    graph = tinct.Graph("generation")
    step = graph.node(example("life").SHADER["step"], threads=("width", "height"))
    graph.bind_input("width", step["board.width"])
    graph.bind_input("height", step["board.height"])
    graph.bind_input("cells", step["cells"])
    graph.bind_input(zeros("len(cells)"), step["next_cells"])
    graph.bind_output(step["next_cells"], "cells")
    return graph


def jacobi_graph() -> tinct.Graph:
    graph = tinct.Graph("pressure_step")
    step = graph.node(example("fluid").SHADER["jacobi"], threads=("width", "height"))
    graph.bind_input("width", step["size.width"])
    graph.bind_input("height", step["size.height"])
    graph.bind_input("outflow", step["outflow"])
    graph.bind_input("pressure", step["pressure"])
    graph.bind_input(zeros("len(pressure)"), step["next_pressure"])
    graph.bind_output(step["next_pressure"], "pressure")
    return graph


def stencils(effort: Effort) -> Iterator[Comparison]:
    """Life and Jacobi's method: steps of a graph of one node, which is repeated."""
    length, steps = effort.pick(2048, 32), effort.pick(100, 3)
    random = np.random.default_rng(RANDOM_SEED)
    cells = random.integers(0, 2, (length, length), np.uint32)
    field = random.standard_normal((2, length, length)).astype(np.float32)
    size = {"width": length, "height": length}
    for title, graph, name, read, start in (
        ("life", life_graph(), "cells", {}, cells),
        ("Jacobi's method", jacobi_graph(), "pressure", {"outflow": field[0]}, field[1]),
    ):
        step = numba_steps()["life" if name == "cells" else "jacobi"]
        given = size | {key: it.ravel() for key, it in read.items()} | {name: start.ravel()}
        calls: dict[str, Callable[[], np.ndarray]] = {
            "graph": partial(repeated, graph, given, name, steps),
            "Numba": partial(swapped, step, tuple(read.values()), start, steps),
        }
        np.testing.assert_array_equal(calls["graph"](), np.ravel(calls["Numba"]()))
        seconds = medians(calls, min(effort.rounds, 7), steps)
        bar = ratio_bar(title, seconds, ("graph", "Numba"), 0.9)
        yield Comparison(f"a step of {title}, {length} by {length}", seconds, "graph", (bar,))


def repeat(calls: Mapping[str, Call], effort: Effort) -> None:
    """Run all ways until the CPU uses optimised code."""
    for _ in range(effort.pick(10, 1)):
        for call in calls.values():
            call()


PARTS: Final = (
    Part("sort", "a radix sort", sort),
    Part("fft", "a Fourier transform", transform, lambda: missing("scipy")),
    Part("cg", "conjugate gradients", solve, lambda: missing("scipy")),
    Part("stencils", "life and Jacobi's method", stencils, lambda: missing("numba")),
)
