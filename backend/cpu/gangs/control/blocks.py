"""The nodes of a block: each node is written for all parts of the gang before the next one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Sequence
from typing import assert_never

from .....base.deadline import check_compile_time
from .....ir.hercules import nodes as h
from .....ir.hercules.graph import predecessors
from .....ir.hercules.types import is_collection
from .....ir.hercules.versions import is_version_projection
from ...nodes import compute
from ..analysis.shapes import Kind
from ..context import GangContext
from ..memory.kept_rows import KeptRows
from ..values.paired_calls import emit_paired_calls, find_paired_calls
from ..values.values import GangValues
from .accesses import AccessEmitter
from .calls import CallEmitter
from .masks import Masks
from .merges import Merges
from .private_writes import PrivateWrites


class BlockEmitter:
    """Writes the block at the site. Owns the `values`, `masks`, `merges` and `kept_rows` of the gang."""

    def __init__(self, context: GangContext) -> None:
        self._placed, self._body, self._types = context.placed, context.body, context.types
        self._site, self._shapes = context.site, context.shapes
        self.values = GangValues(context)
        self.masks = Masks(context, self.values)
        private_writes = PrivateWrites(context, self.masks)
        self.merges = Merges(context, self.values, self.masks, private_writes)
        self.kept_rows = KeptRows(context, self.values.memory, self.values.threads)
        self._accesses = AccessEmitter(context, self.values, self.masks, private_writes, self.kept_rows)
        self.chains = self._accesses.chains
        self._calls = CallEmitter(context, self.values, self.masks)
        self._paired_calls: dict[h.Node, tuple[h.Intrinsic, ...]] = {}
        """The paired calls among the nodes being written."""
        self._early: set[h.Node] = set()
        """Values that `emit_early` has written."""

    def emit(self, leader: h.Node, omitted: Collection[h.Node]) -> None:
        """A block without the omitted nodes, and the values of Phis after it."""
        if self._body.level_of[leader].header is not leader:
            self.merges.begin(leader)
        nodes = self._accesses.begin(self._placed.blocks[leader])
        self.emit_some([it for it in nodes if it not in self._early and it not in omitted])
        self.merges.leave_block(leader)

    def emit_some(self, nodes: Sequence[h.Node]) -> None:
        """Some nodes of a block."""
        self._paired_calls = find_paired_calls(nodes, self._is_computed_by_lane, self._site.count)
        for node in self._in_order(nodes):
            self._emit_node(node)

    def begin_turn(self) -> None:
        """Blocks are written once more, in another turn of a loop."""
        self._early.clear()

    def emit_early(self, node: h.Node) -> bool:
        """Write a uniform value before the rest of its block; false if the block may change it."""
        if node in self._early:
            return True
        match node:
            case h.Read(collection=collection):
                is_constant = isinstance(collection, h.Parameter) and not is_collection(self._types[node])
            case h.Binary() | h.Unary() | h.Cast() | h.Bitcast() | h.Select():
                is_constant = True
            case (
                h.Intrinsic()
                | h.InputNode()
                | h.Call()
                | h.WritingNode()
                | h.ProductNode()
                | h.PinnedNode()
                | h.ControlNode()
            ):
                is_constant = False
            case _:
                assert_never(node)
        here = self._site.here
        inside = [it for it in predecessors(node) if self._placed.place.get(it) is here]
        if not is_constant or not all(self.values.is_uniform(it) and self.emit_early(it) for it in inside):
            return False
        self._emit_node(node)
        self._early.add(node)
        return True

    def _in_order(self, nodes: Sequence[h.Node]) -> Generator[h.Node]:
        """The nodes, with Reads of scalars delayed until their first use, after the tests of other accesses: LLVM then
        folds their loads into vector operations.
        """
        waiting: list[h.Node] = []
        for node in nodes:
            is_scalar = isinstance(node, h.Read) and not self.values.shape(node).is_vector
            if is_scalar and not self._accesses.is_in_record(node):
                waiting.append(node)
            elif isinstance(node, (h.Write, h.Atomic)) or any(it in waiting for it in predecessors(node)):
                yield from waiting
                waiting.clear()
                yield node
            else:
                yield node
        yield from waiting

    def _emit_node(self, node: h.Node) -> None:
        check_compile_time()
        match node:
            case h.ConstantNode() | h.ProductNode():
                pass
            case h.Read(collection=h.Atomic() as atomic):
                if not is_version_projection(node):
                    self._define(node, lambda: self.values.old_value(atomic))
            case h.Read(collection=h.Call() as call) if self.values.is_uniform(node):
                self._define(node, lambda: self._calls.common_result(node, call))
            case h.Call():
                self._calls.emit(node)
            case h.Read():
                assert not is_collection(self._types[node])
                if not self._accesses.load_with_others(node):
                    self._define(node, lambda: self._accesses.loaded(node))
            case h.Write():
                self.merges.transfer(node.collection, node)
                self._accesses.store(node)
            case h.Atomic():
                self.merges.transfer(node.collection, node)
                self._accesses.atomic(node)
            case h.Intrinsic() if node in self._paired_calls:
                if node is self._paired_calls[node][-1]:
                    self._emit_paired(self._paired_calls[node])
            case h.ScalarNode():
                self._compute(node)
            case h.Parameter() | h.DynamicConstantNode() | h.PinnedNode() | h.ControlNode():
                raise AssertionError(f"{node} is in no block")
            case _:
                assert_never(node)

    def _compute(self, node: h.Node) -> None:
        """An operation without effects."""
        values, shape = self.values, self.values.shape(node)
        if values.is_known(node):
            return
        if (progression := self._shapes.progressions.get(node)) is not None:
            self._define(node, lambda: values.threads.number(self._types[node], progression))
            return
        if shape.kind is Kind.SPECULATED:
            for _ in self._site.parts():
                values.define_speculated(node)
            if not values.is_needed(node):
                return
        same, stepless = self._site.proved.same.get(node), self._site.proved.stepless.get(node)
        if stepless is not None and not shape.is_vector:
            self._define(node, lambda: values.scalar_without_steps(node, stepless))
        elif same is not None and values.shape(same).is_vector == shape.is_vector:
            self._define(node, lambda: values.vector(same) if shape.is_vector else values.scalar(same))
        elif shape.is_vector:
            self._define(node, lambda: values.computed(node))
        elif (exact := self._exact_operand(node)) is not None:
            self._define(node, lambda: values.wide(exact))
        else:
            self._define(node, lambda: compute(values.one, node, self._types, values.scalar))

    def _exact_operand(self, node: h.Node) -> h.Binary | None:
        """The operand of a cast from u32 to u64 if the operand is known not to wrap."""
        match node:
            case h.Cast(type=h.Integer(64, signed=False), operand=h.Binary() as operand):
                is_u32 = self._types[operand] == h.Integer(32, signed=False)
                return operand if is_u32 and self.values.is_exact(operand) else None
            case _:
                return None

    def _emit_paired(self, nodes: Sequence[h.Intrinsic]) -> None:
        """Calls of one function, in all parts."""
        values = self.values
        positions = [(node, part) for node in nodes for part in self._site.parts()]
        operands = [[values.vector(it) for it in node.arguments] for node in nodes for _ in self._site.parts()]
        results = emit_paired_calls(values.memory, nodes[0].function, nodes[0].type, operands)
        for node in nodes:
            for part in self._site.parts():
                values.define(node, results[positions.index((node, part))])
            values.keep_if_left_behind(node, self.masks.here)

    def _define(self, node: h.Node, text: Callable[[], str]) -> None:
        """Define a node in each part; `text` writes its value there."""
        for _ in self.values.parts_of(node):
            self.values.define(node, text())
        self.values.keep_if_left_behind(node, self.masks.here)

    def _is_computed_by_lane(self, node: h.Node) -> bool:
        shape = self.values.shape(node)
        return shape.is_vector and shape.kind is not Kind.SPECULATED
