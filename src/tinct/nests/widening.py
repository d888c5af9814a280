"""The iteration dimensions of values of a nest that is being built, when all of it is known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ..ir.schedule.nodes import Combine, Compute, Fby, Gather, Last, Map, Operand, Scatter, Statement, Use

Iterated = dict[str, frozenset[str]]
"""The iteration dimensions of each value."""


def joined(operands: Iterable[Operand], iterated: Iterated) -> frozenset[str]:
    """The dimensions of all operands."""
    return frozenset(name for it in operands if isinstance(it, Use) for name in iterated[it.name])


def widened(
    body: Sequence[Statement], combines: Sequence[Combine], iterated: Iterated, dimensions: Sequence[str]
) -> Iterator[Statement]:
    """The statements, each operation on all dimensions of its operands: those of what is carried were not known.

    Changes `iterated`. `dimensions` has all of them, in order.
    """
    _widen(body, combines, iterated)
    for it in body:
        if isinstance(it, (Compute, Gather)):
            on = iterated[it.name]
        elif isinstance(it, Scatter):
            on = joined((*it.subscripts, it.value), iterated)
        else:
            yield it
            continue
        yield replace(it, dimensions=tuple(name for name in dimensions if name in on))


def _widen(body: Sequence[Statement], combines: Sequence[Combine], iterated: Iterated) -> None:
    while True:
        before = dict(iterated)
        for combine in combines:
            nexts = [it.next for it in body if isinstance(it, Fby) and it.name in combine.carried]
            together = frozenset[str]().union(*(iterated[it] for it in nexts))
            iterated.update((it, iterated[it] | together) for it in nexts)
        for it in body:
            if isinstance(it, Compute):
                iterated[it.name] |= joined(it.operands, iterated)
            elif isinstance(it, Gather):
                iterated[it.name] |= joined(it.subscripts, iterated)
            elif isinstance(it, Fby):
                iterated[it.name] |= iterated[it.next]
            elif isinstance(it, Last):
                iterated[it.name] = iterated[it.value] - set(it.dimensions)
            elif isinstance(it, Map):
                names = {pair.source: pair.target for pair in it.pairs}
                iterated[it.name] = frozenset(names.get(at, at) for at in iterated[it.value])
        if before == iterated:
            return
