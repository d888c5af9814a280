"""The text of programs, for people: there is no parser."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import assert_never

from . import dynamic
from .program import Branch, Buffer, Clear, Copy, Dispatch, GridKernel, Loop, Program, Repeat, Step
from .text import print_function, type_text


def print_program(
    program: Program, *, with_kernels: bool = True, note: Callable[[GridKernel], str] | None = None
) -> str:
    """The buffers and the steps, then the kernels as Hercules IR. `note` gives a comment for each dispatch."""
    values = zip(program.dynamic_constants, program.constants, strict=True)
    constants = ", ".join(f"{name} = {value}" for name, value in values)
    results = ", ".join(program.buffers[it].name for it in program.results)
    head = f"program {program.name}{f'<{constants}>' if constants else ''} -> {results}"
    printer = _Printer(program, note)
    lines = [*map(printer.buffer, program.buffers), *printer.steps(program.steps)]
    text = "\n".join([f"{head} {{", *(f"  {it}" for it in lines), "}"])
    kernels = [print_function(it.function) for it in program.kernels] if with_kernels else []
    return "\n".join([text, *kernels]).rstrip("\n") + "\n"


def dispatch_text(program: Program, step: Dispatch) -> str:
    """A dispatch: the kernel, the factors of its grid, and its buffers, such as `matmul_0[2, 4](a, b, c: written)`."""
    kernel, names = step.kernel, [program.buffers[it].name for it in step.buffers]
    factors = ", ".join(str(dynamic.evaluate(it, program.constants)) for it in kernel.factors)
    arguments = [f"{name}: written" if number in kernel.written else name for number, name in enumerate(names)]
    return f"{kernel.function.name}[{factors}]({', '.join(arguments)})"


@dataclass(frozen=True, slots=True)
class _Printer:
    program: Program
    note: Callable[[GridKernel], str] | None

    def buffer(self, buffer: Buffer) -> str:
        start = "zeros" if buffer.parameter is None else f"argument {buffer.parameter}"
        return f"buffer {buffer.name}: {type_text(buffer.type, [*self.program.dynamic_constants])}, {start}"

    def steps(self, steps: Sequence[Step]) -> Iterator[str]:
        for step in steps:
            yield from self._step(step)

    def _step(self, step: Step) -> Iterator[str]:
        match step:
            case Dispatch():
                comment = "" if self.note is None else f"  # {self.note(step.kernel)}"
                yield f"dispatch {dispatch_text(self.program, step)}{comment}"
            case Repeat(count, counter, steps):
                times = dynamic.evaluate(count, self.program.constants)
                yield f"repeat {times} times, {self._name(counter)} {{"
                yield from self._inside(steps)
                yield "}"
            case Loop(steps, flag, then):
                yield "loop {"
                yield from self._inside(steps)
                yield f"  while {self._name(flag)}"
                yield from self._inside(then)
                yield "}"
            case Branch(flag, if_false, if_true):
                yield f"if {self._name(flag)} {{"
                yield from self._inside(if_true)
                yield "} else {"
                yield from self._inside(if_false)
                yield "}"
            case Copy(source, target, _, reason):
                yield f"copy {self._name(source)} to {self._name(target)}  # {reason}"
            case Clear(buffer):
                yield f"clear {self._name(buffer)}"
            case _:
                assert_never(step)

    def _inside(self, steps: Sequence[Step]) -> Iterator[str]:
        yield from (f"  {it}" for it in self.steps(steps))

    def _name(self, buffer: int) -> str:
        return self.program.buffers[buffer].name
