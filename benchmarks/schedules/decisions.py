"""Decisions that were written by hand, as the yardstick of the tuner: our files, or one of one's own.

A table for each nest has its decisions under `exact`, and under `contracted` where those for fused products differ.
What is fast with vectors of 512 bits and 32 registers for them is slow with 256 bits and 16: those decisions have a
file of their own.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

import click

from tinct.backend.cpu.target import current_target

FOLDER = Path(__file__).parent / "by_hand"
_WIDE = 64
"""The bytes of the vectors for which `cpu.toml` was written."""


def read(file: Path | None, device: str, *, is_software: bool = True) -> Mapping[str, Mapping[str, str]]:
    """The tables of a file, or of ours for the kind of device: the CPU, by the width of its vectors, or a GPU, which
    may be software.
    """
    if file is not None:
        return _tables(file)
    if device != "cpu":
        return _tables(FOLDER / ("software_gpu.toml" if is_software else "gpu.toml"))
    tables = _tables(FOLDER / "cpu.toml")
    return tables if current_target().vector_bytes >= _WIDE else {**tables, **_tables(FOLDER / "cpu_256.toml")}


def _tables(file: Path) -> Mapping[str, Mapping[str, str]]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise click.BadParameter(f"{file}: {error}") from None


def chosen(tables: Mapping[str, Mapping[str, str]], name: str, *, contract: bool) -> str | None:
    """The decisions for a nest, or None."""
    table = tables.get(name, {})
    exact = table.get("exact")
    return table.get("contracted", exact) if contract else exact
