"""`tinct tune KERNEL.wgsl`: the search for values of overrides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from ..base.errors import InputError
from ..cases.model import Constant
from ..tuning.bar import shown_progress
from ..tuning.case_files import with_constants
from ..tuning.kernel_tuning import KernelTask, tune_kernel
from ..tuning.overrides import Point, parse_override
from ..tuning.report import attempt_json, compiling_text
from ..tuning.search import Attempt, Found
from .files import write_text
from .tables import Column, Row, print_table

_COLUMNS = (Column("constants"), Column("result"), Column("ms", is_number=True), Column("why", 1))


@dataclass(frozen=True, slots=True)
class KernelRequest:
    """What the command line asks for."""

    file: Path
    overrides: tuple[str, ...]
    constraints: tuple[str, ...]
    case_name: str | None
    device: str
    seconds: float
    contract: bool
    seed: int
    write: bool


def tune_shader(request: KernelRequest, *, as_json: bool) -> object:
    """Search, print, and write the case file. Returns what JSON has. Raises what `tune_kernel` raises, and OSError."""
    task = KernelTask(
        request.file,
        _values(request.overrides),
        request.constraints,
        request.case_name,
        request.device,
        request.contract,
    )
    with shown_progress(request.file.stem) as watch:
        found = tune_kernel(task, seconds=request.seconds, seed=request.seed, watch=watch)
    assert found.best is not None
    best = dict(found.best)
    if not as_json:
        _print(found, task)
    if request.write and best:
        case = task.case()
        text = case.file.read_bytes().decode("utf-8")
        write_text(case.file, with_constants(text, case.name, best))
        click.echo(f"wrote {case.file}", err=as_json)
    elif request.write:
        click.echo("the constants of the case are the best: nothing is written", err=as_json)
    return _as_json(found, task)


def _values(given: Sequence[str]) -> dict[str, list[Constant]]:
    found: dict[str, list[Constant]] = {}
    for text in given:
        name, values = parse_override(text)
        if name in found:
            raise InputError(f"--override {name} is given twice")
        found[name] = values
    if not found:
        raise InputError("give --override NAME=VALUES for what is to be tuned")
    return found


def _print(found: Found[Point], task: KernelTask) -> None:
    ordered = sorted(found.attempts, key=lambda it: (it.status != "measured", it.seconds or 0.0))
    print_table(_COLUMNS, [_row(it) for it in ordered])
    words = ", ".join(f"{count} {status}" for status, count in found.counts.items())
    extent = "all combinations" if found.is_whole else "a part of the combinations"
    click.echo(f"{words}; {extent}{', interrupted' if found.is_interrupted else ''}")
    for line in compiling_text(found):
        click.echo(line)
    base = found.compared.get(())
    ratio = "" if base is None else f", {base / found.seconds:.2f} times the speed of the case's own constants"
    best = dict(found.best or ())
    click.echo(f"{task.case().name} on {task.device}: {found.seconds * 1e3:.4g} ms{ratio}")
    click.echo(f"constants = {{ {_shown(best)} }}" if best else "the constants of the case are the best")


def _row(attempt: Attempt[Point]) -> Row:
    time = "" if attempt.seconds is None else f"{attempt.seconds * 1e3:.4f}"
    style = "" if attempt.status in ("measured", "pruned") else "red"
    constants = _shown(dict(attempt.point)) or "those of the case"
    return Row([constants, attempt.status, time, attempt.why], style)


def _shown(constants: Mapping[str, Constant]) -> str:
    return ", ".join(f"{name} = {str(it).lower() if isinstance(it, bool) else it}" for name, it in constants.items())


def _as_json(found: Found[Point], task: KernelTask) -> object:
    return {
        "kernel": str(task.path),
        "case": task.case().name,
        "device": task.device,
        "constants": dict(found.best or ()),
        "milliseconds": found.seconds * 1e3,
        "attempts": [{"constants": dict(it.point), **attempt_json(it)} for it in found.attempts],
    }
