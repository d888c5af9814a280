"""Installs Debian packages that tests need, where that is allowed without a question."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence


def install(packages: Sequence[str], reason: str) -> bool:
    """Install the packages. Returns whether apt-get succeeded."""
    prefix = _root_prefix()
    if prefix is None or shutil.which("apt-get") is None:
        return False
    print(f"tinct: {reason}; installing {' '.join(packages)}", flush=True)
    environment = [*prefix, "env", "DEBIAN_FRONTEND=noninteractive"]
    command = [*environment, "apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages]
    return _quiet([*environment, "apt-get", "update", "-qq"]) and _quiet(command)


def _root_prefix() -> list[str] | None:
    """What to put before a command so that it runs as root without a question, or None where that is not allowed."""
    if os.geteuid() == 0:
        return []
    if (
        shutil.which("sudo")
        and subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False).returncode == 0
    ):
        return ["sudo", "-n"]
    return None


def _quiet(command: list[str]) -> bool:
    """Run a command; on failure show what it said."""
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600, check=False
        )
    except subprocess.TimeoutExpired:
        print(f"tinct: {' '.join(command)} took too long", file=sys.stderr)
        return False
    if done.returncode != 0:
        print(done.stderr, file=sys.stderr)
    return done.returncode == 0
