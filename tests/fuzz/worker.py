"""A process in which command lines are executed, so that one that hangs or crashes ends alone."""

from __future__ import annotations

import multiprocessing
import os
import signal
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import ForkProcess
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from tinct.cli import BUG, tinct

from . import command_lines

_MOST_MEMORY = 8 << 30
_ANSWERS = (0, 1, 2, 3)
_MOST_WAITED = 30
"""Wall-clock seconds for each processor second allowed, after which a command hangs though it computes nothing: it may
wait for other processes of a busy machine.
"""
Progress = tuple[str, Any]


@dataclass(frozen=True, slots=True)
class Failure:
    """A command line that ended as none should, and how: a traceback, a signal, or the time it took."""

    command: tuple[str, ...]
    problem: str

    @property
    def kind(self) -> str:
        """What failures have in common that have one cause: the command and the last line of the problem."""
        return f"{' '.join(it for it in self.command if not it.startswith('/'))[:60]}: {self.problem.splitlines()[-1]}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a shader: the commands executed, whether it is valid, and the first failure."""

    commands: int
    is_valid: bool
    failure: Failure | None


class Worker:
    """Runs shaders through all command lines. `seconds` is the processor time that one command line may take."""

    def __init__(self, devices: Sequence[str], seconds: float) -> None:
        self._devices, self._seconds = tuple(devices), seconds
        self._folder = tempfile.TemporaryDirectory(prefix="tinct-fuzz-")
        self._process: ForkProcess | None = None
        self._pipe: Connection[Any, Any] | None = None

    def examine(self, text: bytes) -> Outcome:
        """Run a shader through all command lines, up to the first failure."""
        file = Path(self._folder.name) / "mutant.wgsl"
        file.write_bytes(text)
        pipe = self._started()
        pipe.send(str(file))
        command, commands, is_valid = tuple[str, ...](), 0, False
        while True:
            message = self._next(pipe)
            match message:
                case ("command", given):
                    command, commands = tuple(given), commands + 1
                case ("valid", _):
                    is_valid = True
                case ("done", problem):
                    failure = None if problem is None else Failure(command, problem)
                    return Outcome(commands, is_valid, failure)
                case (_, problem):
                    self.close()
                    return Outcome(commands, is_valid, Failure(command, problem))

    def _next(self, pipe: Connection[Any, Any]) -> Progress:
        """The next message; what went wrong, if none comes."""
        process = self._process
        assert process is not None and process.pid is not None
        begun, used = time.monotonic(), _processor_seconds(process.pid)
        while not pipe.poll(0.05):
            if not process.is_alive() and not pipe.poll(0):
                return "crashed", _end_of(process)
            taken = _processor_seconds(process.pid) - used
            if taken > self._seconds or time.monotonic() - begun > _MOST_WAITED * self._seconds:
                return "hung", f"no end after {taken:.0f} s of processor time"
        try:
            received: Progress = pipe.recv()
        except EOFError:
            return "crashed", _end_of(process)
        return received

    def _started(self) -> Connection[Any, Any]:
        if self._pipe is None or self._process is None or not self._process.is_alive():
            context = multiprocessing.get_context("fork")
            self._pipe, other = context.Pipe()
            self._process = context.Process(target=_work, args=(other, self._devices), daemon=False)
            self._process.start()
            other.close()
        return self._pipe

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            if self._process.is_alive() and self._process.pid is not None:
                with suppress(ProcessLookupError):
                    os.killpg(self._process.pid, signal.SIGKILL)
            self._process.join()
        self._process = self._pipe = None


def _end_of(process: ForkProcess) -> str:
    process.join()
    code = process.exitcode or 0
    return f"ended by {signal.Signals(-code).name}" if code < 0 else f"the process exited with {code}"


def _processor_seconds(process: int) -> float:
    """The processor time of a process; 0.0 if it has ended or the system does not say."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _work(pipe: Connection[Any, Any], devices: Sequence[str]) -> None:
    os.setpgid(0, 0)
    _limit_memory()
    while True:
        try:
            file = Path(pipe.recv())
        except EOFError:
            return
        pipe.send(("done", _first_problem(file, devices, pipe)))


def _limit_memory() -> None:
    """Let an allocation beyond what a small kernel can need fail, before the machine has no memory left."""
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _first_problem(file: Path, devices: Sequence[str], pipe: Connection[Any, Any]) -> str | None:
    is_valid, runs = False, True
    try:
        for command in _commands(file, devices):
            if command[0] == "compare" and not runs:
                continue  # it has no time limit
            pipe.send(("command", command))
            problem, code = _executed(command)
            if problem is not None or (code and not is_valid):
                return problem
            runs &= command[0] != "run" or code == 0
            if not is_valid:
                pipe.send(("valid", None))
                is_valid = True
    except Exception:  # any at all is a finding
        return traceback.format_exc(limit=-4)
    return None


def _commands(file: Path, devices: Sequence[str]) -> Iterator[Sequence[str]]:
    yield from command_lines.of_texts(file)
    yield from command_lines.of_entries(file, devices)


def _executed(command: Sequence[str]) -> tuple[str | None, int]:
    """What is wrong with how a command line ended, if anything is; and its exit code."""
    result = CliRunner().invoke(tinct, ["--traceback", *command])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        return "".join(traceback.format_exception(result.exception, limit=-4)), BUG
    if result.exit_code not in _ANSWERS:
        lines = [it for it in result.output.splitlines() if not it.startswith("This is a bug")]
        return "\n".join(lines[-30:]) or f"exit code {result.exit_code}", result.exit_code
    return None, result.exit_code
