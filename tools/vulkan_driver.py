"""Makes sure that WebGPU finds an adapter.

Installs Debian's software Vulkan driver where no adapter answers that tinct would run on, and installing is allowed.

Exit status 0: an adapter answers. 1: none does, and a message says what that means.
"""

from __future__ import annotations

import sys

from debian import install

from tinct.backend.gpu import AdapterInfo, GpuDevice, GpuError

PACKAGES = ("mesa-vulkan-drivers", "libvulkan1")


def find() -> AdapterInfo | str:
    """The adapter that the `gpu` device runs on, or why it has none. Asks a new process, which sees new drivers."""
    device = GpuDevice()
    try:
        return device.adapter()
    except GpuError as error:
        return error.message.splitlines()[0]
    finally:
        device.close()


def main() -> int:
    found = find()
    if isinstance(found, str) and install(PACKAGES, found):
        found = find()
    if isinstance(found, AdapterInfo):
        print(f"tinct: the GPU path runs on {found.name}")
        return 0
    print(
        f"tinct: {found}; so the GPU path is left out, and the CPU path needs no adapter.\n"
        f"       A software driver is enough: apt-get install {' '.join(PACKAGES)}",
        file=sys.stderr,
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
