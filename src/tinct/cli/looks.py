"""How traces and writes are shown: as text, or as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from ..debugging import Trace, Writes


def show_trace(trace: Trace, form: str) -> None:
    """Print a trace. JSON: the invocation, its workgroup, the number of instructions, and the rows."""
    if form == "text":
        click.echo(str(trace))
        return
    head = {"invocation": trace.invocation, "workgroup": trace.workgroup, "instructions": trace.instructions}
    click.echo(json.dumps({**head, "rows": [asdict(row) for row in trace.rows]}, indent=2))


def show_writes(writes: Writes, form: str) -> None:
    """Print the writes to a part of memory. JSON: the path, how many there were, and the writes that were kept."""
    click.echo(str(writes) if form == "text" else json.dumps(asdict(writes), indent=2))
