"""A campaign of random functions: `python -m tests.hercules --count 1000`, with `--gpu` on the GPU as well."""

from __future__ import annotations

import os
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import click
from rich.progress import track

from .campaign import KINDS, check_seed


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--count", default=1000, show_default=True, help="How many functions, a share from each generator.")
@click.option("--seed", default=0, show_default=True, help="The first seed of each generator.")
@click.option("--jobs", default=os.cpu_count() or 1, show_default=True, help="Processes.")
@click.option("--only", type=click.Choice([*KINDS]), multiple=True, help="Only this generator; may be repeated.")
@click.option("--gpu", is_flag=True, help="Compare the GPU as well.")
@click.option("--keep", type=click.Path(file_okay=False, path_type=Path), help="Write functions that differ here.")
def main(count: int, seed: int, jobs: int, only: tuple[str, ...], gpu: bool, keep: Path | None) -> None:
    """Compare random functions on the interpreter, the CPU, maybe the GPU. Exits with 1 if any differ."""
    devices = ("interp", "cpu", "gpu") if gpu else ("interp", "cpu")
    os.environ["TINCT_CACHE"] = "off"
    names = only or tuple(KINDS)
    cases = [(names[it % len(names)], seed + it // len(names)) for it in range(count)]
    found, done = 0, Counter[str]()
    refused, kinds = Counter[str](), Counter[str]()
    left_open = 0
    with ProcessPoolExecutor(jobs) as pool:
        results = pool.map(partial(check_seed, devices=devices), cases, chunksize=4)
        for result in track(results, "comparing", total=count):
            if result.refused is not None:
                refused[result.refused] += 1
                continue
            kinds.update(result.kinds)
            done[result.kind] += 1
            left_open += result.is_open
            if result.problem is None:
                continue
            found += 1
            click.echo(f"{result.kind} {result.seed}: {result.problem}")
            if keep is not None:
                keep.mkdir(parents=True, exist_ok=True)
                (keep / f"{result.kind}_{result.seed}.hir").write_text(result.text, encoding="utf-8")
    for title, table in (("run", done), ("not supported", refused), ("functions with", kinds)):
        for name, number in table.most_common():
            click.echo(f"{title}: {number:6} {name}")
    click.echo(f"{left_open} differ where WGSL leaves the results of NaNs, infinities and subnormal numbers open")
    click.echo(f"{count} functions, {refused.total()} refused, {found} problems")
    if found:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
