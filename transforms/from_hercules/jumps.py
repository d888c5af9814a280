"""Jumps in structured control: to a label, which follows the code that enters it, and to the next iteration of a loop.

A jump to a label that is not the next code sets a flag, and the code in between is skipped while the flag is set. A
jump out of a loop is a `break`, and sets a flag if it goes further than the end of that loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from ...ir import types as w
from ...ir.core import nodes as c
from ...ir.core.builder import Builder, bool_constant, empty_block
from ...ir.core.values import Value
from ...ir.hercules import nodes as h
from ...ir.ops import BinaryOp, UnaryOp
from .names import Names

Target = h.Node | tuple[str, h.Node]
"""Where a jump goes: a label, or the next iteration of the loop with this header or fork."""


@dataclass(frozen=True, slots=True)
class _Label:
    """Code that is followed by a label's."""

    target: h.Node


@dataclass(frozen=True, slots=True)
class _LoopFrame:
    """The body of the loop with this header or fork."""

    header: h.Node
    node: c.Loop


@dataclass(slots=True)
class Jumps:
    """Writes jumps at a builder's insertion point. `start` is the first block of the function, which declares flags."""

    builder: Builder
    names: Names
    start: c.Block
    _frames: list[_Label | _LoopFrame] = field(default_factory=list["_Label | _LoopFrame"])
    _flags: dict[Target, c.Var] = field(default_factory=dict[Target, c.Var])
    _pending: dict[Target, None] = field(default_factory=dict[Target, None])
    """The jumps that have set a flag in the code being written."""
    _entered: set[c.Block] = field(default_factory=set[c.Block])
    """The merge and continuing blocks of loops that something branches to."""

    def before(self, label: h.Node, code: Callable[[], None]) -> list[Target]:
        """Write the code before a label. Returns the jumps in it that skip the label, by their flags."""
        outer, self._pending = self._pending, {}
        self._frames.append(_Label(label))
        assert self.builder.block is not None
        block, index = self.builder.block, len(self.builder.block.instructions)
        code()
        self._frames.pop()
        if self._pending.pop(label, "") is None:
            self._reset(label, block, index)
        skipping = [it for it in self._pending if self._way_on(it) is None]
        self._pending = {**outer, **self._pending}
        return skipping

    def loop(self, header: h.Node, node: c.Loop, code: Callable[[], None]) -> None:
        """Write the body of a loop, and go on after it. The continuing block may have code already."""
        outer, self._pending = self._pending, {}
        self.builder.block = node.start_target
        self._frames.append(_LoopFrame(header, node))
        code()
        self._frames.pop()
        if self._pending.pop(("next", header), "") is None:
            self._reset(("next", header), node.start_target, 0)
        if self._is_open():
            self.leave(node.continuing_target)
        with self.builder.at(node.continuing_target):
            if node.continuing_target in self._entered:
                self.builder.branch(node.start_target)
            else:
                self.builder.unreachable()
        self.builder.block = node.merge_target
        if node.merge_target in self._entered:
            self._go_on(self._pending)
        else:
            self.builder.unreachable()
        self._pending = {**outer, **self._pending}

    def to(self, target: Target) -> None:
        """Leave the code up to a label, or begin the next iteration of a loop."""
        crossed: list[_LoopFrame] = []
        is_far = False
        for frame in reversed(self._frames):
            if isinstance(frame, _Label):
                if frame.target is target:
                    break
                is_far = True
            elif target == ("next", frame.header):
                if not crossed:
                    if is_far:
                        self.leave(frame.node.continuing_target)
                    return
                is_far = True
                break
            else:
                crossed.append(frame)
                is_far = False
        if len(crossed) > 1 or is_far:
            self.builder.store(self._flag(target), bool_constant(True))
            self._pending[target] = None
        if crossed:
            self.leave(crossed[0].node.merge_target)

    def leave(self, block: c.Block) -> None:
        """End the current block with a `break` or a `continue`."""
        self._entered.add(block)
        self.builder.branch(block)

    def unless(self, targets: Iterable[Target], code: Callable[[], None]) -> None:
        """Write code that is skipped while the flag of one of the jumps is set."""
        condition: Value = bool_constant(False)
        for number, it in enumerate(targets):
            flag = self.builder.load(self._flag(it))
            condition = self.builder.binary(BinaryOp.OR, condition, flag) if number else flag
        node = self.builder.enter_if(self.builder.unary(UnaryOp.NOT, condition))
        merge = node.merge_target
        assert merge is not None
        with self.builder.at(node.false_target):
            self.builder.branch(merge)
        self.builder.block = node.true_target
        code()
        if self._is_open():
            self.builder.branch(merge)
        self.builder.block = merge

    def _is_open(self) -> bool:
        """Whether control comes to the insertion point."""
        return self.builder.block is not None

    def _go_on(self, pending: Mapping[Target, None]) -> None:
        """After a loop: go on with the jumps that have left it."""
        for target in pending:
            if (way_on := self._way_on(target)) is not None:
                node = self.builder.enter_if(self.builder.load(self._flag(target)))
                with self.builder.at(node.true_target):
                    self.leave(way_on)
                assert node.merge_target is not None
                with self.builder.at(node.false_target):
                    self.builder.branch(node.merge_target)
                self.builder.block = node.merge_target

    def _way_on(self, target: Target) -> c.Block | None:
        """The block that a jump with a flag branches to from here; None if it only skips code."""
        for frame in reversed(self._frames):
            if isinstance(frame, _Label):
                if frame.target is target:
                    return None
            elif target == ("next", frame.header):
                return frame.node.continuing_target
            else:
                return frame.node.merge_target
        return None

    def _flag(self, target: Target) -> c.Var:
        if target not in self._flags:
            pointer = w.pointer(w.AddressSpace.FUNCTION, w.BOOL, w.Access.READ_WRITE)
            self._flags[target] = c.Var(None, pointer, self.names.unique("leave"))
            self.start.instructions.insert(0, self._flags[target])
        return self._flags[target]

    def _reset(self, target: Target, block: c.Block, index: int) -> None:
        """Clear a flag where the code begins that may set it."""
        apart = empty_block()
        with self.builder.at(apart):
            self.builder.store(self._flag(target), bool_constant(False))
        block.instructions[index:index] = apart.instructions
