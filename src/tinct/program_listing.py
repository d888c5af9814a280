"""Programs of functions as a GPU runs them, for people: their steps, and the WGSL of their kernels."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from .ir.hercules import dynamic
from .ir.hercules.nodes import Fork
from .ir.hercules.program import Dispatch, GridKernel, Program, walk
from .ir.hercules.program_text import dispatch_text, print_program
from .pipeline import GpuOptions, compile_grid

if TYPE_CHECKING:
    from .transforms.hercules.programs import WorkgroupTrees


def list_program(program: Program, workgroup_size: int, trees: WorkgroupTrees) -> str:
    """The text of the program, with the workgroups of each dispatch, and why an invocation runs the forks of a thread
    alone where it does; `trees` made the program. Raises InputError for grids that are too large.
    """

    def note(kernel: GridKernel) -> str:
        text = grid_text(program, kernel, workgroup_size)
        forks = sum(isinstance(it, Fork) for it in kernel.function.nodes)
        if kernel.workgroup or forks == kernel.depth:
            return text
        return f"{text}, one invocation each: {trees.obstacle(kernel, program.constants)}"

    return print_program(program, note=note)


def list_wgsl(program: Program, workgroup_size: int) -> str:
    """The WGSL of each kernel, for any engine, below a comment for each of its dispatches. The kernels change: their
    integers become those of WGSL. Raises ShaderError for what has no place in WGSL, and InputError as `list_program`.
    """
    options = GpuOptions(workgroup_size=workgroup_size)
    dispatches = [it for it in walk(program.steps) if isinstance(it, Dispatch)]
    texts: list[str] = []
    for kernel in program.kernels:
        heads = [dispatch_text(program, it) for it in dispatches if it.kernel is kernel]
        grid = grid_text(program, kernel, workgroup_size)
        comments = [f"// {head}: {grid}\n" for head in dict.fromkeys(heads)]
        texts.append("".join(comments) + compile_grid(kernel, options).wgsl)
    return "\n".join(texts)


def grid_text(program: Program, kernel: GridKernel, workgroup_size: int) -> str:
    """How a dispatch of a kernel is divided, such as `1000 threads in 16 workgroups of 64`. Raises InputError."""
    from .transforms.from_hercules import threads_of_workgroup, workgroups_of

    factors = [dynamic.evaluate(it, program.constants) for it in kernel.factors]
    size = threads_of_workgroup(kernel, workgroup_size)
    groups = workgroups_of(kernel, program.constants, workgroup_size)
    rows = f"{groups[0]} x {groups[1]}" if groups[1] > 1 else str(groups[0])
    return f"{_counted(str(prod(factors)), 'thread')} in {_counted(rows, 'workgroup')} of {size}"


def _counted(count: str, noun: str) -> str:
    return f"{count} {noun}{'' if count == '1' else 's'}"
