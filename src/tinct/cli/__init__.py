"""The command line: `tinct check`, `reflect`, `compile`, `run` and `compare`.

Exit codes: 0, all is well; 1, the shader is at fault (it is invalid, or devices disagree); 2, the command line is (a
missing file, a bad flag, buffers that do not fit); 3, a device failed.
"""

from __future__ import annotations

import importlib
import sys

import click

from .. import __version__

_COMMANDS = {
    "check": "say what is wrong with shaders",
    "reflect": "show entry points, bindings and memory layouts",
    "compile": "print any stage between WGSL and machine code",
    "run": "run a kernel on the CPU, the GPU or an interpreter",
    "compare": "run kernels on all devices and compare the answers",
}


class LazyGroup(click.Group):
    """Commands are imported when they are called: the others' libraries need not load."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All commands, in the order a newcomer meets them."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name."""
        if cmd_name not in _COMMANDS:
            return None
        command: object = importlib.import_module(f".{cmd_name}", __package__).command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Each command explains itself: tinct run --help",
)
@click.version_option(__version__, prog_name="tinct")
def tinct() -> None:
    """Compile WGSL compute shaders for the CPU and the GPU: one kernel, every device, the same answer."""


def main() -> None:
    """Run the command line; never a traceback for what a user can mend."""
    from ..ir.diagnostics import DeviceError, InputError, ShaderError

    try:
        tinct.main(standalone_mode=False)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.Abort:
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except ShaderError as error:
        _fail(str(error), 1)
    except InputError as error:
        _fail(f"error: {error}", 2)
    except OSError as error:
        _fail(f"error: {error.filename or 'file'}: {error.strerror or error}", 2)
    except DeviceError as error:
        _fail(f"error: {error}", 3)


def _fail(message: str, code: int) -> None:
    click.echo(message, err=True)
    sys.exit(code)
