"""`python -m benchmarks.frontend`: how long the front end takes a kilobyte, beside naga and Tint.

Ours is measured in this process: parsing to the syntax tree, resolving it, and `load_program`, which does both. naga is
wgpu's `create_shader_module`: lexing, parsing and validating, with the way of the text through a pipe to the process
that wgpu lives in. Tint is Dawn's, by the script that the folder `$TINCT_TINT` holds: `createShaderModule` and its
compilation messages, with the text's way as JSON through a pipe to node. Nothing is subtracted.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import shutil
import statistics
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from tinct.backend.gpu import GpuDevice, GpuError, shared_device
from tinct.frontend import load_program, parse, resolve
from tinct.ir.diagnostics import ShaderError
from tinct.ir.source import Source

from .generated_wgsl import module
from .machine import describe
from .report import wide_console

SHADERS = Path(__file__).parents[1] / "shaders"
SIZES = (1, 10, 100, 1000)
STAGES = ("parse", "resolve", "whole")
_ROUND_SECONDS = 4.0
_MOST_ROUNDS = 9


@dataclass(frozen=True, slots=True)
class Input:
    """Texts that are measured together, as one size."""

    name: str
    texts: tuple[str, ...]

    @property
    def kilobytes(self) -> float:
        """The size of all texts, in 1000 bytes."""
        return sum(len(text.encode()) for text in self.texts) / 1000


@dataclass(slots=True)
class Row:
    """Seconds of each round, for each of `STAGES` and each peer; why a peer is missing."""

    input: Input
    samples: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    failed: dict[str, str] = field(default_factory=dict[str, str])

    def per_kilobyte(self, column: str) -> float | None:
        """The median in milliseconds a kilobyte."""
        samples = self.samples.get(column)
        return statistics.median(samples) * 1e3 / self.input.kilobytes if samples else None


Validate = Callable[[str], str | None]
"""Gives None, or what is wrong with a text."""


def naga() -> Validate | None:
    """wgpu's validation in its worker process; None without an adapter."""
    if GpuDevice.unavailable_reason() is not None:
        return None
    return shared_device().validate


class Tint:
    """A node process that answers a line of JSON for each module; started by the first."""

    def __init__(self, folder: Path) -> None:
        self._process = subprocess.Popen(
            ["node", "validate.mjs"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __call__(self, text: str) -> str | None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps({"code": text}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise OSError("Tint's process ended")
        answer = json.loads(line)
        return None if answer["tint"] else str(answer["message"])

    def close(self) -> None:
        """Ends the process."""
        with contextlib.suppress(OSError):
            self._process.communicate(timeout=10)


def tint_folder() -> Path | None:
    """The folder of Tint's script, where the user names one and node is there."""
    named = os.environ.get("TINCT_TINT")
    if named is None or shutil.which("node") is None or not (Path(named) / "validate.mjs").exists():
        return None
    return Path(named)


def measure(input: Input, peers: dict[str, Validate]) -> Row:
    """Interleaved rounds over one input, as many as fit a few seconds."""
    row = Row(input)
    end = time.perf_counter() + _ROUND_SECONDS
    for number in range(_MOST_ROUNDS):
        # Dawn keeps modules by their text: no two rounds may have the same.
        texts = [f"{text}// round {number}\n" for text in input.texts]
        _measure_ours(row, texts)
        for name, validate in peers.items():
            if name not in row.failed:
                _measure_peer(row, name, validate, texts)
        if time.perf_counter() > end:
            break
    return row


def _measure_ours(row: Row, texts: Sequence[str]) -> None:
    parsing = resolving = whole = 0.0
    for text in texts:
        source = Source.from_text(text)
        gc.collect()
        start = time.perf_counter()
        unit = parse(source).unit
        parsed = time.perf_counter()
        resolved = resolve(source, unit)
        parsing += parsed - start
        resolving += time.perf_counter() - parsed
        if resolved.program is None:
            raise ShaderError(resolved.diagnostics, source)
        del unit, resolved
        gc.collect()
        start = time.perf_counter()
        load_program(Source.from_text(text))
        whole += time.perf_counter() - start
    for stage, seconds in zip(STAGES, (parsing, resolving, whole), strict=True):
        row.samples.setdefault(stage, []).append(seconds)


def _measure_peer(row: Row, name: str, validate: Validate, texts: Sequence[str]) -> None:
    seconds = 0.0
    for text in texts:
        start = time.perf_counter()
        try:
            message = validate(text)
        except (GpuError, OSError) as error:
            message = str(error)
        seconds += time.perf_counter() - start
        if message is not None:
            row.failed[name] = message.splitlines()[0]
            return
    row.samples.setdefault(name, []).append(seconds)


def linearity(rows: Sequence[Row], column: str) -> float | None:
    """Milliseconds a kilobyte of the largest generated module, relative to the second smallest; 1 is linear."""
    generated = [row for row in rows if row.input.name.startswith("generated")]
    if len(generated) < 3:
        return None
    small, large = generated[1].per_kilobyte(column), generated[-1].per_kilobyte(column)
    return large / small if small and large else None


def shader_texts() -> tuple[str, ...]:
    """The repository's own shaders."""
    return tuple(path.read_text(encoding="utf-8") for path in sorted(SHADERS.rglob("*.wgsl")))


def print_rows(console: Console, rows: Sequence[Row], columns: Sequence[str]) -> None:
    """The table in milliseconds a kilobyte, how linear each column is, and who rejected what."""
    table = Table(title="ms per kB (median)", title_justify="left", title_style="bold")
    table.add_column("input")
    for column in ("kB", "rounds", *columns):
        table.add_column(column, justify="right")
    for row in rows:
        cells = (f"{value:.3f}" if (value := row.per_kilobyte(column)) is not None else "–" for column in columns)
        table.add_row(row.input.name, f"{row.input.kilobytes:.1f}", str(len(row.samples["whole"])), *cells)
    console.print(table)
    for column in columns:
        ratio = linearity(rows, column)
        if ratio is not None:
            console.print(f"{column}: a kilobyte of the largest module takes {ratio:.2f} times one of 10 kB")
    for row in rows:
        for name, message in row.failed.items():
            console.print(f"{name} rejects {row.input.name}: {message}", highlight=False, markup=False)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--quick", is_flag=True, help="Modules of up to 100 kB only.")
@click.option("--json", "json_path", type=click.Path(dir_okay=False, path_type=Path), help="Write all numbers there.")
def main(*, quick: bool, json_path: Path | None) -> None:
    """Measure parsing and resolving on our shaders and on generated modules of 1 to 1000 kB."""
    console = wide_console()
    inputs = [Input("our shaders", shader_texts())]
    inputs += [Input(f"generated {size} kB", (module(size),)) for size in SIZES if not quick or size <= 100]
    with contextlib.ExitStack() as stack:
        peers = _peers(console, stack)
        rows = [measure(input, peers) for input in inputs]
    print_rows(console, rows, [*STAGES, *peers])
    if json_path is not None:
        json_path.write_text(
            json.dumps({"machine": describe(), "rows": [_as_json(row) for row in rows]}, indent=1) + "\n"
        )


def _peers(console: Console, stack: contextlib.ExitStack) -> dict[str, Validate]:
    peers: dict[str, Validate] = {}
    validate = naga()
    if validate is not None:
        peers["naga"] = validate
    else:
        console.print("naga: skipped, no adapter answers")
    folder = tint_folder()
    if folder is not None:
        tint = Tint(folder)
        stack.callback(tint.close)
        peers["Tint"] = tint
    else:
        console.print("Tint: skipped, $TINCT_TINT names no folder with validate.mjs, or node is missing")
    for validate in peers.values():
        validate("@compute @workgroup_size(1) fn main() {}")
    return peers


def _as_json(row: Row) -> dict[str, object]:
    return {
        "input": row.input.name,
        "kilobytes": row.input.kilobytes,
        "ms_per_kilobyte": {column: row.per_kilobyte(column) for column in row.samples},
        "samples": row.samples,
        "rejected": row.failed,
    }


if __name__ == "__main__":
    main()
