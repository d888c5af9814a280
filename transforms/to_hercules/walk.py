"""The walk over structured control flow, at two levels.

*Lane level*: inside the fork over a workgroup's lanes, as in any translation to SSA form.

*Workgroup level*: the sequence of the entry point, and of ifs, loops and switches that contain a barrier. WGSL requires
their control to be uniform, so each workgroup executes them once. Code without barriers there opens a lane fork when it
first needs one, and the next barrier closes it. If such code has several exits (a `return` after the last barrier, a
`break` whose condition is not known to be uniform), the exits are merged, the lanes join, and control follows the exit
that the first lane took.

A scalar that a workgroup-level loop carries is assumed to be uniform. If the translation of the body shows that it may
not be, the translation starts again with that scalar as PerLane (`Restart`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias, assert_never

from ...base.deadline import check_compile_time
from ...base.records import dataclass, field
from ...ir import types as wgsl
from ...ir.constants import ConstantValue
from ...ir.core import nodes as c
from ...ir.core.values import Value
from ...ir.hercules import nodes as h
from ...ir.source import Span
from . import subgroups
from .divergent_exits import DivergentExits
from .effects import EffectsAnalysis, blocks_in
from .instructions import Globals, Instructions, is_barrier, is_exchange, unsupported, zero_tree
from .loop_header import LoopHeader
from .machine import Edge, Machine, State
from .memory import copy, declare, load
from .types import scalar_constant
from .unrolling import MOST_ITERATIONS
from .values import (
    Cell,
    Designator,
    PerLane,
    Snapshot,
    Tree,
    cells_of,
    holds_long_array,
    long_arrays,
    map_snapshots,
    map_tree,
    node_of,
    place_for,
)

if TYPE_CHECKING:
    from .calls import Calls

Target: TypeAlias = "c.Block | c.Terminator"
LoopValue = tuple[int, int]
"""A scalar that a workgroup-level loop carries: the numbers of the loop and the scalar in order of translation."""


class Divergence(Exception):
    """A subgroup operation in control flow that is not seen to be uniform: translate a masked module instead."""


@dataclass(eq=False, slots=True)
class Label:
    """The target of branches, with the edges to it collected so far.

    `arrays`: cells to which each edge copies the arrays among its arguments, in order, so that no Phi has to select
    between arrays; empty if there are no arrays, or only one edge.
    """

    types: tuple[wgsl.Type, ...]
    is_workgroup: bool
    arrays: tuple[Cell, ...] = ()
    edges: list[Edge] = field(default_factory=list[Edge])


@dataclass(eq=False, slots=True)
class Frame:
    """One call of a function: its instructions' values and its labels."""

    function: c.Function
    instructions: Instructions
    labels: dict[Target, Label] = field(default_factory=dict["Target", Label])


class Walk:
    """Translates structured control flow (see the module's docstring). `per_lane` are the loop values that may differ
    between lanes; it grows before a Restart.

    `is_proved`: the front end has proved that control flow at barriers and subgroup operations is uniform. If a
    diagnostic filter has turned that proof off, conditions must be uniform by the graph (`Machine.is_uniform`): else
    raises Divergence.
    `calls`: the functions that are not inlined.
    """

    def __init__(
        self,
        machine: Machine,
        module_scope: Globals,
        effects: EffectsAnalysis,
        per_lane: set[LoopValue],
        *,
        is_proved: bool,
        calls: Calls,
    ) -> None:
        self.machine = machine
        self.graph = machine.graph
        self.module_scope = module_scope
        self.effects = effects
        self.per_lane = per_lane
        self.is_proved = is_proved
        self.calls = calls
        self._at: Value | None = None
        self._exits: list[tuple[Label, Edge]] = []
        self._lane_depth = 0
        self._loops = 0
        self.unrolling = module_scope.unrolling
        self._unrolled_loops = 0
        self._folds_conditions = False
        self._known_conditions = 0

    # Calls

    def call(self, function: c.Function, instructions: Instructions) -> Tree | None:
        """Inline a call; gives the returned value. Control is None afterwards if the function never returns."""
        frame = Frame(function, instructions)
        is_workgroup = self._lane_depth == 0 and self.effects.of_function(function).has_barrier
        end = self._label(frame, function.end_target, is_workgroup=is_workgroup)
        if not is_workgroup:
            self._enter_lane_level()
        self._sequence(frame, function.start_target)
        if not is_workgroup:
            self._leave_lane_level()
        arguments = self._arrive(end)
        return arguments[0] if arguments else None

    @property
    def place(self) -> Span | None:
        """The span of the instruction that is being translated."""
        return None if self._at is None else self._at.span

    def finish(self) -> None:
        """Join the lanes at the end of the entry point."""
        if self.machine.lane is not None:
            self._close_lane()

    # Sequences

    def _sequence(self, frame: Frame, block: c.Block | None) -> None:
        """Translate a block and those that follow it, up to a branch to a label."""
        while block is not None:
            if not self._instructions(frame, block):
                return
            branch = block.branch
            assert branch is not None
            match branch.target:
                case c.If() as node:
                    self._if(frame, node)
                case c.Switch() as node:
                    self._switch(frame, node)
                case c.Loop() as node:
                    self._loop(frame, node, branch.arguments)
                case c.Block() | c.Terminator() as target:
                    self._jump(frame, target, branch.arguments)
                    return
                case _:
                    assert_never(branch.target)
            block = branch.target.merge_target
            if block is not None:
                block = block if self._enter(frame, block) else None
        if self.machine.control is None and self._at_workgroup_level and self.machine.lane is not None:
            self._close_lane()

    def _instructions(self, frame: Frame, block: c.Block) -> bool:
        """Translate the block's instructions; False if a call among them never returns."""
        for instruction in block.instructions:
            check_compile_time()
            self._at = instruction
            if is_barrier(instruction):
                self._barrier(frame, instruction)
            elif is_exchange(instruction):
                self._exchange(frame, instruction)
            elif isinstance(instruction, c.Call):
                self._call(frame, instruction)
                if self.machine.control is None:
                    return False
            else:
                frame.instructions.translate(instruction)
        return True

    def _call(self, frame: Frame, call: c.Call) -> None:
        caller = frame.instructions
        if call.callee in self.calls.chosen:
            self.machine.open_lane()
            result = self.calls.emit(call, caller)
        else:
            callee = Instructions(self.machine, self.module_scope)
            for parameter, argument in zip(call.callee.parameters, call.arguments, strict=True):
                callee.values[parameter] = caller.raw(argument)
            result = self.call(call.callee, callee)
        if result is not None:
            caller.values[call] = result

    def _barrier(self, frame: Frame, instruction: c.Instruction) -> None:
        """Synchronise the lanes: the fork ends. A `workgroupUniformLoad` loads once, between two barriers."""
        if self._lane_depth:
            raise unsupported("a barrier that this control flow does not reach as one", instruction)
        if self.machine.lane is not None:
            self._close_lane()
        if isinstance(instruction, c.BuiltinCall) and instruction.function == "workgroupUniformLoad":
            source = map_tree(frame.instructions.raw(instruction.arguments[0]), self.machine.uniform)
            assert isinstance(source, Designator)
            frame.instructions.values[instruction] = self._load_once(source)

    def _exchange(self, frame: Frame, call: c.BuiltinCall) -> None:
        """A subgroup operation: the lanes join to exchange values, and the next fork computes each lane's result."""
        if self._lane_depth:
            raise Divergence
        arguments = [frame.instructions.raw(argument) for argument in call.arguments]
        if self.machine.lane is not None:
            self._close_lane()
        frame.instructions.values[call] = subgroups.lower(self.machine, call, arguments)

    def _load_once(self, source: Designator) -> Tree:
        """Load once for the workgroup, outside of the lanes, which then share the value."""
        values = load(self.machine, source)
        if self.machine.lane is not None:
            self._close_lane()
        return map_tree(values, self.machine.uniform)

    # Branches and labels

    @property
    def _at_workgroup_level(self) -> bool:
        return self._lane_depth == 0

    def _label(self, frame: Frame, target: Target, *, is_workgroup: bool) -> Label:
        if isinstance(target, c.Block):
            types = tuple(argument.type for argument in target.arguments)
        else:
            types = () if frame.function.return_type is wgsl.VOID else (frame.function.return_type,)
        label = Label(types, is_workgroup, arrays=self._arrays_at(frame, target, types))
        frame.labels[target] = label
        return label

    def _arrays_at(self, frame: Frame, target: Target, types: tuple[wgsl.Type, ...]) -> tuple[Cell, ...]:
        """Cells for the arrays among a label's arguments: spread if a barrier can come before the label."""
        is_spread = self.machine.spreads_arrays
        found = [array for type in types for array in long_arrays(type)]
        if not found or not (is_spread or self.unrolling.loops or _ways_to(target, frame.function) > 1):
            return ()
        cells = tuple(cell for array in found for cell in cells_of(place_for(array, "chosen", is_spread=is_spread)))
        for cell in cells if is_spread else ():
            declare(self.machine, cell)
        return cells

    def _jump(self, frame: Frame, target: Target, arguments: Sequence[Value]) -> None:
        if isinstance(target, c.Terminator) and target.unreachable:
            self.machine.control = None
            return
        label = frame.labels[target]
        trees = tuple(frame.instructions.raw(argument) for argument in arguments)
        self._leave_to(label, trees)

    def _leave_to(self, label: Label, arguments: tuple[Tree, ...]) -> None:
        if label.arrays:
            arguments = self._put_arrays(label, arguments)
        if not label.is_workgroup or self.machine.lane is None:
            label.edges.append(self.machine.edge(arguments))
            return
        self._exits.append((label, self.machine.edge(arguments)))
        if self._at_workgroup_level:
            self._close_lane()

    def _put_arrays(self, label: Label, arguments: tuple[Tree, ...]) -> tuple[Tree, ...]:
        """The arguments with their arrays copied to the cells of the label."""
        cells = iter(label.arrays)

        def put(array: Snapshot) -> Snapshot:
            cell = next(cells)
            if not cell.is_spread:
                declare(self.machine, cell)
            target = Designator(cell, (), array.at.type)
            copy(self.machine, target, array.at)
            return Snapshot(target)

        return tuple(map_snapshots(argument, put) for argument in arguments)

    def _placeholders(self, label: Label) -> list[Tree]:
        """Placeholder arguments on paths that do not lead to the label."""
        cells = iter(label.arrays)

        def put(array: Snapshot) -> Snapshot:
            return Snapshot(Designator(next(cells), (), array.at.type))

        return [map_snapshots(zero_tree(self.machine, type), put) for type in label.types]

    def _enter(self, frame: Frame, block: c.Block) -> bool:
        """Continue at a block; False if it is unreachable."""
        label = frame.labels.get(block)
        if label is None:
            return False
        arguments = self._arrive(label)
        for parameter, value in zip(block.arguments, arguments, strict=False):
            frame.instructions.values[parameter] = value
        return self.machine.control is not None

    def _arrive(self, label: Label) -> tuple[Tree, ...]:
        if not label.edges and self._at_workgroup_level and self.machine.lane is not None:
            self.machine.control = None
            self._close_lane()
            if not label.edges:
                self.machine.control = None
                return ()
        return self.machine.enter(label.edges)

    def _close_lane(self) -> None:
        """Join the lanes. Several exits are merged before the join and separated again after it."""
        lane = self.machine.lane
        assert lane is not None
        exits, self._exits = self._exits, []
        if not lane.nest.joins:  # one lane: each path leads directly to its label
            for label, edge in exits:
                label.edges.append(edge)
            exits = []
        if not exits:
            if self.machine.control is None:
                self.machine.lane = None
                self.graph.lane = None
                return
            self.machine.join_lanes()
            return
        labels: list[Label | None] = list(dict.fromkeys(label for label, _ in exits))
        paths: list[tuple[Label | None, Edge]] = list(exits)
        if self.machine.control is not None:
            labels.append(None)
            paths.append((None, self.machine.edge()))
        choice, arguments = self._merge_paths(labels, paths)
        if isinstance(self.machine.control, h.Region):
            lane.divergent_exits = DivergentExits(self.machine.control, tuple(edge.left for _, edge in paths))
        self.machine.join_lanes()
        self._part(labels, choice, arguments)

    def _merge_paths(
        self, labels: list[Label | None], paths: list[tuple[Label | None, Edge]]
    ) -> tuple[Tree, dict[Label, tuple[Tree, ...]]]:
        """Merge the exits of all lanes. Gives the number of the label that a lane takes, and each label's arguments."""
        real = [label for label in labels if label is not None]
        self._complete_states([edge.state for _, edge in paths])
        edges: list[Edge] = []
        for taken, edge in paths:
            row: list[Tree] = [self.graph.u32(labels.index(taken))]
            for label in real:  # a path that does not lead to a label has placeholders for its arguments
                row += edge.arguments if label is taken else self._placeholders(label)
            edges.append(Edge(edge.control, edge.state, tuple(row)))
        choice, *values = self.machine.enter(edges)
        arguments: dict[Label, tuple[Tree, ...]] = {}
        for label in real:
            arguments[label] = tuple(values[: len(label.types)])
            values = values[len(label.types) :]
        return choice, arguments

    def _complete_states(self, states: list[State]) -> None:
        """Keep scalar variables that exist on some paths only: on the others they become zeros, which nothing reads."""
        scalars = {cell: None for state in states for cell in state if not cell.is_collection}
        for state in states:
            for cell in scalars:
                if cell not in state:
                    state[cell] = self.graph.zero(cell.type)

    def _part(self, labels: list[Label | None], choice: Tree, arguments: dict[Label, tuple[Tree, ...]]) -> None:
        """At workgroup level: branch to the label with the number `choice`."""
        number = self._uniform(node_of(choice)) if len(labels) > 1 else None
        for index, label in enumerate(labels):
            if label is None:
                return  # always the last: control continues here
            rest: h.Node | None = None
            if number is not None and index < len(labels) - 1:
                assert self.machine.control is not None
                chosen = self.graph.binary(h.BinaryOp.EQUAL, number, self.graph.u32(index))
                taken, rest = self.graph.branch(self.machine.control, chosen)
                self.machine.control = taken
            state = dict(self.machine.state)
            label.edges.append(self.machine.edge(arguments[label]))
            self.machine.control, self.machine.state = rest, state

    # Control-flow nodes

    def _is_workgroup(self, node: c.If | c.Loop | c.Switch, frame: Frame, condition: Value | None) -> bool:
        """Whether to build a node at workgroup level: it has a barrier, or it branches to a label of that level on a
        uniform condition.
        """
        if not self._at_workgroup_level:
            return False
        effects = self.effects.of(node)
        if effects.has_barrier:
            return True
        leaves = any(target in frame.labels and frame.labels[target].is_workgroup for target in effects.targets)
        return leaves and condition is not None and self.machine.is_uniform(frame.instructions.raw(condition))

    def _enter_lane_level(self) -> None:
        self.machine.open_lane()
        self._lane_depth += 1
        self.machine.spreads_arrays = False

    def _leave_lane_level(self) -> None:
        self._lane_depth -= 1
        self.machine.spreads_arrays = self._at_workgroup_level and self.module_scope.has_barrier

    def _condition(self, frame: Frame, condition: Value, *, is_workgroup: bool) -> h.Node:
        """Enter the level at which a node is built, and give its condition there."""
        if not is_workgroup:
            self._enter_lane_level()
            return node_of(frame.instructions.get(condition))
        if self.machine.lane is not None:
            self._close_lane()
        value = frame.instructions.raw(condition)
        return self._uniform(value if isinstance(value, PerLane) else node_of(value))

    def _uniform(self, choice: h.Node | PerLane) -> h.Node:
        """The one value of a condition or label number on which control at workgroup level depends."""
        if not self.is_proved and not self.machine.is_uniform(choice):
            raise Divergence
        return self.machine.uniform(choice)

    def _if(self, frame: Frame, node: c.If) -> None:
        is_workgroup = self._is_workgroup(node, frame, node.condition)
        condition = self._condition(frame, node.condition, is_workgroup=is_workgroup)
        if node.merge_target is not None:
            self._label(frame, node.merge_target, is_workgroup=is_workgroup)
        known = self._known(condition)
        if known is None:
            self._arms(frame, condition, node.true_target, node.false_target)
        else:
            self._sequence(frame, node.true_target if known.value else node.false_target)
        if not is_workgroup:
            self._leave_lane_level()

    def _arms(self, frame: Frame, condition: h.Node, if_true: c.Block, if_false: c.Block) -> None:
        machine = self.machine
        assert machine.control is not None
        state = dict(machine.state)
        taken, other = self.graph.branch(machine.control, condition)
        machine.control = taken
        self._sequence(frame, if_true)
        machine.control, machine.state = other, state
        self._sequence(frame, if_false)

    def _known(self, condition: h.Node) -> h.BoolConstant | h.IntegerConstant | None:
        """The value of a condition, if the innermost loop around it is unrolled. Other loops keep their exits, without
        which they would have no end in the graph.
        """
        if not self._folds_conditions or not isinstance(condition, h.ConstantNode):
            return None
        self._known_conditions += 1
        value = condition.value
        return value if isinstance(value, (h.BoolConstant, h.IntegerConstant)) else None

    def _switch(self, frame: Frame, node: c.Switch) -> None:
        """A chain of branches, in order of the cases; the default comes last."""
        is_workgroup = self._is_workgroup(node, frame, node.condition)
        subject = self._condition(frame, node.condition, is_workgroup=is_workgroup)
        if node.merge_target is not None:
            self._label(frame, node.merge_target, is_workgroup=is_workgroup)
        known = self._known(subject)
        if known is None:
            self._cases(frame, node, subject)
        else:
            self._sequence(frame, _chosen_case(node, known.value).target)
        if not is_workgroup:
            self._leave_lane_level()

    def _cases(self, frame: Frame, node: c.Switch, subject: h.Node) -> None:
        machine, rest = self.machine, None
        for case in sorted(node.cases, key=lambda case: case.is_default):
            if not case.is_default:
                assert machine.control is not None
                state = dict(machine.state)
                machine.control, rest = self.graph.branch(machine.control, self._matches(subject, case))
                self._sequence(frame, case.target)
                machine.control, machine.state = rest, state
            else:
                self._sequence(frame, case.target)

    def _matches(self, subject: h.Node, case: c.SwitchCase) -> h.Node:
        result, *others = (
            self.graph.binary(h.BinaryOp.EQUAL, subject, self._selector(selector)) for selector in case.selectors
        )
        for test in others:
            result = self.graph.binary(h.BinaryOp.OR, result, test)
        return result

    def _selector(self, selector: ConstantValue) -> h.Node:
        assert isinstance(selector.type, wgsl.Scalar)
        return self.graph.constant(scalar_constant(selector.type, selector.value))

    def _loop(self, frame: Frame, loop: c.Loop, arguments: Sequence[Value]) -> None:
        is_unrolled = loop in self.unrolling.loops
        before, self._folds_conditions = self._folds_conditions, is_unrolled
        translate = self._unroll if is_unrolled else self._roll
        translate(frame, loop, arguments)
        self._folds_conditions = before

    def _roll(self, frame: Frame, loop: c.Loop, arguments: Sequence[Value]) -> None:
        is_workgroup = self._is_workgroup(loop, frame, None)
        if is_workgroup and self.machine.lane is not None:
            self._close_lane()
        if not is_workgroup:
            self._enter_lane_level()
        self._label(frame, loop.merge_target, is_workgroup=is_workgroup)
        self._label(frame, loop.continuing_target, is_workgroup=is_workgroup)
        back = self._label(frame, loop.start_target, is_workgroup=is_workgroup)
        for argument in arguments:
            if holds_long_array(argument.type):
                raise unsupported("a loop that carries an array as a value, on the CPU", argument)
        values = tuple(frame.instructions.raw(argument) for argument in arguments)
        header = LoopHeader(self, self._written_cells(frame, loop), values, is_workgroup=is_workgroup)
        for parameter, value in zip(loop.start_target.arguments, header.arguments, strict=True):
            frame.instructions.values[parameter] = value
        self._sequence(frame, loop.start_target)
        if self._enter(frame, loop.continuing_target):
            self._sequence(frame, loop.continuing_target)
        passed = self._arrive(back)
        if self.machine.control is not None:
            header.close(passed)
        if not is_workgroup:
            self._leave_lane_level()

    def _unroll(self, frame: Frame, loop: c.Loop, arguments: Sequence[Value]) -> None:
        """Translate the body until no path leads back. Raises Restart if it takes too many iterations or nodes."""
        self._enter_lane_level()
        self._unrolled_loops += 1
        before, known = len(self.graph.nodes), self._known_conditions
        self._label(frame, loop.merge_target, is_workgroup=False)
        values = tuple(frame.instructions.raw(argument) for argument in arguments)
        for _ in range(MOST_ITERATIONS + 1):
            values = self._iteration(frame, loop, values)
            if self.machine.control is None:
                break
            if self._known_conditions == known:
                raise self.unrolling.give_up(loop)
            if self.unrolling.is_too_large(len(self.graph.nodes) - before):
                raise self.unrolling.stop()
        else:
            raise self.unrolling.give_up(loop)
        self._unrolled_loops -= 1
        self.unrolling.finish(loop, 0 if self._unrolled_loops else len(self.graph.nodes) - before)
        self._leave_lane_level()

    def _iteration(self, frame: Frame, loop: c.Loop, values: tuple[Tree, ...]) -> tuple[Tree, ...]:
        """One iteration of an unrolled loop; gives the values that the next begins with."""
        self._label(frame, loop.continuing_target, is_workgroup=False)
        back = self._label(frame, loop.start_target, is_workgroup=False)
        frame.instructions.values.update(zip(loop.start_target.arguments, values, strict=True))
        self._sequence(frame, loop.start_target)
        if self._enter(frame, loop.continuing_target):
            self._sequence(frame, loop.continuing_target)
        return self._arrive(back)

    def number_loop(self) -> int:
        """A number for a workgroup-level loop, the same each time the module is translated."""
        self._loops += 1
        return self._loops

    def _written_cells(self, frame: Frame, loop: c.Loop) -> list[Cell]:
        """Of the cells that exist at the loop's entry, those that the loop may write."""
        cells: dict[Cell, None] = {}
        for root in self.effects.of(loop).written:
            designator = frame.instructions.values.get(root) or self.module_scope.variables.get(root)
            if isinstance(designator, Designator):
                cells.update(dict.fromkeys(cells_of(designator.place)))
        for target in self.effects.of(loop).targets:
            if target in frame.labels:
                cells.update(dict.fromkeys(frame.labels[target].arrays))
        return [cell for cell in cells if cell in self.machine.state]


def _chosen_case(node: c.Switch, value: int) -> c.SwitchCase:
    """The case that a value selects."""
    default = [case for case in node.cases if case.is_default]
    return next(iter([case for case in node.cases if any(it.value == value for it in case.selectors)] + default))


def _ways_to(target: Target, function: c.Function) -> int:
    blocks = blocks_in(function.start_target)
    return sum(block.branch is not None and block.branch.target is target for block in blocks)
