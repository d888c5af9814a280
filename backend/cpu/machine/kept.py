"""The costs of this machine, measured and kept on disk beside the compiled kernels.

Other processes only make a measurement worse, and the first one may have been disturbed all the time. So later
processes measure again, some minutes apart and a few times in all, before they compile a kernel for vectors; each cost
is then the best that was measured.
"""

from __future__ import annotations

import os
import pickle
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from ....base.deadline import compile_time_left
from ....base.errors import InputError
from ....base.in_time import Background
from ....base.records import dataclass
from .. import jit
from ..disk_cache import default_cache, digest
from ..target import current_target
from .known import known_costs
from .model import AccessCosts, Cache, Copying, MachineCosts
from .processor import processor_name

_VERSION: Final = "6"
"""To be changed with what is measured, or how it is kept."""
MOST_MEASUREMENTS: Final = 5
APART: Final = 120.0
"""The least seconds between two measurements: what disturbed one shall have ended."""
_BETTER: Final = 0.9
"""A cost is replaced by less than so much of it: code that was compiled by nearly the same costs stays valid."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """The best costs of so many measurements; the last was at a time in seconds since 1970."""

    costs: MachineCosts
    measurements: int
    at: float


_found: dict[str, _Kept] = {}
"""What this process has measured or read, by the name of its file."""
_measuring: dict[str, Background[None]] = {}
"""What threads measure for others, which wait as long as they may."""


def machine_costs() -> MachineCosts:
    """The costs of the current target on this machine, measured the first time.

    They come from the table of known processors where the target is another machine or TINCT_CPU_COSTS is `table`, and
    where nothing can be kept (see `disk_cache`) unless TINCT_CPU_COSTS is `measured`: then each process measures.
    Raises InputError for another value of TINCT_CPU_COSTS.
    """
    if not _may_be_measured():
        return known_costs(current_target())
    kept = _kept()
    return measure_again() if kept is None else kept.costs


def measurements() -> int:
    """How often the machine was measured for the costs that are kept, 0 if none are."""
    kept = _kept() if _may_be_measured() else None
    return 0 if kept is None else kept.measurements


def measure_if_due() -> None:
    """Measure the machine if no process has yet, so that `costs_so_far` knows it, or once more if it is time.

    Nothing can interrupt that: a thread that has a limit on compiling waits only so long, and raises DeviceError.
    Raises InputError.
    """
    if not _may_be_measured() or not _is_due(_kept()):
        return
    if compile_time_left() is None:
        _measure_once_more()
        return
    name = _name()
    if name not in _measuring or _measuring[name].has_ended:
        _measuring[name] = Background(_measure_once_more, "the measurement of the machine", in_c=True)
    _measuring[name].result()


def costs_so_far() -> MachineCosts:
    """The same, but those of the table as long as nothing was measured."""
    kept = _kept() if _may_be_measured() else None
    return known_costs(current_target()) if kept is None else kept.costs


def adopt_costs(costs: MachineCosts) -> None:
    """Use costs that another process has found, and measure none. They are not kept on disk."""
    _found[_name()] = _Kept(costs, MOST_MEASUREMENTS, time.time())


def measure_again() -> MachineCosts:
    """Measure the costs of the current target, and keep them instead of what was kept. Raises InputError where the
    target is another machine.
    """
    return _keep(_measured(), 1)


def _measure_once_more() -> None:
    """Measure, and keep the best, unless another thread or process has just measured."""
    if not _is_due(_latest()):
        return
    found = _measured()
    kept = _latest()
    if kept is None:
        _keep(found, 1)
    else:
        _keep(_best(kept.costs, found), kept.measurements + 1)


def _measured() -> MachineCosts:
    target = current_target()
    if target.triple:
        raise InputError(f"the code for {target.triple} does not run on this machine, so that nothing can be measured")
    from .measure import measure

    return measure()


def _keep(costs: MachineCosts, measurements: int) -> MachineCosts:
    name, files, at = _name(), default_cache(), time.time()
    _found[name] = _Kept(costs, measurements, at)
    if files is not None:
        kept = {"costs": asdict(costs), "measurements": measurements, "at": at}
        files.put(name, pickle.dumps(kept, pickle.HIGHEST_PROTOCOL))
    return costs


def _is_due(kept: _Kept | None) -> bool:
    """Whether to measure: nothing is kept, or few measurements, the last of some time ago (or, by a clock that was
    changed, to come).
    """
    if kept is None:
        return True
    return kept.measurements < MOST_MEASUREMENTS and not 0 <= time.time() - kept.at < APART


def _best(kept: MachineCosts, found: MachineCosts) -> MachineCosts:
    """The lower costs and higher bandwidths; the caches are those that the machine has now.

    No worker begins at once: a time of 0 until one does was not measured.
    """
    bandwidths = {it.size: it.bandwidth for it in kept.caches}
    earlier, now = asdict(kept.access), asdict(found.access)
    access: dict[str, Any] = {
        name: cost if cost is None else _lower(earlier[name] or cost, cost) for name, cost in now.items()
    }
    return MachineCosts(
        processor=found.processor,
        target=found.target,
        source=found.source,
        access=AccessCosts(**access),
        caches=tuple(
            Cache(it.level, it.size, _higher(bandwidths.get(it.size, 0.0), it.bandwidth)) for it in found.caches
        ),
        bandwidth=_higher(kept.bandwidth, found.bandwidth),
        wake_up=_lower(kept.wake_up or found.wake_up, found.wake_up or kept.wake_up),
        copies=_faster(kept.copies, found.copies),
        copies_apart=_faster(kept.copies_apart, found.copies_apart),
    )


def _faster(kept: Sequence[Copying], found: Sequence[Copying]) -> tuple[Copying, ...]:
    earlier = {it.size: it for it in kept}
    pairs = [(earlier.get(it.size, it), it) for it in found]
    return tuple(
        Copying(now.size, _higher(before.ordinary, now.ordinary), _higher(before.past, now.past))
        for before, now in pairs
    )


def _lower(kept: float, found: float) -> float:
    return found if found < _BETTER * kept else kept


def _higher(kept: float, found: float) -> float:
    return found if _BETTER * found > kept else kept


def _may_be_measured() -> bool:
    setting = os.environ.get("TINCT_CPU_COSTS")
    if setting not in (None, "measured", "table"):
        raise InputError(f"TINCT_CPU_COSTS must be 'measured' or 'table', not {setting!r}")
    may_be = setting == "measured" if setting else default_cache() is not None
    return may_be and not current_target().triple


def _kept() -> _Kept | None:
    """What was measured before, by this process or another one."""
    return _found.get(_name()) or _latest()


def _latest() -> _Kept | None:
    """The same, with what others have measured since this process looked."""
    name, files = _name(), default_cache()
    data = None if files is None else files.get(name)
    if data is not None:
        kept = pickle.loads(data)
        _found[name] = _Kept(_read(kept["costs"]), kept["measurements"], kept["at"])
    return _found.get(name)


def _name() -> str:
    return digest("costs of the machine", _VERSION, processor_name(), jit.identity())


def _read(kept: Mapping[str, Any]) -> MachineCosts:
    access, caches = AccessCosts(**kept["access"]), tuple(Cache(**it) for it in kept["caches"])
    copies, apart = (tuple(Copying(**it) for it in kept[name]) for name in ("copies", "copies_apart"))
    others = {it: kept[it] for it in ("processor", "target", "source", "bandwidth", "wake_up")}
    return MachineCosts(**others, access=access, caches=caches, copies=copies, copies_apart=apart)


os.register_at_fork(after_in_child=_measuring.clear)
