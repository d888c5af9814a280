"""LLVM in a process of its own, for large modules: the process can be stopped, and a crash ends only that process.

The parent writes the module's text to it and reads an object file. `python -m tinct.backend.cpu.llvm_process PASSES
PARENT` is the child; PARENT is the descriptor of a pipe to which nothing is written, and that closes when the parent
ends.
"""

from __future__ import annotations

import os
import sys
from typing import cast

from ...base.deadline import compile_time_error, compile_time_left
from ...base.errors import DeviceError
from .passes import Passes
from .target import target_name

_SECONDS: dict[Passes, float] = {"baseline": 1e-6, "quick": 1e-6, "large": 1e-6, "thorough": 4e-6, "scalar": 4e-6}
"""Seconds that LLVM takes for each character of a module with these passes (AMD EPYC, Zen 4)."""
_LONG = 0.5
"""Expected seconds from which on a module gets a process, which takes a tenth of a second to start."""
_LAST_WORDS = 2000


def is_long(text: str, passes: Passes) -> bool:
    """Whether LLVM is expected to work on a module for half a second or more, and a process can be started."""
    from ...base.python_children import can_start_python  # which loading from the cache does not need

    return can_start_python() and len(text) * _SECONDS[passes] >= _LONG


def object_file(text: str, passes: Passes) -> tuple[bytes, list[float]]:
    """An object file, and the seconds for parsing, passes and machine code. Raises DeviceError when the time for
    compiling has expired (see `base.deadline`), or the process fails.

    The process does not outlive the call, whatever it ends with, nor this process.
    """
    import json
    import subprocess

    from ...base.python_children import python_environment

    pipe = subprocess.PIPE
    parent, held = os.pipe()
    arguments = [sys.executable, "-m", __name__, passes, str(parent)]
    environment = python_environment(TINCT_CPU_TARGET=target_name())
    with (
        os.fdopen(parent, "rb"),
        os.fdopen(held, "wb"),
        subprocess.Popen(arguments, stdin=pipe, stdout=pipe, stderr=pipe, env=environment, pass_fds=(parent,)) as child,
    ):
        try:
            found, words = child.communicate(text.encode(), timeout=compile_time_left())
        except subprocess.TimeoutExpired:
            raise compile_time_error() from None
        finally:
            child.kill()
            child.wait()
    if child.returncode != 0:
        said = words.decode(errors="replace").strip()[-_LAST_WORDS:]
        raise DeviceError(f"LLVM failed on the kernel's module (status {child.returncode}): {said}")
    head, _, code = found.partition(b"\n")
    return code, cast("list[float]", json.loads(head))


def _serve(passes: Passes, parent: int) -> None:
    """Serve as the child. Interrupts of the process group are ignored: the parent handles them and stops the child."""
    import json
    import signal
    import threading

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    from .jit import make_object

    code, seconds = make_object(sys.stdin.buffer.read().decode(), passes)
    sys.stdout.buffer.write(json.dumps(seconds).encode() + b"\n" + code)


def _end_with(parent: int) -> None:
    """End this process when the pipe closes, whatever LLVM is doing."""
    os.read(parent, 1)
    os._exit(1)


if __name__ == "__main__":
    _serve(cast("Passes", sys.argv[1]), int(sys.argv[2]))
