"""Machine code for a processor that this machine does not have, run in an emulator: a small C program loads the code
of an entry point as `_pool` does, and qemu runs the program. Slow; it shows that code for that processor is right.
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
from ..code_image import CodeImage
from ..device import Slot, recipe_for, slots_of
from ..emitted import Interface
from ..function import RunParameters
from ..images import image_of
from ..jit import object_file
from ..options import CpuOptions
from ..target import compiling_for

_HARNESS = Path(__file__).with_name("harness.c")
_LOADER = Path(__file__).parents[1] / "pool" / "code.c"
_NAME = 32
"""The bytes of a function's name in the file of an image."""
_LAST_WORDS = 1000


@dataclass(frozen=True, slots=True)
class Emulator:
    """The programs that compile C and run programs for a target, and the Debian packages that have them."""

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
    """An entry point as code for another processor. `program` loads the `image`, `runner` is the emulator's path."""

    program: Path
    image: Path
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
                [self.runner, self.program, self.image], input=job, capture_output=True, timeout=timeout, check=False
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
        program, image = Path(folder) / "program", Path(folder) / "image"
        image.write_bytes(_packed(image_of(code)))
        _compile(compiler, program)
        yield EmulatedKernel(program, image, runner, emitted.interface, slots_of(entry))


def _packed(image: CodeImage | None) -> bytes:
    """The file of an image that `harness.c` reads."""
    if image is None:
        raise DeviceError("the kernel's code for another processor cannot be loaded")
    head = struct.pack("<4Q", len(image.content), image.executable, image.entry, len(image.slots))
    slots = (struct.pack(f"<Q{_NAME}s", offset, name.encode()) for offset, name in image.slots)
    return b"".join((head, *slots, image.content))


def _compile(compiler: str, path: Path) -> None:
    """Write the program that loads and runs an image."""
    command = [compiler, "-O1", "-static", "-o", str(path), str(_HARNESS), str(_LOADER), "-lm"]
    try:
        done = subprocess.run(command, capture_output=True, timeout=compile_time_left(), check=False)
    except subprocess.TimeoutExpired:
        raise DeviceError("compiling the program for another processor took too long") from None
    if done.returncode != 0:
        words = done.stderr.decode(errors="replace").strip()[-_LAST_WORDS:]
        raise DeviceError(f"the program for another processor cannot be compiled: {words}")
