"""Nests with decisions as jobs of a bench, and their results on the CPU with all operations in order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import inf
from random import Random
from typing import Final

from ..buffers import buffer_elements, buffer_length
from ..ir.schedule.nodes import Nest
from .bench import Bench, Dispatched, Job, Lent, Zeros
from .choices import Facts
from .cost import cost_of
from .decision_space import DecisionSpace
from .measured_rates import block_lanes, rates_of
from .nest_task import Arrays, Lowered, Task
from .rejected import Rejected, rejecting
from .small_checks import SmallChecks

_POINTS: Final = 60
"""Points of which the one that is probably the fastest computes the results."""
_LONGER: Final = 6
"""How many times as long as other points that one may take."""


def bench_of(task: Task, inputs: Arrays, outputs: Arrays, *, patience: float) -> Bench:
    """The task's device with inputs, and zeros for outputs like these."""
    lent = {name: Lent(buffer_elements(it)) for name, it in inputs.items()}
    zeros = {name: Zeros(it.dtype, buffer_length(it)) for name, it in outputs.items()}
    return Bench(task.device, {**lent, **zeros}, contract=task.contract, patience=patience, form="plain")


def job_of(lowered: Lowered, nest: Nest, sizes: Mapping[str, int]) -> Job:
    """The dispatches of a nest that was lowered for some sizes. Buffers of its own are the parts of partial levels, and
    the outputs that begin with something else than 0, or are bound as bits.
    """
    dispatches = tuple(Dispatched(kernel, workgroups, {}) for kernel, workgroups in lowered.dispatches(sizes))
    shared = {it.name for it in nest.arrays} - set(lowered.firsts()) - lowered.bits()
    own = {name: it for name, it in lowered.buffers(sizes).items() if name not in shared}
    return Job(dispatches, {name: buffer_elements(it) for name, it in own.items()})


def shaped(results: Arrays, outputs: Arrays) -> Arrays:
    """What a bench gives for these outputs, as arrays of the nest."""
    return {name: results[name][: it.size].view(it.dtype).reshape(it.shape) for name, it in outputs.items()}


def results_in_order(checks: SmallChecks, inputs: Arrays, outputs: Arrays) -> Arrays:
    """The outputs of the task of these checks by decisions that keep the order of all operations, on the CPU. Raises
    Rejected, with the reason why no decisions work. Compiling may take some times as long as the checks' patience.
    """
    task, rates = checks.task, rates_of("cpu")
    facts = Facts(task.nest, task.sizes, reassociate=False, lanes=block_lanes("cpu"))
    space = DecisionSpace(facts, lambda it: cost_of(it, rates))
    points = space.some(Random(0), _POINTS)
    on_cpu, patience, why = replace(task, device="cpu", contract=False), _LONGER * checks.patience, ""
    with bench_of(on_cpu, inputs, outputs, patience=patience) as bench:
        for point in sorted(points, key=lambda it: (space.cost(it).expected, str(it))):
            try:
                with rejecting():
                    checks.check(point)
                    job = job_of(task.lowered(point), task.nest, task.sizes)
                    return shaped(bench.results(job, list(outputs), inf, space.cost(point).expected), outputs)
            except Rejected as error:
                why = str(error)
    raise Rejected("failed", f"nothing computes {task.nest.name!r} on the CPU to compare with: {why}")
