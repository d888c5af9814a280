"""What `nest.tune` returns: the fastest kernel that was found for sizes on a device."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from ..ir.schedule.nodes import Decisions, Nest
from ..ir.schedule.text import print_decisions
from ..tuning.bar import shown_progress
from ..tuning.nest_task import Task
from ..tuning.nest_tuning import Best, tune_nest
from ..tuning.report import report_text
from .loop_nest import ParsedNest

if TYPE_CHECKING:
    from ..tuning.search import Attempt, Progress
    from .loop_nest import Arrays, LoopNest
    from .lowered import LoweredNest
    from .tune_options import TuneOptions


class TunedNest:
    """A nest with the best decisions that were found. It runs at the tuned sizes."""

    def __init__(
        self, lowered: LoweredNest, best: Best, *, sizes: Mapping[str, int], device: str, contract: bool
    ) -> None:
        self.lowered = lowered
        self.sizes = dict(sizes)
        self.device = device
        self.is_contracted = contract
        """Whether the CPU rounds `a * b + c` once."""
        self._best = best

    def __repr__(self) -> str:
        decisions = print_decisions(self.decisions).strip().replace("\n", "; ") or "loops"
        return f"<TunedNest {self.lowered.nest.name} on {self.device}: {self.milliseconds:.3g} ms, {decisions}>"

    @property
    def decisions(self) -> Decisions:
        """The decisions; `str` of them is not their text, which `wgsl` has in its comment."""
        return self._best.decisions

    @property
    def milliseconds(self) -> float:
        """The time of the dispatch, or of all of them where there are several, on buffers that stay on the device."""
        return self._best.milliseconds

    @property
    def wgsl(self) -> str:
        """The kernel as WGSL, for these sizes."""
        return self.lowered.wgsl

    @property
    def toml(self) -> str:
        """The case file for the WGSL: the numbers of workgroups, and random inputs."""
        return self.lowered.toml(self.sizes)

    @property
    def is_kept(self) -> bool:
        """Whether an earlier search found it, so that nothing was tried now."""
        return self._best.found is None

    @property
    def is_interrupted(self) -> bool:
        """Whether Ctrl-C ended the search."""
        return self._best.found is not None and self._best.found.is_interrupted

    @property
    def attempts(self) -> tuple[Attempt[Decisions], ...]:
        """All points that were tried, in their order: what came of each, its seconds, and why it was rejected."""
        return () if self._best.found is None else self._best.found.attempts

    @property
    def report(self) -> str:
        """How many points were measured, pruned, wrong or failed, the fastest ones, and why others were rejected."""
        return report_text(self._best.found, print_decisions)

    def run(self, arrays: Arrays, *, timeout: float | None = None) -> dict[str, npt.NDArray[Any]]:
        """The outputs by name, on the device that it was tuned for. Raises what `LoweredNest.run` raises."""
        contract = self.is_contracted
        return self.lowered.run(arrays, sizes=self.sizes, device=self.device, timeout=timeout, contract=contract)


def tuned(
    nest: LoopNest,
    sizes: Mapping[str, int],
    options: TuneOptions,
    watch: Callable[[Progress], None] | None,
) -> TunedNest:
    """The best decisions that a search finds. Raises InputError, DeviceError and KeyboardInterrupt."""
    lower = partial(lowered_for, options.reassociate)
    task = Task(nest.ir, sizes, lower, options.device, options.reassociate, options.contract)
    search = partial(tune_nest, task, seconds=options.seconds, seed=options.seed, renew=options.renew)
    if watch is not None:
        best = search(watch=watch)
    else:
        with shown_progress(nest.name) as show:
            best = search(watch=show)
    lowered = nest.lower(best.decisions, sizes=sizes, reassociate=options.reassociate)
    return TunedNest(lowered, best, sizes=sizes, device=options.device, contract=options.contract)


def lowered_for(reassociate: bool, nest: Nest, decisions: Decisions, sizes: Mapping[str, int]) -> LoweredNest:
    """A nest for sizes; a function that another process can be given."""
    return ParsedNest(nest).lower(decisions, sizes=sizes, reassociate=reassociate)
