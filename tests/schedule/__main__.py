"""A campaign of random points of random nests: `python -m tests.schedule --count 1000 [--device gpu]`."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import click

from .campaign import check_search, check_seed


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--count", default=1000, show_default=True, help="How many points.")
@click.option("--each", default=4, show_default=True, help="At most so many points of one nest.")
@click.option("--seed", default=0, show_default=True, help="The first nest's seed.")
@click.option("--jobs", default=os.cpu_count() or 1, show_default=True, help="Processes.")
@click.option("--device", "others", multiple=True, help="Compare this device as well, such as gpu.")
@click.option("--searches", is_flag=True, help="Compare what searches of a second measure instead.")
def main(count: int, each: int, seed: int, jobs: int, others: tuple[str, ...], searches: bool) -> None:
    """Compare random points of nests on the CPU and in the interpreter of core IR with the definition. Exits with 1 if
    any differ.
    """
    check = partial(check_search, devices=("cpu", *others))
    if not searches:
        check = partial(check_seed, devices=("interp", "cpu", *others), most=each)
    os.environ["TINCT_CACHE"] = "off"
    points = found = 0
    first = seed
    with ProcessPoolExecutor(jobs) as pool:
        while points < count:
            seeds = range(first, first + 8 * jobs)
            first = seeds.stop
            for checked in pool.map(check, seeds):
                points += checked.points
                for problem in checked.problems:
                    found += 1
                    click.echo(f"seed {problem.seed}: {problem.message}\n{problem.nest}{problem.point}\n")
            click.echo(f"{points} points of {first - seed} nests, {found} problems", err=True)
    if found:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
