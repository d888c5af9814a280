"""`tinct minify`: shaders in fewer bytes."""

from __future__ import annotations

import gzip
from pathlib import Path

import click

from ..base.errors import InputError
from ..minifying import minify
from .files import write_text
from .options import print_text, read_shader
from .tables import Column, Row, print_table


@click.command(
    name="minify",
    epilog="""\b
Entry points, bindings and overrides keep their names, and memory keeps its layout: a program that uses the shader need
not change. Everything else gets the shortest name; constants are folded, and dead code and comments are dropped.

\b
Examples:
  tinct minify kernel.wgsl -o kernel.min.wgsl
  tinct minify shaders/*/*.wgsl --table
""",
)
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.option("--table", is_flag=True, help="Print the sizes in bytes, before and after, instead of the text.")
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="A file instead of the terminal.")
def command(files: tuple[str, ...], table: bool, output: Path | None) -> None:
    """Write shaders as short as they can be: the same interface, the same answers."""
    if len(files) > 1 and not table:
        raise InputError("several files: name one, or ask for --table")
    sources = [read_shader(name) for name in files]
    texts = [minify(source) for source in sources]
    if table:
        _print_sizes(files, [(source.data, text.encode()) for source, text in zip(sources, texts, strict=True)])
    elif output is not None:
        write_text(output, texts[0])
    else:
        print_text(texts[0])


_COLUMNS = (
    Column("file"),
    Column("bytes", is_number=True),
    Column("minified", is_number=True),
    Column("%", is_number=True),
    Column("gzip", 2, is_number=True),
    Column("minified gzip", 1, is_number=True),
    Column("gzip %", 1, is_number=True),
)


def _print_sizes(files: tuple[str, ...], pairs: list[tuple[bytes, bytes]]) -> None:
    sizes = [(len(a), len(b), len(gzip.compress(a)), len(gzip.compress(b))) for a, b in pairs]
    total = tuple(map(sum, zip(*sizes, strict=True)))
    rows: list[Row] = []
    for name, (before, after, zipped_before, zipped_after) in zip((*files, "all"), (*sizes, total), strict=True):
        share, zipped_share = 100 * after / max(before, 1), 100 * zipped_after / max(zipped_before, 1)
        cells = (before, after, f"{share:.0f}", zipped_before, zipped_after, f"{zipped_share:.0f}")
        rows.append(Row((name, *map(str, cells))))
    print_table(_COLUMNS, rows)
