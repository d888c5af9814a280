"""Counts how often each block of a module runs, by counters in a buffer of our own.

Only the blocks that `block_flow` chooses have a counter. One that an invocation enters at most once, in an entry point
and outside of loops, adds to the buffer where it is. All others count in a private variable, which each return of the
entry point adds to the buffer if control may have come by: additions of which nobody uses the old value, so that
the CPU makes them in copies for each of its threads, and gangs combine their lanes.
"""

from __future__ import annotations

from collections.abc import Container, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, assert_never

from ...ir.core import nodes
from ...ir.core.builder import Builder, constant, empty_block, u32, variable_type
from ...ir.core.values import Value
from ...ir.ops import BinaryOp
from ...ir.types import U32, AddressSpace, BindingPoint
from .block_flow import Flow, flow_of
from .editing import calls_in, module_names
from .hidden_buffer import add_hidden_buffer

COARSE: Final = 8
"""An invocation's count, shifted right by so many bits, is added up a second time: see `totals`."""

BlockKey = tuple[str, int]
"""A block of a function: its name, and the block's number in the order of the text."""


@dataclass(frozen=True, slots=True)
class Counting:
    """How the counts of all blocks follow from the words of the buffer.

    The buffer at `point` has 2 words for each of `counted`: all words of the first kind, then all of the second. It
    is None where the size of the dispatch gives all counts. `flows` has the functions in call order; `calls` are the
    blocks that call each of them, once for each call.
    """

    point: BindingPoint | None
    counted: Sequence[BlockKey]
    flows: Mapping[str, Flow]
    calls: Mapping[str, Sequence[BlockKey]]

    @property
    def words(self) -> int:
        """The size of the buffer."""
        return 2 * len(self.counted)

    def counts(self, entry: str, invocations: int, totals: Sequence[int]) -> dict[BlockKey, int]:
        """The count of each block that is not dead, after a dispatch of an entry point."""
        found = dict(zip(self.counted, totals, strict=True))
        for name, flow in reversed(list(self.flows.items())):
            called = sum(found.get(it, 0) for it in self.calls.get(name, ()))
            found[name, 0] = invocations if name == entry else called
            for block, plus, minus in flow.steps:
                count = sum(found[name, it] for it in plus) - sum(found[name, it] for it in minus)
                found[name, block] = count
        return found


def totals(words: Sequence[int], invocations: int) -> list[int]:
    """The totals of the counters of a buffer.

    The first word of a counter is its total modulo 2³²; the second is the sum of each invocation's count divided by 2⁸
    and rounded down, which leaves less than `invocations` · 2⁸ open. So a total is exact below 2⁴⁰ for at most 2²⁴
    invocations; with more, it is the least that fits both words.
    """
    size, most = len(words) // 2, 1 << 32
    found: list[int] = []
    for low, high in zip(words[:size], words[size:], strict=True):
        least = high << COARSE
        found.append(least + (low - least) % most if invocations else 0)
    return found


def count_blocks(module: nodes.Module, uncounted: Container[str] = ()) -> Counting:
    """Put counters into a module that was just built. The numbers of blocks are those before. `uncounted` are names of
    functions of our own, which call no others.
    """
    flows = {it.name: flow_of(it) for it in module.functions if it.name not in uncounted}
    numbers = {id(block): (name, number) for name, flow in flows.items() for number, block in enumerate(flow.blocks)}
    calls: dict[str, list[BlockKey]] = {}
    for function in module.functions:
        for block, call in calls_in(function):
            calls.setdefault(call.callee.name, []).append(numbers[id(block)])
    counted = [(name, block) for name, flow in flows.items() for block in sorted(flow.counted)]
    if not counted:
        return Counting(None, counted, flows, calls)
    buffer = add_hidden_buffer(module, "block_counts", 2 * len(counted))
    _Counters(module, buffer, counted, flows).insert()
    return Counting(buffer.binding, counted, flows, calls)


class _Counters:
    """Inserts counters."""

    def __init__(
        self, module: nodes.Module, buffer: nodes.Var, counted: Sequence[BlockKey], flows: Mapping[str, Flow]
    ) -> None:
        self.module = module
        self.buffer = buffer
        self.flows = flows
        self.functions = {it.name: it for it in module.functions}
        self.direct = [it for it in counted if self._is_direct(it)]
        self.index = {it: number for number, it in enumerate(counted)}
        names, root = module_names(module), Builder(module, module.root)
        type = variable_type(AddressSpace.PRIVATE, U32)
        self.variables = {
            it: root.var(type, name=names.unique(f"count_{self.index[it]}")) for it in counted if it not in self.direct
        }
        self.inside = self._inside()

    def _is_direct(self, key: BlockKey) -> bool:
        name, block = key
        return self.functions[name].stage is not None and block not in self.flows[name].is_looped

    def _inside(self) -> dict[str, list[BlockKey]]:
        """The private counters that each function may change, itself or by a call."""
        found: dict[str, list[BlockKey]] = {}
        for function in self.module.functions:  # callees come first
            own = [it for it in self.variables if it[0] == function.name]
            for name in dict.fromkeys(call.callee.name for _, call in calls_in(function)):
                own += [it for it in found[name] if it not in own]
            found[function.name] = own
        return found

    def insert(self) -> None:
        """Insert all of them."""
        ends = {it.name: list(self._ends(it)) for it in self.module.functions if it.stage is not None}
        for key in self.direct:
            with self._beginning(key) as builder:
                self._add(builder, self.index[key], u32(1))
        for key, variable in self.variables.items():
            with self._beginning(key) as builder:
                builder.store(variable, builder.binary(BinaryOp.ADD, builder.load(variable), u32(1)))
        for function in self.module.functions:
            function.resources = [*function.resources, *(self.variables[it] for it in self.inside[function.name])]
        for name, found in ends.items():
            function = self.functions[name]
            function.resources = [*function.resources, self.buffer]
            for block, keys in found:
                self._flush(function, block, keys)

    @contextmanager
    def _beginning(self, key: BlockKey) -> Generator[Builder]:
        """A builder of what comes first in a block."""
        name, number = key
        block, before = self.flows[name].blocks[number], empty_block()
        yield Builder(self.module, before)
        block.instructions[:0] = before.instructions

    def _add(self, builder: Builder, index: int, value: Value) -> None:
        builder.builtin_call("atomicAdd", [builder.access(self.buffer, [u32(index)]), value])

    def _ends(self, function: nodes.Function) -> Iterator[tuple[nodes.Block, list[BlockKey]]]:
        """The blocks that return, each with the private counters that may be above 0 there."""
        flow = self.flows[function.name]
        before = _predecessors(flow.blocks)
        calls: dict[int, list[str]] = {}
        for block, call in calls_in(function):
            calls.setdefault(id(block), []).append(call.callee.name)
        for block in flow.blocks:
            if block.branch is None or block.branch.target is not function.end_target:
                continue
            passed = _closure(block, before)
            own = [it for it in self.inside[function.name] if it[0] == function.name]
            keys = [it for it in own if id(flow.blocks[it[1]]) in passed]
            called = [name for it in flow.blocks if id(it) in passed for name in calls.get(id(it), ())]
            keys += [it for name in dict.fromkeys(called) for it in self.inside[name]]
            yield block, list(dict.fromkeys(keys))

    def _flush(self, function: nodes.Function, block: nodes.Block, keys: Sequence[BlockKey]) -> None:
        """Add private counters to the buffer at the end of a block that returns."""
        if not keys:
            return
        branch = block.branch
        assert branch is not None
        block.branch = None
        branch.drop_operands()
        builder = Builder(self.module, block)
        builder.span = branch.span
        counts = [builder.load(self.variables[it]) for it in keys]
        for key, count in zip(keys, counts, strict=True):
            self._add(builder, self.index[key], count)
        any_bits: Value = counts[0]
        for count in counts[1:]:
            any_bits = builder.binary(BinaryOp.OR, any_bits, count)
        node = builder.enter_if(builder.binary(BinaryOp.GREATER_EQUAL, any_bits, u32(1 << COARSE)))
        merge = node.merge_target
        assert merge is not None
        with builder.at(node.true_target):
            for key, count in zip(keys, counts, strict=True):
                high = builder.binary(BinaryOp.SHIFT_RIGHT, count, constant(U32, COARSE))
                self._add(builder, len(self.index) + self.index[key], high)
            builder.branch(merge)
        with builder.at(node.false_target):
            builder.branch(merge)
        with builder.at(merge):
            builder.return_(function)


def _predecessors(blocks: Sequence[nodes.Block]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for block in blocks:
        node = None if block.branch is None else block.branch.target
        for following in _following(node):
            found.setdefault(id(following), []).append(id(block))
    return found


def _following(node: nodes.Flow | None) -> Sequence[nodes.Block]:
    match node:
        case nodes.Block():
            return [node]
        case nodes.If(true_target=true, false_target=false):
            return [true, false]
        case nodes.Switch(cases=cases):
            return [it.target for it in cases]
        case nodes.Loop(start_target=start):
            return [start]
        case nodes.Terminator() | None:
            return []
        case _:
            assert_never(node)


def _closure(block: nodes.Block, before: Mapping[int, Sequence[int]]) -> set[int]:
    """The blocks that control may have come by when it is in one."""
    found, pending = {id(block)}, [id(block)]
    while pending:
        new = set(before.get(pending.pop(), ())) - found
        found |= new
        pending += new
    return found
