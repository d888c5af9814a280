"""A campaign of random kernels: `python -m tests.differential --count 1000`, with `--device gpu` on the GPU as well."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import click
from rich.progress import track

from .campaign import HERE, check_seed


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--count", default=1000, show_default=True, help="How many kernels.")
@click.option("--seed", default=0, show_default=True, help="The first kernel's seed.")
@click.option("--jobs", default=os.cpu_count() or 1, show_default=True, help="Processes.")
@click.option("--device", "others", multiple=True, help="Compare this device as well, such as gpu or cpu:aarch64.")
@click.option("--keep", type=click.Path(file_okay=False, path_type=Path), help="Write kernels that differ here.")
def main(count: int, seed: int, jobs: int, others: tuple[str, ...], keep: Path | None) -> None:
    """Compare random kernels on the interpreters and all tiers of the CPU. Exits with 1 if any differ."""
    devices = (*HERE, *others)
    os.environ["TINCT_CACHE"] = "off"
    found = 0
    with ProcessPoolExecutor(jobs) as pool:
        results = pool.map(partial(check_seed, devices=devices), range(seed, seed + count), chunksize=8)
        for problem in track(results, "comparing", total=count):
            if problem is None:
                continue
            found += 1
            click.echo(f"seed {problem.seed}: {problem.message}")
            if keep is not None:
                keep.mkdir(parents=True, exist_ok=True)
                (keep / f"{problem.seed}.wgsl").write_text(problem.wgsl, encoding="utf-8")
    click.echo(f"{count} kernels, {found} problems")
    if found:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
