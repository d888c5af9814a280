"""The costs of this machine, measured once and kept on disk beside the compiled kernels."""

from __future__ import annotations

import os
import pickle
from dataclasses import asdict
from typing import Any

from ....base.deadline import compile_time_left
from ....base.errors import InputError
from ....base.in_time import Background
from .. import jit
from ..disk_cache import default_cache, digest
from ..target import current_target
from .known import known_costs
from .model import AccessCosts, Cache, MachineCosts
from .processor import processor_name

_VERSION = "2"
"""To be changed with what is measured, or how it is kept."""
_found: dict[str, MachineCosts] = {}
"""What this process has measured or read, by the name of its file."""
_measuring: dict[str, Background[MachineCosts]] = {}
"""What threads measure for others, which wait as long as they may."""


def machine_costs() -> MachineCosts:
    """The costs of the current target on this machine, measured the first time.

    They come from the table of known processors where the target is another machine or TINCT_CPU_COSTS is `table`, and
    where nothing can be kept (see `disk_cache`) unless TINCT_CPU_COSTS is `measured`: then each process measures.
    Raises InputError for another value of TINCT_CPU_COSTS.
    """
    if not _may_be_measured():
        return known_costs(current_target())
    return _kept() or measure_again()


def measure_if_new() -> None:
    """Measure the machine if no process has yet, so that `costs_so_far` knows it. Nothing can interrupt that: a thread
    that has a limit on compiling waits only so long, and raises DeviceError. Raises InputError.
    """
    if compile_time_left() is None or not _may_be_measured() or _kept() is not None:
        machine_costs()
        return
    name = _name()
    if name not in _measuring or _measuring[name].has_ended:
        _measuring[name] = Background(measure_again, "the measurement of the machine", in_c=True)
    _measuring[name].result()


def costs_so_far() -> MachineCosts:
    """The same, but those of the table as long as nothing was measured."""
    return (_kept() if _may_be_measured() else None) or known_costs(current_target())


def measure_again() -> MachineCosts:
    """Measure the costs of the current target, and keep them. Raises InputError where it is another machine."""
    target = current_target()
    if target.triple:
        raise InputError(f"the code for {target.triple} does not run on this machine, so that nothing can be measured")
    from .measure import measure

    name, files = _name(), default_cache()
    costs = _found[name] = measure()
    if files is not None:
        files.put(name, pickle.dumps(asdict(costs), pickle.HIGHEST_PROTOCOL))
    return costs


def _may_be_measured() -> bool:
    setting = os.environ.get("TINCT_CPU_COSTS")
    if setting not in (None, "measured", "table"):
        raise InputError(f"TINCT_CPU_COSTS must be 'measured' or 'table', not {setting!r}")
    may_be = setting == "measured" if setting else default_cache() is not None
    return may_be and not current_target().triple


def _kept() -> MachineCosts | None:
    """What was measured before, by this process or another one."""
    name, files = _name(), default_cache()
    if name not in _found:
        data = None if files is None else files.get(name)
        if data is None:
            return None
        _found[name] = _read(pickle.loads(data))
    return _found[name]


def _name() -> str:
    return digest("costs of the machine", _VERSION, processor_name(), jit.identity())


def _read(kept: dict[str, Any]) -> MachineCosts:
    access, caches = AccessCosts(**kept.pop("access")), tuple(Cache(**it) for it in kept.pop("caches"))
    return MachineCosts(access=access, caches=caches, **kept)


os.register_at_fork(after_in_child=_measuring.clear)
