"""`python -m tests.accuracy [FUNCTION…] [--every N]`: the worst error of each float function over all its arguments."""

from __future__ import annotations

import os
import time
from pathlib import Path

import click

from .functions import FUNCTIONS
from .measure import TYPES, Worst, measure

_HEAD = "| function | type | arguments | worst error in ULP | at | WGSL allows |\n|---|---|---|---|---|---|"


def _row(name: str, type: str, worst: Worst) -> str:
    at = ", ".join(f"{it:.9g}" for it in worst.arguments)
    rule = FUNCTIONS[name].rule(TYPES[type]).text
    return f"| {name} | {type} | {worst.count:,} | {worst.ulp:.3f} | {at} | {rule} |"


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("names", nargs=-1)
@click.option("--every", type=click.IntRange(1), default=1, show_default=True, help="Only every N-th argument of f32.")
@click.option("--type", "types", type=click.Choice(list(TYPES)), multiple=True, help="Only this type.")
@click.option("--device", default="cpu", show_default=True, help="Where the functions run.")
@click.option("--samples", default=1 << 24, show_default=True, help="Pairs for functions of two arguments.")
@click.option("--table", type=click.Path(dir_okay=False, path_type=Path), help="Append the table's rows to this file.")
def main(
    names: tuple[str, ...], every: int, types: tuple[str, ...], device: str, samples: int, table: Path | None
) -> None:
    """Measure the functions NAMES, or all. Exits with 1 if a result breaks WGSL's rule or the promise made here."""
    os.environ.setdefault("TINCT_CPU_TIER", "gang")
    unknown = set(names) - set(FUNCTIONS)
    if unknown:
        raise click.BadParameter(f"there is no function {', '.join(sorted(unknown))}")
    click.echo(_HEAD)
    is_wrong = False
    for name in names or FUNCTIONS:
        for type in types or TYPES:
            started = time.perf_counter()
            worst = measure(FUNCTIONS[name], type, every=every, device=device, samples=samples)
            row = _row(name, type, worst)
            click.echo(f"{row}  {time.perf_counter() - started:.0f} s")
            if table is not None:
                with table.open("a", encoding="utf-8") as file:
                    file.write(row + "\n")
            if worst.violations:
                click.echo(f"    {worst.violations} break WGSL's rule, first at {worst.first_violation}")
            is_wrong |= worst.violations > 0 or worst.ulp > FUNCTIONS[name].promised
    if is_wrong:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
