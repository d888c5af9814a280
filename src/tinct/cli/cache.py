"""`tinct cache`: shows or clears the compiled kernels on disk."""

from __future__ import annotations

import click


@click.command(
    name="cache",
    epilog="""\b
Machine code is kept in the user's cache directory, so that a kernel is compiled once on a machine. It never grows
beyond 256 MiB; what was not used for the longest time goes first. TINCT_CACHE_DIR names another directory, and
TINCT_CACHE=off does without.

\b
Examples:
  tinct cache
  tinct cache --clear
""",
)
@click.option("--clear", is_flag=True, help="Remove all of it.")
def command(clear: bool) -> None:
    """Show where compiled kernels are kept, and how much they take."""
    from ..backend.cpu.disk_cache import DiskCache, cache_directory

    cache = DiskCache(cache_directory())
    if clear:
        cache.clear()
    count, size = cache.size
    click.echo(f"{cache.directory}: {count} {'file' if count == 1 else 'files'}, {size / (1 << 20):.1f} MiB")
