"""`python -m benchmarks [KERNEL…]`: measure the CPU device and its peers."""

from __future__ import annotations

import gc
from pathlib import Path

import click
from rich.console import Console

from . import chart, machine
from .peers import OURS, Peer, all_peers
from .peers.c import SOURCES, compiled, compiler
from .problem import Problem, load_problems
from .report import Result, print_result, print_summary, write_json, write_markdown
from .runner import Effort, measure

EFFORTS = {"tiny": Effort(rounds=1, seconds=1), "quick": Effort(rounds=5, seconds=4), "full": Effort(15, 30)}


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("kernels", nargs=-1)
@click.option("--quick", "size", flag_value="quick", help="Small sizes, few rounds: to see that all works.")
@click.option("--tiny", "size", flag_value="tiny", hidden=True)
@click.option("--peer", "wanted", multiple=True, help="Only these peers (and ours); repeat for more.")
@click.option("--rounds", type=click.IntRange(1), help="Maximum number of rounds.")
@click.option("--json", "json_path", type=click.Path(dir_okay=False, path_type=Path), help="Write all numbers there.")
@click.option("--markdown", "table_path", type=click.Path(dir_okay=False, path_type=Path), help="Write ratios there.")
@click.option("--chart", "folder", type=click.Path(file_okay=False, path_type=Path), help="Draw kernels.png and .svg.")
def main(
    kernels: tuple[str, ...],
    size: str | None,
    wanted: tuple[str, ...],
    rounds: int | None,
    json_path: Path | None,
    table_path: Path | None,
    folder: Path | None,
) -> None:
    """Measure the KERNELS named, or all, on our CPU device and on every other way to run them that is found."""
    console = Console(width=None if Console().is_terminal else 140)
    size = size or "full"
    effort = EFFORTS[size] if rounds is None else Effort(rounds, EFFORTS[size].seconds)
    try:
        cases = load_problems(kernels, size)
    except KeyError as unknown:
        raise click.BadParameter(f"there is no kernel {unknown}") from None
    peers, versions = _present(console, _chosen(wanted))
    limits = _limits(None)
    about = machine.describe()
    console.print(
        f"{about['processor']}, {about['threads']} threads, load {about['load']}; {limits or 'limits unknown'}"
    )
    results: list[Result] = []
    for case in cases:
        problem = Problem(case)
        measurements = measure(problem, peers, effort)
        limits = _limits(limits)
        results.append(Result(problem.name, case.kernel, dict(case.sizes), problem.traffic, measurements))
        print_result(console, results[-1], limits)
        del problem
        gc.collect()
    print_summary(console, results)
    if json_path is not None:
        write_json(json_path, about, limits, versions, results)
    if table_path is not None:
        write_markdown(table_path, results)
    if folder is not None:
        for path in chart.draw(results, folder):
            console.print(f"wrote {path}")


def _limits(before: machine.Limits | None) -> machine.Limits | None:
    """The machine's limits, the best measured so far; None without a C compiler."""
    if compiler() is None:
        return None
    now = machine.measure_limits(compiled(SOURCES / "peaks.c"))
    return now if before is None else now.or_better(before)


def _chosen(wanted: tuple[str, ...]) -> list[Peer]:
    peers = all_peers()
    unknown = set(wanted) - {peer.name for peer in peers}
    if unknown:
        known = ", ".join(repr(peer.name) for peer in peers)
        raise click.BadParameter(f"there is no peer {min(unknown)!r}; there are {known}", param_hint="--peer")
    return [peer for peer in peers if not wanted or peer.name in (*wanted, OURS)]


def _present(console: Console, peers: list[Peer]) -> tuple[list[Peer], dict[str, str]]:
    """The peers that can be used, with their versions; says why the others cannot."""
    present: list[Peer] = []
    versions: dict[str, str] = {}
    for peer in peers:
        reason = peer.available()
        if reason is None:
            present.append(peer)
            versions[peer.name] = peer.version()
        text = versions[peer.name] if reason is None else f"skipped: {reason}"
        console.print(f"{peer.name}: {text}", highlight=False, markup=False)
    return present, versions


if __name__ == "__main__":
    main()
