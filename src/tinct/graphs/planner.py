"""Makes the plan of a graph: the interpreter of graphs runs it on a machine that records.

A value that nodes make is a buffer, which a write in place keeps, so that the steps that name a buffer are its life.
A number that a node wrote is known only when the plan is followed: `DataNumber` stands for it. It may be an extent
with a capacity, or a value that a node gets as it is. Arithmetic on it, and all else that a plan cannot hold, raises
`Unplannable`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, cast

from ..base.errors import InputError
from ..buffers import check_minimum
from ..devices import adapter_named
from ..dispatch import dispatch_size
from ..ir import types as wgsl
from ..ir.dataflow import interp
from ..ir.dataflow.nodes import Graph, Host, Leaf, Malloc, Module, Selector
from ..ir.layout import member_offsets, runtime_array, runtime_count, size_of, sized, whole_words
from ..ir.layout_packing import check_size, pack
from ..reflection import BindingInfo
from ..shader import Kernel
from .devices import NodeDevices
from .indirect import ARGUMENT_BYTES, ERROR_BYTES, MOST_CAPACITY, ExtentWord, packed_request
from .linking import Links
from .machine import check_zeros
from .numbers_in import Packed, located_number, number_in, path_of, without_atomic
from .plan import (
    HOST,
    VERSION,
    Arguments,
    Bound,
    Constant,
    DataExtent,
    Dispatch,
    Extents,
    Fact,
    Fill,
    Kind,
    Piece,
    Plan,
    PlanInput,
    PlanOutput,
    Step,
    Transfer,
)
from .plan_memory import Draft, PlanMemory
from .plan_values import DataNumber, PlannedContent, PlannedValue, Unplannable
from .time_limit import seconds_left
from .written import LaunchNumbers

_SMALL: Final = 1 << 12
"""Inputs of a fixed size of at most so many bytes that a node only reads are constants."""
_MOST_STEPS: Final = 1 << 14
"""A graph of more steps, which has many instances, is walked."""
_INTERPRETERS: Final = ("interp", "hercules")


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """What a plan is for: the bytes of the inputs, the devices, and the outputs that become inputs of the next
    execution, by name. In a repetition all other inputs stay as they are; else nodes may write them in place. Making
    the plan ends at the deadline, a value of `time.monotonic`.
    """

    given: Mapping[str, Packed]
    devices: NodeDevices
    feed: Mapping[str, str] = field(default_factory=dict[str, str])
    is_repeated: bool = False
    deadline: float | None = None


def make_plan(module: Module, links: Links, request: PlanRequest) -> Plan:
    """The plan of a verified module. Raises Unplannable, and what `interp.run` raises."""
    root = next(it for it in module.functions if it.name == module.root.function)
    assert isinstance(root, Graph)
    recorder = _Recorder(root.name, links, request)
    inputs = {name: recorder.given(name) for name in request.given}
    outputs = interp.run(module, inputs, recorder)
    return recorder.plan(outputs)


class _Recorder:
    """The machine of the interpreter that records steps."""

    def __init__(self, graph: str, links: Links, request: PlanRequest) -> None:
        self._graph = graph
        self._links = links
        self._request = request
        self._fed = frozenset(request.feed.values())
        self._drafts: list[Draft] = []
        self._steps: list[Step] = []
        self._constants: list[Constant] = []
        self._known_constants: dict[object, int] = {}
        self._errors: dict[str, int] = {}
        """By GPU, where refused extents are left."""
        self._uploads: dict[str, dict[int, str]] = {}
        """For each input, the buffers that a run writes it to, with the reasons."""
        self._facts: dict[Fact, None] = {}
        self._inputs: dict[str, PlannedContent] = {}

    # The machine

    def given(self, name: str) -> PlannedValue:
        """An input of the graph."""
        type = self._links.types[self._graph, name]
        if isinstance(type, (wgsl.Texture, wgsl.Sampler)):
            raise Unplannable(f"its input {name!r} is a texture")
        content = PlannedContent(type, len(self._request.given[name]), name, input=name, like=name)
        self._inputs[name] = content
        if self._request.is_repeated and name not in self._fed:
            content.holders += 1
        return PlannedValue(content)

    def share(self, value: PlannedValue) -> PlannedValue:
        """One more holder of the same content."""
        value.content.holders += 1
        return PlannedValue(value.content)

    def drop(self, value: PlannedValue) -> None:
        """One holder less."""
        if value.is_dropped:
            return
        value.is_dropped = True
        value.content.holders -= 1
        number = value.content.number
        if isinstance(number, DataNumber) and not value.content.holders:
            number.content.holders -= 1

    def zeros(self, graph: str, malloc: Malloc, extents: tuple[int | DataNumber, ...]) -> PlannedValue:
        """Zeros of the type of a transient buffer."""
        type, known = self._links.types[graph, malloc.name], _known(extents)
        if isinstance(type, wgsl.Texture):
            raise Unplannable(f"its transient buffer {malloc.name!r} is a texture")
        if known is None:
            raise Unplannable(f"a node writes the size of its transient buffer {malloc.name!r}")
        check_zeros(type, malloc, known)
        size = whole_words(sized(type, known[0] if known else 0))
        return PlannedValue(PlannedContent(type, size, malloc.name, is_zero=True))

    def number(self, value: float | DataNumber) -> PlannedValue:
        """A number; one that a node wrote keeps the value that it is in."""
        if isinstance(value, DataNumber):
            value.content.holders += 1
        return PlannedValue(PlannedContent(None, 0, "a number", number=value))

    def length(self, value: PlannedValue) -> int:
        """The number of elements of an array, or of the one that a structure ends in."""
        type = value.content.type
        if isinstance(type, wgsl.Array) and isinstance(type.count, int):
            return type.count
        if type is None or runtime_array(type) is None:
            raise InputError("the value has no runtime-sized array")
        return runtime_count(type, value.content.size)

    def element(self, value: PlannedValue, selectors: tuple[Selector, ...]) -> int:
        """The whole number in a value that selectors lead to."""
        content = value.content
        if content.number is not None and not selectors:
            if isinstance(content.number, float):
                raise InputError("that is no whole number")
            return cast("int", content.number)
        assert content.type is not None
        if content.is_zero or self._is_known(content):
            data = bytes(content.size) if content.is_zero else self._request.given[content.input]
            found = number_in(content.type, data, selectors)
            if not content.is_zero:
                self._facts[Fact(content.input, path_of(selectors), found)] = None
            return found
        offset, type = located_number(content.type, content.size, selectors)
        return cast("int", DataNumber(content, offset, type))

    def check_time(self) -> None:
        """Raise DeviceError when the deadline has passed."""
        seconds_left(self._request.deadline)

    def run(
        self,
        leaf: Leaf | Host,
        extents: tuple[int | DataNumber, ...],
        inputs: Mapping[str, PlannedValue],
        path: tuple[str, ...],
        *,
        capacity: int | None,
    ) -> dict[str, PlannedValue]:
        """Record one dispatch."""
        if isinstance(leaf, Host):
            raise Unplannable(f"node {'/'.join(path)!r} executes a Python function")
        if len(self._steps) > _MOST_STEPS:
            raise Unplannable(f"it has more than {_MOST_STEPS:,} steps")
        kernel, constants = self._links.kernels[leaf.name], self._links.constants[leaf.name]
        compilation, device = kernel.compilation(constants), self._request.devices.of(path)
        compilation.check_runnable_on(device)
        known = _known(extents)
        if known is None and not _may_be_read(capacity, device):
            what = "has extents that a node writes, and no capacity or an interpreter as its device"
            raise Unplannable(f"node {'/'.join(path)!r} {what}")
        workgroups = None if known is None else dispatch_size(None, known or 1, compilation)
        launch = None if workgroups is None else self._launch(leaf, workgroups, inputs)
        node = _Node(kernel, "/".join(path), HOST if device in _INTERPRETERS else device, launch)
        grid = tuple(it if isinstance(it, int) else self._extent(it, node) for it in extents)
        bound = self._bound(node, inputs)
        size = compilation.workgroup_size
        places = [
            Bound(it.name, it.group, it.binding, bound[it.name], it.is_written)
            for it in kernel.bindings
            if it.name in bound
        ]
        made = self._arguments(node, grid, size, capacity) if known is None and node.device != HOST else None
        self._steps.append(Dispatch(path, leaf.name, device, grid, size, workgroups, capacity, tuple(places), made))
        outputs = {
            it.name: self._output(inputs[it.name], it, bound[it.name]) for it in kernel.bindings if it.is_written
        }
        for value in inputs.values():
            self.drop(value)
        return outputs

    def _launch(
        self, leaf: Leaf, workgroups: tuple[int, int, int], inputs: Mapping[str, PlannedValue]
    ) -> LaunchNumbers:
        """What is known about a dispatch. Numbers in inputs count only if the plan is for these numbers anyhow."""

        def number(port: str, selectors: tuple[Selector, ...]) -> int | None:
            content, path = inputs[port].content, path_of(selectors)
            if content.number is not None:
                return content.number if isinstance(content.number, int) else None
            facts = self._facts if self._is_known(content) else ()
            return next((it.value for it in facts if (it.input, it.path) == (content.input, path)), None)

        return LaunchNumbers(leaf.name, workgroups, {port: it.content.size for port, it in inputs.items()}, number)

    def _extent(self, number: DataNumber, node: _Node) -> DataExtent:
        """A number where the device has it, or else a copy of nothing but the number."""
        content, offset, why = number.content, number.offset, f"the extent of {node.name!r} is in it"
        if node.device not in content.buffers and content.buffers:
            copy = self._draft(content.label, node.device, 4, "transient")
            self._steps.append(Transfer(next(iter(content.buffers.values())), offset, copy, 0, 4, why))
            return DataExtent(copy, 0, is_signed=without_atomic(number.type) is wgsl.I32)
        buffer = self._on(content, node.device, why)
        return DataExtent(buffer, offset, is_signed=without_atomic(number.type) is wgsl.I32)

    def _arguments(self, node: _Node, extents: Extents, size: tuple[int, int, int], capacity: int | None) -> Arguments:
        """Where the numbers of workgroups of the next step are made, which is one on a GPU."""
        words = [it if isinstance(it, int) else ExtentWord(it.offset // 4, it.is_signed) for it in extents]
        packed = packed_request(words, size, capacity, len(self._steps))
        request = self._noted(Constant(-1, packed, ()), [], f"{node.name}.extents", node.device)
        if node.device not in self._errors:
            self._errors[node.device] = self._draft("refused extents", node.device, ERROR_BYTES, "error")
            self._constants.append(Constant(self._errors[node.device], bytes(ERROR_BYTES), ()))
        made = self._draft(f"{node.name}.workgroups", node.device, ARGUMENT_BYTES, "transient")
        return Arguments(request, made, self._errors[node.device])

    def _output(self, before: PlannedValue, info: BindingInfo, buffer: int) -> PlannedValue:
        """The version of a value that a node has written."""
        draft = self._drafts[buffer]
        made = PlannedContent(info.type, draft.size, draft.label, like=before.content.like)
        made.buffers[draft.device] = buffer
        return PlannedValue(made)

    # What a node is bound to

    def _bound(self, node: _Node, inputs: Mapping[str, PlannedValue]) -> dict[str, int]:
        infos = {it.name: it for it in node.kernel.bindings}
        members: dict[str, dict[str, PlannedContent]] = {}
        bound: dict[str, int] = {}
        for port, value in inputs.items():
            name, _, member = port.partition(".")
            if member:
                members.setdefault(name, {})[member] = value.content
            elif infos[name].is_written:
                bound[name] = self._own(value.content, infos[name], node)
            else:
                bound[name] = self._readable(value.content, infos[name], node)
        bound.update({name: self._assembled(infos[name], parts, node) for name, parts in members.items()})
        for name, buffer in bound.items():
            check_minimum(infos[name], self._drafts[buffer].size)
            check_size(infos[name].type, self._drafts[buffer].size, name)
        return bound

    def _readable(self, content: PlannedContent, info: BindingInfo, node: _Node) -> int:
        """A buffer for a binding that is only read."""
        if self._is_constant(content):
            return self._constant_of(content, info.type, info.name, node.device)
        return self._on(content, node.device, node.why(info.name))

    def _own(self, content: PlannedContent, info: BindingInfo, node: _Node) -> int:
        """A buffer that a node may write: that of the value, if nobody else holds it, or a copy."""
        label, device = f"{node.name}.{info.name}", node.device
        if content.is_zero:
            if node.launch is not None and node.launch.writes_whole(self._links, info, content.size):
                return self._draft(label, device, content.size, "transient")
            return self._zeroed(content, label, device)
        if content.number is not None:
            source = self._constant_of(content, info.type, info.name, device)
            return self._copied(source, label, device, f"{node.name!r} writes it")
        if content.holders == 1:
            return self._on(content, device, node.why(info.name))
        if device in content.buffers or self._is_known(content) or not content.buffers:
            kept = self._on(content, device, node.why(info.name))
        else:
            kept = next(iter(content.buffers.values()))
        return self._copied(kept, label, device, f"{node.name!r} writes it, and its old value is still needed")

    def _on(self, content: PlannedContent, device: str, why: str) -> int:
        """A buffer with the content on a device."""
        if device in content.buffers:
            return content.buffers[device]
        if content.is_zero:
            made = self._zeroed(content, content.label, device)
        elif self._is_known(content) or (content.input and not content.buffers):
            made = self._draft(content.label, device, content.size, "input")
            self._uploads.setdefault(content.input, {})[made] = why
        else:
            made = self._copied(next(iter(content.buffers.values())), content.label, device, why)
        content.buffers[device] = made
        return made

    def _is_known(self, content: PlannedContent) -> bool:
        """Whether it is an input that is the same in all executions."""
        return bool(content.input) and content.input not in self._fed

    def _is_constant(self, content: PlannedContent) -> bool:
        """Whether a node that only reads it gets a constant."""
        if content.number is not None:
            return True
        is_open = content.type is None or runtime_array(content.type) is not None
        return self._is_known(content) and not is_open and content.size <= _SMALL

    def _zeroed(self, content: PlannedContent, label: str, device: str) -> int:
        made = self._draft(label, device, content.size, "transient")
        self._steps.append(Fill(made))
        return made

    def _copied(self, source: int, label: str, device: str, why: str) -> int:
        size = self._drafts[source].size
        made = self._draft(label, device, size, "transient")
        self._steps.append(Transfer(source, 0, made, 0, size, why))
        return made

    def _draft(self, label: str, device: str, size: int, kind: Kind) -> int:
        self._drafts.append(Draft(label, device, size, kind))
        return len(self._drafts) - 1

    # Constants

    def _constant_of(self, content: PlannedContent, type: wgsl.Type, name: str, device: str) -> int:
        """A constant with a number, or with a small input."""
        return self._constant({"": (0, type, content)}, whole_words(_fixed(type, content)), name, device, "")

    def _assembled(self, info: BindingInfo, parts: Mapping[str, PlannedContent], node: _Node) -> int:
        """A constant with the members of a uniform structure."""
        assert isinstance(info.type, wgsl.Struct)
        types = {it.name: it.type for it in info.type.members}
        offsets = dict(zip(types, member_offsets(info.type), strict=True))
        placed = {f".{name}": (offsets[name], types[name], content) for name, content in parts.items()}
        return self._constant(placed, whole_words(size_of(info.type)), info.name, node.device, node.name)

    def _constant(
        self,
        parts: Mapping[str, tuple[int, wgsl.Type, PlannedContent]],
        size: int,
        name: str,
        device: str,
        node: str,
    ) -> int:
        """A constant of so many bytes. Parts are offsets, types and contents, by what follows the name in messages."""
        data, pieces = bytearray(size), list[Piece]()
        copies: list[tuple[int, int, int, int, str]] = []
        for part, (at, type, content) in parts.items():
            why, length = f"{node!r} needs it as {name}{part}", _fixed(type, content)
            if isinstance(content.number, DataNumber):
                number = content.number
                if without_atomic(number.type) is not without_atomic(type):
                    raise Unplannable(f"{why}, and as a number of another type than a node writes")
                source = self._on(number.content, device, why)
                copies.append((source, number.offset, at, 4, why))
            elif content.number is not None:
                packed = pack(type, content.number, name=f"{name}{part}")
                data[at : at + len(packed)] = packed
            elif self._is_known(content):
                pieces.append(Piece(content.input, 0, at, length))
            elif not content.is_zero:
                copies.append((self._on(content, device, why), 0, at, length, why))
        if device != HOST and any((at | start | length) % 4 for _, start, at, length, _ in copies):
            raise Unplannable(f"{node!r} needs {name!r} by a copy of 2 bytes on a GPU")
        return self._noted(Constant(-1, bytes(data), tuple(pieces)), copies, name, device)

    def _noted(self, constant: Constant, copies: list[tuple[int, int, int, int, str]], name: str, device: str) -> int:
        """The buffer of a constant: one for all equal constants on a device into which nothing is copied."""
        key = (device, constant.data, constant.pieces)
        if not copies and key in self._known_constants:
            return self._known_constants[key]
        made = self._draft(name, device, len(constant.data), "constants")
        self._constants.append(Constant(made, constant.data, constant.pieces))
        if not copies:
            self._known_constants[key] = made
        for source, start, at, length, why in copies:
            self._steps.append(Transfer(source, start, made, at, length, why))
        return made

    # The whole

    def plan(self, outputs: Mapping[str, PlannedValue]) -> Plan:
        """The plan, when everything is recorded."""
        turns = self._turns(outputs)
        found = {name: self._result(name, value.content) for name, value in outputs.items()}
        memory = PlanMemory(self._drafts, self._steps, turns, {it.buffer for it in found.values()})
        inputs = tuple(
            PlanInput(name, len(data), tuple(self._uploads.get(name, ())), tuple(self._uploads.get(name, {}).values()))
            for name, data in self._request.given.items()
        )
        return Plan(
            VERSION,
            self._graph,
            tuple(memory.allocations),
            tuple(memory.buffers),
            tuple(self._constants),
            inputs,
            tuple(self._facts),
            tuple(self._steps),
            tuple(found.values()),
            tuple(self._request.feed.items()),
            tuple(memory.rotations()),
            memory.live_bytes,
        )

    def _result(self, name: str, content: PlannedContent) -> PlanOutput:
        """An output, in a buffer that has it already, or on the host."""
        type = self._links.types[self._graph, name]
        if self._is_constant(content):
            return PlanOutput(name, self._constant_of(content, type, name, HOST), content.like)
        device = next(iter(content.buffers), HOST)
        buffer = self._on(content, HOST if HOST in content.buffers else device, "the program reads it")
        return PlanOutput(name, buffer, content.like)

    def _turns(self, outputs: Mapping[str, PlannedValue]) -> dict[int, int]:
        """For a repetition, the buffers that become inputs, with the buffers of these. Copies what cannot change places
        with an input: it is on another device, or becomes several inputs, or is an input that stays.
        """
        turns: dict[int, int] = {}
        for output, name in self._request.feed.items():
            content, before = outputs[output].content, self._inputs[name]
            if not self._uploads.get(name):
                continue  # no node reads the input
            (target,) = self._uploads[name]
            draft = self._drafts[target]
            source = content.buffers.get(draft.device)
            if source is None or source in turns or not self._may_turn(source):
                why = f"it becomes the input {name!r} of the next execution"
                known = self._result(output, content).buffer if source is None else source
                source = self._copied(known, f"the next {name}", draft.device, why)
            if self._drafts[source].size != draft.size:
                raise InputError(
                    f"output {output!r} has {self._drafts[source].size} bytes, but the input {name!r} that it becomes "
                    f"has {before.size}: to repeat a graph, both must have the same size"
                )
            turns[source] = target
        return turns

    def _may_turn(self, buffer: int) -> bool:
        kind = self._drafts[buffer].kind
        is_fed = any(buffer in self._uploads.get(name, ()) for name in self._fed)
        return kind == "transient" or (kind == "input" and is_fed)


@dataclass(frozen=True, slots=True)
class _Node:
    """A node while its dispatch is recorded. `device` has the memory. `launch` is None if a node wrote an extent."""

    kernel: Kernel
    name: str
    device: str
    launch: LaunchNumbers | None

    def why(self, binding: str) -> str:
        """The reason for a copy."""
        return f"'{self.kernel.info.name}' needs it as {binding}"


def _fixed(type: wgsl.Type, content: PlannedContent) -> int:
    """The bytes of a part of a constant."""
    return content.size if runtime_array(type) is not None else size_of(type)


def _known(extents: tuple[int | DataNumber, ...]) -> tuple[int, ...] | None:
    """Extents of which no node wrote one."""
    known = tuple(it for it in extents if isinstance(it, int))
    return known if len(known) == len(extents) else None


def _may_be_read(capacity: int | None, device: str) -> bool:
    """Whether the device takes extents from a buffer."""
    if adapter_named(device) is not None:
        return capacity is not None and capacity <= MOST_CAPACITY
    return capacity is not None and device == "cpu"
