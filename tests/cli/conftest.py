"""Running the command line in this process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tinct.cli import tinct

SAXPY = Path(__file__).parents[2] / "shaders" / "saxpy" / "saxpy.wgsl"

Tinct = Callable[..., Result]


@pytest.fixture
def run_tinct() -> Tinct:
    def run(*arguments: str | Path, stdin: str | bytes | None = None) -> Result:
        return CliRunner().invoke(tinct, [str(argument) for argument in arguments], input=stdin)

    return run


@pytest.fixture
def wgsl(tmp_path: Path) -> Callable[[str | bytes], Path]:
    """Writes a shader to a file."""

    def write(text: str | bytes) -> Path:
        path = tmp_path / "shader.wgsl"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return write
