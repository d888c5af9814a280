"""Sees to it that WebGPU finds an adapter.

Installs Debian's software Vulkan driver where no adapter answers and installing is allowed.

Exit status 0: an adapter answers. 1: none does, and what that means has been said.
"""

from __future__ import annotations

import subprocess
import sys

from debian import install

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


def main() -> int:
    name = adapter_name()
    if name is None and install(PACKAGES, "no Vulkan adapter answers"):
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
