"""Environment variables that make peers comparable; they must be set before the libraries that read them load."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile

WAITING = {
    # A thread that waits by spinning keeps a processor from the thread it waits for, or from the next peer.
    "OMP_WAIT_POLICY": "passive",
    "OPENBLAS_THREAD_TIMEOUT": "12",
}
COLD = {
    # Compile times are those of a first use: nothing is taken from an earlier process.
    "MESA_SHADER_CACHE_DISABLE": "true",
    "PYOPENCL_NO_CACHE": "1",
}


def prepare_environment() -> None:
    """Sets what the user has not set."""
    for name, value in {**WAITING, **COLD}.items():
        os.environ.setdefault(name, value)
    if "POCL_CACHE_DIR" not in os.environ:
        folder = tempfile.mkdtemp(prefix="tinct-pocl-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        os.environ["POCL_CACHE_DIR"] = folder
