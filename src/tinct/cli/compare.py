"""`tinct compare`: the same kernels on all devices."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from ..agreement import Answer, answers, load_kernels
from ..base.errors import InputError
from ..cases import Case, KernelCases, load_cases, save_pictures
from ..devices import DEVICES, adapter_named, routed
from ..functions import HerculesFile
from ..instrumented import plain_runs
from ..ir.diagnostics import ShaderError
from ..shader import Shader
from .device_names import ADAPTER_HELP, EMULATED_HELP, KERNEL_DEVICE, kernel_device_name
from .options import for_json, format_option
from .tables import Column, Row, print_table


@click.command(
    name="compare",
    epilog=f"""\b
Each case is compared with its numpy reference where it has one, else with the first device that ran it. A case file
(TOML) lies beside its kernel; interpreters run only the cases that are marked as small enough. A GPU that is not there
is skipped, unless --device names it.

\b
Examples:
  tinct compare shaders/
  tinct compare shaders/saxpy --device cpu --device gpu
  tinct compare shaders/saxpy --device gpu --via hercules
  tinct compare programs/matmul/matmul.hir
  tinct compare shaders/mandelbrot --picture-dir build/
  tinct compare shaders/ --format json > answers.json

{ADAPTER_HELP}

{EMULATED_HELP}

\b
JSON: a list of answers, each with kernel, case, device, status ("agrees", "differs", "reference", "skipped",
"failed"), against, detail, compileSeconds, runSeconds, and outputs: for each buffer that was compared, the numbers
compared and mismatches, worstUlp, worstAbsolute and first, which is null or has index, field, expected and actual.

\b
Exit codes: 1 if an answer differs or a device refuses a shader, 3 if only devices failed.
""",
)
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option(
    "--device",
    "devices",
    multiple=True,
    type=kernel_device_name,
    metavar=KERNEL_DEVICE,
    help="Which; all if not given.",
)
@click.option("--via", type=click.Choice(["hercules"]), help="Add the GPUs by way of Hercules IR.")
@click.option(
    "--picture-dir", type=click.Path(file_okay=False, path_type=Path), help="Where to write kernels' pictures."
)
@format_option
def command(
    paths: tuple[Path, ...], devices: tuple[str, ...], via: str | None, picture_dir: Path | None, form: str
) -> None:
    """Run kernels on all devices and compare the answers. Exits with 1 if any differ."""
    kernels = [kernel for path in paths for kernel in load_cases(path)]
    if not kernels:
        raise InputError(f"no case file (.toml) in {', '.join(map(str, paths))}")
    chosen = list(dict.fromkeys(devices)) or list(DEVICES)
    chosen += [routed(device, via) for device in chosen if via is not None and adapter_named(device) is not None]
    with plain_runs():
        found = _run_all(kernels, chosen, _Gpu(is_asked_for=bool(devices)), picture_dir)
    if form == "json":
        click.echo(json.dumps([_as_json(answer) for answer in found], indent=2))
    else:
        _print(found)
    wrong = [answer for answer in found if answer.is_wrong]
    if wrong:
        raise click.exceptions.Exit(3 if all(answer.is_device_fault for answer in wrong) else 1)


class _Gpu:
    """Reasons to leave GPUs out."""

    def __init__(self, *, is_asked_for: bool) -> None:
        self.is_asked_for = is_asked_for

    def reasons(self, shader: Shader | HerculesFile, devices: Sequence[str]) -> dict[str, str]:
        """By device: why a GPU among them cannot run this shader."""
        named = {device: adapter_named(device) for device in devices}
        found = {device: self._reason(shader, name) for device, name in named.items() if name is not None}
        return {device: reason for device, reason in found.items() if reason is not None}

    def _reason(self, shader: Shader | HerculesFile, name: str) -> str | None:
        from ..backend.gpu import GpuDevice

        adapter = GpuDevice.available(name)
        if adapter is None:
            reason = GpuDevice.unavailable_reason(name) or "no GPU"
            return None if self.is_asked_for else reason.splitlines()[0]
        if isinstance(shader, Shader) and "f16" in shader.program.enables and "shader-f16" not in adapter.features:
            return f"{adapter.name} has no f16"
        return None


def _run_all(
    kernels: Sequence[KernelCases], devices: Sequence[str], gpu: _Gpu, picture_dir: Path | None
) -> list[Answer]:
    found: list[Answer] = []
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("comparing", total=sum(len(kernel.cases) for kernel in kernels))
        for kernel in kernels:
            shader = _load(kernel, devices, found)
            for case in kernel.cases if shader is not None else ():
                assert shader is not None
                progress.update(task, description=f"{kernel.name}: {case.name}")
                skip = gpu.reasons(shader, devices)
                its = [it for it in devices if not case.is_of_function or it != "hercules" or gpu.is_asked_for]
                mine = list(answers(shader, case, its, skip))
                _save_picture(case, mine, picture_dir, progress.console)
                found += [dataclasses.replace(answer, outputs={}) for answer in mine]
                progress.advance(task)
    return found


def _load(kernel: KernelCases, devices: Sequence[str], found: list[Answer]) -> Shader | HerculesFile | None:
    """The shader or the functions; None, and an answer that says so, for an invalid one."""
    try:
        return load_kernels(kernel.path)
    except ShaderError as error:
        found.append(Answer(kernel.name, "", ", ".join(devices), "failed", detail=str(error)))
        return None


def _save_picture(case: Case, found: Sequence[Answer], picture_dir: Path | None, out: Console) -> None:
    """The picture of the first device that has one."""
    outputs = next((answer.outputs for answer in found if answer.outputs), None)
    if picture_dir is None or outputs is None:
        return
    for file in save_pictures(case, outputs, picture_dir):
        out.print(f"wrote {file}", highlight=False)


_COLUMNS = (
    Column("kernel"),
    Column("case"),
    Column("device"),
    Column("answer"),
    Column("worst ulp", 1, is_number=True),
    Column("worst absolute", 2, is_number=True),
    Column("compile ms", 4, is_number=True),
    Column("run ms", 3, is_number=True),
)


def _print(found: Sequence[Answer]) -> None:
    rows: list[Row] = []
    previous: Answer | None = None
    for answer in found:
        if answer.status == "skipped":
            continue
        is_same_kernel = previous is not None and previous.kernel == answer.kernel
        is_same_case = previous is not None and is_same_kernel and previous.case == answer.case
        names = "" if is_same_kernel else answer.kernel, "" if is_same_case else answer.case
        status = answer.status.upper() if answer.is_wrong else answer.status
        rows.append(Row((*names, answer.device, status, *_numbers(answer)), "red" if answer.is_wrong else ""))
        previous = answer
    print_table(_COLUMNS, rows)
    for answer in found:
        if answer.is_wrong:
            against = f" (against {answer.against})" if answer.against else ""
            click.echo(f"{answer.kernel}, {answer.case} on {answer.device}{against}: {answer.detail}")
    click.echo(_summary(found))


def _numbers(answer: Answer) -> tuple[str, str, str, str]:
    if answer.status == "failed":
        return "", "", "", ""
    ulp, absolute = answer.worst_ulp, answer.worst_absolute
    return (
        "" if ulp is None else f"{ulp:.3g}",
        "" if absolute is None else f"{absolute:.3g}",
        f"{answer.compile * 1e3:.1f}" if answer.compile > 1e-4 else "",
        f"{answer.run * 1e3:.3f}",
    )


def _summary(found: Sequence[Answer]) -> str:
    """The last lines: how many ran, how many are wrong, and what was skipped and why."""
    ran = [answer for answer in found if answer.status != "skipped"]
    skipped = Counter((answer.device, answer.detail) for answer in found if answer.status == "skipped")
    wrong = sum(answer.is_wrong for answer in ran)
    kernels = len({answer.kernel for answer in ran})
    lines = [f"skipped on {device}: {count} cases: {reason}" for (device, reason), count in skipped.items()]
    return "\n".join([*lines, f"{len(ran)} runs of {kernels} kernels: {f'{wrong} WRONG' if wrong else 'all agree'}"])


def _as_json(answer: Answer) -> object:
    return for_json(
        {
            "kernel": answer.kernel,
            "case": answer.case,
            "device": answer.device,
            "status": answer.status,
            "against": answer.against,
            "detail": answer.detail,
            "compileSeconds": answer.compile,
            "runSeconds": answer.run,
            "outputs": {
                name: {
                    "compared": comparison.compared,
                    "mismatches": comparison.mismatches,
                    "worstUlp": comparison.worst_ulp,
                    "worstAbsolute": comparison.worst_absolute,
                    "first": None
                    if comparison.first is None
                    else {
                        "index": list(comparison.first.index),
                        "field": comparison.first.field,
                        "expected": comparison.first.expected,
                        "actual": comparison.first.actual,
                    },
                }
                for name, comparison in answer.comparisons.items()
            },
        }
    )
