"""The command line of the conformance runner; see the package."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import get_args

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from tinct.backend.cpu.emit import Tier

from .pipelines import PIPELINES
from .pool import Outcome, Question, judge_all
from .records import Record, folder, read, suite_folder

DEFAULT_FILES = {
    "validation": "validation.jsonl.xz",
    "execution": "execution.jsonl.xz",
    "roundtrip": "validation.jsonl.xz",
    "forms": "validation.jsonl.xz",
    "naga": "validation.jsonl.xz",
    "tint": "validation.jsonl.xz",
    "transforms": "execution.jsonl.xz",
}
OF_VALID_MODULES = ("roundtrip", "forms", "naga", "tint")
SECONDS = {"transforms": 900.0}
DEVICES = {
    "cpu": "cpu",
    "gpu": "gpu",
    "interp": "interp",
    "hercules-interp": "hercules",
    "gpu-hercules": "gpu via hercules",
}


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("question", type=click.Choice(list(DEFAULT_FILES)))
@click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--device", type=click.Choice(list(DEVICES)), default="cpu", show_default=True, help="For execution.")
@click.option(
    "--tier",
    type=click.Choice(get_args(Tier)),
    default="gang",
    show_default=True,
    help="How invocations run on the CPU.",
)
@click.option("--machine", type=int, help="The CPU's code is for a random machine of this seed.")
@click.option("--passes", multiple=True, help="For transforms: a pipeline to check, repeated; else every one.")
@click.option("--jobs", type=click.IntRange(1), default=os.cpu_count() or 1, show_default=True, help="Processes.")
@click.option("--every", type=click.IntRange(1), default=1, help="Take only every N-th record.")
@click.option("--only", default="", help="Take only records whose name contains this text.")
@click.option("--src", help="Take only expr records of this source (const, storage_r, uniform).")
@click.option("--at-run-time", is_flag=True, help="Leave out expr records whose expressions are constant.")
@click.option("--show", type=click.IntRange(0), default=20, show_default=True, help="Print that many wrong records.")
@click.option("--wrong-to", type=click.Path(dir_okay=False, path_type=Path), help="Write all wrong names and why here.")
def main(
    question: str,
    file: Path | None,
    device: str,
    tier: str,
    machine: int | None,
    passes: tuple[str, ...],
    jobs: int,
    every: int,
    only: str,
    src: str | None,
    at_run_time: bool,
    show: int,
    wrong_to: Path | None,
) -> None:
    """Score tinct on a file of recorded vectors. The last line is JSON: right, of, and the first 50 wrong names."""
    os.environ["TINCT_CPU_TIER"] = tier
    path = file or _default_file(question)
    records = [
        record
        for record in read(path)
        if only in record["q"]
        and (src is None or record.get("src") == src)
        and not (at_run_time and record.get("src") == "const")
        and _is_asked(question, record)
    ][::every]
    pipelines = passes or PIPELINES
    outcomes = _judge(Question(question, DEVICES[device], pipelines, machine), records, jobs)
    _print_score(outcomes)
    if question == "transforms":
        _print_pipelines(outcomes, pipelines)
    _print_skipped(outcomes)
    wrong = [outcome for outcome in outcomes if outcome.problem is not None]
    for outcome in wrong[:show]:
        click.echo(f"{outcome.record['q']}\n    {outcome.problem}")
    if wrong_to is not None:
        wrong_to.write_text("".join(f"{o.record['q']}\t{(o.problem or '')!r}\n" for o in wrong), encoding="utf-8")
    names = [outcome.record["q"] for outcome in wrong[:50]]
    judged = sum(outcome.skipped is None for outcome in outcomes)
    click.echo(json.dumps({"right": judged - len(wrong), "of": judged, "wrong": names}))


def _is_asked(question: str, record: Record) -> bool:
    return question not in OF_VALID_MODULES or (record["kind"] == "module" and record["expected"])


def _default_file(question: str) -> Path:
    where = folder()
    if where is None:
        raise click.UsageError("no vectors on this machine: name a file, or set TINCT_CONFORMANCE to their folder")
    return where / DEFAULT_FILES[question]


def _judge(question: Question, records: list[Record], jobs: int) -> list[Outcome]:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    outcomes: list[Outcome] = []
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(question.kind, total=len(records))
        for outcome in judge_all(question, records, jobs=jobs, seconds=SECONDS.get(question.kind, 60.0)):
            outcomes.append(outcome)
            progress.advance(task)
    return sorted(outcomes, key=lambda outcome: outcome.record["q"])


def _print_score(outcomes: Iterable[Outcome]) -> None:
    right: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for outcome in outcomes:
        if outcome.skipped is not None:
            continue
        where = suite_folder(outcome.record)
        total[where] += 1
        right[where] += outcome.problem is None
    table = Table("folder", "right", "of", "%")
    for where in sorted(total):
        table.add_row(where, str(right[where]), str(total[where]), f"{100 * right[where] / total[where]:.2f}")
    all_right, all_of = sum(right.values()), sum(total.values())
    table.add_row("all", str(all_right), str(all_of), f"{100 * all_right / max(all_of, 1):.2f}", style="bold")
    Console().print(table)


def _print_pipelines(outcomes: Sequence[Outcome], pipelines: Sequence[str]) -> None:
    """How many records are right after each pipeline. A problem has a line for each that spoils the answer."""
    judged = [outcome for outcome in outcomes if outcome.skipped is None]
    table = Table("pipeline", "right", "of")
    for pipeline in pipelines:
        start = f"{pipeline or 'O0'}: "
        wrong = sum(any(it.startswith(start) for it in (o.problem or "").splitlines()) for o in judged)
        table.add_row(pipeline or "O0", str(len(judged) - wrong), str(len(judged)))
    Console().print(table)


def _print_skipped(outcomes: Iterable[Outcome]) -> None:
    for reason, count in Counter(outcome.skipped for outcome in outcomes if outcome.skipped is not None).items():
        click.echo(f"not judged: {count}, {reason}")


if __name__ == "__main__":
    main()
