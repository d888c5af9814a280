"""Decisions that were written by hand, as the yardstick of the tuner: our files, or one of one's own.

A table for each nest has its decisions under `exact`, and under `contracted` where those for fused products differ.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

import click

FOLDER = Path(__file__).parent / "by_hand"


def read(file: Path | None, device: str, *, is_software: bool = True) -> Mapping[str, Mapping[str, str]]:
    """The tables of a file, or of ours for the kind of device: the CPU, or a GPU, which may be software."""
    ours = "cpu.toml" if device == "cpu" else "software_gpu.toml" if is_software else "gpu.toml"
    found = file or FOLDER / ours
    try:
        return tomllib.loads(found.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise click.BadParameter(f"{found}: {error}") from None


def chosen(tables: Mapping[str, Mapping[str, str]], name: str, *, contract: bool) -> str | None:
    """The decisions for a nest, or None."""
    table = tables.get(name, {})
    exact = table.get("exact")
    return table.get("contracted", exact) if contract else exact
