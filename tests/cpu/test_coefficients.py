"""The committed coefficients of the float functions are those that their script fits."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "tools" / "fit_polynomials.py"


def test_coefficients_are_reproduced() -> None:
    fitting = subprocess.run(
        [sys.executable, SCRIPT, "--check"], capture_output=True, text=True, check=False, timeout=300
    )
    assert fitting.returncode == 0, fitting.stderr
