"""The debugger's commands in a terminal. Their words are those of gdb; those of oclgrind are understood, too."""

from __future__ import annotations

from collections.abc import Callable

from ..base.errors import InputError, TinctError
from ..ir.hints import unknown_name
from .engine import Debugger, Named, Stop

HELP = """\
step, s             run to the next statement, into calls       stepback, rs   the statement before, into calls
next, n             run to the next statement, over calls       nextback, rn   the statement before, over calls
finish              run to the end of this function
continue, c         run to a breakpoint or the end              reverse, rc    back to a breakpoint or the start
break LINE [any] [if CONDITION]   stop at a line; with any, in whichever invocation arrives, else in the chosen one
delete [NUMBER], clear [LINE]     remove a breakpoint, those of a line, or all
watch EXPRESSION    stop when a value has changed               unwatch        remove all of them
print EXPRESSION, p any WGSL expression over what is visible
where, bt           the calls under way                         list [LINE], l the source
info locals | break | invocations | watch
gmem [NAME]         buffers      lmem [NAME]  workgroup memory  pmem [NAME]    private variables and locals
invocation X[,Y[,Z]], wi          choose an invocation by its global id
restart             begin anew                                  quit, q
An empty line repeats the last command."""

_ALIASES = {
    "s": "step",
    "n": "next",
    "c": "continue",
    "b": "break",
    "d": "delete",
    "p": "print",
    "l": "list",
    "q": "quit",
    "bt": "where",
    "backtrace": "where",
    "wi": "invocation",
    "workitem": "invocation",
    "i": "info",
    "h": "help",
    "rs": "stepback",
    "reverse-step": "stepback",
    "rn": "nextback",
    "reverse-next": "nextback",
    "rc": "reverse",
    "reverse-continue": "reverse",
    "exit": "quit",
    "fin": "finish",
    "gm": "gmem",
    "lm": "lmem",
    "pm": "pmem",
}
_AROUND = 4
"""Number of lines that `list` shows before and after a line."""


class Console:
    """Runs commands and writes what they show."""

    def __init__(self, debugger: Debugger, write: Callable[[str], None]) -> None:
        self.debugger = debugger
        self.write = write
        self._last = ""
        self._commands: dict[str, Callable[[str], None]] = {
            "step": self._running(debugger.step),
            "next": self._running(debugger.next),
            "finish": self._running(debugger.finish),
            "continue": self._running(debugger.resume),
            "stepback": self._running(debugger.step_back),
            "nextback": self._running(debugger.next_back),
            "reverse": self._running(debugger.resume_back),
            "restart": self._running(debugger.restart),
            "break": self._break,
            "delete": self._delete,
            "clear": self._clear,
            "watch": self._watch,
            "unwatch": self._unwatch,
            "print": self._print,
            "where": self._where,
            "list": self._list,
            "info": self._info,
            "gmem": lambda name: self._show(self._buffers(), name, "buffer"),
            "lmem": lambda name: self._show(debugger.workgroup_variables(), name, "workgroup variable"),
            "pmem": lambda name: self._show([*self._private(), *debugger.locals()], name, "private or local variable"),
            "invocation": self._invocation,
            "help": lambda argument: write(HELP),
        }

    def run(self, line: str) -> bool:
        """Run a command; False for `quit`. What is wrong with it is written."""
        line = line.strip() or self._last
        if not line:
            return True
        self._last = line
        word, _, argument = line.partition(" ")
        name = _ALIASES.get(word, word)
        if name == "quit":
            return False
        command = self._commands.get(name)
        try:
            if command is None:
                raise InputError(unknown_name(f"there is no command {word!r}", word, self._commands))
            command(argument.strip())
        except TinctError as error:
            self.write(str(error))
        return True

    def show_stop(self, stop: Stop) -> None:
        """Say what was printed on the way, and where the run stands."""
        for line in self.debugger.take_printed():
            self.write(f"{line.invocation} prints: {line}")
        if stop.text:
            self.write(stop.text)
        frames = self.debugger.frames()
        if stop.reason in ("ended", "exited", "error") or not frames:
            return
        where = frames[0]
        text = self._source_line(where.position.line)
        name = self.debugger.invocation()
        self.write(f"invocation {name} in {where.function}\n{where.position.line:>5} | {text}")

    def _running(self, move: Callable[[], Stop]) -> Callable[[str], None]:
        def run(argument: str) -> None:
            if argument:
                count = _number(argument, "a number of times")
                for _ in range(count - 1):
                    if move().reason != "step":
                        break
            self.show_stop(move())

        return run

    def _break(self, argument: str) -> None:
        place, _, condition = argument.partition(" if ")
        words = place.split()
        if not words or len(words) > 2 or words[1:] not in ([], ["any"]):
            raise InputError("break takes a line, as in: break 12, break 12 any, break 12 if i == 3")
        line = _number(words[0].rpartition(":")[2], "a line")
        made = self.debugger.add_breakpoint(line, condition.strip(), any_invocation=len(words) == 2)
        moved = f" (line {line} has no code)" if made.line != line else ""
        self.write(f"breakpoint {made.number} at line {made.line}{moved}")

    def _delete(self, argument: str) -> None:
        if argument:
            self.debugger.remove_breakpoint(_number(argument, "the number of a breakpoint"))
        else:
            self.debugger.breakpoints.clear()

    def _clear(self, argument: str) -> None:
        line = _number(argument, "a line") if argument else None
        kept = [it for it in self.debugger.breakpoints if line is not None and it.line != line]
        self.write(f"{len(self.debugger.breakpoints) - len(kept)} removed")
        self.debugger.breakpoints = kept

    def _watch(self, argument: str) -> None:
        if not argument:
            raise InputError("watch takes an expression")
        now = self.debugger.evaluate(argument)
        self.debugger.add_watch(argument)
        self.write(f"{argument} = {now.text}")

    def _unwatch(self, argument: str) -> None:
        del argument
        self.debugger.watches.clear()

    def _print(self, argument: str) -> None:
        if not argument:
            raise InputError("print takes an expression")
        self.write(f"{argument} = {self.debugger.evaluate(argument).text}")

    def _where(self, argument: str) -> None:
        del argument
        for number, frame in enumerate(self.debugger.frames()):
            line = frame.position.line
            self.write(f"#{number} {frame.function} at line {line}: {self._source_line(line).strip()}")
        if not self.debugger.frames():
            self.write(f"invocation {self.debugger.invocation()} has ended")

    def _list(self, argument: str) -> None:
        frames = self.debugger.frames()
        here = frames[0].position.line if frames else 1
        middle = _number(argument, "a line") if argument else here
        count = len(self.debugger.prepared.launch.program.source.line_starts)
        for line in range(max(1, middle - _AROUND), min(count, middle + _AROUND) + 1):
            mark = "→" if frames and line == here else " "
            self.write(f"{line:>5} {mark} {self._source_line(line)}".rstrip())

    def _info(self, argument: str) -> None:
        match argument:
            case "locals":
                self._show(self.debugger.locals(), "", "variable")
            case "break" | "breakpoints":
                for it in self.debugger.breakpoints:
                    condition = f" if {it.condition}" if it.condition else ""
                    which = ", any invocation" if it.any_invocation else ""
                    hits = self.debugger.counters.hits.get(it.number, 0)
                    self.write(f"{it.number}: line {it.line}{condition}{which}, reached {hits} times")
            case "invocations" | "workitems":
                for index in range(len(self.debugger.group.lanes)):
                    chosen = "→" if index == self.debugger.focus else " "
                    self.write(f"{chosen} {self.debugger.invocation(index)} {self.debugger.state_of(index)}")
            case "watch" | "watches":
                for text in self.debugger.watches:
                    self.write(f"{text} = {self.debugger.counters.watched.get(text) or '(no value)'}")
            case _:
                raise InputError("info takes locals, break, invocations or watch")

    def _buffers(self) -> list[Named]:
        bound = {node.name for node in self.debugger.prepared.compiler.buffers}
        return [it for it in self.debugger.module_variables() if it.name in bound]

    def _private(self) -> list[Named]:
        shared = {node.name for node in self.debugger.group.memories}
        return [it for it in self.debugger.module_variables() if it.name not in shared]

    def _show(self, values: list[Named], name: str, what: str) -> None:
        chosen = [it for it in values if not name or it.name == name]
        if name and not chosen:
            raise InputError(unknown_name(f"there is no {what} {name!r}", name, [it.name for it in values]))
        for it in chosen:
            self.write(f"{it.name} = {it.text}")

    def _invocation(self, argument: str) -> None:
        parts = argument.replace(",", " ").split()
        if not 1 <= len(parts) <= 3:
            raise InputError("invocation takes a global id, such as 37 or 5,0,2")
        x, y, z = (*(_number(it, "an id") for it in parts), 0, 0)[:3]
        self.show_stop(self.debugger.select((x, y, z)))

    def _source_line(self, line: int) -> str:
        return self.debugger.prepared.launch.program.source.line_text(line)


def _number(text: str, what: str) -> int:
    if not text.isdecimal():
        raise InputError(f"{text!r} is not {what}")
    return int(text)
