"""`tinct compare`: the same kernels on all devices."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy.typing as npt
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from ..cases import Case, load_cases, save_pictures
from ..compare import Comparison, compare
from ..devices import DEVICES
from ..ir.diagnostics import DeviceError, InputError, ShaderError
from ..shader import Run, Shader, load

Arrays = dict[str, "npt.NDArray[Any]"]
INTERPRETERS = ("interp", "hercules")


@dataclass(frozen=True, slots=True)
class Row:
    """How one device did on one case. `comparison` is None where nothing could be compared; `note` says why."""

    kernel: str
    case: str
    device: str
    comparison: Comparison | None
    against: str
    compile: float
    run: float
    note: str = ""

    @property
    def agrees(self) -> bool:
        """Whether the answer is right as far as it was asked for."""
        return self.comparison is None or self.comparison.agrees

    @property
    def verdict(self) -> str:
        """Agree or not, and how far off."""
        if self.comparison is None:
            return self.note
        return ("agrees: " if self.comparison.agrees else "DIFFERS: ") + str(self.comparison)


@click.command(
    name="compare",
    epilog="""\b
Each case is compared with its numpy reference where it has one, else with the first device. A case file (TOML) lies
beside its kernel; interpreters run the cases that are marked for them.

\b
Examples:
  tinct compare shaders/
  tinct compare shaders/saxpy --device cpu --device gpu
  tinct compare shaders/ --format json > answers.json
""",
)
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--device", "devices", multiple=True, type=click.Choice(list(DEVICES)), help="Which; all if not given.")
@click.option(
    "--picture-dir", type=click.Path(file_okay=False, path_type=Path), help="Where to write kernels' pictures."
)
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", help="For people or for programs."
)
def command(paths: tuple[Path, ...], devices: tuple[str, ...], picture_dir: Path | None, form: str) -> None:
    """Run kernels on all devices and compare the answers. Exits with 1 if any differ."""
    kernels = [kernel for path in paths for kernel in load_cases(path)]
    if not kernels:
        raise InputError(f"no case file (.toml) in {', '.join(map(str, paths))}")
    console = Console(stderr=True)
    chosen = list(devices) or _available(console)
    total = sum(len(kernel.cases) for kernel in kernels)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    rows: list[Row] = []
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("comparing", total=total)
        for kernel in kernels:
            shader = load(kernel.path)
            for case in kernel.cases:
                progress.update(task, description=f"{kernel.name}: {case.name}")
                rows += _run_case(shader, case, chosen, picture_dir)
                progress.advance(task)
    _report(rows, form)
    if not all(row.agrees for row in rows):
        raise click.exceptions.Exit(1)


def _available(console: Console) -> list[str]:
    """All devices, without a GPU that is not there."""
    from ..backend.gpu import GpuDevice

    reason = GpuDevice.unavailable_reason()
    if reason is None:
        return list(DEVICES)
    console.print(f"no GPU: {reason}", style="yellow")
    return [name for name in DEVICES if name != "gpu"]


def _run_case(shader: Shader, case: Case, devices: list[str], picture_dir: Path | None) -> Iterator[Row]:
    kernel = shader.kernel(case.entry)
    inputs = case.inputs({info.name: info.dtype for info in kernel.bindings if info.dtype is not None})
    expected, against = case.expected(inputs), "numpy"
    for device in devices:
        if device in INTERPRETERS and not case.interp:
            continue
        try:
            run = kernel.run_timed(
                inputs, workgroups=case.workgroups, threads=case.threads, constants=case.constants, device=device
            )
        except (ShaderError, DeviceError) as error:
            yield Row(case.kernel, case.name, device, _failure(), against, 0, 0, f"FAILED: {error}")
            continue
        if picture_dir is not None and device == devices[0]:
            save_pictures(case, run.outputs, picture_dir)
        if expected is None:
            expected, against = run.outputs, device
            yield _row(case, device, run, None, "", "taken as the reference")
        else:
            yield _row(case, device, run, _worst(case, expected, run.outputs), against)


def _row(case: Case, device: str, run: Run, comparison: Comparison | None, against: str, note: str = "") -> Row:
    return Row(case.kernel, case.name, device, comparison, against, run.timing.compile, run.timing.run, note)


def _failure() -> Comparison:
    return Comparison(compared=0, mismatches=1, worst_ulp=0.0, worst_absolute=0.0, first=None)


def _worst(case: Case, expected: Arrays, actual: Arrays) -> Comparison:
    """The comparison of all outputs, summed up."""
    parts = [
        compare(expected[name], actual[name], tolerance) for name, tolerance in case.outputs.items() if name in expected
    ]
    return Comparison(
        compared=sum(part.compared for part in parts),
        mismatches=sum(part.mismatches for part in parts),
        worst_ulp=max((part.worst_ulp for part in parts), default=0.0),
        worst_absolute=max((part.worst_absolute for part in parts), default=0.0),
        first=next((part.first for part in parts if part.first is not None), None),
    )


def _report(rows: list[Row], form: str) -> None:
    if form == "json":
        click.echo(json.dumps([_as_json(row) for row in rows], indent=2))
        return
    table = Table("kernel", "case", "device", "answer", "compile", "run")
    previous = ("", "")
    for row in rows:
        kernel = row.kernel if row.kernel != previous[0] else ""
        case = row.case if (row.kernel, row.case) != previous else ""
        table.add_row(
            kernel,
            case,
            row.device,
            row.note or row.verdict,
            f"{row.compile * 1e3:.1f} ms",
            f"{row.run * 1e3:.3f} ms",
            style="" if row.agrees else "red",
            end_section=False,
        )
        previous = (row.kernel, row.case)
    Console(width=None if Console().is_terminal else 160).print(table)
    wrong = sum(not row.agrees for row in rows)
    click.echo(f"{len(rows)} runs of {len({row.kernel for row in rows})} kernels: {wrong or 'none'} differ")


def _as_json(row: Row) -> dict[str, object]:
    return {
        "kernel": row.kernel,
        "case": row.case,
        "device": row.device,
        "agrees": row.agrees,
        "against": row.against,
        "worstUlp": None if row.comparison is None else row.comparison.worst_ulp,
        "worstAbsolute": None if row.comparison is None else row.comparison.worst_absolute,
        "firstDifference": None
        if row.comparison is None or row.comparison.first is None
        else str(row.comparison.first),
        "compileSeconds": row.compile,
        "runSeconds": row.run,
        "note": row.note,
    }
