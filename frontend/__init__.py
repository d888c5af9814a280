"""From WGSL source text to a checked program: parse, then resolve.

Most callers use `load_program`; `check` only reports diagnostics; `check_pipeline` checks override values.
"""

from __future__ import annotations

import time

from ..base.interpreter_state import paused_collection
from ..ir.diagnostics import Diagnostic, Severity, ShaderError
from ..ir.source import Source
from ..ir.wgsl.program import Program
from .parse import ParseResult, parse
from .print_comments import print_comments
from .resolve import Resolved, check_default_pipelines, check_pipeline, nesting_fault, resolve

__all__ = ["Resolved", "check", "check_pipeline", "load_program", "nesting_fault", "parse", "resolve"]

MOST_DIAGNOSTICS = 100
"""Maximum number of diagnostics that are reported."""


def load_program(source: Source, *, seconds: dict[str, float] | None = None) -> Program:
    """The checked program of a source. Raises ShaderError with all diagnostics when it is invalid.

    `seconds` receives the durations of parsing and resolving.
    """
    program, diagnostics = _run(source, {} if seconds is None else seconds)
    if program is None:
        raise ShaderError(diagnostics, source)
    return program


def check(source: Source) -> tuple[Diagnostic, ...]:
    """All diagnostics of a source; it is valid if none is an error.

    Warnings are included, and what forbids or limits the pipelines of its entry points while all overrides have their
    default values is among them.
    """
    program, found = _run(source, {})
    return found if program is None else _shown([*found, *check_default_pipelines(program)])


@paused_collection()
def _run(source: Source, seconds: dict[str, float]) -> tuple[Program | None, tuple[Diagnostic, ...]]:
    """Parse and resolve. A text with syntax errors is not resolved: missing nodes would cause more errors."""
    started = time.perf_counter()
    parsed = _parsed(source)
    seconds["parse"] = time.perf_counter() - started
    if any(diagnostic.is_error for diagnostic in parsed.diagnostics):
        return None, _shown(list(parsed.diagnostics))
    started = time.perf_counter()
    resolved = resolve(source, parsed.unit)
    seconds["resolve"] = time.perf_counter() - started
    return resolved.program, _shown([*parsed.diagnostics, *resolved.diagnostics])


def _parsed(source: Source) -> ParseResult:
    """The syntax tree, with the statements in comments that print."""
    plain = parse(source)
    if plain.has_errors:
        return plain
    comments = print_comments(source, plain.unit.comments)
    parsed = parse(comments.as_statements) if comments.spans else plain
    return ParseResult(parsed.unit, (*map(comments.explained, parsed.diagnostics), *comments.faults))


def _shown(found: list[Diagnostic]) -> tuple[Diagnostic, ...]:
    """The diagnostics in source order, at most `MOST_DIAGNOSTICS`; warnings are dropped before errors."""
    found.sort(key=_place)
    if len(found) > MOST_DIAGNOSTICS:
        kept = sorted(found, key=lambda diagnostic: not diagnostic.is_error)[:MOST_DIAGNOSTICS]
        message = f"{len(found) - len(kept)} more diagnostics are not shown"
        found = [*sorted(kept, key=_place), Diagnostic(Severity.INFO, "more-diagnostics", message)]
    return tuple(found)


def _place(diagnostic: Diagnostic) -> int:
    return diagnostic.span.start if diagnostic.span else 0
