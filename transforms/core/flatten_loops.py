"""Flattens nested loops into one, for drivers that limit iterations: each iteration runs one of an inner loop.

    loop { A; loop { B; continuing { C } } D; continuing { E } }

becomes, with a variable for the current state,

    loop {
        if state == 0 { A; state = 1; }
        if state == 1 { left = false; B; C; if left { D; state = 0; } }
        continuing { if state == 0 { E } }
    }

where a `break` in B sets `left`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...ir.constants import zero_constant
from ...ir.core import nodes
from ...ir.core.builder import Builder, bool_constant, empty_block, u32, variable_type
from ...ir.core.names import NameScope
from ...ir.core.structure import blocks_of
from ...ir.core.values import Value
from ...ir.ops import BinaryOp
from ...ir.types import BOOL, U32, VOID, AddressSpace, Pointer, Type
from .editing import any_of, module_names, names_in
from .reg2mem import RegistersToMemory
from .regions import blocks_from, is_unreachable, last_block, nested, region, users_of_block
from .returns import Returns

_MEETING = ("workgroupBarrier", "storageBarrier", "textureBarrier", "workgroupUniformLoad", "subgroup", "quad")
"""Prefixes of the names of builtin functions that synchronise or communicate between invocations."""


@dataclass(frozen=True)
class FlattenLoops:
    """Flattens a loop that has loops directly in its body; from the innermost on, so that whole nests become one.

    Loops in Ifs, in Switches and in called functions stay, and so do nests with barriers or subgroup
    operations, since fast invocations would no longer wait for others at the end of an inner loop.
    """

    @property
    def name(self) -> str:
        """The name in pipelines."""
        return "flatten_loops"

    def run(self, module: nodes.Module) -> bool:
        """Whether a loop was flattened, or a block argument made a variable."""
        changed = RegistersToMemory().run(module)
        names = module_names(module)
        meeting: set[nodes.Function] = set()
        for function in module.functions:  # callees stand before their callers
            if _meet(blocks_of(function), meeting):
                meeting.add(function)
            scope = names_in(names, function)
            loops = [block for block in reversed(blocks_of(function)) if _loop_at(block) is not None]
            changed |= any_of(_Flattening(module, scope, block).run(meeting) for block in loops)
        return changed


def _meet(blocks: Sequence[nodes.Block], meeting: set[nodes.Function]) -> bool:
    """Whether blocks have a barrier or subgroup operation, or call one of the functions `meeting`, which do."""
    return any(
        (isinstance(it, nodes.BuiltinCall) and it.function.startswith(_MEETING))
        or (isinstance(it, nodes.Call) and it.callee in meeting)
        for block in blocks
        for it in block.instructions
    )


class _Flattening:
    """One loop, entered by `block`. Its body is segments of blocks with the inner loops between them."""

    def __init__(self, module: nodes.Module, names: NameScope, block: nodes.Block) -> None:
        loop = _loop_at(block)
        assert loop is not None
        self.block = block
        self.loop = loop
        self.names = names
        self.builder = Builder(module)
        self.builder.span = loop.span
        self.body = list(region(loop.start_target))
        self.inner = [it for part in self.body if (it := _loop_at(part)) is not None]

    def run(self, meeting: set[nodes.Function]) -> bool:
        """Flatten the loop if possible; whether it was flattened."""
        if not self.inner or any(is_unreachable(it.continuing_target) for it in (self.loop, *self.inner)):
            return False
        if any(is_unreachable(it.merge_target) for it in self.inner) or _meet(_inside(self.loop), meeting):
            return False
        crossing = _Crossing(self.loop, self.body)
        values = [it for part in self.body for it in part.instructions if crossing.is_used_elsewhere(it)]
        if any(isinstance(it.type, Pointer) and not isinstance(it, nodes.Var) for it in values):
            return False
        for value in values:
            self._spill(value, crossing)
        self._rebuild()
        return True

    def _spill(self, value: nodes.Instruction, crossing: _Crossing) -> None:
        """Store a value that another segment uses in a variable outside of the loop; a variable is moved there."""
        place = next(it for it in self.body if any(one is value for one in it.instructions))
        position = next(index for index, it in enumerate(place.instructions) if it is value)
        if isinstance(value, nodes.Var):
            assert isinstance(value.type, Pointer)
            first = value.initializer or _zero(value.type.store)
            value.initializer = None
            self.block.instructions.append(value)
            place.instructions[position] = nodes.Store(value, first, VOID, None, span=value.span)
            return
        kept = self._variable("kept", value.type)
        for part in _inside(self.loop):
            if crossing.segments[id(part)] != crossing.segments[id(place)]:
                _load_in(part, value, kept)
        place.instructions.insert(position + 1, nodes.Store(kept, value, VOID, None, span=value.span))

    def _variable(self, name: str, type: Type) -> nodes.Var:
        pointer = variable_type(AddressSpace.FUNCTION, type)
        variable = nodes.Var(None, pointer, self.names.unique(name), span=self.loop.span)
        self.block.instructions.append(variable)
        return variable

    # Control flow.

    def _rebuild(self) -> None:
        loop, builder = self.loop, self.builder
        state, left = self._variable("state", U32), self._variable("left", BOOL)
        for part in _leading(blocks_from(loop.start_target), loop.continuing_target):
            part.instructions.append(_store(state, u32(0)))
        entering = [part for part in self.body if _loop_at(part) is not None]
        start = empty_block()
        block = self._do_if(start, state, 0, loop.start_target)
        _go_to(entering[0], state, 1, block)
        for number, inner in enumerate(self.inner, 1):
            arm, rest = empty_block(), empty_block()
            following = self._do_if(block, state, number, arm)
            self._do_iteration(arm, inner, left, rest)
            with builder.at(rest):
                node = builder.enter_if(builder.load(left))
            behind = _only_if_true(builder, node, inner.merge_target)
            if number < len(self.inner):
                _go_to(entering[number], state, number + 1, behind)
            with builder.at(behind):
                builder.branch(following)
            block = following
        with builder.at(block):
            builder.branch(loop.continuing_target)
        self._guard_continuing(state, start)
        loop.start_target = start

    def _do_if(self, block: nodes.Block, state: nodes.Var, number: int, arm: nodes.Block) -> nodes.Block:
        """Run the code at `arm` if the state has this number; returns the block that follows."""
        builder = self.builder
        with builder.at(block):
            node = builder.enter_if(builder.binary(BinaryOp.EQUAL, builder.load(state), u32(number)))
        return _only_if_true(builder, node, arm)

    def _do_iteration(self, arm: nodes.Block, loop: nodes.Loop, left: nodes.Var, after: nodes.Block) -> None:
        """Do one iteration of an inner loop, set `left` if it leaves the loop, and continue in `after`."""
        body, going_on = loop.start_target, loop.continuing_target
        end, joined = nodes.Terminator(), nodes.Terminator()
        for block in _leading(_inside(loop), loop.merge_target):
            block.instructions.append(_store(left, bool_constant(True)))
            _redirect(block, end)
        for block in _leading(_inside(loop), body):
            _redirect(block, end)
        for block in _leading(blocks_from(body), going_on):
            _redirect(block, joined)
        whole = empty_block()
        Returns(self.builder, self.names, joined, VOID).lead(whole, body, going_on)
        arm.instructions.append(_store(left, bool_constant(False)))
        Returns(self.builder, self.names, end, VOID).lead(arm, whole, after)

    def _guard_continuing(self, state: nodes.Var, start: nodes.Block) -> None:
        """Run the continuing part only when an iteration of this loop has ended, then go back to `start`."""
        loop, builder = self.loop, self.builder
        going_on = loop.continuing_target
        guarded = empty_block()
        guarded.instructions, guarded.branch = going_on.instructions, going_on.branch
        going_on.instructions, going_on.branch = [], None
        behind = self._do_if(going_on, state, 0, guarded)
        leaving = _leading(blocks_from(guarded), loop.merge_target)
        going_back = _leading(blocks_from(guarded), loop.start_target)
        if not leaving:
            _redirect(going_back[0], behind)
            with builder.at(behind):
                builder.branch(start)
            return
        leaves = self._variable("leaves", BOOL)
        for block in leaving:
            block.instructions.append(_store(leaves, bool_constant(True)))
        _meet_behind_last_if(guarded, [*leaving, *going_back], behind)
        with builder.at(behind):
            node = builder.enter_if(builder.load(leaves))
        node.merge_target = None
        with builder.at(node.true_target):
            builder.branch(loop.merge_target)
        with builder.at(node.false_target):
            builder.branch(start)


class _Crossing:
    """Finds the values of a loop's body that are used in a segment other than the one that defines them.

    `segments` has the number of each block's segment by the block's identity: inner loops are segments as well, and so
    is the continuing part.
    """

    def __init__(self, loop: nodes.Loop, body: Sequence[nodes.Block]) -> None:
        self.segments = {id(it): -1 for it in blocks_from(loop.continuing_target)}
        number = 0
        for block in body:
            is_inner = _loop_at(block) is not None
            self.segments[id(block)] = number
            number += is_inner
            self.segments |= {id(it): number for start in nested(block) for it in blocks_from(start)}
            number += is_inner
        self._users = {id(user): self.segments[id(it)] for it in _inside(loop) for user in users_of_block(it)}

    def is_used_elsewhere(self, value: nodes.Instruction) -> bool:
        """Whether a value has a use in another segment."""
        own = self._users[id(value)]
        return any(self._users[id(use.user)] != own for use in value.uses)


def _loop_at(block: nodes.Block) -> nodes.Loop | None:
    target = None if block.branch is None else block.branch.target
    return target if isinstance(target, nodes.Loop) else None


def _inside(loop: nodes.Loop) -> Sequence[nodes.Block]:
    return [*blocks_from(loop.start_target), *blocks_from(loop.continuing_target)]


def _leading(blocks: Sequence[nodes.Block], target: nodes.Flow) -> Sequence[nodes.Block]:
    """The blocks among some that branch to a target."""
    return [it for it in blocks if it.branch is not None and it.branch.target is target]


def _redirect(block: nodes.Block, target: nodes.Flow) -> None:
    assert block.branch is not None
    block.branch.target = target


def _meet_behind_last_if(start: nodes.Block, ends: Sequence[nodes.Block], following: nodes.Block) -> None:
    """Let both arms of the If that a region ends with, which has no merge, go on in `following`."""
    closing = last_block(start).branch
    assert closing is not None
    assert isinstance(closing.target, nodes.If)
    closing.target.merge_target = merge = empty_block()
    merge.branch = nodes.Branch(following, ())
    for end in ends:
        _redirect(end, merge)


def _go_to(block: nodes.Block, state: nodes.Var, number: int, following: nodes.Block) -> None:
    """At the end of a segment, where an inner loop was entered, set the state instead."""
    block.instructions.append(_store(state, u32(number)))
    block.branch = nodes.Branch(following, (), span=state.span)


def _only_if_true(builder: Builder, node: nodes.If, arm: nodes.Block) -> nodes.Block:
    """Give an If its true arm, and nothing to do in the other; its merge."""
    merge = node.merge_target
    assert merge is not None
    node.true_target = arm
    with builder.at(node.false_target):
        builder.branch(merge)
    return merge


def _store(variable: nodes.Var, value: Value) -> nodes.Store:
    return nodes.Store(variable, value, VOID, None, span=variable.span)


def _zero(type: Type) -> nodes.Constant:
    return nodes.Constant(zero_constant(type), type, None)


def _load_in(block: nodes.Block, value: Value, kept: nodes.Var) -> None:
    """Let a block load a value from the variable where it is kept."""
    users = [user for user in users_of_block(block) if any(it is value for it in user.operands)]
    if not users:
        return
    load = nodes.Load(kept, value.type, None, span=kept.span)
    first = next((at for at, it in enumerate(block.instructions) if it is users[0]), len(block.instructions))
    block.instructions.insert(first, load)
    for user in users:
        for index, operand in enumerate(user.operands):
            if operand is value:
                user.set_operand(index, load)
