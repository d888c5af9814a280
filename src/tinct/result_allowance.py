"""How far the results of a kernel may be off by WGSL's bounds of the float functions that it calls: for each element,
estimated.

The CPU runs the kernel again with the results of its calls moved by their bounds (`transforms.core.move_results`): each
call of an invocation alone, up and down, while the others stay. The changes of an element by its calls are added up,
the largest of each call.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from .base.cached import cached_property
from .ir.core.nodes import BuiltinCall, Module
from .ir.core.structure import blocks_of
from .moved_runs import Arrays, Changes, MovedRuns, Repeated, changes_by_parts, largest_changes
from .origins import ProgramOrigin, core_of
from .transforms.core.accuracy_bounds import BOUNDED
from .transforms.core.move_results import OWN_WORDS, move_results

_STILL: Final = (0.0, 0.0)
_MOVES: Final = ((1.0, 0.0), (-1.0, 0.0), (0.0, 4.0), (0.0, -4.0))
"""Multiples of a result's bound, and of its unit in the last place. The errors of the CPU's own functions are below 4
ULP (docs/accuracy.md): where an error tips a comparison, one of another size may not.
"""


class MovedResultsOrigin(ProgramOrigin):
    """A checked WGSL program in which results can be moved. (The cache on disk tells it from others by the name of its
    class.)
    """

    def core(self) -> Module:
        """See `Origin`."""
        module = super().core()
        move_results(module, core_of)
        return module


class ResultAllowance:
    """How far the results of a dispatch may be off by WGSL's bounds of the functions that its kernel calls."""

    def __init__(self, dispatch: Repeated) -> None:
        self._dispatch = dispatch

    @cached_property
    def functions(self) -> tuple[str, ...]:
        """The names of those functions, sorted."""
        functions = self._dispatch.kernel.compilation(self._dispatch.constants).specialised.functions
        nodes = (node for function in functions for block in blocks_of(function) for node in block.instructions)
        return tuple(sorted({it.function for it in nodes if isinstance(it, BuiltinCall)} & BOUNDED))

    @cached_property
    def changes(self) -> Changes:
        """What each element of each output may be off; there must be such functions. Raises ShaderError and
        DeviceError.
        """
        program = self._dispatch.kernel.shader.program
        point = move_results(ProgramOrigin(program).core(), core_of)
        assert point is not None, "the kernel calls such functions"
        runs = MovedRuns(self._dispatch, MovedResultsOrigin(program), point, OWN_WORDS)
        still, count = runs.outputs(1, 1, _STILL)

        def pairs(parts: int, part: int) -> Iterator[tuple[Arrays, Arrays]]:
            for move in _MOVES:
                yield still, runs.outputs(parts, part, move)[0]

        return changes_by_parts(count, lambda parts, part: largest_changes(pairs(parts, part)))
