"""`tinct fmt`: WGSL text in one style."""

from __future__ import annotations

from pathlib import Path

import click

from ..base.errors import InputError
from ..formatting import format_source
from .files import write_text
from .options import print_text, read_shader


@click.command(
    name="fmt",
    epilog="""\b
Four spaces a level, one statement a line, lines of at most 100 columns where they can be broken. Comments stay where
they are, and so does an empty line between statements, members or declarations.

\b
Examples:
  tinct fmt kernel.wgsl
  tinct fmt --write shaders/*/*.wgsl
  tinct fmt --check shaders/*/*.wgsl
  cat kernel.wgsl | tinct fmt -

\b
Exit codes: 1 if a file is malformed or nests too deep, or, with --check, is not formatted.
""",
)
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.option("--check", is_flag=True, help="Only name the files that would change.")
@click.option("--write", is_flag=True, help="Change the files instead of printing them.")
def command(files: tuple[str, ...], check: bool, write: bool) -> None:
    """Format WGSL files: the same programs, easier to read."""
    if check and write:
        raise InputError("--check and --write exclude each other")
    if write and "-" in files:
        raise InputError("--write takes files, not standard input")
    changed = [name for name in files if _format(name, is_printed=not (check or write), is_written=write)]
    if check and changed:
        raise click.exceptions.Exit(1)


def _format(name: str, *, is_printed: bool, is_written: bool) -> bool:
    """Format a file. Returns whether its text was different before."""
    source = read_shader(name)
    text = format_source(source)
    is_changed = text.encode() != source.data
    if is_printed:
        print_text(text)
    elif is_changed:
        click.echo(name)
    if is_written and is_changed:
        write_text(Path(name), text)
    return is_changed
