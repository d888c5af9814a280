"""Numbers that are the same in all lanes, loaded once for each product that they are a factor of.

An operation of AVX-512 may have a factor in memory, which it broadcasts by itself. LLVM uses that only where nothing
else needs the factor, else it broadcasts by an instruction of its own. On Zen 4 that instruction occupies a unit which
sums need, though the operand in memory does not: blocks of a matrix product of 8 rows and 2 columns reach 0.68 of the
peak with it, and all of it without (6 rows and 4 columns: 0.78). Fused operations are on other units than the
broadcasts, and stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator

from .....ir.hercules import nodes as h
from .....ir.hercules.types import F32
from ...memory import Address, Memory
from ..context import GangContext

_MOST = 6
"""The most products for which a factor is loaded: each takes an address, and a broadcast is cheap beside many."""
_VECTOR = 64
"""The bytes of a vector whose operations are known to gain."""


class EmbeddedBroadcasts:
    """Writes the loads of factors, each for one product only."""

    def __init__(self, context: GangContext) -> None:
        self._placed, self._types, self._users = context.placed, context.types, context.users
        self._shapes, self._out = context.shapes, context.out
        module = context.out.module
        self._applies = module.target.has_avx512 and module.target.vector_bytes == _VECTOR
        self._fused = set[h.Node](module.fused.values())
        self._parts = context.gang.parts
        self._loaded: dict[h.Node, list[str]] = {}
        """Numbers that no product has taken yet, by the Read that they are loaded for."""

    def load(self, read: h.Read, address: Address, memory: Memory) -> None:
        """Load what a Read, whose value all lanes share, has just loaded once more for each product but one."""
        if not self._applies or self._types[read] != F32:
            return
        products = self._parts * sum(1 for _ in self._products(read))
        others = range(1, products if products <= _MOST else 1)
        self._loaded[read] = [
            memory.load(Address(self._apart(address.pointer, number), address.layout)) for number in others
        ]

    def _products(self, read: h.Read) -> Iterator[h.Node]:
        """The products in the Read's block that are vectors and no part of a fused operation."""
        home = self._placed.place[read]
        for user in self._users[read]:
            if not isinstance(user, h.Binary) or user.op is not h.BinaryOp.MUL or user in self._fused:
                continue
            if self._placed.place.get(user) is home and self._shapes.at(user, home).is_vector:
                yield user

    def _apart(self, pointer: str, number: int) -> str:
        """The same pointer, which LLVM takes for another one. The number keeps it from merging several."""
        return self._out.value(f'call ptr asm "", "=r,0,i"(ptr {pointer}, i32 {number}) memory(none)')

    def factor(self, node: h.Node) -> str | None:
        """The scalar for one product in one part, if there is one of its own left."""
        left = self._loaded.get(node)
        return left.pop() if left else None
