"""What kernels print by `debugPrintf`, on the command line."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, TypeVar

import click

from ..print_lines import lost_text, printed


@contextmanager
def shown_prints(form: str, print_limit: int | None = None) -> Generator[None]:
    """Show the lines of the body of the `with` statement when it ends; for JSON, on standard error."""
    with printed(print_limit=print_limit) as prints:
        try:
            yield
        finally:
            for line in prints.lines:
                click.echo(str(line), err=form == "json")
            if prints.lost:
                click.echo(f"{lost_text(prints.lost)}: --print-limit gives more", err=True)


Command = TypeVar("Command", bound=Callable[..., Any])


def print_limit_option(command: Command) -> Command:
    """`--print-limit`."""
    text = "Room for what each dispatch prints by debugPrintf.  [default: 1048576]"
    return click.option("--print-limit", type=int, metavar="BYTES", help=text)(command)
