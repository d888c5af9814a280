"""Machine code for a processor that this machine does not have, run in an emulator: an entry point is compiled for it,
linked with a small C program, and run by qemu. Slow; it shows that the code for that processor is right.
"""

from __future__ import annotations

import shutil
import struct
import subprocess
import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from ....base.deadline import Deadline, compile_time_left
from ....base.errors import DeviceError, InputError
from ....ir.hercules.entry import EntryPoint
from ....ir.types import BindingPoint
from ..device import Slot, recipe_for, slots_of
from ..emitted import Interface
from ..function import RunParameters
from ..jit import object_file
from ..options import CpuOptions
from ..target import compiling_for

_HARNESS = Path(__file__).with_name("harness.c")
_LAST_WORDS = 1000


@dataclass(frozen=True, slots=True)
class Emulator:
    """The programs that link and run code for a target, and the Debian packages that have them."""

    compiler: str
    runner: str
    packages: str

    def find(self) -> tuple[str, str]:
        """The paths of both programs. Raises DeviceError if one is missing."""
        paths = (shutil.which(self.compiler), shutil.which(self.runner))
        if paths[0] is None or paths[1] is None:
            missing = self.compiler if paths[0] is None else self.runner
            raise DeviceError(f"{missing} is not installed; Debian's packages {self.packages} have what is needed")
        return paths[0], paths[1]


EMULATORS = {
    "aarch64": Emulator(
        "aarch64-linux-gnu-gcc", "qemu-aarch64", "gcc-aarch64-linux-gnu, libc6-dev-arm64-cross, qemu-user"
    )
}
"""By the name of the target (`backend.cpu.target.OTHERS`)."""


@dataclass(frozen=True, slots=True)
class EmulatedKernel:
    """An entry point as a program for another processor. `path` is the program, `runner` the emulator's path."""

    path: Path
    runner: str
    interface: Interface
    slots: Sequence[Slot]

    def run(
        self,
        buffers: Mapping[BindingPoint, bytearray | memoryview],
        workgroups: tuple[int, int, int],
        timeout: float | None = None,
    ) -> None:
        """Dispatch once, with one worker, on buffers as large as WebGPU demands; the written ones change in place.

        Raises DeviceError if the program fails, or takes more than `timeout` seconds.
        """
        given = [memoryview(buffers[slot.point]) for slot in self.slots]
        sizes = [len(data) for data in given]
        found = self._answer(self._job(given, workgroups), timeout)
        if len(found) != sum(sizes):
            raise DeviceError(f"the program for another processor gave {len(found)} bytes, and not {sum(sizes)}")
        for slot, buffer, end in zip(self.slots, given, accumulate(sizes), strict=True):
            if slot.is_written:
                buffer[:] = found[end - len(buffer) : end]

    def _job(self, given: Sequence[memoryview], workgroups: tuple[int, int, int]) -> bytes:
        """What `harness.c` reads."""
        pairs = zip(self.slots, given, strict=True)
        lengths = [slot.count(len(data)) for slot, data in pairs if slot.length is not None]
        parameters = RunParameters.of(self.interface, (*workgroups, *lengths))
        head = (len(given), len(parameters.words), parameters.threads, parameters.scratch)
        numbers = (*head, *map(len, given), *parameters.words)
        return struct.pack(f"<{len(numbers)}Q", *numbers) + b"".join(given)

    def _answer(self, job: bytes, timeout: float | None) -> bytes:
        try:
            done = subprocess.run(
                [self.runner, self.path], input=job, capture_output=True, timeout=timeout, check=False
            )
        except subprocess.TimeoutExpired:
            raise Deadline(timeout).error() from None
        if done.returncode != 0:
            words = done.stderr.decode(errors="replace").strip()[-_LAST_WORDS:]
            raise DeviceError(f"the program for another processor failed (status {done.returncode}): {words}")
        return done.stdout


@contextmanager
def emulated(target: str, entry: EntryPoint, options: CpuOptions) -> Generator[EmulatedKernel]:
    """An entry point compiled for a target of `EMULATORS`, until the end of the block.

    Raises InputError for another target, DeviceError if the tools are missing or fail, or compiling takes longer than
    `base.deadline.compiling_within` says.
    """
    emulator = EMULATORS.get(target)
    if emulator is None:
        raise InputError(f"there is no emulator for {target!r}, but for {', '.join(EMULATORS)}")
    compiler, runner = emulator.find()
    with compiling_for(target):
        emitted = recipe_for(lambda: entry, options).emit()
        code = object_file(emitted.text, emitted.passes)
    with tempfile.TemporaryDirectory(prefix="tinct-") as folder:
        path = Path(folder) / "kernel"
        _link(compiler, code, path)
        yield EmulatedKernel(path, runner, emitted.interface, slots_of(entry))


def _link(compiler: str, code: bytes, path: Path) -> None:
    kernel = path.with_suffix(".o")
    kernel.write_bytes(code)
    command = [compiler, "-O1", "-static", "-o", str(path), str(_HARNESS), str(kernel), "-lm"]
    try:
        done = subprocess.run(command, capture_output=True, timeout=compile_time_left(), check=False)
    except subprocess.TimeoutExpired:
        raise DeviceError("linking the kernel for another processor took too long") from None
    if done.returncode != 0:
        words = done.stderr.decode(errors="replace").strip()[-_LAST_WORDS:]
        raise DeviceError(f"the kernel's code for another processor cannot be linked: {words}")
