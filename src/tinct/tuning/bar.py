"""A progress bar on standard error."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager

from .search import Progress


@contextmanager
def shown_progress(name: str) -> Generator[Callable[[Progress], None]]:
    """A bar for a search, while the `with` lasts; nothing where standard error is no terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[state]}"), TimeElapsedColumn())
    with Bar(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(f"tuning {name}", total=1.0, state="")

        def show(progress: Progress) -> None:
            best = "" if progress.best is None else f", best {progress.best * 1e3:.4g} ms"
            bar.update(task, completed=progress.share, state=f"{progress.measured} measured{best}")

        yield show
