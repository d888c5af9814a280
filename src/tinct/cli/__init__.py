"""The command line: `tinct check`, `compile`, `run`, `compare` and so on.

Exit codes: 0, all is well; 1, the shader is at fault (it is invalid, or devices disagree); 2, the command line is (a
missing file, a bad flag, buffers that do not fit, output that cannot be written); 3, a device failed; 70, a bug of
tinct; 130, interrupted; 141, the reader of the output closed it.
"""

from __future__ import annotations

import importlib
import sys
import traceback
import warnings
from typing import Any, NoReturn, TextIO

import click

from .. import __version__
from ..base.errors import DeviceError, InputError
from ..ir.diagnostics import Part, ShaderError, render_all
from . import colours, streams
from .interrupts import end_on_interrupt, leave
from .streams import fault_of_output

SHADER_AT_FAULT, COMMAND_LINE_AT_FAULT, DEVICE_AT_FAULT, BUG = 1, 2, 3, 70
NO_READER = 141

_COMMANDS = {
    "check": "say what is wrong with shaders",
    "reflect": "show entry points, bindings and memory layouts",
    "compile": "print any stage between WGSL and machine code",
    "run": "run a kernel on the CPU, the GPU or an interpreter",
    "debug": "run an invocation statement by statement, forward and back",
    "compare": "run kernels on all devices and compare the answers",
    "fmt": "format shaders",
    "minify": "write shaders as short as they can be",
    "opt": "run passes on core IR and print the result",
    "hercules": "check, print and run files of Hercules IR",
    "graph": "check, print, draw and run graphs of kernels",
    "tune": "search for the fastest decisions of a nest, or overrides of a kernel",
    "bisect": "find the pass, and the function, that changes an answer",
    "cpu": "show what the processor's operations cost, which code is chosen by",
    "cache": "show or clear what is kept of compiled kernels",
}


class LazyGroup(click.Group):
    """Imports a command when it is called, so that the libraries of the others need not load."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All commands, in the order in which a newcomer needs them."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name."""
        if cmd_name not in _COMMANDS:
            return None
        command: object = importlib.import_module(f".{cmd_name}", __package__).command
        assert isinstance(command, click.Command)
        if not any(parameter.name == "color" for parameter in command.params):
            command.params.append(colours.option(None))
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command. Errors that a user can fix end in a message and an exit code, never in a traceback."""
        try:
            return super().invoke(ctx)
        except (ShaderError, InputError, DeviceError, OSError, MemoryError) as error:
            if ctx.params["traceback"]:
                traceback.print_exc()
            _fail(ctx, *_explain(error))
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except Exception as error:  # a bug of ours: say so in one line
            if ctx.params["traceback"]:
                traceback.print_exc()
            what = f"{type(error).__name__}: {error}".splitlines()[0]
            _fail(
                ctx,
                f"internal error: {what}\nThis is a bug in tinct: please report it, with the shader and the command "
                "line. `tinct --traceback …` shows where it happened.",
                BUG,
            )


def _explain(error: Exception) -> tuple[str, int]:
    """The message for an error that a user can fix, and the exit code."""
    match error:
        case ShaderError():
            return render_all(error.diagnostics, error.source, colours.paint), SHADER_AT_FAULT
        case InputError():
            return _error(str(error)), COMMAND_LINE_AT_FAULT
        case DeviceError():
            return _error(str(error)), DEVICE_AT_FAULT
        case OSError():
            return _explain_system(error)
        case _:
            return _error(f"not enough memory{f': {error}' if str(error) else ''}"), COMMAND_LINE_AT_FAULT


def _error(message: str) -> str:
    return f"{colours.paint(Part.ERROR, 'error')}: {message}"


def _explain_system(error: OSError) -> tuple[str, int]:
    """The message and exit code for an error of the system; a closed output gets no message."""
    if isinstance(error, BrokenPipeError):
        return "", NO_READER
    place = error.filename or ("standard output" if fault_of_output() is not None else "file")
    return _error(f"{place}: {error.strerror or error}"), COMMAND_LINE_AT_FAULT


def _fail(ctx: click.Context, message: str, code: int) -> NoReturn:
    if message:
        click.echo(message, err=True)
    ctx.exit(code)


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="""\b
Each command explains itself, with examples: tinct run --help

\b
Exit codes:
  0  all is well
  1  the shader is at fault: it is invalid, or devices disagree
  2  the command line is: a missing file, a bad flag, buffers that do not fit, output that cannot be written
  3  a device failed
""",
)
@click.version_option(__version__, prog_name="tinct")
@click.option("--traceback", is_flag=True, envvar="TINCT_TRACEBACK", help="Show where in tinct an error arose.")
def tinct(traceback: bool) -> None:
    """Compile WGSL compute shaders for the CPU and the GPU: one kernel, every device, the same answer."""


tinct.params.append(colours.option("auto"))


def main() -> None:
    """Run the command line and exit."""
    streams.prepare()
    end_on_interrupt()
    warnings.showwarning = _show_warning
    try:
        result: object = tinct.main(standalone_mode=False)
        code = result if isinstance(result, int) else 0
    except click.ClickException as error:
        error.show()
        code = COMMAND_LINE_AT_FAULT
    except (click.Abort, KeyboardInterrupt):
        leave()
    except (OSError, SystemExit):  # of --help and the like, before any command; click exits where there is no reader
        code = 0
    fault = fault_of_output()
    sys.exit(code if fault is None or code else _say(*_explain_system(fault)))


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """A Python warning as a line for the user, without its place in tinct's source."""
    del category, filename, lineno, file, line
    click.echo(f"{colours.paint(Part.WARNING, 'warning')}: {message}", err=True)


def _say(message: str, code: int) -> int:
    if message:
        click.echo(message, err=True)
    return code
