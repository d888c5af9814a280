"""`tinct graph`: graphs of kernels in files of their own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import click

from ..base.errors import InputError
from ..graphs import GraphProgram, GraphRun, NodeTiming, emit
from ..graphs.devices import NodeChoice
from ..graphs.edge_checks import could_be_one_to_one
from ..graphs.files import read_graph
from ..graphs.fusing import FusedProgram
from ..shader import BufferValue
from .buffer_specs import make_inputs
from .device_names import ADAPTER_HELP, DEVICE, device_of_node, device_or_auto
from .files import write_text
from .graph_stream import StreamOptions, stream_graph
from .graphviz import picture
from .options import file_argument, print_text, read_source
from .outputs import show_outputs
from .prints import print_limit_option, shown_prints


def _fed(text: str) -> tuple[str, str]:
    """An output and the input that it becomes, as `OUTPUT=INPUT`."""
    output, equals, name = text.partition("=")
    if not equals:
        raise click.BadParameter(f"{text!r} is not of the form OUTPUT=INPUT")
    return output, name


@click.command(
    name="graph",
    epilog=f"""\b
Without options, the graph is checked, with the shaders that it names, and printed.
Warnings name edges that are declared one-to-one and are not proved to be.

\b
Inputs, one --buffer for each input of the root graph; see tinct run --help for all forms:
  NAME=FILE.npy              an array saved by numpy
  NAME=zeros:1024            zeros; also arange:, uniform: and integers:
  NAME=12                    JSON: numbers, lists, objects of a structure's members

\b
Examples:
  tinct graph edges.hpvm
  tinct graph edges.hpvm --svg edges.svg
  tinct graph edges.hpvm --format json > edges.json
  tinct graph edges.hpvm --run -b picture=in.npy -b width=512 -b height=512 -o out.npz
  tinct graph sort.hpvm --run -b keys=integers:100000:0:1000000 --device interp --format json
  tinct graph edges.hpvm --fuse --remarks > fused.hpvm
  tinct graph edges.hpvm --run -b picture=in.npy -b width=512 -b height=512 --times --svg edges.svg
  tinct graph sort.hpvm --run -b keys=integers:100000:0:1000000 --device-of sort_by_digit.scan=interp
  tinct graph life.hpvm --run -b cells=cells.npy -b width=512 -b height=512 --repeat 1000
  tinct graph sort.hpvm --emit sort -b keys=integers:100000:0:1000000
  tinct graph edges.hpvm --run --stream picture=frames.npy -b width=512 -b height=512 -o edges.npz

\b
A file is text (.hpvm) or the JSON that --format json prints; - is standard input. With --run, --format json prints the
outputs as tinct run does, and --svg draws the times of the nodes.

{ADAPTER_HELP}
""",
)
@file_argument
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "dot", "svg"]),
    default="text",
    show_default=True,
    help="How to print the graph: as text, as JSON, as a graph for Graphviz, or as the picture that Graphviz draws.",
)
@click.option("--svg", "drawing", type=click.Path(dir_okay=False, path_type=Path), help="Save a picture of the graph.")
@click.option("--run", "is_run", is_flag=True, help="Run the graph once, and print or save its outputs.")
@click.option(
    "--emit",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write WGSL files and a plan in JSON for these inputs, which a program without Python can follow.",
)
@click.option("-b", "--buffer", "buffers", multiple=True, metavar="NAME=SPEC", help="What an input holds; see below.")
@click.option(
    "--device",
    type=device_or_auto,
    metavar=DEVICE,
    default="cpu",
    show_default=True,
    help="Where to run; auto: each node where it is fastest, which is measured once.",
)
@click.option(
    "--device-of",
    "devices",
    type=device_of_node,
    multiple=True,
    metavar="NODE=DEVICE",
    help="Where to run one node, or all nodes of an inner graph; a node of an inner graph is OUTER.NODE.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    help="Stop compiling, or a run, that takes longer.",
)
@click.option("--fuse", "is_fused", is_flag=True, help="Fuse nodes along one-to-one edges, where that is proved.")
@click.option(
    "--remarks",
    is_flag=True,
    help="Print what became of each one-to-one edge, and all-to-all edges that are proved to be one-to-one.",
)
@click.option(
    "--stream",
    "items",
    multiple=True,
    metavar="NAME=SPEC",
    help="Run the graph for each item of an input: the first axis of an array.",
)
@click.option("--state", multiple=True, metavar="NAME=SPEC", help="An input that is an output of the item before.")
@click.option(
    "--depth", type=click.IntRange(1), default=4, show_default=True, help="The number of items that are under way."
)
@click.option("--times", is_flag=True, help="After a run, print what each node took, and all copies.")
@click.option(
    "--repeat", type=click.IntRange(0), metavar="N", help="Execute the graph N times, or with --until at most N times."
)
@click.option("--until", metavar="OUTPUT", help="Execute the graph until this output, a whole number, is not zero.")
@click.option("--every", type=click.IntRange(1), metavar="K", help="On a GPU, look at --until each K executions.")
@click.option(
    "--feed",
    "feeds",
    type=_fed,
    multiple=True,
    metavar="OUTPUT=INPUT",
    help="The output becomes that input of the next execution; without, outputs become inputs of the same name.",
)
@print_limit_option
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="For random buffers.")
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Save the outputs (.npz).")
def command(
    file: str,
    form: str,
    drawing: Path | None,
    is_run: bool,
    folder: Path | None,
    buffers: tuple[str, ...],
    device: str,
    devices: tuple[tuple[str, str], ...],
    timeout: float | None,
    is_fused: bool,
    remarks: bool,
    items: tuple[str, ...],
    state: tuple[str, ...],
    depth: int,
    times: bool,
    repeat: int | None,
    until: str | None,
    every: int | None,
    feeds: tuple[tuple[str, str], ...],
    print_limit: int | None,
    seed: int,
    output: Path | None,
) -> None:
    """Check a graph of kernels, and print, draw or run it."""
    runs_only: dict[str, object] = {"--device-of": devices, "--stream": items, "--times": times, "--output": output}
    runs_only |= {"--print-limit": print_limit is not None}
    runs_only |= {"--repeat": repeat is not None, "--until": until, "--every": every}
    if folder is None:
        runs_only |= {"--buffer": buffers, "--feed": feeds}
    elif is_run or drawing is not None or form != "text":
        raise InputError("--emit neither runs nor prints nor draws the graph: leave --run, --svg and --format out")
    _check_options(form, is_run=is_run, runs_only=runs_only)
    _check_stream(items, state, device, is_timed=times, is_repeated=repeat is not None or until is not None)
    graph = read_graph(read_source(file))
    if is_fused or remarks:
        fused = graph.fused()
        if remarks:
            _print_all((*fused.remarks, *could_be_one_to_one(graph)))
        graph = fused if is_fused else graph
    if folder is not None:
        written = emit(graph, folder, make_inputs(graph, buffers, seed), feed=dict(feeds) or None)
        click.echo(f"wrote {len(written)} files to {folder}", err=True)
        return
    if not is_run:
        if not (is_fused or remarks):
            _print_all(graph.warnings)
        if drawing is None or form != "text":
            _print(graph, form)
        _draw(graph, drawing, {})
        return
    given = make_inputs(graph, buffers, seed)
    first, chosen = "cpu" if device == "auto" else device, _node_devices(device, devices)
    if items:
        options = StreamOptions(items, state, dict(feeds), depth)
        with shown_prints(form, print_limit):
            found = stream_graph(graph, options, given, seed, device=first, devices=chosen, timeout=timeout)
        show_outputs(found, output, form)
        _draw(graph, drawing, {})
        return
    if remarks:
        _print_failure(graph, given)
    with shown_prints(form, print_limit):
        result = graph.run_timed(
            given,
            device=first,
            devices=chosen,
            timeout=timeout,
            repeat=repeat,
            until=until,
            every=every,
            feed=dict(feeds) or None,
        )
    show_outputs(result.outputs, output, form)
    if times:
        _print_run(result, is_open=until is not None)
    _draw(graph, drawing, result.timings)


def _print_failure(graph: GraphProgram, given: Mapping[str, BufferValue]) -> None:
    """Why a run executes the graph as it was, though it was fused."""
    failure = graph.failure(given) if isinstance(graph, FusedProgram) else None
    if failure is not None:
        click.echo(f"this run executes the graph as it was: {failure}", err=True)


def _print_run(result: GraphRun, *, is_open: bool) -> None:
    """What the nodes took, and all copies; the number of executions, if the caller left it open."""
    if is_open:
        click.echo(f"{result.executions} executions", err=True)
    _print_times(result.timings)
    _print_all(result.copies)


def _node_devices(device: str, devices: tuple[tuple[str, str], ...]) -> NodeChoice:
    if device == "auto" and devices:
        raise InputError("--device auto chooses the devices of all nodes, and goes without --device-of")
    return "auto" if device == "auto" else dict(devices)


def _check_stream(
    items: tuple[str, ...], state: tuple[str, ...], device: str, *, is_timed: bool, is_repeated: bool
) -> None:
    if state and not items:
        raise InputError("--state is for --stream")
    if items and is_timed:
        raise InputError("--times is for one run, and not for --stream")
    if items and is_repeated:
        raise InputError("--repeat and --until are for one run, and not for --stream")
    if items and device == "auto":
        raise InputError("--device auto is for one run, and not for --stream: name the devices by --device-of")


def _check_options(form: str, *, is_run: bool, runs_only: Mapping[str, object]) -> None:
    for option, given in runs_only.items():
        if given and not is_run:
            raise InputError(f"{option} is for --run{' and --emit' if option in ('--buffer', '--feed') else ''}")
    if is_run and form not in ("text", "json"):
        raise InputError(f"--run prints outputs as text or json, not as {form}; --svg FILE draws the graph")


def _print_all(remarks: Iterable[object]) -> None:
    for remark in remarks:
        click.echo(str(remark), err=True)


def _print(graph: GraphProgram, form: str) -> None:
    match form:
        case "json":
            print_text(graph.to_json())
        case "dot":
            print_text(_drawn(graph, {}))
        case "svg":
            print_text(picture(_drawn(graph, {})))
        case _:
            print_text(str(graph))


def _draw(graph: GraphProgram, file: Path | None, timings: Mapping[tuple[str, ...], NodeTiming]) -> None:
    if file is not None:
        write_text(file, picture(_drawn(graph, timings)))
        click.echo(f"wrote {file}", err=True)


def _drawn(graph: GraphProgram, timings: Mapping[tuple[str, ...], NodeTiming]) -> str:
    from ..ir.dataflow.dot import draw

    return draw(graph.module, {path: _time_text(it) for path, it in timings.items()})


def _print_times(timings: Mapping[tuple[str, ...], NodeTiming]) -> None:
    for path, timing in timings.items():
        click.echo(f"{'/'.join(path)}: {_time_text(timing)}", err=True)


def _time_text(timing: NodeTiming) -> str:
    often = f" in {timing.dispatches} dispatches" if timing.dispatches > 1 else ""
    return f"compiled in {timing.compile * 1e3:.1f} ms, ran in {timing.run * 1e3:.3f} ms{often}"
