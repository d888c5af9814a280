"""Writes the control of a function with Ifs and Loops, and the nodes of each block in it.

Blocks follow `shape`, values are kept by `values`, jumps that are not to the next code are written by `jumps`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import assert_never

from ...base.deadline import check_compile_time
from ...ir import types as w
from ...ir.core import nodes as c
from ...ir.core.builder import Builder, u32
from ...ir.core.values import Value
from ...ir.diagnostics import ShaderError, not_supported
from ...ir.hercules import nodes as h
from ...ir.hercules.analyses import Loop, block_leader
from ...ir.hercules.graph import is_control, is_projection
from ...ir.hercules.placement import Placement
from ...ir.hercules.types import is_collection, is_scalar
from ...ir.hercules.versions import is_version_projection
from ...ir.ops import BinaryOp
from .barriers import Barriers, Uses, uses_of
from .coalescing import use_blocks
from .cooperation import Cooperation
from .jumps import Jumps, Target
from .levels import Levels
from .memory import Memory, is_zero
from .names import Names
from .places import Place, Places
from .shape import Cycle, Shape
from .switches import Switch, outputs_of, switches_of
from .types import constant_value, is_empty, scalar_type
from .values import Values


@dataclass(frozen=True, slots=True)
class Context:
    """What the function's code uses from outside: numbers of threads, dynamic constants, parameters and results."""

    thread: Callable[[h.Fork], Value]
    dynamic: Callable[[h.DynamicConstant], Value]
    parameters: Mapping[int, Value]
    called: Callable[[h.Function, Sequence[Place]], c.Function]
    cooperation: Cooperation
    finish: Callable[[h.Return, Callable[[h.Node], Value]], None]


@dataclass(slots=True)
class Writer:
    """Writes one function at a builder's insertion point."""

    builder: Builder
    names: Names
    placed: Placement
    shape: Shape
    levels: Levels
    places: Places
    context: Context
    values: Values = field(init=False)
    memory: Memory = field(init=False)
    barriers: Barriers = field(init=False)
    jumps: Jumps = field(init=False)
    switches: Mapping[h.Node, Switch] = field(init=False)
    users: dict[h.Node, tuple[h.Node, ...]] = field(init=False)
    _uniform: set[h.Node] = field(default_factory=set[h.Node])
    _waiting: dict[Target, Uses] = field(default_factory=dict[Target, Uses])

    def __post_init__(self) -> None:
        context, start = self.context, self.builder.block
        assert start is not None
        self.users = self.places.users
        self.values = Values(
            self.builder,
            self.names,
            self.placed,
            self.users,
            start,
            context.thread,
            context.dynamic,
            context.parameters,
        )
        self.memory = Memory(self.builder, self.places, self.values, context.dynamic)
        self.barriers = Barriers(self.builder, self.levels, self.places)
        self.jumps = Jumps(self.builder, self.names, start)
        self.switches = switches_of(self.placed, self.shape, self.users, self._is_repeated)

    def write(self) -> None:
        """Write the function's code."""
        self._uniform = self._find_uniform()
        self.values.declare_first(self._find_escaping())
        self._sequence(self.placed.graph.order[0])

    # What is found out before

    def _find_escaping(self) -> Iterator[h.Node]:
        """The scalars of a loop or fork that are used after it."""
        for node, at in self.placed.place.items():
            if not is_scalar(self.placed.types.get(node)) or isinstance(node, (h.Parameter, h.ConstantNode)):
                continue
            if isinstance(node, (h.DynamicConstantNode, h.ThreadID)):
                continue
            home = [it for it in self.shape.cycles[at] if not _begins(it, at, node)]
            users = [it for it in self.users[node] if it in self.placed.live]
            blocks = [block for user in users for block in use_blocks(self.placed, node, user)]
            if any(cycle not in self.shape.cycles[block] for cycle in home for block in blocks):
                yield node

    def _find_uniform(self) -> set[h.Node]:
        """The Reads in the code of a workgroup on which its control depends."""
        found: set[h.Node] = set()
        if not self.levels.local:
            return found
        ends = [it for it in self.placed.graph.order if isinstance(it, h.If)]
        pending = [it.condition for it in ends if not self.levels.is_lane(block_leader(it))]
        while pending:
            node = pending.pop()
            if node not in found and not is_control(node):
                found.add(node)
                pending.extend(node.inputs())
        places = self.placed.place
        return {it for it in found if isinstance(it, h.Read) and it in places and not self.levels.is_lane(places[it])}

    # Blocks

    def _sequence(
        self, leader: h.Node, labels: Sequence[h.Node] | None = None, base: Callable[[h.Node], None] | None = None
    ) -> None:
        """Write a block with all that is nested in it: its code by `base`, then labels: its own, or those given."""
        remaining = list(self._labels(leader) if labels is None else labels)
        while remaining:
            last = remaining.pop()
            skipping = self._before(last, partial(self._sequence, leader, remaining, base))
            if skipping:
                self.jumps.unless(skipping, partial(self._sequence, last))
                return
            leader, remaining, base = last, list(self._labels(last)), None
        (base or self._own)(leader)

    def _before(self, label: h.Node, code: Callable[[], None]) -> list[Target]:
        """Write the code before a label; returns the jumps in it that skip the label."""
        self._declare_merged(label)
        skipping = self.jumps.before(label, code)
        self.barriers.since |= self._waiting.pop(label, Uses())
        return skipping

    def _labels(self, leader: h.Node) -> tuple[h.Node, ...]:
        """The labels after all the code of a block, cycles included."""
        if self._is_loop(leader):
            return self.shape.followers[leader]
        return self._own_labels(leader) + self.shape.followers[leader]

    def _own_labels(self, leader: h.Node) -> tuple[h.Node, ...]:
        """The labels that follow the code of a block: those of its switch, then those that all arms may enter."""
        switch = self.switches.get(leader)
        labels = self.shape.labels[leader]
        return labels if switch is None else switch.labels + labels

    def _is_loop(self, leader: h.Node) -> bool:
        return leader in self.shape.loops or (isinstance(leader, h.Fork) and self.levels.is_loop(leader))

    def _own(self, leader: h.Node) -> None:
        """Write a block's own code, in its loop if it begins one."""
        check_compile_time()
        if isinstance(leader, h.Fork) and self.levels.is_loop(leader):
            self._fork(leader)
        elif leader in self.shape.loops:
            self._loop(leader)
        else:
            self._block(leader)

    def _inside(self, leader: h.Node) -> None:
        """Write the body of a loop: the code of the block that begins it, and the labels in the loop."""
        self._sequence(leader, self._own_labels(leader), self._block)

    def _declare_merged(self, label: h.Node) -> None:
        """Declare the variables of a label's Phis, before the code that gives them values."""
        for phi in self._phis(label):
            if not self.values.is_variable(phi) and is_scalar(self.placed.types[phi]):
                self.values.declare(phi)

    def _phis(self, region: h.Node) -> Iterator[h.Phi]:
        for user in self.users.get(region, ()):
            if isinstance(user, h.Phi) and user.region is region and user in self.placed.live:
                yield user

    def _block(self, leader: h.Node) -> None:
        """Write the nodes of a block and its exit."""
        if isinstance(leader, h.Fork) and self.levels.is_local(leader):
            for reduce in self._reduces(self.placed.nest.joins[leader]):
                self._begin(reduce, reduce.init, leader)
            if self.levels.axis(leader) == 0:
                self.barriers.enter(leader)
        self.memory.enter_block()
        for node in self.placed.blocks[leader]:
            self._node(node, leader)
        self._exit(leader)

    def _node(self, node: h.Node, leader: h.Node) -> None:
        self.builder.span = node.span
        match node:
            case h.ScalarNode():
                self.values.keep(node, self._scalar(node))
            case h.Read():
                self._read(node, leader)
            case h.Write():
                self._write(node, leader)
            case h.Atomic():
                self._wait(node, leader)
                self._begin(node, node.collection, leader)
                self.values.keep_unnamed(node, self.memory.atomic(node))
            case h.Call():
                self.values.keep_unnamed(node, self._call(node))
            case h.ProductNode() | h.InputNode() | h.PinnedNode() | h.ControlNode():
                pass
            case _:
                assert_never(node)

    def _call(self, node: h.Call) -> Value:
        """A call. Collections are not passed: the function uses the variables themselves."""
        types = node.callee.parameter_types
        pairs = list(zip(node.arguments, types, strict=True))
        places = [self.places.of(it) for it, type in pairs if not is_scalar(type)]
        function = self.context.called(node.callee, places)
        return self.builder.call(function, [self.values(it) for it, type in pairs if is_scalar(type)])

    def _scalar(self, node: h.AnyScalarNode) -> Value:
        operands = node.inputs()
        types = [self.placed.types[it] for it in operands]
        return self.values.scalars.emit(node, [self.values(it) for it in operands], types)

    def _read(self, node: h.Read, leader: h.Node) -> None:
        if is_projection(node) or is_version_projection(node):
            return
        if isinstance(node.collection, h.Atomic):
            self.values.keep(node, self.values(node.collection))
            return
        if isinstance(node.collection, h.Call):
            result = self.values(node.collection)
            self.values.keep(node, self.builder.access(result, self.memory.steps(result.type, node.indices)))
            return
        is_uniform = node in self._uniform
        if is_empty(self.placed.types[node]):
            return
        self._wait(node, leader)
        if is_scalar(self.placed.types[node]):
            self.values.keep(node, self.memory.read(node, is_uniform=is_uniform))
        else:
            self.memory.copy_part(node)
        if is_uniform:
            self.barriers.clear(w.AddressSpace.WORKGROUP)

    def _write(self, node: h.Write, leader: h.Node) -> None:
        if is_empty(self.placed.types[node.value]):
            return
        vectors = self.places.vectors
        chain = vectors.chains.get(node)
        is_vector = node in vectors.members and self.memory.is_vector(node)
        if is_vector and chain is None:
            return  # the last of them stores all components
        self._wait(node, leader)
        first = _first_of(chain) if is_vector and chain is not None else node
        self._begin(node, first.collection, leader)
        if is_vector and chain is not None:
            self.memory.write_vector(chain)
        else:
            self.memory.write(node)

    def _begin(self, node: h.Node, before: h.Node, leader: h.Node) -> None:
        """Copy the version that a node continues, if that lies elsewhere; a variable is zero before it is written."""
        self._copy_all([(node, before)], leader)

    def _is_repeated(self, cycle: Cycle) -> bool:
        return isinstance(cycle, Loop) or self.levels.is_loop(cycle)

    def _wait(self, node: h.Node, leader: h.Node) -> None:
        """The barrier before an access in the code of a workgroup."""
        if not self.levels.is_lane(leader):
            uses = uses_of(self.places, node)
            self.barriers.wait(uses)
            self.barriers.since |= uses

    # Loops

    def _loop(self, header: h.Node) -> None:
        loop = self.shape.loops[header]
        if not self.levels.is_lane(header):
            self.barriers.enter_loop(it for it in loop.body if isinstance(it, h.Fork) and self.levels.is_local(it))
        node = self.builder.enter_loop()
        self.jumps.loop(header, node, lambda: self._inside(header))

    def _fork(self, fork: h.Fork) -> None:
        """Threads one after another."""
        self.builder.span = fork.span
        for reduce in self._reduces(self.placed.nest.joins[fork]):
            self._start_reduce(reduce, fork)
        ids = [it for it in self.users.get(fork, ()) if isinstance(it, h.ThreadID)]
        name = next((it.label for it in ids if it.label), "")
        self.values.counters[fork] = counter = self.values.variable(w.U32, self.names.unique(name, "i"), u32(0))
        node = self.builder.enter_loop()
        with self.builder.at(node.start_target):
            more = self.builder.binary(BinaryOp.LESS, self.builder.load(counter), self.context.dynamic(fork.factor))
            test = self.builder.enter_if(more)
            with self.builder.at(test.false_target):
                self.jumps.leave(node.merge_target)
            assert test.merge_target is not None
            with self.builder.at(test.true_target):
                self.builder.branch(test.merge_target)
        with self.builder.at(node.continuing_target):
            self.builder.store(counter, self.builder.binary(BinaryOp.ADD, self.builder.load(counter), u32(1)))
        self._body_from(fork, node, test.merge_target)

    def _body_from(self, fork: h.Fork, node: c.Loop, first: c.Block) -> None:
        def inside() -> None:
            self.builder.block = first
            self._inside(fork)

        self.jumps.loop(fork, node, inside)

    def _start_reduce(self, reduce: h.Reduce, fork: h.Fork) -> None:
        if is_scalar(self.placed.types[reduce]):
            self.values.assign([(reduce, reduce.init)])
        else:
            self._begin(reduce, reduce.init, block_leader(fork.control))

    def _reduces(self, join: h.Join) -> Iterator[h.Reduce]:
        for user in self.users.get(join, ()):
            if isinstance(user, h.Reduce) and user in self.placed.live:
                yield user

    # Exits

    def _jump(self, target: Target) -> None:
        self._waiting[target] = self._waiting.get(target, Uses()) | self.barriers.since
        self.jumps.to(target)

    def _exit(self, leader: h.Node) -> None:
        end = self.placed.exits[leader]
        self.builder.span = end.span
        match end:
            case h.Return():
                self.context.finish(end, self.values)
            case h.If() if leader in self.switches:
                self._switch(leader, self.switches[leader])
            case h.If():
                self._if(leader, end)
            case h.Match():
                raise ShaderError([not_supported("a match of a sum in a kernel", end.span)])
            case h.FloatingNode() | h.PinnedNode() | h.ControlNode():
                self._edge(leader, end)
            case _:
                assert_never(end)

    def _if(self, leader: h.Node, end: h.If) -> None:
        """An If whose arms end here, or whose one arm leaves, so that the other goes on after it."""
        targets = outputs_of(end, self.users)
        node = self.builder.enter_if(self.values(end.condition))
        merge = node.merge_target
        assert merge is not None
        arms = {True: node.true_target, False: node.false_target}
        first = min(arms, key=lambda it: self._size(leader, targets[it]))
        since = self.barriers.since
        is_open = self._arm(arms[first], merge, leader, targets[first])
        after, self.barriers.since = self.barriers.since, since
        if not is_open:
            with self.builder.at(arms[not first]):
                self.builder.branch(merge)
            self.builder.block = merge
            self._edge(leader, targets[not first])
            self.barriers.since |= after
            return
        self._arm(arms[not first], merge, leader, targets[not first])
        self.barriers.since |= after
        self.builder.block = merge

    def _switch(self, leader: h.Node, switch: Switch) -> None:
        """A switch whose arms end in it."""
        for it in switch.early:
            self._node(it, leader)
        type = scalar_type(self.placed.types[switch.subject])
        cases = [([constant_value(value, type) for value in arm.values], not arm.values) for arm in switch.arms]
        node = self.builder.enter_switch(self.values(switch.subject), cases)
        merge = node.merge_target
        assert merge is not None
        since = after = self.barriers.since
        is_open = False
        for case, arm in zip(node.cases, switch.arms, strict=True):
            self.barriers.since = since
            is_open |= self._arm(case.target, merge, arm.leader, arm.output)
            after |= self.barriers.since
        self.barriers.since = after
        node.merge_target, self.builder.block = (merge, merge) if is_open else (None, None)

    def _size(self, leader: h.Node, output: h.Node) -> int:
        """How much code an arm has, roughly: none if it only leaves."""
        if self._is_jump(leader, output):
            return 0
        if self.placed.blocks[output]:
            return 2
        end = self.placed.exits[output]
        return 1 if isinstance(end, (h.If, h.Match)) or not self._is_jump(output, end) else 0

    def _arm(self, block: c.Block, merge: c.Block, leader: h.Node, output: h.Node) -> bool:
        """Write an arm; whether control goes on after the If from there."""
        self.builder.block = block
        self._edge(leader, output)
        if not self._is_open():
            return False
        self.builder.branch(merge)
        return True

    def _is_open(self) -> bool:
        """Whether control comes to the insertion point."""
        return self.builder.block is not None

    def _is_jump(self, leader: h.Node, target: h.Node) -> bool:
        return self._is_back_edge(leader, target) or self._is_next_thread(target) or self.shape.is_label(target)

    def _is_back_edge(self, leader: h.Node, target: h.Node) -> bool:
        return target in self.shape.loops and self.shape.loops[target] in self.shape.cycles[leader]

    def _is_next_thread(self, target: h.Node) -> bool:
        return isinstance(target, h.Join) and self.levels.is_loop(self.placed.nest.forks[target])

    def _edge(self, leader: h.Node, target: h.Node) -> None:
        """Control goes from a block to another."""
        if self._is_back_edge(leader, target):
            self._moves(leader, target)
            self._jump(("next", target))
        elif isinstance(target, h.Join):
            self._finish_thread(target)
            fork = self.placed.nest.forks[target]
            self._jump(("next", fork) if self.levels.is_loop(fork) else target)
        elif self.shape.is_label(target):
            self._moves(leader, target)
            self._jump(target)
        else:
            self._moves(leader, target)
            self._sequence(target)

    def _moves(self, leader: h.Node, region: h.Node) -> None:
        """Give the Phis of a region their values from an edge, all at once."""
        if not isinstance(region, h.Region):
            return
        number = next(i for i, it in enumerate(region.predecessors) if block_leader(it) is leader)
        pairs = [(phi, phi.values[number]) for phi in self._phis(region)]
        self.values.assign([(phi, it) for phi, it in pairs if is_scalar(self.placed.types[phi])])
        collections = [(phi, it) for phi, it in pairs if is_collection(self.placed.types[phi])]
        self._copy_all(collections, leader)

    def _copy_all(self, pairs: Sequence[tuple[h.Node, h.Node]], leader: h.Node) -> None:
        """In a block, copy versions to the places of those that continue them, all at once.

        A variable is zero before it is written, and a chain of versions begins at one place.
        """
        is_once = not any(map(self._is_repeated, self.shape.cycles[leader]))
        moved = [(target, source) for target, source in pairs if self._is_moved(target, source)]
        moved = [(target, source) for target, source in moved if not (is_once and is_zero(source))]
        self._check_order(moved)
        together = [(target, source) for target, source in moved if not self._copy_in_workgroup(target, source)]
        if len(together) > 1:
            self.memory.copy_together([(self.places.of(target), source) for target, source in together])
            return
        for target, source in together:
            self.memory.begin(source, self.places.of(target))

    def _copy_in_workgroup(self, target: h.Node, source: h.Node) -> bool:
        """Copy a version to workgroup memory that invocations share, if that is where it goes."""
        place = self.places.of(target)
        if not self._is_of_workgroup(place):
            return False
        assert place.variable is not None
        if isinstance(source, h.ConstantNode) and not is_zero(source):
            raise ShaderError([not_supported("workgroup memory that begins with a constant", source.span)])
        before = None if isinstance(source, h.ConstantNode) else self.places.of(source)
        uses = Uses(frozenset(() if before is None else (before,)), frozenset((place,)))
        self.barriers.wait(uses)
        self.context.cooperation.fill(place.variable, None if before is None else before.variable)
        self.barriers.since |= uses
        return True

    def _is_of_workgroup(self, place: Place) -> bool:
        """Whether several invocations share the memory of a workgroup."""
        return place.space is w.AddressSpace.WORKGROUP and not self.places.one_invocation

    def _check_order(self, moved: Sequence[tuple[h.Node, h.Node]]) -> None:
        """Refuse copies of shared memory one after another of which one overwrites what a later one needs."""
        overwritten: set[Place] = set()
        for target, source in moved:
            if not isinstance(source, h.ConstantNode) and self.places.of(source) in overwritten:
                raise ShaderError([not_supported("arrays in workgroup memory that change places", target.span)])
            place = self.places.of(target)
            overwritten |= {place} if self._is_of_workgroup(place) else set()

    def _is_moved(self, target: h.Node, source: h.Node) -> bool:
        return isinstance(source, h.ConstantNode) or self.places.of(source) is not self.places.of(target)

    def _finish_thread(self, join: h.Join) -> None:
        """What a thread leaves at its join."""
        reduces = list(self._reduces(join))
        scalars = [it for it in reduces if is_scalar(self.placed.types[it]) and it.update is not it]
        fork = self.placed.nest.forks[join]
        if scalars and not self.levels.is_loop(fork):
            raise ShaderError([not_supported("a sum over invocations that is not in memory", scalars[0].span)])
        self.values.assign([(it, it.update) for it in scalars])
        collections = [(it, it.update) for it in reduces if is_collection(self.placed.types[it])]
        self._copy_all(collections, block_leader(join.control))
        for collect in self.users.get(join, ()):
            if isinstance(collect, h.Collect) and collect in self.placed.live:
                self._collect(collect, fork)

    def _collect(self, collect: h.Collect, fork: h.Fork) -> None:
        """Keep a thread's value."""
        if self.levels.is_local(fork):
            if isinstance(collect.value, h.Collect) and self.places.is_local_join(collect.value.join):
                return  # the innermost of the nest has kept the value
            outer, value = self.places.chain(collect)
            ids = [self.context.thread(it) for it in self._local_forks(fork)]
            self.memory.keep(outer, value, ids)
        else:
            self.memory.keep(collect, collect.value, [self.builder.load(self.values.counters[fork])])

    def _local_forks(self, fork: h.Fork) -> list[h.Fork]:
        return [it for it in self.placed.nest.around[fork] if self.levels.is_local(it)]


def _begins(cycle: Cycle, at: h.Node, node: h.Node) -> bool:
    """Whether a node is a variable that a loop or a fork begins with, so that it outlives the loop."""
    if isinstance(node, h.Phi):
        return isinstance(cycle, Loop) and cycle.header is at
    return isinstance(node, h.Reduce) and cycle is at


def _first_of(chain: Sequence[h.Write]) -> h.Write:
    """The Write that the others of a vector continue."""
    inside = set(chain)
    return next(it for it in chain if it.collection not in inside)
