"""A graph, its times and remarks on it: printed, and drawn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeAlias

import click

from ..graphs import GraphProgram, NodeTiming
from .files import write_text
from .graphviz import picture
from .options import print_text

Timings: TypeAlias = Mapping[tuple[str, ...], NodeTiming]


def print_all(remarks: Iterable[object]) -> None:
    """Print remarks, warnings or copies, a line each."""
    for remark in remarks:
        click.echo(str(remark), err=True)


def print_graph(graph: GraphProgram, form: str) -> None:
    """Print a graph as text or JSON, or as a picture, in Graphviz's language or drawn."""
    match form:
        case "json":
            print_text(graph.to_json())
        case "dot":
            print_text(_drawn(graph, {}))
        case "svg":
            print_text(picture(_drawn(graph, {})))
        case _:
            print_text(str(graph))


def draw_graph(graph: GraphProgram, file: Path | None, timings: Timings) -> None:
    """Save a picture of a graph, with times in its nodes."""
    if file is not None:
        write_text(file, picture(_drawn(graph, timings)))
        click.echo(f"wrote {file}", err=True)


def print_times(timings: Timings) -> None:
    """Print what each node took."""
    for path, timing in timings.items():
        click.echo(f"{'/'.join(path)}: {_time_text(timing)}", err=True)


def _drawn(graph: GraphProgram, timings: Timings) -> str:
    from ..ir.dataflow.dot import draw

    return draw(graph.module, {path: _time_text(it) for path, it in timings.items()})


def _time_text(timing: NodeTiming) -> str:
    often = f" in {timing.dispatches} dispatches" if timing.dispatches > 1 else ""
    return f"compiled in {timing.compile * 1e3:.1f} ms, ran in {timing.run * 1e3:.3f} ms{often}"
