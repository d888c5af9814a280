"""The nodes of a placed function by what they belong to, for passes that look at one fork, loop or block after another.

A function may have hundreds of forks: were all its nodes looked at for each of them, the time would grow with the
square of the function's size.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from ...base.records import dataclass
from .analyses import Loop, block_leader
from .nodes import Call, Collect, Fork, Join, Node, Phi, Read, Reduce, Region, ThreadID

if TYPE_CHECKING:
    from .placement import Placement

K = TypeVar("K")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Members:
    """Live nodes in the function's order, and what else is inside of forks. What has no members has no key.

    `number` is the place of each node in that order. Inside of each fork are `blocks`, in reverse postorder, and
    `loops`; `thread_ids`, `reduces` and `collects` are those of a fork and its join. `data` and `control` are the nodes
    of a block, `phis` those of a region, `results` the Reads of a Call.
    """

    number: Mapping[Node, int]
    blocks: Mapping[Fork, Sequence[Node]]
    loops: Mapping[Fork, Sequence[Loop]]
    thread_ids: Mapping[Node, Sequence[ThreadID]]
    reduces: Mapping[Fork, Sequence[Reduce]]
    collects: Mapping[Fork, Sequence[Collect]]
    data: Mapping[Node, Sequence[Node]]
    control: Mapping[Node, Sequence[Node]]
    phis: Mapping[Node, Sequence[Phi]]
    results: Mapping[Call, Sequence[Read]]

    def in_blocks(self, leaders: Iterable[Node]) -> list[Node]:
        """The data nodes of blocks, in the function's order."""
        return sorted((node for it in leaders for node in self.data.get(it, ())), key=self.number.__getitem__)

    def inside(self, fork: Fork) -> list[Node]:
        """The data nodes of the blocks inside of a fork."""
        return self.in_blocks(self.blocks.get(fork, ()))


def members_of(placed: Placement) -> Members:
    """The members of a function that is placed without problems."""
    nest, live = placed.nest, [it for it in placed.function.nodes if it in placed.live]
    return Members(
        {node: number for number, node in enumerate(placed.function.nodes)},
        _grouped((fork, it) for it in placed.blocks for fork in nest.around[it]),
        _grouped((fork, it) for it in placed.loops.loops for fork in nest.around[it.header]),
        _grouped((it.fork, it) for it in live if isinstance(it, ThreadID)),
        _grouped((nest.forks[it.join], it) for it in live if isinstance(it, Reduce) and isinstance(it.join, Join)),
        _grouped((nest.forks[it.join], it) for it in live if isinstance(it, Collect) and isinstance(it.join, Join)),
        _grouped((placed.place[it], it) for it in live if it in placed.place),
        _grouped((block_leader(it), it) for it in placed.graph.order),
        _grouped((it.region, it) for it in live if isinstance(it, Phi) and isinstance(it.region, Region)),
        _grouped((it.collection, it) for it in live if isinstance(it, Read) and isinstance(it.collection, Call)),
    )


def _grouped(pairs: Iterable[tuple[K, T]]) -> dict[K, list[T]]:
    found: dict[K, list[T]] = {}
    for key, it in pairs:
        found.setdefault(key, []).append(it)
    return found
