"""The reference interpreter: plain code before speed.

`run` takes a function and values for its dynamic constants and parameters, and gives the value it returns. Control
walks the basic blocks of the function's `Placement`; each block runs its nodes in order, and the collections of a
linear chain are one storage that changes in place. Threads of a fork run one after another, in a `ThreadOrder` that
the caller chooses: for a function without races every order gives the same result, up to the order in which a Reduce
folds.

Details of the semantics: all phis of a region are assigned at once when control reaches the region. A fork of factor 0
runs nothing: its Reduces are their `init`, its Collects empty. A position past the end means the last element; an empty
array reads zero and ignores writes.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, assert_never

from ...base.deadline import NEVER, Deadline, Ticks
from ..diagnostics import with_article
from . import arithmetic, dynamic, operations, storage
from .graph import predecessors
from .nodes import (
    AnyScalarNode,
    Array,
    Atomic,
    AtomicOp,
    Call,
    Collect,
    ConstantNode,
    ControlIndex,
    ControlNode,
    DynamicConstantNode,
    FieldIndex,
    FloatingNode,
    Fork,
    Function,
    If,
    Index,
    Integer,
    Join,
    Match,
    Node,
    Parameter,
    Phi,
    PinnedNode,
    PositionIndex,
    Product,
    ProductNode,
    Read,
    Reduce,
    Region,
    Return,
    ScalarNode,
    Start,
    ThreadID,
    Type,
    VariantIndex,
    Write,
)
from .placement import Placement, place_nodes
from .storage import Value, Variant
from .types import Scalar, element_type, is_collection, is_scalar
from .versions import is_version_projection

ThreadOrder: TypeAlias = Callable[[int], Iterable[int]]
Frame: TypeAlias = "list[Value]"
Step: TypeAlias = Callable[[Frame], None]
Exit: TypeAlias = "Callable[[Frame], _Block | None]"


class InterpreterError(Exception):
    """A function that cannot run (it does not verify), or arguments that do not fit it."""


def forward(count: int) -> Iterable[int]:
    """Threads in the order of their numbers."""
    return range(count)


def backward(count: int) -> Iterable[int]:
    """The last thread first."""
    return range(count - 1, -1, -1)


def shuffled(seed: int) -> ThreadOrder:
    """A random order, a new one each time a fork is entered."""
    source = random.Random(seed)

    def order(count: int) -> Iterable[int]:
        numbers = list(range(count))
        source.shuffle(numbers)
        return numbers

    return order


def run(
    function: Function, dynamic_constants: Sequence[int], arguments: Sequence[object], order: ThreadOrder = forward
) -> Value:
    """The value the function returns. The arguments (see `storage.from_python`) are left as they are.

    Raises InterpreterError.
    """
    if len(dynamic_constants) != len(function.dynamic_constants):
        raise InterpreterError(f"{function.name} takes {len(function.dynamic_constants)} dynamic constants")
    if len(arguments) != len(function.parameter_types):
        raise InterpreterError(f"{function.name} takes {len(function.parameter_types)} arguments")
    values = [storage.from_python(it) for it in arguments]
    for name, type, value in zip(function.parameter_names, function.parameter_types, values, strict=True):
        if (why := storage.mismatch(type, value, dynamic_constants)) is not None:
            raise InterpreterError(f"the argument {name!r} {why}")
    return run_in_place(function, dynamic_constants, values, order)


def run_in_place(
    function: Function,
    dynamic_constants: Sequence[int],
    arguments: Sequence[Value],
    order: ThreadOrder = forward,
    deadline: Deadline = NEVER,
) -> Value:
    """Like `run`, but unchecked and in the storage of the arguments: collections that the function consumes change.

    The result may share storage with the arguments. Raises InterpreterError, and DeviceError past the deadline.
    """
    return _Program(order, Ticks(deadline)).compiled(function, tuple(dynamic_constants)).call(arguments)


# Blocks


@dataclass(slots=True, eq=False)
class _Block:
    steps: list[Step] = field(default_factory=list[Step])
    leave: Exit = field(default=lambda _: None)


@dataclass(slots=True)
class _Compiled:
    """A function for one set of dynamic constants: blocks of closures over numbered slots of a frame."""

    entry: _Block
    size: int
    parameters: list[tuple[int, int]]
    ticks: Ticks

    def call(self, arguments: Sequence[Value]) -> Value:
        """Run the function. Arguments that it consumes change."""
        frame: Frame = [0] * self.size
        for slot, index in self.parameters:
            frame[slot] = arguments[index]
        block: _Block | None = self.entry
        while block is not None:
            self.ticks.count()
            for step in block.steps:
                step(frame)
            block = block.leave(frame)
        return frame[0]


@dataclass(slots=True)
class _Program:
    """The compiled functions of one run, so that none outlives its graph."""

    order: ThreadOrder
    ticks: Ticks
    known: dict[tuple[Function, tuple[int, ...]], _Compiled] = field(
        default_factory=dict[tuple[Function, tuple[int, ...]], _Compiled]
    )

    def compiled(self, function: Function, constants: tuple[int, ...]) -> _Compiled:
        key = function, constants
        if key not in self.known:
            placed = place_nodes(function)
            if placed.problems:
                raise InterpreterError(f"{function.name} cannot run: a node {placed.problems[0].message}")
            self.known[key] = _Compiler(self, placed, constants).compile()
        return self.known[key]


_RESULT = 0  # the slot of the value that is returned


@dataclass(slots=True)
class _Compiler:
    program: _Program
    placed: Placement
    constants: tuple[int, ...]
    slots: dict[Node, int] = field(default_factory=dict[Node, int])
    size: int = _RESULT + 1

    def compile(self) -> _Compiled:
        placed = self.placed
        for node in placed.function.nodes:
            if node in placed.place:
                self.slots[node] = self.new_slot()
        blocks = {leader: _Block() for leader in placed.blocks}
        entry = blocks[placed.graph.order[0]]
        entry.steps += [it for node in placed.place for it in self._initial(node)]
        parameters = [(slot, node.index) for node, slot in self.slots.items() if isinstance(node, Parameter)]
        threads = {fork: _Threads(self, fork, join, blocks) for fork, join in placed.nest.joins.items()}
        for leader, nodes in placed.blocks.items():
            blocks[leader].steps += [self._step(node) for node in nodes]
            blocks[leader].leave = self._exit(leader, blocks, threads)
        return _Compiled(entry, self.size, parameters, self.program.ticks)

    def new_slot(self) -> int:
        """A new temporary slot of the frame."""
        self.size += 1
        return self.size - 1

    def _initial(self, node: Node) -> Iterable[Step]:
        """Scalar constants are set once at the start; constant collections are created each time their block runs."""
        if isinstance(node, DynamicConstantNode):
            yield self._store(node, dynamic.evaluate(node.value, self.constants))
        elif isinstance(node, ConstantNode) and not is_collection(self.placed.types[node]):
            yield self._store(node, storage.constant(node.value, self.constants))

    def _store(self, node: Node, value: Value) -> Step:
        slot = self.slots[node]

        def step(frame: Frame) -> None:
            frame[slot] = value

        return step

    # Control

    def _exit(self, leader: Node, blocks: dict[Node, _Block], threads: dict[Fork, _Threads]) -> Exit:
        following = self.placed.exits[leader]
        match following:
            case Return(value=value):
                return self._return(self.slots[value])
            case If(condition=condition):
                return _branch(self.slots[condition], self._outputs(following, blocks))
            case Match(sum=sum):
                return _match(self.slots[sum], self._outputs(following, blocks))
            case Fork():
                return threads[following].enter
            case Join():
                return threads[self.placed.nest.forks[following]].leave
            case Start() | Region() | Read():
                return self._jump(leader, following, blocks[following])
            case FloatingNode() | PinnedNode():
                raise AssertionError("control goes on to control")
            case _:
                assert_never(following)

    def _return(self, slot: int) -> Exit:
        def leave(frame: Frame) -> None:
            frame[_RESULT] = frame[slot]

        return leave

    def _outputs(self, branch: Node, blocks: dict[Node, _Block]) -> dict[int, _Block]:
        """The blocks that a branch leads to, by the numbers of its outputs."""
        outputs: dict[int, _Block] = {}
        for output in self.placed.graph.successors[branch]:
            if isinstance(output, Read):
                outputs |= {it.output: blocks[output] for it in output.indices if isinstance(it, ControlIndex)}
        return outputs

    def _jump(self, leader: Node, region: Node, target: _Block) -> Exit:
        """Assign the phis of the region the values for this predecessor."""
        assert isinstance(region, Region)
        edge = region.predecessors.index(leader)
        phis = [node for node in self.slots if isinstance(node, Phi) and node.region is region]
        moves = [(self.slots[phi.values[edge]], self.slots[phi]) for phi in phis]

        def leave(frame: Frame) -> _Block:
            _move(frame, moves)
            return target

        return leave

    # Data

    def _step(self, node: Node) -> Step:
        match node:
            case ConstantNode(value):
                return self._fresh(node, lambda: storage.constant(value, self.constants))
            case ScalarNode():
                return self._operation(node)
            case Call():
                return self._call(node)
            case Read():
                return self._read(node)
            case Write():
                return self._write(node)
            case Atomic():
                return self._atomic(node)
            case ProductNode(fields):
                return self._product(node, fields)
            case ControlNode() | PinnedNode() | Parameter() | DynamicConstantNode():
                raise InterpreterError(f"{with_article(node.__class__.__name__)} cannot float")
            case _:
                assert_never(node)

    def _scalar(self, node: Node) -> Scalar:
        type = self.placed.types[node]
        assert is_scalar(type)
        return type

    def _fresh(self, node: Node, make: Callable[[], Value]) -> Step:
        slot = self.slots[node]

        def step(frame: Frame) -> None:
            frame[slot] = make()

        return step

    def _operation(self, node: AnyScalarNode) -> Step:
        operands = predecessors(node)
        compute = operations.kernel(node, [self._scalar(it) for it in operands], self._scalar(node))
        return _computation(compute, self.slots[node], [self.slots[it] for it in operands])

    def _call(self, node: Call) -> Step:
        constants = tuple(dynamic.evaluate(it, self.constants) for it in node.dynamic_constants)
        callee = self.program.compiled(node.callee, constants)
        slot, sources = self.slots[node], [self.slots[it] for it in node.arguments]

        def step(frame: Frame) -> None:
            frame[slot] = callee.call([frame[it] for it in sources])

        return step

    def _product(self, node: Node, fields: list[Node]) -> Step:
        slot, sources = self.slots[node], [self.slots[it] for it in fields]

        def step(frame: Frame) -> None:
            frame[slot] = [frame[it] for it in sources]

        return step

    # Collections

    def _read(self, node: Read) -> Step:
        slot, source = self.slots[node], self.slots[node.collection]
        path = self._path(node.collection, node.indices)
        type = self.placed.types[node]

        def zero() -> Value:
            return storage.zero(type, self.constants)

        if path is None:
            return self._fresh(node, zero)
        finish = storage.copy if not is_scalar(type) and not is_version_projection(node) else None
        if finish is None and len(path) == 1 and path[0][0] is not None:
            return _read_element(slot, source, *path[0])

        def step(frame: Frame) -> None:
            value = storage.get(frame[source], _follow(frame, path), zero)
            frame[slot] = value if finish is None else finish(value)

        return step

    def _write(self, node: Write) -> Step:
        slot, source, value = self.slots[node], self.slots[node.collection], self.slots[node.value]
        path = self._path(node.collection, node.indices)

        def step(frame: Frame) -> None:
            collection = frame[slot] = frame[source]
            if path is not None:
                storage.put(collection, _follow(frame, path), storage.copy(frame[value]))

        return step

    def _atomic(self, node: Atomic) -> Step:
        slot, source = self.slots[node], self.slots[node.collection]
        operands = [self.slots[it] for it in node.operands]
        path = self._path(node.collection, node.indices)
        both = self.placed.types[node]
        assert isinstance(both, Product)
        type = both.fields[1]
        assert isinstance(type, Integer)
        change, is_load = arithmetic.atomic(node.op, type), node.op is AtomicOp.LOAD

        def step(frame: Frame) -> None:
            collection, old = frame[source], 0
            if path is not None:
                where = _follow(frame, path)
                old = _integer(storage.get(collection, where, int))
                if not is_load:
                    storage.put(collection, where, change(old, [_integer(frame[it]) for it in operands]))
            frame[slot] = [collection, old]

        return step

    def _path(self, collection: Node, indices: Sequence[Index]) -> _Path | None:
        """For each level the slot of a position and the last valid position, or no slot and a fixed number.

        None if an array on the path is empty.
        """
        path: list[tuple[int | None, int]] = []
        type: Type | None = self.placed.types[collection]
        for index in indices:
            assert type is not None
            match index:
                case FieldIndex(number) | VariantIndex(number) | ControlIndex(number):
                    path.append((None, number))
                case PositionIndex(position):
                    assert isinstance(type, Array)
                    extent = dynamic.evaluate(type.extent, self.constants)
                    if extent == 0:
                        return None
                    path.append((self.slots[position], extent - 1))
                case _:
                    assert_never(index)
            type = element_type(type, index)
        return path


_Path: TypeAlias = "list[tuple[int | None, int]]"


class _Threads:
    """A fork and its join: runs the threads one after another, and gathers their results."""

    def __init__(self, compiler: _Compiler, fork: Fork, join: Join, blocks: dict[Node, _Block]) -> None:
        slots = compiler.slots
        nodes = list(slots)
        reduces = [it for it in nodes if isinstance(it, Reduce) and it.join is join]
        self._collects = [(slots[it.value], slots[it]) for it in nodes if isinstance(it, Collect) and it.join is join]
        self._inits = [(slots[it.init], slots[it]) for it in reduces]
        self._updates = [(slots[it.update], slots[it]) for it in reduces]
        self._numbers = [slots[it] for it in nodes if isinstance(it, ThreadID) and it.fork is fork]
        self._factor = dynamic.evaluate(fork.factor, compiler.constants)
        self._order = compiler.program.order
        # What is left to run of each fork that has been entered lies in the frame: a callee has its own.
        self._rest, self._current = compiler.new_slot(), compiler.new_slot()
        self._body, self._after = blocks[fork], blocks[join]

    def enter(self, frame: Frame) -> _Block:
        """From the fork's predecessor: the first thread's block, or the join's if there are no threads."""
        _move(frame, self._inits)
        for _, collect in self._collects:
            places: list[Value] = [0] * self._factor
            frame[collect] = places
        rest: list[Value] = [*self._order(self._factor)]
        rest.reverse()
        frame[self._rest] = rest
        return self._start_thread(frame)

    def leave(self, frame: Frame) -> _Block:
        """From the end of a thread: the next one's block, or the join's."""
        number = _integer(frame[self._current])
        for source, collect in self._collects:
            _elements(frame[collect])[number] = frame[source]
        _move(frame, self._updates)
        return self._start_thread(frame)

    def _start_thread(self, frame: Frame) -> _Block:
        rest = _elements(frame[self._rest])
        if not rest:
            return self._after
        number = frame[self._current] = rest.pop()
        for slot in self._numbers:
            frame[slot] = number
        return self._body


def _move(frame: Frame, moves: list[tuple[int, int]]) -> None:
    """A parallel copy: every source is read before any target is written."""
    values = [frame[source] for source, _ in moves]
    for value, (_, target) in zip(values, moves, strict=True):
        frame[target] = value


def _branch(condition: int, targets: dict[int, _Block]) -> Exit:
    if_false, if_true = targets[0], targets[1]

    def leave(frame: Frame) -> _Block:
        return if_true if frame[condition] else if_false

    return leave


def _match(sum: int, targets: dict[int, _Block]) -> Exit:
    def leave(frame: Frame) -> _Block:
        value = frame[sum]
        assert isinstance(value, Variant)
        return targets[value.index]

    return leave


def _read_element(slot: int, source: int, position: int | None, last: int) -> Step:
    """Fast path: a scalar element of an array."""
    assert position is not None

    def step(frame: Frame) -> None:
        array, number = frame[source], _integer(frame[position])
        number = min(number, last)
        frame[slot] = array[number] if isinstance(array, list) else storage.get(array, [number], int)

    return step


def _follow(frame: Frame, path: _Path) -> list[int]:
    return [last if slot is None else min(_integer(frame[slot]), last) for slot, last in path]


def _computation(compute: operations.Kernel, target: int, operands: Sequence[int]) -> Step:
    match operands:
        case [operand]:

            def step(frame: Frame) -> None:
                frame[target] = compute(frame[operand])

        case [left, right]:

            def step(frame: Frame) -> None:
                frame[target] = compute(frame[left], frame[right])

        case [first, second, third]:

            def step(frame: Frame) -> None:
                frame[target] = compute(frame[first], frame[second], frame[third])

        case _:

            def step(frame: Frame) -> None:
                frame[target] = compute(*[frame[it] for it in operands])

    return step


def _integer(value: Value) -> int:
    assert isinstance(value, int)
    return value


def _elements(value: Value) -> list[Value]:
    assert isinstance(value, list)
    return value
