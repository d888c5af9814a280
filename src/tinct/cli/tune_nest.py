"""`tinct tune FILE.nest`: the search for decisions, and what is kept of earlier ones."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import click

from ..base.errors import InputError
from ..ir.schedule.text import print_decisions, print_nest
from ..nests import ParsedNest, TunedNest, parse_nest
from ..tuning.kept import Record, all_records
from ..tuning.report import attempt_json
from .files import write_text
from .tables import Column, Row, print_table


@dataclass(frozen=True, slots=True)
class NestRequest:
    """What the command line asks for."""

    file: Path
    sizes: tuple[str, ...]
    device: str
    seconds: float
    reassociate: bool
    contract: bool
    seed: int
    renew: bool
    output: Path | None


def tune_nest_file(request: NestRequest, *, as_json: bool) -> object:
    """Search, print, and write the kernel. Returns what JSON has. Raises InputError, DeviceError and OSError."""
    nest = _read(request.file)
    if request.output is not None and request.output.suffix != ".wgsl":
        raise InputError(f"--output is a file of WGSL, such as {nest.name}.wgsl, not {request.output}")
    best = nest.tune(
        parse_sizes(request.sizes),
        device=request.device,
        seconds=request.seconds,
        reassociate=request.reassociate,
        contract=request.contract,
        seed=request.seed,
        renew=request.renew,
    )
    if not as_json:
        _print(best)
    if request.output is not None:
        write_text(request.output, best.wgsl)
        case = request.output.with_suffix(".toml")
        write_text(case, best.toml)
        click.echo(f"wrote {request.output} and {case}", err=as_json)
    return _as_json(best)


def parse_sizes(given: tuple[str, ...]) -> dict[str, int]:
    """`rows=4096,columns=4096`, once or several times. Raises InputError."""
    found: dict[str, int] = {}
    for part in ",".join(given).split(","):
        name, _, text = (it.strip() for it in part.partition("="))
        if not name or not text.isascii() or not text.isdigit():
            raise InputError(f"--sizes takes NAME=NUMBER, such as rows=4096,columns=4096, not {part!r}")
        if name in found:
            raise InputError(f"--sizes {name} is given twice")
        found[name] = int(text)
    return found


def list_kept(file: Path | None, *, as_json: bool) -> None:
    """Print what is kept, of the nest of a file or of all. Raises InputError for a file that holds no nest."""
    text = None if file is None else print_nest(_read(file).ir)
    records = [it for it in all_records().values() if it.get("kind") == "nest" and text in (None, it.get("nest"))]
    records.sort(key=lambda it: (str(it.get("name")), str(it.get("sizes")), str(it.get("time"))))
    if as_json:
        click.echo(json.dumps(records, indent=2))
        return
    if not records:
        click.echo("nothing is kept; search with: tinct tune NEST.nest --sizes NAME=NUMBER,…")
        return
    columns = [Column("nest"), Column("sizes"), Column("device"), Column("ms", is_number=True), Column("decisions", 1)]
    print_table(columns, [_row(it) for it in records])


def _row(record: Record) -> Row:
    sizes = ", ".join(f"{name} = {size}" for name, size in record.get("sizes", {}).items())
    decisions = str(record.get("decisions", "")).strip().replace("\n", "; ") or "loops"
    milliseconds = f"{float(record.get('milliseconds', 0)):.4g}"
    return Row([str(record.get("name")), sizes, str(record.get("device")), milliseconds, decisions])


def _read(file: Path) -> ParsedNest:
    try:
        return parse_nest(file.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise InputError(f"{file} is no text in UTF-8") from None
    except InputError as error:
        raise InputError(f"{file}: {error}") from None


def _print(best: TunedNest) -> None:
    click.echo(f"{best.lowered.nest.name} on {best.device}: {best.milliseconds:.4g} ms")
    click.echo(print_decisions(best.decisions) or "loops\n")
    click.echo(best.report, nl=False)


def _as_json(best: TunedNest) -> object:
    return {
        "nest": str(best.lowered.nest),
        "device": best.device,
        "sizes": best.sizes,
        "decisions": print_decisions(best.decisions),
        "milliseconds": best.milliseconds,
        "kept": best.is_kept,
        "wgsl": best.wgsl,
        "toml": best.toml,
        "attempts": [{"decisions": print_decisions(it.point), **attempt_json(it)} for it in best.attempts],
    }
