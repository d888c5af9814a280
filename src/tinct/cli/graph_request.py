"""What the options of `tinct graph` ask for, and the answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import click

from ..base.errors import InputError
from ..graphs import GraphProgram, GraphRun, emit
from ..graphs.devices import NodeChoice
from ..graphs.edge_checks import could_be_one_to_one
from ..graphs.files import read_graph
from ..graphs.fusing import FusedProgram
from ..ir.source import Source
from ..kernel import BufferValue
from .buffer_specs import make_inputs
from .graph_shown import draw_graph, print_all, print_graph, print_times
from .graph_stream import StreamOptions, stream_graph
from .outputs import show_outputs
from .prints import shown_prints


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphRequest:
    """The options, as they were given. `folder` is where to emit a plan, `items` are the specs of a stream."""

    form: str
    drawing: Path | None
    is_run: bool
    folder: Path | None
    buffers: tuple[str, ...]
    device: str
    devices: tuple[tuple[str, str], ...]
    timeout: float | None
    is_fused: bool
    has_remarks: bool
    items: tuple[str, ...]
    state: tuple[str, ...]
    depth: int
    is_timed: bool
    repeat: int | None
    until: str | None
    every: int | None
    feed: Mapping[str, str]
    print_limit: int | None
    seed: int
    output: Path | None

    def answer(self, source: Source) -> None:
        """Do what is asked with the graph of a source. Raises what that does."""
        self._check()
        self._check_stream()
        graph = self._graph(source)
        if self.folder is not None:
            self._emit(graph, self.folder)
        elif not self.is_run:
            self._show(graph)
        elif self.items:
            self._stream(graph)
        else:
            self._run(graph)

    def _graph(self, source: Source) -> GraphProgram:
        """The graph, fused if that is asked; prints remarks."""
        graph = read_graph(source)
        if not self.is_fused and not self.has_remarks:
            return graph
        fused = graph.fused()
        if self.has_remarks:
            print_all((*fused.remarks, *could_be_one_to_one(graph)))
        return fused if self.is_fused else graph

    def _emit(self, graph: GraphProgram, folder: Path) -> None:
        written = emit(graph, folder, self._inputs(graph), feed=self.feed or None)
        click.echo(f"wrote {len(written)} files to {folder}", err=True)

    def _show(self, graph: GraphProgram) -> None:
        if not self.is_fused and not self.has_remarks:
            print_all(graph.warnings)
        if self.drawing is None or self.form != "text":
            print_graph(graph, self.form)
        draw_graph(graph, self.drawing, {})

    def _stream(self, graph: GraphProgram) -> None:
        options = StreamOptions(self.items, self.state, self.feed, self.depth)
        where = {"device": self._first_device, "devices": self._node_devices(), "timeout": self.timeout}
        with shown_prints(self.form, self.print_limit):
            found = stream_graph(graph, options, self._inputs(graph), self.seed, **where)
        show_outputs(found, self.output, self.form)
        draw_graph(graph, self.drawing, {})

    def _run(self, graph: GraphProgram) -> None:
        given = self._inputs(graph)
        if self.has_remarks:
            _print_failure(graph, given)
        with shown_prints(self.form, self.print_limit):
            result = graph.run_timed(
                given,
                device=self._first_device,
                devices=self._node_devices(),
                timeout=self.timeout,
                repeat=self.repeat,
                until=self.until,
                every=self.every,
                feed=self.feed or None,
            )
        show_outputs(result.outputs, self.output, self.form)
        if self.is_timed:
            self._print_run(result)
        draw_graph(graph, self.drawing, result.timings)

    def _print_run(self, result: GraphRun) -> None:
        """What the nodes took, and all copies; the number of executions, if the caller left it open."""
        if self.until is not None:
            click.echo(f"{result.executions} executions", err=True)
        print_times(result.timings)
        print_all(result.copies)

    def _inputs(self, graph: GraphProgram) -> dict[str, BufferValue]:
        return make_inputs(graph, self.buffers, self.seed)

    @property
    def _first_device(self) -> str:
        """The device of nodes that have none of their own."""
        return "cpu" if self.device == "auto" else self.device

    def _node_devices(self) -> NodeChoice:
        if self.device == "auto" and self.devices:
            raise InputError("--device auto chooses the devices of all nodes, and goes without --device-of")
        return "auto" if self.device == "auto" else dict(self.devices)

    def _check(self) -> None:
        """Raise InputError for options that go with others only."""
        runs_only: dict[str, object] = {
            "--device-of": self.devices,
            "--stream": self.items,
            "--times": self.is_timed,
            "--output": self.output,
            "--repeat": self.repeat is not None,
            "--until": self.until,
            "--every": self.every,
            "--print-limit": self.print_limit is not None,
        }
        if self.folder is None:
            runs_only |= {"--buffer": self.buffers, "--feed": self.feed}
        elif self.is_run or self.drawing is not None or self.form != "text":
            raise InputError("--emit neither runs nor prints nor draws the graph: leave --run, --svg and --format out")
        for option, given in runs_only.items():
            if given and not self.is_run:
                raise InputError(f"{option} is for --run{' and --emit' if option in ('--buffer', '--feed') else ''}")
        if self.is_run and self.form not in ("text", "json"):
            raise InputError(f"--run prints outputs as text or json, not as {self.form}; --svg FILE draws the graph")

    def _check_stream(self) -> None:
        if self.state and not self.items:
            raise InputError("--state is for --stream")
        if self.items and self.is_timed:
            raise InputError("--times is for one run, and not for --stream")
        if self.items and (self.repeat is not None or self.until is not None):
            raise InputError("--repeat and --until are for one run, and not for --stream")
        if self.items and self.device == "auto":
            raise InputError("--device auto is for one run, and not for --stream: name the devices by --device-of")


def _print_failure(graph: GraphProgram, given: Mapping[str, BufferValue]) -> None:
    """Why a run executes the graph as it was, though it was fused, or its nodes one by one."""
    failure = graph.failure(given) if isinstance(graph, FusedProgram) else None
    if failure is not None:
        click.echo(f"this run executes the graph as it was: {failure}", err=True)
    elif graph.why_one_by_one is not None:
        click.echo(f"this run executes the nodes one by one, without a plan: {graph.why_one_by_one}", err=True)
