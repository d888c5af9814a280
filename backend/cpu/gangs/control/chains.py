"""Changes of elements, lane by lane, together with the stores that their old values give places to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import repeat

from .....ir.hercules import nodes as h
from .....ir.hercules.graph import positions_of, predecessors
from ...data import llvm_type
from ...nodes import compute
from ...storage import Storage
from ..context import GangContext
from ..memory.changed_elements import change_of
from ..memory.lane_chains import LaneChain, find_chains, is_of_words
from ..values.values import GangValues

_WORD = 4


class ChainEmitter:
    """Finds and writes the chains of blocks that all lanes pass."""

    def __init__(
        self,
        context: GangContext,
        values: GangValues,
        storage_of: Callable[[h.Read | h.Write], Storage | None],
        is_scattered: Callable[[h.Node], bool],
    ) -> None:
        """`storage_of` gives the storage that an access shares with other lanes."""
        self._placed, self._types, self._users = context.placed, context.types, context.users
        self._plan, self._site = context.plan, context.site
        self._values, self._one, self._out = values, context.one, context.out
        self._storage_of, self._is_scattered = storage_of, is_scattered
        costs = self._out.module.costs
        self._pays = costs.counters < costs.gather + costs.scatter
        self._gaining: dict[h.Node, bool] = {}

    def gain_from_all_lanes(self, leader: h.Node) -> bool:
        """Whether elements are changed lane by lane in a block if all lanes pass it."""
        if leader not in self._gaining:
            nodes = self._placed.blocks[leader]
            with self._site.at(leader):
                self._gaining[leader] = self._pays and (any(map(self._is_change, nodes)) or bool(self.find(nodes)))
        return self._gaining[leader]

    def _is_change(self, node: h.Node) -> bool:
        """Whether a Write changes a scattered word of which nothing else needs the old value."""
        if not isinstance(node, h.Write) or change_of(node, self._users) is None:
            return False
        storage = self._storage_of(node)
        return storage is not None and is_of_words(storage) and all(map(self._is_scattered, positions_of(node.indices)))

    def find(self, nodes: Sequence[h.Node]) -> list[LaneChain]:
        """The chains in a block."""
        return find_chains(nodes, self._users, self._storage_of, self._is_scattered) if self._pays else []

    def emit(self, chain: LaneChain) -> None:
        """A chain in the current part, after all that it needs."""
        memory, out = self._values.memory, self._out
        changed = memory.lanes_of(memory.address_of(self._plan.of(chain.write), chain.write.indices))
        places = [memory.address_of(self._plan.of(it), it.indices) for it in chain.stores]
        given = {it: self._lanes_of(it) for it in self._operands(chain)}
        for index in memory.each_lane(changed.index_type, changed.index):
            place = f"getelementptr [{changed.unit} x i8], ptr {changed.pointer}, {changed.index_type} {index}"
            pointer = out.pure(place)
            known = {it: next(lanes) for it, lanes in given.items()}
            known[chain.read] = self._load(chain.read, pointer)
            for node in chain.computed:
                known[node] = compute(self._one, node, self._types, known.__getitem__)
            for write, address in zip(chain.stores, places, strict=True):
                (position,) = positions_of(write.indices)
                self._store(write, known[write.value], memory.pointer_at(address, known[position]))
            self._store(chain.write, compute(self._one, chain.change, self._types, known.__getitem__), pointer)

    def _operands(self, chain: LaneChain) -> list[h.Node]:
        """What a chain needs of its block."""
        inside = {chain.read, *chain.computed}
        needed = [operand for it in (*chain.computed, chain.change) for operand in predecessors(it)]
        needed += [it.value for it in chain.stores]
        return [it for it in dict.fromkeys(needed) if it not in inside]

    def _lanes_of(self, node: h.Node) -> Iterator[str]:
        """The scalars of a part's lanes, taken out one by one: all at once do not fit into registers."""
        memory, values = self._values.memory, self._values
        if values.is_uniform_in_part(node):
            return repeat(values.scalar(node))
        return memory.each_lane(llvm_type(self._types[node]), values.vector(node))

    def _load(self, node: h.Read, pointer: str) -> str:
        return self._out.value(f"load {llvm_type(self._types[node])}, ptr {pointer}, align {_WORD}")

    def _store(self, write: h.Write, value: str, pointer: str) -> None:
        self._out.do(f"store {llvm_type(self._types[write.value])} {value}, ptr {pointer}, align {_WORD}")
