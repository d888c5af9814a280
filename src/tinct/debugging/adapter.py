"""A server of the Debug Adapter Protocol, with which editors control the debugger.

Source: the specification at https://microsoft.github.io/debug-adapter-protocol. Messages are JSON objects, each after a
`Content-Length` header. The threads of the protocol are the invocations of the workgroup, numbered from 1.
"""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import BinaryIO, TypeAlias, cast

from ..base.errors import InputError, TinctError
from .engine import Debugger, Named, Stop, first_parts

Message: TypeAlias = Mapping[str, object]
Start: TypeAlias = Callable[[Message, threading.Event], Debugger]
"""Starts a debugger from the arguments of `launch`; the event pauses it. Raises TinctError and OSError."""

_LARGEST = 16 << 20
"""Maximum size of a message in bytes."""
_FRAMES = 1 << 16
"""Frame ids are the invocation's index times this, plus the depth, plus 1."""
_PARTS = 10_000
"""Maximum number of parts of a value that are sent."""

_REASONS = {"watch": "data breakpoint", "ended": "step", "start": "step", "error": "exception"}
_CAPABILITIES = (
    "supportsConfigurationDoneRequest",
    "supportsConditionalBreakpoints",
    "supportsHitConditionalBreakpoints",
    "supportsStepBack",
    "supportsEvaluateForHovers",
    "supportsRestartRequest",
    "supportsTerminateRequest",
)


@dataclass(slots=True)
class _Handles:
    """What a client may ask the parts of, by number, until the run goes on."""

    values: list[Callable[[], list[Named]]] = field(default_factory=list[Callable[[], "list[Named]"]])

    def add(self, parts: Callable[[], list[Named]]) -> int:
        """A number for the parts."""
        self.values.append(parts)
        return len(self.values)


class Adapter:
    """Serves one client. `run` returns when the client disconnects or its stream ends."""

    def __init__(self, reader: BinaryIO, writer: BinaryIO, start: Start) -> None:
        self._reader = reader
        self._writer = writer
        self._start = start
        self._sent = 0
        self._messages: queue.Queue[Message | InputError | None] = queue.Queue()
        self._pause = threading.Event()
        self._debugger: Debugger | None = None
        self._arguments: Message = {}
        self._handles = _Handles()
        self._is_over = False
        self._requests: dict[str, Callable[[Message], Message]] = {
            "initialize": self._initialize,
            "launch": self._launch,
            "setBreakpoints": self._set_breakpoints,
            "setExceptionBreakpoints": lambda arguments: {},
            "configurationDone": self._configuration_done,
            "threads": self._threads,
            "stackTrace": self._stack_trace,
            "scopes": self._scopes,
            "variables": self._variables,
            "evaluate": self._evaluate,
            "pause": lambda arguments: {},
            "restart": self._restart,
            "disconnect": self._disconnect,
            "terminate": self._terminate,
        }
        self._moves: dict[str, Callable[[Debugger], Stop]] = {
            "next": Debugger.next,
            "stepIn": Debugger.step,
            "stepOut": Debugger.finish,
            "continue": _resume,
            "stepBack": Debugger.next_back,
            "reverseContinue": Debugger.resume_back,
        }

    def run(self) -> None:
        """Serve until the client disconnects. Raises InputError for a stream that is not the protocol's."""
        threading.Thread(target=self._read_all, name="tinct-dap", daemon=True).start()
        while not self._is_over and (message := self._messages.get()) is not None:
            if isinstance(message, InputError):
                raise message
            self._answer(message)

    # Messages

    def _read_all(self) -> None:
        try:
            while (message := _read(self._reader)) is not None:
                if message.get("command") in ("pause", "disconnect", "terminate"):
                    self._pause.set()
                self._messages.put(message)
                if message.get("command") == "disconnect":  # Python cannot end while a thread reads standard input
                    return
            self._messages.put(None)
        except InputError as error:
            self._messages.put(error)

    def _send(self, message: Message) -> None:
        self._sent += 1
        body = json.dumps({"seq": self._sent, **message}).encode()
        self._writer.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self._writer.flush()

    def _event(self, name: str, body: Message | None = None) -> None:
        self._send({"type": "event", "event": name, **({} if body is None else {"body": body})})

    def _answer(self, message: Message) -> None:
        command = str(message.get("command"))
        head: Message = {"type": "response", "request_seq": message.get("seq", 0), "command": command}
        try:
            if message.get("type") != "request":
                raise InputError("this is not a request")
            arguments: Message = _part(message, "arguments") if message.get("arguments") else {}
            if command in self._moves:
                self._move(head, command, arguments)
                return
            if command not in self._requests:
                raise InputError(f"the request {command!r} is not supported")
            body = self._requests[command](arguments)
        except (TinctError, OSError) as error:
            self._send({**head, "success": False, "message": str(error)})
            return
        self._send({**head, "success": True, "body": body})
        self._after(command)

    def _after(self, command: str) -> None:
        """The events that follow a response."""
        if command == "launch":
            self._event("initialized")
        elif command == "configurationDone":
            if self._arguments.get("stopOnEntry", True) or self._here.stop.reason != "entry":
                self._report(self._here.stop)
            else:
                self._report(self._here.stop_at_entry() or _resume(self._here))
        elif command == "restart":
            self._report(self._here.stop)
        elif command == "terminate":
            self._event("terminated")

    @property
    def _here(self) -> Debugger:
        if self._debugger is None:
            raise InputError("nothing has been launched")
        return self._debugger

    # Requests

    def _initialize(self, arguments: Message) -> Message:
        del arguments
        return dict.fromkeys(_CAPABILITIES, True)

    def _launch(self, arguments: Message) -> Message:
        self._arguments = arguments
        self._debugger = self._start(arguments, self._pause)
        return {}

    def _set_breakpoints(self, arguments: Message) -> Message:
        debugger = self._here
        path = _part(arguments, "source").get("path")
        wanted = arguments.get("breakpoints", [])
        if not isinstance(wanted, list):
            raise InputError("breakpoints must be a list")
        requests = [_message(it) for it in cast("list[object]", wanted)]
        if isinstance(path, str) and not _same_file(path, debugger.source):
            return {"breakpoints": [{"verified": False, "message": "this file is not debugged"} for _ in requests]}
        debugger.breakpoints.clear()
        return {"breakpoints": [self._breakpoint(it) for it in requests]}

    def _breakpoint(self, request: Message) -> Message:
        line = _number(request, "line")
        condition, hits = str(request.get("condition") or ""), str(request.get("hitCondition") or "1").strip()
        try:
            if not hits.removeprefix(">=").strip().isdecimal():
                raise InputError(f"the hit condition {hits!r} is not a number")
            after = int(hits.removeprefix(">="))
            every = "invocation" not in self._arguments
            made = self._here.add_breakpoint(line, condition, after, any_invocation=every)
        except InputError as error:
            return {"verified": False, "line": line, "message": str(error)}
        moved = {"message": f"line {line} has no code"} if made.line != line else {}
        return {"id": made.number, "verified": True, "line": made.line, **moved}

    def _configuration_done(self, arguments: Message) -> Message:
        del arguments
        _ = self._here
        return {}

    def _threads(self, arguments: Message) -> Message:
        del arguments
        count = len(self._here.group.lanes)
        return {"threads": [{"id": it + 1, "name": f"invocation {self._here.invocation(it)}"} for it in range(count)]}

    def _stack_trace(self, arguments: Message) -> Message:
        index = self._index(arguments)
        frames = [
            {
                "id": index * _FRAMES + depth + 1,
                "name": frame.function,
                "source": self._source,
                "line": frame.position.line,
                "column": frame.position.column,
            }
            for depth, frame in enumerate(self._here.frames(index))
        ]
        first = _number(arguments, "startFrame", 0)
        levels = _number(arguments, "levels", 0) or len(frames)
        return {"stackFrames": frames[first : first + levels], "totalFrames": len(frames)}

    def _scopes(self, arguments: Message) -> Message:
        index, depth = self._frame(_number(arguments, "frameId"))
        debugger = self._here
        shared = {it.name for it in debugger.workgroup_variables()}
        scopes: dict[str, Callable[[], list[Named]]] = {
            "Locals": lambda: debugger.locals(index, depth),
            "Workgroup": lambda: [it for it in debugger.module_variables(index) if it.name in shared],
            "Module": lambda: [it for it in debugger.module_variables(index) if it.name not in shared],
        }
        return {
            "scopes": [
                {"name": name, "variablesReference": self._handles.add(parts), "expensive": False}
                for name, parts in scopes.items()
            ]
        }

    def _variables(self, arguments: Message) -> Message:
        number = _number(arguments, "variablesReference")
        if not 1 <= number <= len(self._handles.values):
            raise InputError(f"there is no value {number}")
        parts = self._handles.values[number - 1]()
        start = _number(arguments, "start", 0)
        count = _number(arguments, "count", 0) or len(parts)
        return {"variables": [self._variable(it) for it in parts[start : start + count]]}

    def _variable(self, it: Named) -> dict[str, object]:
        return {"name": it.name, "value": it.text, "type": it.type, "variablesReference": self._parts_of(it)}

    def _parts_of(self, it: Named) -> int:
        """The number of a value that has parts, else 0."""
        shown = it.value
        if shown is None or not list(islice(first_parts(shown, 1), 1)):
            return 0
        return self._handles.add(lambda: list(first_parts(shown, _PARTS)))

    def _evaluate(self, arguments: Message) -> Message:
        text = arguments.get("expression")
        if not isinstance(text, str):
            raise InputError("evaluate takes an expression")
        index, depth = self._here.focus, 0
        if "frameId" in arguments:
            index, depth = self._frame(_number(arguments, "frameId"))
        found = self._variable(self._here.evaluate(text, index, depth))
        return {"result": found["value"], "type": found["type"], "variablesReference": found["variablesReference"]}

    def _restart(self, arguments: Message) -> Message:
        del arguments
        self._handles = _Handles()
        self._here.restart()
        return {}

    def _disconnect(self, arguments: Message) -> Message:
        del arguments
        self._is_over = True
        return {}

    def _terminate(self, arguments: Message) -> Message:
        del arguments
        return {}

    # Running

    def _move(self, head: Message, command: str, arguments: Message) -> None:
        """Answer a request to run at once, run, then say where the run stopped."""
        debugger = self._here
        index: int = self._index(arguments) if "threadId" in arguments else debugger.focus
        self._pause.clear()
        self._handles = _Handles()
        if index != debugger.focus:
            debugger.select(debugger.invocation(index))
        self._send({**head, "success": True, "body": {"allThreadsContinued": True} if command == "continue" else {}})
        self._report(self._moves[command](debugger))

    def _report(self, stop: Stop) -> None:
        self._report_printed()
        if stop.reason == "exited":
            for it in self._here.module_variables():
                self._event("output", {"category": "console", "output": f"{it.name} = {it.text}\n"})
            self._event("exited", {"exitCode": 0})
            self._event("terminated")
            return
        body: dict[str, object] = {
            "reason": _REASONS.get(stop.reason, stop.reason),
            "threadId": self._here.focus + 1,
            "allThreadsStopped": True,
        }
        self._event("stopped", {**body, **({"description": stop.text, "text": stop.text} if stop.text else {})})

    def _report_printed(self) -> None:
        """What was printed on the way, each with its place."""
        for it in self._here.take_printed():
            place = {"source": self._source, "line": it.line}
            self._event("output", {"category": "stdout", "output": f"{it.invocation} prints: {it}\n", **place})

    @property
    def _source(self) -> Message:
        return {"name": Path(self._here.source).name, "path": str(Path(self._here.source).absolute())}

    def _index(self, arguments: Message) -> int:
        number = _number(arguments, "threadId")
        if not 1 <= number <= len(self._here.group.lanes):
            raise InputError(f"there is no thread {number}")
        return number - 1

    def _frame(self, number: int) -> tuple[int, int]:
        index, depth = divmod(number - 1, _FRAMES)
        if number < 1 or index >= len(self._here.group.lanes) or depth >= len(self._here.frames(index)):
            raise InputError(f"there is no frame {number}")
        return index, depth


def _resume(debugger: Debugger) -> Stop:
    """Run to a breakpoint or to the end of the workgroup."""
    stop = debugger.resume()
    return debugger.resume() if stop.reason == "ended" else stop


def _same_file(path: str, name: str) -> bool:
    return Path(path).absolute() == Path(name).absolute()


def _part(arguments: Message, name: str) -> Message:
    if name not in arguments:
        raise InputError(f"the argument {name!r} is missing")
    return _message(arguments[name])


def _message(value: object) -> Message:
    if not isinstance(value, dict):
        raise InputError(f"an object is expected, not {value!r}")
    return cast("Message", value)


def _number(arguments: Message, name: str, default: int | None = None) -> int:
    found = arguments.get(name, default)
    if not isinstance(found, int):
        raise InputError(f"the argument {name!r} must be a whole number")
    return found


def _read(reader: BinaryIO) -> Message | None:
    """The next message; None at the end of the stream. Raises InputError."""
    size: int | None = None
    while (line := reader.readline(_LARGEST)).strip():
        name, _, value = line.decode("latin-1").partition(":")
        if name.strip().lower() == "content-length" and value.strip().isdecimal():
            size = int(value)
    if not line and size is None:
        return None
    if size is None or size > _LARGEST:
        raise InputError("standard input does not speak the Debug Adapter Protocol: a message has no Content-Length")
    try:
        message: object = json.loads(reader.read(size))
    except (ValueError, RecursionError) as error:
        raise InputError(f"a message of the Debug Adapter Protocol is not JSON: {error}") from None
    if not isinstance(message, dict):
        raise InputError("a message of the Debug Adapter Protocol is not an object")
    return cast("Message", message)
