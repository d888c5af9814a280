"""Sees to it that WebGPU finds an adapter.

Installs Debian's software Vulkan driver where no adapter answers and installing is allowed.

Exit status 0: an adapter answers. 1: none does, and what that means has been said.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

PACKAGES = ("mesa-vulkan-drivers", "libvulkan1")
PROBE = """
import wgpu
adapter = wgpu.gpu.request_adapter_sync(power_preference="high-performance")
print(adapter.info.get("device") or adapter.summary)
"""


def adapter_name() -> str | None:
    """The name of the adapter that answers, asked in a process of its own: a broken driver may crash or hang."""
    try:
        probe = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, timeout=60, check=False)
    except subprocess.TimeoutExpired:
        return None
    return probe.stdout.strip() if probe.returncode == 0 else None


def root_prefix() -> list[str] | None:
    """What to put before a command so that it runs as root without a question, or None where that is not allowed."""
    if os.geteuid() == 0:
        return []
    if (
        shutil.which("sudo")
        and subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False).returncode == 0
    ):
        return ["sudo", "-n"]
    return None


def install() -> bool:
    """Install the software driver; whether apt-get said that it did."""
    prefix = root_prefix()
    if prefix is None or shutil.which("apt-get") is None:
        return False
    print(f"tinct: no Vulkan adapter answers; installing {' '.join(PACKAGES)}", flush=True)
    environment = [*prefix, "env", "DEBIAN_FRONTEND=noninteractive"]
    command = [*environment, "apt-get", "install", "-y", "-qq", "--no-install-recommends", *PACKAGES]
    return quiet([*environment, "apt-get", "update", "-qq"]) and quiet(command)


def quiet(command: list[str]) -> bool:
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


def main() -> int:
    name = adapter_name()
    if name is None and install():
        name = adapter_name()
    if name is not None:
        print(f"tinct: the GPU path runs on {name}")
        return 0
    print(
        f"tinct: no Vulkan adapter answers, so the GPU path is left out; the CPU path needs none.\n"
        f"       A software driver is enough: apt-get install {' '.join(PACKAGES)}",
        file=sys.stderr,
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
