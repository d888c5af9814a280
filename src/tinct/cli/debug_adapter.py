"""`tinct debug --dap`: starts a debugger as the client's `launch` request says."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from typing import BinaryIO, TypeVar, cast

from ..base.errors import InputError
from ..debugging.adapter import Adapter, Message
from ..debugging.engine import Debugger
from ..shader import Shader
from .buffer_specs import make_buffers
from .options import parse_constants, parse_extent, parse_invocation, read_shader

T = TypeVar("T")


def serve(reader: BinaryIO, writer: BinaryIO) -> None:
    """Serve one client of the Debug Adapter Protocol. Raises InputError for a stream that is not the protocol's."""
    Adapter(reader, writer, start).run()


def start(arguments: Message, pause: threading.Event) -> Debugger:
    """The debugger that the arguments of `launch` describe: they have the names of the options of `tinct debug`."""
    file = _given(arguments, "program", str)
    if file is None:
        raise InputError("launch needs the argument 'program', the path of a WGSL file")
    if file.endswith(".hir"):
        raise InputError(f"{file} holds Hercules IR: only WGSL can be debugged")
    kernel = Shader(read_shader(file)).kernel(_given(arguments, "entry", str))
    buffers = tuple(f"{name}={_text(value)}" for name, value in _table(arguments, "buffers").items())
    constants = tuple(f"{name}={_text(value)}" for name, value in _table(arguments, "constants").items())
    timeout = arguments.get("timeout")
    return kernel.debug(
        make_buffers(kernel, buffers, _given(arguments, "seed", int) or 0),
        invocation=parse_invocation(_extent(arguments, "invocation") or "0", "invocation"),
        threads=parse_extent(_extent(arguments, "threads"), "threads"),
        workgroups=parse_extent(_extent(arguments, "workgroups"), "workgroups"),
        constants=parse_constants(constants),
        timeout=cast("float | None", timeout),
        alone=bool(arguments.get("alone", False)),
        pause=pause,
    )


def _given(arguments: Message, name: str, type: type[T]) -> T | None:
    found = arguments.get(name)
    if found is None or isinstance(found, type):
        return found
    raise InputError(f"the argument {name!r} of launch is not a {'number' if type is int else 'text'}: {found!r}")


def _table(arguments: Message, name: str) -> Mapping[str, object]:
    found = arguments.get(name, {})
    if not isinstance(found, dict):
        raise InputError(f"the argument {name!r} of launch maps names to values, but is {found!r}")
    return cast("Mapping[str, object]", found)


def _text(value: object) -> str:
    """A text as it is, as on the command line; any other value as JSON."""
    return value if isinstance(value, str) else json.dumps(value)


def _extent(arguments: Message, name: str) -> str | None:
    """Numbers as on the command line: `64`, `"8x8"` or `[8, 8]`."""
    found = arguments.get(name)
    if isinstance(found, list):
        return "x".join(map(str, cast("list[object]", found)))
    return None if found is None else str(found)
