"""The loops that forks become: one for each, or one for all threads of the outermost forks, which workers share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ...ir.hercules import nodes as h
from ...ir.hercules.analyses import block_leader
from ...ir.hercules.placement import Placement
from . import data
from .llvm import FunctionText, Ops
from .nodes import NodeEmitter


class ForkLoops:
    """Writes the heads of loops. `ends` is the last LLVM block of each block, known when phis are asked for."""

    def __init__(
        self,
        nodes: NodeEmitter,
        placed: Placement,
        shared: Sequence[h.Fork],
        ends: Mapping[h.Node, str],
    ) -> None:
        """`shared`: the forks whose threads workers share, outermost first."""
        self._ops: Ops = nodes.memory.ops
        self._out: FunctionText = self._ops.out
        self._nodes = nodes
        self._types = placed.types
        self._joins = placed.nest.joins
        self._shared = shared
        self._ends = ends

    def open(self, fork: h.Fork, label: str, after: str, reduces: Iterable[h.Reduce]) -> None:
        """The head of a fork's loop in the block `label`, and its body, which is left open; `after` follows the loop.

        It tests before the first iteration: a factor of 0 runs nothing.
        """
        before, latch = block_leader(fork.control), block_leader(self._joins[fork].control)
        is_shared = fork in self._shared
        first, count = ("%begin", "%end") if is_shared else ("0", self._nodes.memory.dynamic(fork.factor))
        following = f"%{label}.next"
        index = self._out.phi("i64", lambda: [(first, self._ends[before]), (following, self._ends[latch])])
        for node in reduces:
            self._nodes.values[node] = self._reduce(node, before, latch)
        if is_shared:
            self._count_indices(before, latch)
        self._out.do(f"{following} = add nuw i64 {index}, 1")
        going = self._ops.binary("icmp ult", "i64", index, count)
        self._out.do(f"br i1 {going}, label %{label}.body, label %{after}")
        self._out.open(f"{label}.body")
        if not is_shared:
            self._nodes.indices[fork] = index

    def _reduce(self, node: h.Reduce, before: h.Node, latch: h.Node) -> str:
        return self._out.phi(
            data.llvm_type(self._types[node]),
            lambda: [
                (self._nodes.value(node.init), self._ends[before]),
                (self._nodes.value(node.update), self._ends[latch]),
            ],
        )

    def _count_indices(self, before: h.Node, latch: h.Node) -> None:
        """The thread index in each shared fork, counted up in each iteration, since divisions are slow."""
        first = self._first_indices()
        following = self._nodes.following

        def index_of(fork: h.Fork) -> str:
            return self._out.phi(
                "i64", lambda: [(first[fork], self._ends[before]), (following[fork], self._ends[latch])]
            )

        self._nodes.indices.update({fork: index_of(fork) for fork in self._shared})
        step = "1"
        for fork in reversed(self._shared):
            following[fork] = self._ops.binary("add", "i64", self._nodes.indices[fork], step)
            if fork is self._shared[0]:
                break
            is_over = self._ops.binary("icmp eq", "i64", following[fork], self._nodes.memory.dynamic(fork.factor))
            following[fork] = self._ops.select(is_over, "i64", "0", following[fork])
            step = self._ops.convert("zext", "i1", is_over, "i64")

    def _first_indices(self) -> dict[h.Fork, str]:
        """The indices of the first thread, computed from its number. Factors may be 0 if there is no thread."""
        first: dict[h.Fork, str] = {}
        number = "%begin"
        for fork in reversed(self._shared[1:]):
            factor = self._nodes.memory.dynamic(fork.factor)
            with self._out.at_entry():
                factor = self._ops.intrinsic("llvm.umax", "i64", factor, "1")
                first[fork] = self._ops.binary("urem", "i64", number, factor)
                number = self._ops.binary("udiv", "i64", number, factor)
        first[self._shared[0]] = number
        return first
