"""Makes the plan of a graph: the interpreter of graphs runs it on a machine that records.

A value that nodes make is a buffer, which a write in place keeps, so that the steps that name a buffer are its life.
A number that a node wrote is known only when the plan is followed: `DataNumber` stands for it, and `ComputedNumber` for
what is computed from it. It may be an extent with a capacity, or a value that a node gets. All else that a plan cannot
hold raises `Unplannable`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, cast

from ..base.errors import InputError
from ..compilation import Compilation
from ..dispatch import check_samplers, dispatch_size
from ..ir import types as wgsl
from ..ir.dataflow import interp
from ..ir.dataflow.nodes import Graph, Host, Leaf, Malloc, Module, Selector
from ..ir.layout import runtime_array, runtime_count, sized, whole_words
from ..reflection import BindingInfo
from ..textures import pack_texture
from .linking import Links
from .machine import check_zeros, empty_texture
from .numbers_in import located_number, number_in, path_of
from .plan import HOST, Bound, Dispatch, Fact, Plan
from .plan_bindings import NodeBindings, PlannedNode
from .plan_draft import PlanDraft, PlanRequest
from .plan_extents import PlannedExtents, known_extents, may_be_read
from .plan_handles import handle_of
from .plan_outputs import PlanOutputs
from .plan_values import DataNumber, PlannedContent, PlannedNumber, PlannedValue, Unplannable
from .time_limit import seconds_left
from .written import LaunchNumbers

_MOST_STEPS: Final = 1 << 14
"""A graph of more steps, which has many instances, is walked."""
_INTERPRETERS: Final = ("interp", "hercules")


def make_plan(module: Module, links: Links, request: PlanRequest) -> Plan:
    """The plan of a verified module. Raises Unplannable, and what `interp.run` raises."""
    root = next(it for it in module.functions if it.name == module.root.function)
    assert isinstance(root, Graph)
    recorder = _Recorder(root.name, links, request)
    inputs = {name: recorder.given(name) for name in request.given}
    outputs = interp.run(module, inputs, recorder)
    return PlanOutputs(root.name, links, recorder.draft).plan(recorder.inputs, outputs)


class _Recorder:
    """The machine of the interpreter that records steps."""

    def __init__(self, graph: str, links: Links, request: PlanRequest) -> None:
        self._graph = graph
        self._links = links
        self._request = request
        self.draft = PlanDraft(request)
        self.inputs: dict[str, PlannedContent] = {}
        """What the inputs of the graph are."""
        self._extents = PlannedExtents(self.draft)

    def given(self, name: str) -> PlannedValue:
        """An input of the graph."""
        type, data = self._links.types[self._graph, name], self._request.given[name]
        content = PlannedContent(type, len(data), name, input=name, like=name, handle=handle_of(type, data))
        self.inputs[name] = content
        if self._request.is_repeated and name not in self.draft.fed:
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
        if isinstance(number, PlannedNumber) and not value.content.holders:
            for content in number.contents:
                content.holders -= 1

    def zeros(self, graph: str, malloc: Malloc, extents: tuple[int | PlannedNumber, ...]) -> PlannedValue:
        """Zeros of the type of a transient buffer."""
        type, known = self._links.types[graph, malloc.name], known_extents(extents)
        if known is None:
            raise Unplannable(f"a node writes the size of its transient buffer {malloc.name!r}")
        if isinstance(type, wgsl.Texture):
            data = pack_texture(type, empty_texture(type, known))
            handle = handle_of(type, data)
            return PlannedValue(PlannedContent(type, len(data), malloc.name, is_zero=True, handle=handle))
        check_zeros(type, malloc, known)
        size = whole_words(sized(type, known[0] if known else 0))
        return PlannedValue(PlannedContent(type, size, malloc.name, is_zero=True))

    def number(self, value: float | PlannedNumber) -> PlannedValue:
        """A number; one that a node wrote keeps the values that it comes from."""
        if isinstance(value, PlannedNumber):
            for content in value.contents:
                content.holders += 1
        return PlannedValue(PlannedContent(None, 0, "a number", number=value))

    def length(self, value: PlannedValue) -> int:
        """The number of elements of an array, or of the one that a structure ends in."""
        type = value.content.type
        if isinstance(type, wgsl.Array) and isinstance(type.count, int):
            return type.count
        if type is None or value.content.handle is not None or runtime_array(type) is None:
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
        if content.handle is not None:
            raise InputError(f"{content.type} has no elements that an expression could read")
        if content.is_zero or self.draft.is_known(content):
            data = bytes(content.size) if content.is_zero else self._request.given[content.input]
            found = number_in(content.type, data, selectors)
            if not content.is_zero:
                self.draft.facts[Fact(content.input, path_of(selectors), found)] = None
            return found
        offset, type = located_number(content.type, content.size, selectors)
        return cast("int", DataNumber(content, offset, type, path_of(selectors)))

    def check_time(self) -> None:
        """Raise DeviceError when the deadline has passed."""
        seconds_left(self._request.deadline)

    def run(
        self,
        leaf: Leaf | Host,
        extents: tuple[int | PlannedNumber, ...],
        inputs: Mapping[str, PlannedValue],
        path: tuple[str, ...],
        *,
        capacity: int | None,
    ) -> dict[str, PlannedValue]:
        """Record one dispatch."""
        if isinstance(leaf, Host):
            raise Unplannable(f"node {'/'.join(path)!r} executes a Python function")
        if len(self.draft.steps) > _MOST_STEPS:
            raise Unplannable(f"it has more than {_MOST_STEPS:,} steps")
        kernel, constants = self._links.kernels[leaf.name], self._links.constants[leaf.name]
        compilation, device = kernel.compilation(constants), self._request.devices.of(path)
        compilation.check_runnable_on(device)
        known = known_extents(extents)
        if known is None and not may_be_read(capacity, device):
            what = "has extents that a node writes, and no capacity or an interpreter as its device"
            raise Unplannable(f"node {'/'.join(path)!r} {what}")
        workgroups = None if known is None else dispatch_size(None, known or 1, compilation)
        launch = None if workgroups is None else self._launch(leaf, workgroups, inputs)
        node = PlannedNode(kernel, "/".join(path), HOST if device in _INTERPRETERS else device, launch)
        grid = tuple(it if isinstance(it, int) else self._extents.extent(it, node) for it in extents)
        bound = NodeBindings(self.draft, self._links, node).bound(inputs)
        self._check_samplers(compilation, kernel.bindings, bound)
        size = compilation.workgroup_size
        places = [
            Bound(it.name, it.group, it.binding, bound[it.name], it.is_written)
            for it in kernel.bindings
            if it.name in bound
        ]
        made = self._extents.arguments(node, grid, size, capacity) if known is None and node.device != HOST else None
        self.draft.steps.append(
            Dispatch(path, leaf.name, device, grid, size, workgroups, capacity, tuple(places), made)
        )
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
            facts = self.draft.facts if self.draft.is_known(content) else ()
            return next((it.value for it in facts if (it.input, it.path) == (content.input, path)), None)

        return LaunchNumbers(leaf.name, workgroups, {port: it.content.size for port, it in inputs.items()}, number)

    def _check_samplers(
        self, compilation: Compilation, bindings: Sequence[BindingInfo], bound: Mapping[str, int]
    ) -> None:
        """Raise InputError for samplers that the kernel cannot use."""
        handles = {it.point: self.draft.buffers[bound[it.name]].handle for it in bindings if it.name in bound}
        heads = {point: bytearray(it.head) for point, it in handles.items() if it is not None}
        check_samplers(compilation, [it for it in bindings if it.name in bound], heads)

    def _output(self, before: PlannedValue, info: BindingInfo, buffer: int) -> PlannedValue:
        """The version of a value that a node has written."""
        draft = self.draft.buffers[buffer]
        handle = draft.handle
        if handle is not None and isinstance(info.type, wgsl.Texture):
            handle = replace(handle, type=info.type)
        made = PlannedContent(info.type, draft.size, draft.label, like=before.content.like, handle=handle)
        made.buffers[draft.device] = buffer
        return PlannedValue(made)
