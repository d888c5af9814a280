"""Chooses loops to unroll.

Small arrays of an invocation thereby become scalars, which can be kept in registers.

A scalar has no address, so an array can be split into scalars only where every index is known. An index that counts
in loops is known if these loops are unrolled. `Unrolling.of` finds, for each access to a variable of function or
private space, the loops that change its index. It looks at where values may come from, not at how a loop is written.

Whether the index is then known is seen during the translation, which computes with constants: a loop is unrolled by
translating its body until no path leads back. Where that takes too many iterations or nodes, or an index stays unknown,
the loop or the variable is given up, and the translation starts again (`Reconsidered`).

If all loops of an entry point are like those of a stencil over 3 by 3 elements, or have few instructions in all
iterations together (see `straightened_loops`), they are unrolled, too: code without loops has a version for the
interior of a problem (see `gangs.control.whole_forks`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field
from math import prod
from typing import Final, TypeAlias, assert_never

from ...ir import types as wgsl
from ...ir.core import nodes as c
from ...ir.core.values import Value
from ..core.purity import is_pure
from ..core.regions import nested, region
from .effects import EffectsAnalysis, Root, blocks_in, inner_blocks
from .machine import Restart
from .outline import scalar_count
from .values import Cell, CellTree, cells_of, holds_long_array, is_tree_array, place_for

MOST_ITERATIONS: Final = 64
"""Trip count above which a loop is not unrolled."""
MOST_NODES: Final = 1500
"""Nodes of all unrolled loops of an entry point together above which a loop stays a loop. Code for gangs is compiled at
1500 to 2000 nodes a second (AMD EPYC, Zen 4).
"""
MOST_SCALARS: Final = 128
"""Scalars of a variable above which it stays in memory: four times as many as there are vector registers."""
MOST_COPIES: Final = 2000
"""Instructions in all iterations together above which the loops of a stencil stay loops."""
MOST_ELEMENTS: Final = 16
"""The same for the iterations of loops that lie in one another. The numbers of iterations are upper bounds, which make
those of a window of three by three elements 16. Loops over larger windows have a version for the interior of a problem,
too: as code without loops they would take longer to compile, and no less time to run.
"""
MOST_SMALL_COPIES: Final = 256
"""The same for other loops, such as one over the channels of a pixel."""
_MOST_RECONSIDERED: Final = 8
"""Times that the translation starts again before nothing is unrolled."""

_Source: TypeAlias = "c.Var | c.BlockArgument"
"""What holds different values at different times."""
_PRIVATE = (wgsl.AddressSpace.FUNCTION, wgsl.AddressSpace.PRIVATE)


class Reconsidered(Restart):
    """A loop is not unrolled, or a variable not split, after all."""


@dataclass(frozen=True, slots=True)
class _Need:
    """Indices are known if all of these loops are unrolled: those of an access to `variable`, if it can be split."""

    loops: frozenset[c.Loop]
    variable: c.Var | None = None


@dataclass(eq=False, slots=True)
class Unrolling:
    """The loops that are unrolled (`loops`) and the variables whose long arrays are split into scalars (`split`).

    Both become fewer with every `Reconsidered`.
    """

    loops: frozenset[c.Loop] = frozenset()
    split: frozenset[c.Var] = frozenset()
    _nodes: int = 0
    """Nodes of the loops that this attempt has unrolled, and their iterations, of which some add no node."""
    _done: set[c.Loop] = field(default_factory=set[c.Loop])
    _reconsidered: int = 0
    _needs: Sequence[_Need] = ()
    _owners: dict[Cell, c.Var] = field(default_factory=dict[Cell, c.Var])

    @classmethod
    def of(cls, entry: c.Function, effects: EffectsAnalysis) -> Unrolling:
        """All that may be worth it in an entry point."""
        program = _Program(entry, effects)
        straightened = program.straightened_loops()
        if not program.accesses and not straightened:
            return cls()
        needs, whole = [_Need(straightened)] if straightened else [], set[c.Var]()
        for access in program.accesses:
            loops, variables = program.loops_for(access), program.split_by(access)
            if loops is None or program.is_table(access):
                whole |= variables
            else:
                needs += [_Need(loops, it) for it in variables or (None,)]
        found = cls(split=frozenset(program.candidates - whole), _needs=needs)
        found._choose()
        return found

    @property
    def is_used(self) -> bool:
        """Whether any loop is unrolled or variable split."""
        return bool(self.loops or self.split)

    def begin(self) -> None:
        """Begin an attempt."""
        self._nodes = 0
        self._done.clear()
        self._owners.clear()

    def place_for(self, variable: c.Var, *, is_spread: bool) -> CellTree:
        """New cells for a variable, as `values.place_for` makes them."""
        type, name = _store(variable), variable.name or "var"
        if variable not in self.split:
            return place_for(type, name, is_spread=is_spread)
        place = place_for(type, name, is_spread=is_spread, longest=MOST_SCALARS)
        self._owners.update(dict.fromkeys(cells_of(place), variable))
        return place

    def is_too_large(self, nodes: int) -> bool:
        """Count an iteration of a loop that has this many nodes so far; whether unrolled loops have too many."""
        self._nodes += 1
        return self._nodes + nodes > MOST_NODES

    def finish(self, loop: c.Loop, nodes: int) -> None:
        """Record a loop that was unrolled, and the nodes that are not counted with a loop around it."""
        self._done.add(loop)
        self._nodes += nodes

    def give_up(self, loop: c.Loop) -> Reconsidered:
        """Do not unroll this loop."""
        return self._give_up({loop})

    def stop(self) -> Reconsidered:
        """Unroll only the loops that this attempt has finished."""
        return self._give_up(self.loops - self._done)

    def _give_up(self, loops: Set[c.Loop]) -> Reconsidered:
        lost = [it for it in self._needs if it.loops & loops]
        self._needs = [it for it in self._needs if not it.loops & loops]
        return self._without({it.variable for it in lost if it.variable is not None})

    def keep(self, place: CellTree) -> Reconsidered:
        """Do not split the variable with these cells."""
        return self._without({self._owners[it] for it in cells_of(place)})

    def _without(self, variables: Set[c.Var]) -> Reconsidered:
        self.split -= variables
        self._reconsidered += 1
        if self._reconsidered == _MOST_RECONSIDERED:
            self.split, self._needs = frozenset(), ()
        self._choose()
        return Reconsidered()

    def _choose(self) -> None:
        needs = (it.loops for it in self._needs if it.variable is None or it.variable in self.split)
        self.loops = frozenset[c.Loop]().union(*needs)


def _store(variable: Value) -> wgsl.Type:
    assert isinstance(variable.type, wgsl.Pointer)
    return variable.type.store


def _is_private(variable: Value) -> bool:
    return isinstance(variable.type, wgsl.Pointer) and variable.type.space in _PRIVATE


def _can_be_split(variable: c.Var) -> bool:
    return (
        _is_private(variable) and holds_long_array(_store(variable)) and scalar_count(_store(variable)) <= MOST_SCALARS
    )


class _Program:
    """What an entry point and the functions that it calls do: where their values come from, and in which loops.

    `accesses` are those with computed indices to arrays, vectors and matrices that an invocation has for itself;
    `candidates` are the variables that could be split.
    """

    def __init__(self, entry: c.Function, effects: EffectsAnalysis) -> None:
        self.effects = effects
        self.accesses: list[c.Access] = []
        self.candidates: set[c.Var] = set()
        self.around: dict[Value, tuple[c.Loop, ...]] = {}
        self.instructions: dict[Value, c.Instruction] = {}
        self.function_of: dict[Value, c.Function] = {}
        self.calls: dict[c.Function, list[c.Call]] = {entry: []}
        self.passed: dict[Value, list[Value]] = {}
        self.stores: list[c.Store] = []
        self.returned: dict[c.Function, list[Value]] = {}
        self.loops: dict[c.Loop, c.Function] = {}
        pending = [entry]
        for function in pending:
            callees = self._read(function)
            pending += [it for it in dict.fromkeys(callees) if it not in pending]
        if self.accesses or self.loops:
            for store in self.stores:
                for root in self.roots(store.pointer):
                    self.passed.setdefault(root, []).append(store.value)

    # What there is

    def _read(self, function: c.Function) -> list[c.Function]:
        """Read a function; the functions that it calls."""
        callees: list[c.Function] = []

        def visit(start: c.Block, loops: tuple[c.Loop, ...]) -> None:
            for block in region(start):
                for instruction in block.instructions:
                    self.around[instruction] = loops
                    self.instructions[instruction] = instruction
                    self.function_of[instruction] = function
                    self._instruction(instruction)
                    if isinstance(instruction, c.Call):
                        self.calls.setdefault(instruction.callee, []).append(instruction)
                        callees.append(instruction.callee)
                assert block.branch is not None
                self._branch(function, block.branch)
                target, inside = block.branch.target, loops
                if isinstance(target, c.Loop):
                    self.loops[target], inside = function, (*loops, target)
                for inner in nested(block):
                    visit(inner, inside)

        visit(function.start_target, ())
        return callees

    def _instruction(self, instruction: c.Instruction) -> None:
        if isinstance(instruction, c.Access) and _has_private_steps(instruction):
            self.accesses.append(instruction)
        if isinstance(instruction, c.Store):
            self.stores.append(instruction)
        variables = (it for it in (instruction, *instruction.operands) if isinstance(it, c.Var))
        self.candidates.update(it for it in variables if _can_be_split(it))

    def _branch(self, function: c.Function, branch: c.Branch) -> None:
        target = branch.target.start_target if isinstance(branch.target, c.Loop) else branch.target
        if isinstance(target, c.Block):
            for parameter, argument in zip(target.arguments, branch.arguments, strict=False):
                self.passed.setdefault(parameter, []).append(argument)
        elif isinstance(target, c.Terminator):
            self.returned.setdefault(function, []).extend(branch.arguments)

    def roots(self, pointer: Value) -> Iterator[Value]:
        """The variables into which a pointer may point."""
        while isinstance(pointer, (c.Access, c.Load)):
            pointer = pointer.object if isinstance(pointer, c.Access) else pointer.pointer
        if isinstance(pointer, c.FunctionParameter):
            for argument in self._arguments(pointer):
                yield from self.roots(argument)
        else:
            yield pointer

    def _arguments(self, parameter: c.FunctionParameter) -> list[Value]:
        for callee, calls in self.calls.items():
            if parameter in callee.parameters:
                return [it.arguments[callee.parameters.index(parameter)] for it in calls]
        return []

    # Where values come from

    def split_by(self, access: c.Access) -> set[c.Var]:
        """The candidates that an access is to."""
        return {it for it in self.roots(access) if isinstance(it, c.Var)} & self.candidates

    def is_table(self, access: c.Access) -> bool:
        """Whether an access is to constants. A uniform index into them costs little, so that loops are worth more."""
        return all(
            isinstance(it, c.Var) and it not in self.passed and isinstance(it.initializer, c.Constant)
            for it in self.roots(access)
        )

    def loops_for(self, access: c.Access) -> frozenset[c.Loop] | None:
        """The loops after whose unrolling the indices of an access may be known; None if they depend on data, or on
        loops that cannot be unrolled.
        """
        found: set[c.Loop] = set()
        pending: list[tuple[Value, Value]] = [(it, access) for it in access.indices]
        for value, at in pending:
            sources = self._sources(value)
            if sources is None:
                return None
            for loop in self._loops_around(at):
                if loop not in found and self._changes(loop, sources):
                    conditions = self._countable_by(loop)
                    if conditions is None:
                        return None
                    found.add(loop)
                    pending += [(it, at) for it in conditions]
        return frozenset(found)

    def _sources(self, value: Value) -> set[_Source] | None:
        """All that the value is computed from; None if that includes what is read at run time only."""
        found, is_known = self._computed_from(value)
        return _held(found) if is_known else None

    def _computed_from(self, value: Value) -> tuple[set[Value], bool]:
        """The value and all that it is computed from, and whether nothing of that is read at run time only."""
        found: set[Value] = set()
        pending, is_known = [value], True
        while pending:
            value = pending.pop()
            if value in found or isinstance(value, c.Constant):
                continue
            found.add(value)
            origins = self._origins(value)
            is_known &= origins is not None
            pending += origins or ()
        return found, is_known

    def _origins(self, value: Value) -> Sequence[Value] | None:
        """What the value is computed from at once; None if it is read at run time only."""
        match value:
            case c.Load(pointer=pointer) if _is_private(pointer):
                return [*self.roots(pointer), *(it for step in _accesses(pointer) for it in step.indices)]
            case c.Var(initializer=initializer) if _is_private(value):
                return [*self.passed.get(value, ()), *([] if initializer is None else [initializer])]
            case c.BlockArgument():
                return self.passed.get(value, ())
            case c.FunctionParameter():
                return self._arguments(value) or None
            case c.Call(callee=callee):
                return self.returned.get(callee, ())
            case Value():
                instruction = self.instructions.get(value)
                if instruction is None or not is_pure(instruction) or _reads_length(instruction):
                    return None
                return instruction.operands
            case _:
                assert_never(value)

    def _loops_around(self, value: Value) -> dict[c.Loop, None]:
        """The loops around an instruction, and around the calls of its function."""
        found = dict.fromkeys(self.around[value])
        for call in self.calls.get(self.function_of[value], ()):
            found |= self._loops_around(call)
        return found

    def _changes(self, loop: c.Loop, sources: set[_Source]) -> bool:
        """Whether one of them may differ from iteration to iteration."""
        written = {it for root in self.effects.of(loop).written for it in self._outer(root, loop)}
        return bool(sources & {*written, *loop.start_target.arguments})

    def _outer(self, root: Root, loop: c.Loop) -> Iterator[Value]:
        """The variables that live longer than an iteration."""
        return (it for it in self.roots(root) if loop not in self.around.get(it, ()))

    def _countable_by(self, loop: c.Loop) -> list[Value] | None:
        """The conditions on which the loop ends that do not depend on data; None if it cannot be unrolled."""
        if self.effects.of(loop).has_barrier or any(holds_long_array(it.type) for it in loop.start_target.arguments):
            return None
        conditions = [it for it in _exit_conditions(loop) if self._sources(it) is not None]
        return conditions or None

    # Loops without which code is straight

    def straightened_loops(self) -> frozenset[c.Loop]:
        """All loops of the program, if they are short, write only variables of the invocation, and branch only on what
        does not depend on what buffers hold; else none. They may be longer if they read elements of buffers that depend
        on their counters, as those of a stencil do.
        """
        if not self.loops or not all(map(self._has_known_branches, self.loops)):
            return frozenset()
        from ..core.trip_counts import trip_counts  # of use for few entry points

        counts: dict[int, float] = {}
        for function in set(self.loops.values()):
            counts |= trip_counts(function)
        copies = sum(
            prod(counts[id(loop)] for loop in loops) for it in self.around if (loops := self._loops_around(it))
        )
        longest = max((prod(counts[id(loop)] - 1 for loop in self._loops_around(it)) for it in self.around), default=0)
        is_stencil = longest <= MOST_ELEMENTS and all(map(self._reads_other_elements, self.loops))
        return frozenset(self.loops) if copies <= (MOST_COPIES if is_stencil else MOST_SMALL_COPIES) else frozenset()

    def _has_known_branches(self, loop: c.Loop) -> bool:
        written = (it for root in self.effects.of(loop).written for it in self.roots(root))
        return (
            self._countable_by(loop) == list(_exit_conditions(loop))
            and all(map(_is_private, written))
            and not any(self._depends_on_buffers(it) for it in _conditions(loop))
        )

    def _depends_on_buffers(self, value: Value) -> bool:
        """Whether the value is computed from what buffers hold."""
        found, _ = self._computed_from(value)
        return any(isinstance(it, c.Load) and self._is_of_buffer(it) for it in found)

    def _reads_other_elements(self, loop: c.Loop) -> bool:
        return any(self._reads_another_element(it, loop) for it in self.instructions)

    def _reads_another_element(self, load: Value, loop: c.Loop) -> bool:
        """Whether this is a load from a buffer that may read another element in each iteration."""
        if not isinstance(load, c.Load) or loop not in self._loops_around(load) or not self._is_of_buffer(load):
            return False
        indices = [index for step in _accesses(load.pointer) for index in step.indices]
        return any(self._changes(loop, _held(self._computed_from(it)[0])) for it in indices)

    def _is_of_buffer(self, load: c.Load) -> bool:
        types = [it.type for it in self.roots(load.pointer)]
        return any(isinstance(it, wgsl.Pointer) and it.space is wgsl.AddressSpace.STORAGE for it in types)


def _held(values: Set[Value]) -> set[_Source]:
    """Those of the values that may be different at different times."""
    return {it for it in values if isinstance(it, (c.Var, c.BlockArgument))}


def _exit_conditions(loop: c.Loop) -> Iterator[Value]:
    """The conditions of the Ifs with an arm that leaves the loop at once."""
    for block in blocks_in(loop):
        target = None if block.branch is None else block.branch.target
        if isinstance(target, c.If):
            arms = [it.branch for it in inner_blocks(target)]
            if any(it is not None and it.target is loop.merge_target for it in arms):
                yield target.condition


def _conditions(loop: c.Loop) -> Iterator[Value]:
    """What branches in a loop depend on."""
    for block in blocks_in(loop):
        target = None if block.branch is None else block.branch.target
        if isinstance(target, (c.If, c.Switch)):
            yield target.condition


def _accesses(pointer: Value) -> Iterator[c.Access]:
    while isinstance(pointer, c.Access):
        yield pointer
        pointer = pointer.object


def _reads_length(value: Value) -> bool:
    return isinstance(value, c.BuiltinCall) and value.function == "arrayLength"


def _has_private_steps(access: c.Access) -> bool:
    """Whether an index is computed, into memory of one invocation or an array value that is made of scalars."""
    if all(isinstance(it, c.Constant) for it in access.indices):
        return False
    if isinstance(access.object.type, wgsl.Pointer):
        return _is_private(access.object)
    return not isinstance(access.object, c.Constant) and is_tree_array(access.object.type)
