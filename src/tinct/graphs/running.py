"""Runs a graph: by a plan that is kept, or, on the interpreters and where no plan can be, by walking the graph.

A runner keeps the plans that a graph was run with, and for the latest ones their memory and prepared steps
(`Executor`), so that a run only writes inputs, follows the plan and reads outputs. Runs at the same time have an
executor each.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy.typing as npt

from ..backend.cpu.reused_memory import ReusedMemory
from ..base.deadline import compiling_within
from ..base.errors import DeviceError, InputError
from ..buffers import pack_binding, unpack_binding
from ..ir.dataflow import interp
from ..ir.dataflow.nodes import Element, Member
from ..kernel import BufferValue
from ..sessions import Copy, Session
from ..sessions.forms import like as without_memory
from .devices import NodeDevices
from .executor import Executor
from .machine import NodeTiming, SessionMachine, Value, host_value
from .numbers_in import Packed, number_in
from .plan import Handle, Plan
from .plan_draft import PlanRequest
from .plan_handles import handle_of
from .plan_values import Unplannable
from .planner import make_plan
from .repeating import Repetition
from .run_record import Record, Turns
from .time_limit import seconds_left

if TYPE_CHECKING:
    from .program import GraphProgram

Array: TypeAlias = npt.NDArray[Any]

_MOST_PLANS: Final = 64
"""The number of plans that a graph keeps."""
_MOST_EXECUTORS: Final = 4
"""The number of executors, with their memory, that a graph keeps between runs."""
_WALKED: Final = ("interp", "hercules")
"""The devices on which a graph is walked: that is what it means."""


@dataclass(frozen=True, slots=True)
class GraphRun:
    """The result of a run: the outputs by name, the times of nodes by their paths in the hierarchy, and the copies
    between devices and of values that a node writes while another still needs them. `executions` is how often the graph
    was executed.
    """

    outputs: dict[str, Array]
    timings: dict[tuple[str, ...], NodeTiming]
    copies: tuple[Copy, ...]
    executions: int = 1


def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a graph is run. `seconds` is the time limit, which ends at `deadline`, a value of `time.monotonic`. If it is
    timed, each node is waited for. `should_stop` is asked between executions.
    """

    devices: NodeDevices
    repetition: Repetition
    seconds: float | None = None
    deadline: float | None = None
    is_timed: bool = False
    should_stop: Callable[[], bool] = _never

    @property
    def is_walked(self) -> bool:
        """Whether all nodes are on interpreters."""
        return all(it in _WALKED for it in (self.devices.default, *self.devices.by_path.values()))


@dataclass(frozen=True, slots=True)
class _Given:
    """The inputs: as bytes, and the dtype and shape of those that are arrays, without their memory."""

    packed: Mapping[str, Packed]
    likes: Mapping[str, Array | None]
    handles: tuple[Handle | None, ...]
    """Those of textures and samplers."""

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(map(len, self.packed.values()))


_Key: TypeAlias = "tuple[object, ...]"


@dataclass(eq=False)
class Runner:
    """Runs one graph. Safe to share between threads."""

    graph: GraphProgram
    _plans: dict[_Key, list[Plan | None]] = field(default_factory=dict["_Key", "list[Plan | None]"])
    """By sizes, extents of textures, samplers, devices and repetition: a plan for each set of numbers that expressions
    read; None if there is none.
    """
    free: list[Executor] = field(default_factory=list[Executor])
    """Executors that nobody uses, the latest last."""
    memory: ReusedMemory = field(default_factory=ReusedMemory)
    """What the items of streams through the graph are copied to."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def close(self) -> None:
        """Free the memory that is kept between runs."""
        with self._lock:
            free, self.free = self.free, []
            self.memory = ReusedMemory()
        for executor in free:
            executor.close()

    def run(self, inputs: Mapping[str, BufferValue], options: RunOptions) -> GraphRun:
        """Run the graph with checked inputs. Raises InputError, ShaderError and DeviceError."""
        if options.repetition.most == 0:
            return self._not_run(inputs, options.repetition)
        plan = given = None
        if not options.is_walked and self.graph.why_one_by_one is None:
            given = self._packed(inputs)
            plan = self.plan(given, options)
        if plan is None or given is None:
            return walk(self.graph, inputs, options)
        return self._follow(plan, given, options)

    def plan_for(self, inputs: Mapping[str, BufferValue], options: RunOptions) -> Plan:
        """The plan of a run. Raises Unplannable, which says why there can be none."""
        given = self._packed(inputs)
        return self.plan(given, options) or self._new_plan(given, options)

    # Plans

    def _packed(self, inputs: Mapping[str, BufferValue]) -> _Given:
        """The bytes of the inputs."""
        infos = self.graph.inputs
        values = {name: host_value(info, inputs[name]) for name, info in infos.items()}
        packed = {name: pack_binding(info, values[name], "compact") for name, info in infos.items()}
        handles = tuple(handle_of(info.type, packed[name]) for name, info in infos.items())
        return _Given(packed, {name: without_memory(it) for name, it in values.items()}, handles)

    def plan(self, given: _Given, options: RunOptions) -> Plan | None:
        """A plan that is known, or a new one; None if there can be none."""
        feed = options.repetition.feed
        devices = options.devices
        key = (given.sizes, given.handles, devices.default, tuple(devices.by_path.items()), tuple(feed.items()))
        with self._lock:
            known = list(self._plans.get(key, ()))
        for plan in known:
            if plan is None or self._holds(plan, given):
                return plan
        try:
            made = self._new_plan(given, options)
        except Unplannable:
            made = None
        with self._lock:
            if sum(map(len, self._plans.values())) >= _MOST_PLANS:
                self._plans.clear()
            self._plans.setdefault(key, []).append(made)
        return made

    def _new_plan(self, given: _Given, options: RunOptions) -> Plan:
        feed, deadline = options.repetition.feed, options.deadline
        request = PlanRequest(given.packed, options.devices, feed, is_repeated=bool(feed), deadline=deadline)
        with compiling_within(seconds_left(deadline)):
            return make_plan(self.graph.module, self.graph.links, request)

    def _holds(self, plan: Plan, given: _Given) -> bool:
        """Whether the numbers that expressions read are those of the plan."""
        for fact in plan.facts:
            selectors = tuple(Element(it) if isinstance(it, int) else Member(it) for it in fact.path)
            if number_in(self.graph.inputs[fact.input].type, given.packed[fact.input], selectors) != fact.value:
                return False
        return True

    # Following a plan

    def _follow(self, plan: Plan, given: _Given, options: RunOptions) -> GraphRun:
        asked, record = options.repetition, Record() if options.is_timed else None
        for it in plan.outputs:
            if it.name == asked.until:
                check_flag(it.name, plan.buffers[it.buffer].size // 4)
        executor = self._executor(plan)
        turns = Turns(asked.most, asked.until, asked.every, options.should_stop)
        executions = executor.run(given.packed, turns, options.deadline, record)
        outputs: dict[str, Array] = {}
        for it in plan.outputs:
            info = self.graph.output_infos[it.name]
            outputs[it.name] = unpack_binding(info, executor.output(it, record).data, given.likes.get(it.like))
        self._give_back(executor)
        if record is None:
            return GraphRun(outputs, {}, (), executions)
        return GraphRun(outputs, record.timings, tuple(record.copies), executions)

    def _executor(self, plan: Plan) -> Executor:
        """An executor of the plan, which nobody else uses."""
        with self._lock:
            found = next((it for it in reversed(self.free) if it.plan is plan), None)
            if found is not None:
                self.free.remove(found)
        if found is not None and found.is_whole:
            return found
        return Executor(plan, self.graph.links)

    def _give_back(self, executor: Executor) -> None:
        with self._lock:
            self.free.append(executor)
            dropped = self.free.pop(0) if len(self.free) > _MOST_EXECUTORS else None
        if dropped is not None:
            dropped.close()

    def _not_run(self, inputs: Mapping[str, BufferValue], asked: Repetition) -> GraphRun:
        """No execution: the outputs that become inputs are these inputs."""
        outputs: dict[str, Array] = {}
        for output, name in asked.feed.items():
            info = self.graph.inputs[name]
            value = host_value(info, inputs[name])
            outputs[output] = unpack_binding(info, pack_binding(info, value), without_memory(value))
        return GraphRun(outputs, {}, (), 0)


# Walking


def walk(graph: GraphProgram, inputs: Mapping[str, BufferValue], options: RunOptions) -> GraphRun:
    """Run a graph by its interpreter, in a session of its own, without a plan."""
    with Session() as session:
        machine = SessionMachine(graph.links, session, options.devices, options.deadline, options.is_timed)
        walker = _Walker(graph, machine, options)
        outputs = walker.run({name: machine.given(info, inputs[name]) for name, info in graph.inputs.items()})
        arrays = {name: machine.array(value) for name, value in outputs.items()}
        return GraphRun(arrays, machine.timings, tuple(session.copies), walker.executions)


class _Walker:
    def __init__(self, graph: GraphProgram, machine: SessionMachine, options: RunOptions) -> None:
        self._graph = graph
        self._machine = machine
        self._options = options
        self.executions = 0

    def run(self, values: dict[str, Value]) -> dict[str, Value]:
        """The outputs of the last execution."""
        machine, asked = self._machine, self._options.repetition
        fed = set(asked.feed.values())
        while True:
            machine.step = None if asked.most == 1 else self.executions + 1
            held = {name: it if name in fed else machine.share(it) for name, it in values.items()}
            outputs = interp.run(self._graph.module, held, machine)
            self.executions += 1
            if self._is_last(outputs):
                return outputs
            machine.check_time()
            if self._options.should_stop():
                raise DeviceError("the run was given up")
            for output, name in asked.feed.items():
                self._check_length(output, name, outputs[output], values[name])
                values[name] = machine.share(outputs[output])
            for value in outputs.values():
                machine.drop(value)

    def _is_last(self, outputs: Mapping[str, Value]) -> bool:
        asked = self._options.repetition
        if self.executions == asked.most:
            return True
        return asked.until is not None and bool(flag_of(asked.until, self._machine.array(outputs[asked.until])))

    def _check_length(self, output: str, name: str, value: Value, before: Value) -> None:
        machine = self._machine
        counts = [machine.length(it) if machine.is_runtime_sized(it) else 0 for it in (value, before)]
        extents = [machine.extents(it) for it in (value, before)]
        if extents[0] != extents[1]:
            texels = [" x ".join(map(str, it)) for it in extents]
            raise InputError(
                f"output {output!r} has {texels[0]} texels, but the input {name!r} that it becomes has {texels[1]}: to "
                "repeat a graph, both must have the same size"
            )
        if counts[0] != counts[1]:
            raise InputError(
                f"output {output!r} has {counts[0]} elements, but the input {name!r} that it becomes has {counts[1]}: "
                "to repeat a graph, both must have the same size"
            )


def flag_of(name: str, values: Array) -> int:
    """The number that says whether to go on. Raises InputError for several."""
    check_flag(name, values.size)
    return int(values.reshape(-1)[0])


def check_flag(name: str, count: int) -> None:
    """Raise InputError for an output of several numbers."""
    if count != 1:
        raise InputError(f"until takes an output that is one whole number, but {name!r} has {count}")
