"""`tinct debug`: run an invocation statement by statement, forward and back."""

from __future__ import annotations

import signal
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from ..base.errors import InputError
from ..shader import Shader
from .buffer_specs import make_buffers
from .options import constants_option, parse_constants, parse_extent, parse_invocation, read_shader

if TYPE_CHECKING:
    from ..debugging.engine import Debugger

_PROMPT = "(tinct) "


@click.command(
    name="debug",
    epilog="""\b
Buffers are given as for tinct run (see tinct run --help). One workgroup runs, that of the chosen invocation, on the
interpreter; the workgroups before it run first, unless nothing that they write can be read, or with --alone.
The command help lists the debugger's commands. -x runs commands first; without a terminal, commands are read from
standard input.

\b
Examples:
  tinct debug saxpy.wgsl -b x=arange:8 -b y=zeros:8 -b 'params={"a": 2, "n": 8}' --threads 8 --invocation 3
  tinct debug saxpy.wgsl … -x 'break 14 if i == 5' -x continue -x 'info locals' -x quit

\b
--dap speaks the Debug Adapter Protocol on standard input and output, for editors; see docs/debugging.md.
""",
)
@click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False))
@click.option("--entry", help="The entry point; needed when the shader has several.")
@click.option("-b", "--buffer", "buffers", multiple=True, metavar="NAME=SPEC", help="What a binding holds.")
@click.option("--threads", metavar="N[xM[xK]]", help="Invocations, rounded up to whole workgroups.")
@click.option("--workgroups", metavar="N[xM[xK]]", help="Workgroups.")
@constants_option
@click.option("--invocation", metavar="X[,Y[,Z]]", default="0", show_default=True, help="The global id to begin with.")
@click.option("--alone", is_flag=True, help="Leave out the workgroups before that of the invocation.")
@click.option(
    "--timeout", type=click.FloatRange(0, min_open=True), metavar="SECONDS", help="Pause a command that takes longer."
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="For random buffers.")
@click.option("-x", "commands", multiple=True, metavar="COMMAND", help="A command to run first; may be repeated.")
@click.option("--dap", is_flag=True, help="Speak the Debug Adapter Protocol.")
def command(
    file: str | None,
    entry: str | None,
    buffers: tuple[str, ...],
    threads: str | None,
    workgroups: str | None,
    constants: tuple[str, ...],
    invocation: str,
    alone: bool,
    timeout: float | None,
    seed: int,
    commands: tuple[str, ...],
    dap: bool,
) -> None:
    """Debug a compute kernel: step, break, print, watch, and go back."""
    if dap:
        from .debug_adapter import serve

        serve(sys.stdin.buffer, sys.stdout.buffer)
        return
    if file is None:
        raise click.UsageError("Missing argument 'FILE'.")
    if file.endswith(".hir"):
        raise InputError(f"{file} holds Hercules IR: only WGSL can be debugged")
    kernel = Shader(read_shader(file)).kernel(entry)
    debugger = kernel.debug(
        make_buffers(kernel, buffers, seed),
        invocation=parse_invocation(invocation, "--invocation"),
        threads=parse_extent(threads, "--threads"),
        workgroups=parse_extent(workgroups, "--workgroups"),
        constants=parse_constants(constants),
        timeout=timeout,
        alone=alone,
    )
    _talk(debugger, commands)


def _talk(debugger: Debugger, commands: tuple[str, ...]) -> None:
    from ..debugging.console import Console

    console = Console(debugger, click.echo)
    console.show_stop(debugger.stop)
    with _pausing_on_interrupt(debugger):
        for line in _lines(commands):
            if not console.run(line):
                return


def _lines(commands: tuple[str, ...]) -> Iterator[str]:
    yield from commands
    is_terminal = sys.stdin.isatty()
    while True:
        if is_terminal:
            click.echo(_PROMPT, nl=False)
        line = sys.stdin.readline()
        if not line:
            return
        yield line


@contextmanager
def _pausing_on_interrupt(debugger: Debugger) -> Generator[None]:
    """Let the first interrupt pause the run; a second one before the pause ends the process."""

    def pause(number: int, frame: object) -> None:
        del number, frame
        if debugger.pause_requested.is_set():
            raise KeyboardInterrupt
        debugger.pause_requested.set()

    descriptor = signal.set_wakeup_fd(-1)  # whose reader ends the process
    handler = signal.signal(signal.SIGINT, pause)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        signal.set_wakeup_fd(descriptor)
