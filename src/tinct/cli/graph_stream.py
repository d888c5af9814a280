"""`tinct graph --run --stream`: the items of arrays through a graph, with a progress bar."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from ..base.errors import InputError
from ..graphs import GraphProgram
from .buffer_specs import make_inputs


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """What `--stream`, `--state`, `--feed` and `--depth` say, as they were given."""

    stream: tuple[str, ...]
    state: tuple[str, ...]
    feed: Mapping[str, str]
    depth: int


def stream_graph(
    graph: GraphProgram, options: StreamOptions, inputs: Mapping[str, Any], seed: int, **run: Any
) -> dict[str, npt.NDArray[Any]]:
    """The outputs of all items, each with the items along its first axis. Raises what `Graph.map` raises."""
    arrays = {name: np.asarray(it) for name, it in make_inputs(graph, options.stream, seed).items()}
    count = _count(arrays)
    state = make_inputs(graph, options.state, seed)
    items = ({name: it[number] for name, it in arrays.items()} for number in range(count))
    outputs = graph.map(items, depth=options.depth, inputs=inputs, state=state, feed=options.feed or None, **run)
    found = list(_shown(outputs, graph.name, count))
    return {name: _stacked(name, [it[name] for it in found]) for name in graph.outputs}


def _count(arrays: Mapping[str, npt.NDArray[Any]]) -> int:
    for name, it in arrays.items():
        if it.ndim == 0 or not len(it):
            raise InputError(f"--stream {name}: the array has no items along a first axis")
    counts = {name: len(it) for name, it in arrays.items()}
    if len(set(counts.values())) > 1:
        text = ", ".join(f"{name} has {it}" for name, it in counts.items())
        raise InputError(f"--stream: the arrays differ in their number of items: {text}")
    return next(iter(counts.values()))


def _shown(outputs: Iterator[dict[str, Any]], name: str, count: int) -> Iterator[dict[str, Any]]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        yield from progress.track(outputs, total=count, description=name)


def _stacked(name: str, arrays: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    shapes = {np.shape(it) for it in arrays}
    if len(shapes) > 1:
        raise InputError(f"the items' outputs {name!r} have different shapes, {min(shapes)} and {max(shapes)}")
    return np.stack(arrays)
