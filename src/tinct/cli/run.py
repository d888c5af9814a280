"""`tinct run`: one dispatch from the command line."""

from __future__ import annotations

import json
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import click

from ..base.errors import InputError
from ..coverage import measure
from ..coverage.listing import listing, summary
from ..debugging.trace import Trace
from ..debugging.writes import Writes
from ..devices import routed
from ..dispatch import DispatchSize, Timing
from ..ir.diagnostics import render_all
from ..ir.source import Source
from ..kernel import BufferValues, Kernel, Run, Sanitized
from ..origins import CoreOrigin
from ..sessions.calls import Constants
from ..shader import Shader
from .buffer_specs import make_buffers
from .check import as_json
from .colours import paint
from .device_names import ADAPTER_HELP, EMULATED_HELP, KERNEL_DEVICE, kernel_device_name
from .looks import show_trace, show_writes
from .options import (
    constants_option,
    file_argument,
    format_option,
    is_core,
    parse_constants,
    parse_extent,
    parse_invocation,
    read_shader,
    via_option,
)
from .outputs import show_outputs
from .prints import print_limit_option, shown_prints


@click.command(
    name="run",
    epilog=f"""\b
Buffers, one --buffer for each binding the entry point uses:
  NAME=FILE.npy              an array saved by numpy
  NAME=FILE.bin              the bytes as they are, in WGSL's memory layout
  NAME=zeros:1024            zeros; a shape such as 64x64 for arrays of that many elements, none for a fixed size
  NAME=arange:1024           0, 1, 2, …
  NAME=uniform:1024          random numbers of [0, 1), seeded by --seed; uniform:1024:-1:1 of [-1, 1)
  NAME=integers:1024:0:100   random whole numbers of [0, 100)
  NAME='{{"a": 2.5, "n": 7}}'  JSON: numbers, lists, objects of a structure's members, lists of such objects
Generators fill every member of a structure; for a structure that ends in a runtime-sized array, the shape is that of
the array. A sampler takes JSON with the names of tinct.Sampler: s='{{"mag_filter": "linear"}}', or s='{{}}'.
A texture takes an array of the shape that tinct reflect shows; integers of 8 or 16 bits are normalised.

\b
Examples:
  tinct run saxpy.wgsl -b x=arange:8 -b y=zeros:8 -b 'params={{"a": 2, "n": 8}}' --threads 8
  tinct run blur.wgsl -b image=in.npy -b out=zeros:512x512 --threads 512x512 --device gpu -o out.npz
  tinct run sums.wgsl --entry total -b 'points=[{{"at": [0, 1], "mass": 2}}]' -b sum=zeros --workgroups 1 --set WIDTH=64

\b
JSON: an object with, for each buffer that the kernel may write, its value: numbers, lists, objects for structures; not
a number and the infinities are the words "NaN", "Infinity" and "-Infinity". --buffer takes such values, too.

{ADAPTER_HELP}

{EMULATED_HELP}

\b
--contract lets the CPU compute a * b + c with one rounding, as WGSL allows and GPUs do. Inner products run up to twice
as fast, and are mostly more exact; but the results are no longer the interpreter's, bit for bit.

\b
--coverage prints the text of the kernel with a count before each line: how often it ran, "never", or "-" for a line
that no run can reach. Below a branch stands which way was never taken. With --format json it goes to standard error.

\b
What the kernel prints by debugPrintf comes before the buffers; with --format json it goes to standard error. A trace
shows it where it was printed. --print-limit is the room for it in bytes: 16 for a line, and 4 for each component.

\b
--sanitize reports data races between invocations, reads of workgroup memory before any write, indices out of
bounds, and barriers that some invocations do not reach; with --format json as a list of diagnostics (see tinct check
--help) in place of the buffers. It exits with 1 if any finding is an error.

\b
--trace 37 (or 37,0,0) prints what that invocation computes, statement by statement, in place of the buffers; of each
loop, as many of the first and last turns as --turns says. --who-wrote 'out[3].pos.x' prints which invocations
wrote that part of a buffer or of workgroup memory, from which line, with which values. Both run on the interpreter.
""",
)
@file_argument
@click.option(
    "--from", "start", type=click.Choice(["wgsl", "core"]), help="What FILE holds; core if its name ends so, else wgsl."
)
@click.option("--entry", help="The entry point; needed when the shader has several.")
@click.option("-b", "--buffer", "buffers", multiple=True, metavar="NAME=SPEC", help="What a binding holds; see below.")
@click.option("--threads", metavar="N[xM[xK]]", help="Invocations, rounded up to whole workgroups; a 0 runs nothing.")
@click.option("--workgroups", metavar="N[xM[xK]]", help="Workgroups; a 0 runs nothing.")
@constants_option
@click.option(
    "--device", type=kernel_device_name, metavar=KERNEL_DEVICE, default="cpu", show_default=True, help="Where to run."
)
@via_option
@click.option(
    "--timeout",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    help="Stop compiling, or a run, that takes longer.",
)
@click.option("--contract", is_flag=True, help="Let the CPU fuse products and sums; see below.")
@click.option("--sanitize", is_flag=True, help="Look for races and misuse of memory, on the interpreter; see below.")
@click.option("--trace", "traced", metavar="X[,Y[,Z]]", help="Show what this invocation computes; see below.")
@click.option("--turns", metavar="FIRST,LAST", help="Turns of each loop in a trace.  [default: 2,1]")
@click.option("--who-wrote", metavar="PATH", help="Show the writes to a part of memory; see below.")
@click.option("--coverage", is_flag=True, help="Print how often each line ran; see below.")
@print_limit_option
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="For random buffers.")
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Save the results (.npz).")
@format_option
def command(
    file: str,
    start: str | None,
    entry: str | None,
    buffers: tuple[str, ...],
    threads: str | None,
    workgroups: str | None,
    constants: tuple[str, ...],
    device: str,
    via: str | None,
    timeout: float | None,
    contract: bool,
    sanitize: bool,
    traced: str | None,
    turns: str | None,
    who_wrote: str | None,
    coverage: bool,
    print_limit: int | None,
    seed: int,
    output: Path | None,
    form: str,
) -> None:
    """Run a compute kernel once and print, or save, the buffers it wrote."""
    kernel = _shader(read_shader(file), start).kernel(entry)
    given = make_buffers(kernel, buffers, seed)
    invocations = parse_extent(threads, "--threads")
    groups = parse_extent(workgroups, "--workgroups")
    values = parse_constants(constants)
    looks = {"--sanitize": sanitize, "--trace": traced is not None, "--who-wrote": who_wrote is not None}
    chosen = [name for name, is_given in looks.items() if is_given]
    if chosen:
        _check_interpreted(chosen, device, is_other=contract or via is not None or coverage)
    if turns is not None and traced is None:
        raise InputError("--turns is for --trace")
    asked = _Asked(given, invocations, groups, values, timeout)
    if traced is not None:
        show_trace(asked.trace(kernel, parse_invocation(traced, "--trace"), _parse_turns(turns)), form)
    elif who_wrote is not None:
        show_writes(asked.who_wrote(kernel, who_wrote), form)
    elif sanitize:
        with shown_prints(form, print_limit):
            watched = asked.sanitize(kernel)
        _report(watched, output, form)
    else:
        with shown_prints(form, print_limit), measure() if coverage else nullcontext() as seen:
            result = asked.run(kernel, device, via, contract=contract)
        show_outputs(result.outputs, output, form)
        for covered in seen or ():
            click.echo(f"{listing(covered)}\n\n{summary([covered])}", err=form == "json")
        _print_timing(routed(device, via), result.timing)


@dataclass(frozen=True, slots=True)
class _Asked:
    """The dispatch that the options ask for."""

    buffers: BufferValues
    threads: DispatchSize | None
    workgroups: DispatchSize | None
    constants: Constants
    timeout: float | None

    def trace(self, kernel: Kernel, at: DispatchSize, turns: tuple[int, int]) -> Trace:
        return kernel.trace(
            self.buffers,
            invocation=at,
            threads=self.threads,
            workgroups=self.workgroups,
            constants=self.constants,
            turns=turns,
            timeout=self.timeout,
        )

    def who_wrote(self, kernel: Kernel, path: str) -> Writes:
        return kernel.who_wrote(
            path,
            self.buffers,
            threads=self.threads,
            workgroups=self.workgroups,
            constants=self.constants,
            timeout=self.timeout,
        )

    def sanitize(self, kernel: Kernel) -> Sanitized:
        return kernel.sanitize(
            self.buffers,
            threads=self.threads,
            workgroups=self.workgroups,
            constants=self.constants,
            timeout=self.timeout,
        )

    def run(self, kernel: Kernel, device: str, via: str | None, *, contract: bool) -> Run:
        return kernel.run_timed(
            self.buffers,
            threads=self.threads,
            workgroups=self.workgroups,
            constants=self.constants,
            device=device,
            via=via,
            timeout=self.timeout,
            contract=contract,
        )


def _print_timing(device: str, timing: Timing) -> None:
    how = "loaded from the cache" if timing.is_cached else "compiled"
    click.echo(f"{device}: {how} in {timing.compile * 1e3:.1f} ms, ran in {timing.run * 1e3:.3f} ms", err=True)


def _shader(source: Source, start: str | None) -> Shader:
    """The shader of a WGSL file, or of a text of core IR, by way of the WGSL for that. Raises ShaderError."""
    if not is_core(source, start):
        return Shader(source)
    from ..passes import wgsl_of

    return Shader(Source.from_text(wgsl_of(CoreOrigin(source).core()), source.name))


def _check_interpreted(chosen: list[str], name: str, *, is_other: bool) -> None:
    """Raise InputError for options that do not go together."""
    if len(chosen) > 1:
        raise InputError(f"{' and '.join(chosen)} cannot be given together")
    if is_other:
        raise InputError(f"{chosen[0]} runs on the interpreter, which has no --contract, no --via and no --coverage")
    source = click.get_current_context().get_parameter_source("device")
    if name != "interp" and source is not click.core.ParameterSource.DEFAULT:
        raise InputError(f"{chosen[0]} runs on the interpreter, not on --device {name}")


def _parse_turns(text: str | None) -> tuple[int, int]:
    """The numbers of the first and last turns. Raises InputError."""
    if text is None:
        return 2, 1
    first, separator, last = text.partition(",")
    if not (separator and first.strip().isdecimal() and last.strip().isdecimal()):
        raise InputError(f"--turns takes two numbers, such as 2,1, not {text!r}")
    return int(first), int(last)


def _report(watched: Sanitized, output: Path | None, form: str) -> None:
    """The findings of --sanitize, and the buffers where there is room for them."""
    findings = watched.findings
    if form == "json":
        click.echo(json.dumps([as_json(finding, watched.source) for finding in findings], indent=2))
    else:
        text = render_all(findings, watched.source, paint)
        click.echo(f"{text}\n" if findings else "sanitize: nothing found", err=True)
    if form != "json" or output is not None:
        show_outputs(watched.outputs, output, form)
    if any(finding.is_error for finding in findings):
        raise click.exceptions.Exit(1)
