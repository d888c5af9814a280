"""Pictures of graphs, drawn by Graphviz."""

from __future__ import annotations

import shutil
import subprocess

from ..base.errors import InputError


def picture(graph: str) -> str:
    """The SVG that Graphviz makes of a graph in its language. Raises InputError without it."""
    program = shutil.which("dot")
    if program is None:
        raise InputError(
            "pictures are drawn by Graphviz, whose program `dot` is not installed (on Debian and Ubuntu: "
            "apt install graphviz); --format dot needs none"
        )
    return subprocess.run([program, "-Tsvg"], input=graph, capture_output=True, text=True, check=True).stdout
