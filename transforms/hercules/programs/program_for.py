"""From a function to a program."""

from __future__ import annotations

from collections.abc import Sequence

from ....ir.hercules import dynamic
from ....ir.hercules.nodes import Fork, Function
from ....ir.hercules.placement import Placement, place_nodes
from ....ir.hercules.program import Program, with_kernels
from ....ir.hercules.types import substitute
from ..collects_in_place import collects_in_place
from ..for_machine import prepare
from .grids import Grids
from .parts import counted_forks, parts_of
from .split import Splitter
from .unchanged import remove_unchanged
from .workgroups import WorkgroupTrees


def program_for(function: Function, constants: Sequence[int], trees: WorkgroupTrees | None = None) -> Program:
    """The program of a verified function, which may be changed, for these values of its dynamic constants. With
    `trees`, workgroups run the threads of its kernels where that is of use.
    """
    known = [dynamic.literal(it) for it in constants]
    parameter_types = tuple(substitute(it, known) for it in function.parameter_types)
    return_type = substitute(function.return_type, known)
    function = prepare(function, constants)
    covered = collects_in_place(function)
    remove_unchanged(function)
    placed = place_nodes(function)
    parts = parts_of(placed, _grids(placed, constants))
    splitter = Splitter(placed, constants, covered, frozenset(counted_forks(parts)))
    splitter.add_parameters()
    steps = splitter.steps(parts)
    splitter.finish_state()
    if trees is not None:
        steps = with_kernels(steps, lambda it: trees.run(it, constants))
    return Program(
        name=function.name,
        dynamic_constants=tuple(function.dynamic_constants),
        constants=tuple(constants),
        parameter_types=parameter_types,
        return_type=return_type,
        buffers=tuple(splitter.buffers),
        steps=steps,
        results=tuple(splitter.results),
        is_product=splitter.is_product,
    )


def _grids(placed: Placement, constants: Sequence[int]) -> dict[Fork, int]:
    """The forks that are grids, with the number of forks of each grid. No grid is inside another."""
    known = Grids(placed, constants)
    found: dict[Fork, int] = {}
    for fork in placed.graph.order:
        if isinstance(fork, Fork) and not any(it in found for it in placed.nest.around[fork]):
            depth = known.depth(fork)
            if depth:
                found[fork] = depth
    return found
