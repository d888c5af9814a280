"""Results as a table, in Markdown and as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from .machine import Limits
from .peers import OURS
from .runner import Measurement
from .work import FLOPS, LATENCY_BOUND


@dataclass(frozen=True, slots=True)
class Result:
    """All peers on one kernel. `traffic` counts bytes, `sizes` names the case's sizes."""

    name: str
    kernel: str
    sizes: dict[str, int]
    traffic: int
    measurements: list[Measurement]

    @property
    def ours(self) -> float | None:
        """Our median seconds."""
        return next((m.median for m in self.measurements if m.peer == OURS and m.samples), None)

    def ratio(self, measurement: Measurement) -> float | None:
        """How many times our time the peer takes."""
        if self.ours is None or not measurement.samples:
            return None
        return measurement.median / self.ours

    def share(self, measurement: Measurement, limits: Limits | None) -> str:
        """The part of the machine's limit that the peer reaches, of the limit that matters for the kernel."""
        if limits is None or not measurement.samples or self.kernel in LATENCY_BOUND:
            return ""
        if self.kernel in FLOPS:
            return f"{FLOPS[self.kernel](self.sizes) / measurement.median / limits.flops:.0%} FMA"
        return f"{self.traffic / measurement.median / limits.bandwidth:.0%} triad"


def wide_console() -> Console:
    """A console with room for tables where there is no terminal."""
    return Console(width=None if Console().is_terminal else 140)


def geometric_means(results: list[Result]) -> dict[str, tuple[float, int]]:
    """For each peer its mean ratio to ours over the kernels that both ran, and their number."""
    ratios: dict[str, list[float]] = {}
    for result in results:
        for measurement in result.measurements:
            ratio = result.ratio(measurement)
            if ratio is not None and ratio > 0:
                ratios.setdefault(measurement.peer, []).append(ratio)
    return {peer: (geometric_mean(values), len(values)) for peer, values in ratios.items()}


def geometric_mean(values: Collection[float]) -> float:
    """The geometric mean of positive numbers, of which there is at least one."""
    return math.exp(sum(map(math.log, values)) / len(values))


def print_result(console: Console, result: Result, limits: Limits | None) -> None:
    """One kernel's table, our row first, the reasons of those that were skipped below."""
    sizes = ", ".join(f"{name} {value}" for name, value in result.sizes.items())
    table = Table(title=f"{result.name} ({sizes})", title_justify="left", title_style="bold")
    table.add_column("peer")
    for column in ("median ms", "± quartiles", "rounds", "ratio to ours", "of the limit", "compile ms"):
        table.add_column(column, justify="right")
    for m in result.measurements:
        if not m.samples:
            continue
        ratio = result.ratio(m)
        table.add_row(
            m.peer,
            f"{m.median * 1e3:.3f}",
            f"{m.spread:.0%}",
            str(len(m.samples)),
            "" if ratio is None else f"{ratio:.2f}",
            result.share(m, limits),
            "" if m.compile_seconds is None else f"{m.compile_seconds * 1e3:.0f}",
            style="green" if m.peer == OURS else None,
        )
    console.print(table)
    for m in result.measurements:
        if m.skipped is not None:
            console.print(f"  {m.peer}: skipped, {m.skipped}", highlight=False, markup=False)


def print_summary(console: Console, results: list[Result]) -> None:
    """Ratios of all peers on all kernels, and their geometric means."""
    peers, rows, totals = _summary(results)
    table = Table(title="time relative to ours (above 1: slower than ours)", title_justify="left", title_style="bold")
    table.add_column("kernel")
    table.add_column(f"{OURS} ms", justify="right")
    for peer in peers:
        table.add_column(peer, justify="right")
    for row in rows:
        table.add_row(*row)
    table.add_section()
    for row in totals:
        table.add_row(*row)
    console.print(table)


def write_markdown(path: Path, results: list[Result]) -> None:
    """The summary as a table in Markdown, as docs/speed.md has it."""
    peers, rows, totals = _summary(results)
    header = ["kernel", f"{OURS} ms", *peers]
    alignment = ["---", *("--:" for _ in header[1:])]
    lines = ("| " + " | ".join(cells) + " |" for cells in (header, alignment, *rows, *totals))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _summary(results: list[Result]) -> tuple[list[str], list[list[str]], list[list[str]]]:
    """The peers beside ours, a row for each kernel with our milliseconds and their ratios, and the rows below."""
    means = geometric_means(results)
    peers = [peer for peer in means if peer != OURS]
    rows: list[list[str]] = []
    for result in results:
        by_peer = {m.peer: result.ratio(m) for m in result.measurements}
        cells = ("–" if (ratio := by_peer.get(peer)) is None else f"{ratio:.2f}" for peer in peers)
        rows.append([result.name, "–" if result.ours is None else f"{result.ours * 1e3:.3f}", *cells])
    totals = [
        ["geometric mean", "", *(f"{means[peer][0]:.2f}" for peer in peers)],
        ["kernels", "", *(str(means[peer][1]) for peer in peers)],
    ]
    return peers, rows, totals


def write_json(
    path: Path, machine: dict[str, str | int], limits: Limits | None, versions: dict[str, str], results: list[Result]
) -> None:
    """Everything that was measured, samples included."""
    document = {
        "machine": machine,
        "limits": limits and {"bytes_per_second": limits.bandwidth, "flops": limits.flops},
        "peers": versions,
        "geometric_means": {
            peer: {"ratio": mean, "kernels": n} for peer, (mean, n) in geometric_means(results).items()
        },
        "kernels": [_as_json(result) for result in results],
    }
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def _as_json(result: Result) -> dict[str, object]:
    return {
        "name": result.name,
        "kernel": result.kernel,
        "sizes": result.sizes,
        "bytes": result.traffic,
        "peers": {
            m.peer: {"skipped": m.skipped}
            if not m.samples
            else {
                "median_seconds": m.median,
                "spread": m.spread,
                "ratio": result.ratio(m),
                "compile_seconds": m.compile_seconds,
                "samples": m.samples,
            }
            for m in result.measurements
        },
    }
