"""Which lines, branches and functions of WGSL ran, and how often, on any device.

    from tinct.coverage import measure

    with measure() as seen:
        shader["main"].run(buffers, threads=1000)
    print(seen)

For coverage.py, this module is a plugin: `plugins = ["tinct.coverage"]` in its settings puts `.wgsl` files into its
reports, beside those in Python. docs/coverage.md is for users.
"""

from __future__ import annotations

from typing import Any

from .model import Branch, Coverage, FileCoverage, FunctionCoverage, measure

__all__ = ["Branch", "Coverage", "FileCoverage", "FunctionCoverage", "coverage_init", "measure"]


def coverage_init(registry: Any, options: object) -> None:
    """Register the plugin with coverage.py, which calls this for each module that its settings name."""
    from .plugin import register

    register(registry)
