"""`tinct check`: diagnostics for shaders."""

from __future__ import annotations

import json

import click

from ..frontend import check
from ..ir.diagnostics import Diagnostic, Note, render
from ..ir.source import Source, Span
from .colours import paint
from .options import format_option, read_shader


@click.command(
    name="check",
    epilog="""\b
Examples:
  tinct check kernel.wgsl
  tinct check shaders/*.wgsl --format json
  cat kernel.wgsl | tinct check -

\b
JSON: a list of diagnostics, each with file, severity ("error", "warning"), code, message, range and notes. A range has
start and end, each with a byte offset, a line and a column (counted from 1, in code points); it is null where no place
is at fault. A note has a message and a range.
""",
)
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@format_option
def command(files: tuple[str, ...], form: str) -> None:
    """Say what is wrong with WGSL files, and where.

    Exits with 1 if any has an error.
    """
    failed = False
    found: list[dict[str, object]] = []
    for name in files:
        source = read_shader(name)
        diagnostics = check(source)
        failed = failed or any(diagnostic.is_error for diagnostic in diagnostics)
        if form == "json":
            found += [as_json(diagnostic, source) for diagnostic in diagnostics]
        else:
            _print(source, diagnostics)
    if form == "json":
        click.echo(json.dumps(found, indent=2))
    if failed:
        raise click.exceptions.Exit(1)


def _print(source: Source, diagnostics: tuple[Diagnostic, ...]) -> None:
    for diagnostic in diagnostics:
        click.echo(render(diagnostic, source, paint) + "\n", err=True)
    errors = sum(diagnostic.is_error for diagnostic in diagnostics)
    click.echo(f"{source.name}: {f'{errors} errors' if errors > 1 else '1 error' if errors else 'ok'}")


def as_json(diagnostic: Diagnostic, source: Source) -> dict[str, object]:
    """A diagnostic for programs."""
    return {
        "file": source.name,
        "severity": diagnostic.severity.value,
        "code": diagnostic.code,
        "message": diagnostic.message,
        "range": _range(diagnostic.span, source),
        "notes": [_note(note, source) for note in diagnostic.notes],
    }


def _note(note: Note, source: Source) -> dict[str, object]:
    return {"message": note.message, "range": _range(note.span, source)}


def _range(span: Span | None, source: Source) -> dict[str, object] | None:
    if span is None:
        return None
    start, end = source.position(span.start), source.position(span.end)
    return {
        "start": {"offset": span.start, "line": start.line, "column": start.column},
        "end": {"offset": span.end, "line": end.line, "column": end.column},
    }
