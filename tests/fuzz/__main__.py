"""A campaign of changed shaders through every command: `python -m tests.fuzz --minutes 10`.

Each goes through check, fmt, minify, reflect, opt, all stages of compile, run on each device, traces, coverage, debug
and compare. A traceback, a crash and a command that takes too long are findings: what happened is printed, and the
shader, minimised, written to a file.
"""

from __future__ import annotations

import random
import time
from pathlib import Path

import click

from .minimised import minimised
from .mutations import SHADERS
from .variants import variant
from .worker import Failure, Outcome, Worker

DEVICES = ("interp", "hercules", "cpu")
KEPT = Path("build/fuzz")
_MINIMISING = 60.0
"""Seconds spent on a finding."""


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--minutes", default=1.0, show_default=True, help="How long.")
@click.option("--seed", default=0, show_default=True, help="The same seed gives the same shaders.")
@click.option("--device", "devices", multiple=True, default=DEVICES, help="Where to run; may be repeated.")
@click.option("--seconds", default=10.0, show_default=True, help="Processor seconds that a command may take.")
@click.option("--keep", type=click.Path(file_okay=False, path_type=Path), default=KEPT, help="A folder for findings.")
def main(minutes: float, seed: int, devices: tuple[str, ...], seconds: float, keep: Path) -> None:
    """Run changed shaders through every command. Exits with 1 if any fails."""
    worker, generator = Worker(devices, seconds), random.Random(seed)
    end = time.monotonic() + 60 * minutes
    shaders = valid = commands = 0
    kinds: set[str] = set()
    while time.monotonic() < end:
        text = variant(generator.choice(SHADERS).read_bytes(), generator)
        outcome = worker.examine(text)
        shaders, valid, commands = shaders + 1, valid + outcome.is_valid, commands + outcome.commands
        if outcome.failure is not None and outcome.failure.kind not in kinds:
            kinds.add(outcome.failure.kind)
            _report(worker, text, outcome.failure, keep / f"{seed}-{shaders}.wgsl")
    worker.close()
    click.echo(f"{shaders} shaders, {valid} of them valid, {commands} commands, {len(kinds)} findings")
    if kinds:
        raise SystemExit(1)


def _report(worker: Worker, text: bytes, failure: Failure, file: Path) -> None:
    def fails(shorter: bytes) -> bool:
        found: Outcome = worker.examine(shorter)
        return found.failure is not None and found.failure.problem.splitlines()[-1] == last

    last = failure.problem.splitlines()[-1]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(minimised(text, fails, _MINIMISING))
    click.echo(f"{file}: tinct {' '.join(failure.command)}\n{failure.problem}\n")


if __name__ == "__main__":
    main()
