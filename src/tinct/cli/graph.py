"""`tinct graph`: graphs of kernels in files of their own."""

from __future__ import annotations

from pathlib import Path

import click

from ..graphs.emitted import is_plan
from .device_names import ADAPTER_HELP, DEVICE, device_of_node, device_or_auto
from .graph_plan import follow_plan
from .graph_request import GraphRequest
from .options import file_argument, read_source


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
  tinct graph sort/plan.json --run --device gpu
  tinct graph edges.hpvm --run --stream picture=frames.npy -b width=512 -b height=512 -o edges.npz

\b
A file is text (.hpvm) or the JSON that --format json prints; - is standard input. With --run, --format json prints the
outputs as tinct run does, and --svg draws the times of the nodes. The plan.json that --emit wrote is a file, too: it is
checked, and with --run followed; inputs without a --buffer are those in its folder.

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
    seed: int,
    output: Path | None,
) -> None:
    """Check a graph of kernels, and print, draw or run it."""
    asked = GraphRequest(
        form=form,
        drawing=drawing,
        is_run=is_run,
        folder=folder,
        buffers=buffers,
        device=device,
        devices=devices,
        timeout=timeout,
        is_fused=is_fused,
        has_remarks=remarks,
        items=items,
        state=state,
        depth=depth,
        is_timed=times,
        repeat=repeat,
        until=until,
        every=every,
        feed=dict(feeds),
        seed=seed,
        output=output,
    )
    source = read_source(file)
    if is_plan(source):
        follow_plan(source, asked)
    else:
        asked.answer(source)
