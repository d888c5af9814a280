"""The reference interpreter of compute entry points: slow, exact, obviously right. Tests compare every pass and device
with it.

Workgroups run one after another, x fastest. Without barriers the invocations of a workgroup do so too. If an invocation
may wait, each invocation is a generator, which resumes once all have arrived at the same barrier; arriving at different
barriers is an error (WGSL, "Synchronization").
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import TYPE_CHECKING

from ...base.deadline import Deadline
from ...base.errors import InputError
from ...base.records import dataclass
from .. import layout, samplers, textures
from ..constants import RawValue
from ..diagnostics import Diagnostic, ShaderError, not_supported, with_article
from ..entry_points import compute_entry_point
from ..overrides import Number
from ..textures import is_loadable
from ..types import Access, AddressSpace, BindingPoint, Buffer, IoAttributes, Pointer, Sampler, Struct, Texture, Type
from . import nodes
from .interp_compile import Compiler
from .interp_frame import CompiledFunction, Invocation, Memory, PointerValue, Steps, Waiting
from .interp_lanes import Lane, answered, not_uniform
from .root_values import RootValues
from .runnable import check_runnable, subgroup_size_of

if TYPE_CHECKING:
    from .interp_observer import Observer

Triple = tuple[int, int, int]

_NO_OVERRIDES: Mapping[str, Number] = {}


def run(
    module: nodes.Module,
    entry: str,
    bindings: Mapping[BindingPoint, bytearray | memoryview],
    workgroups: Triple,
    overrides: Mapping[str, Number] = _NO_OVERRIDES,
    *,
    step_limit: int | None = None,
    timeout: float | None = None,
    observer: Observer | None = None,
) -> None:
    """Run a dispatch of a compute entry point of a verified module, changing the buffers in place.

    `bindings` hold bytes in WGSL's layout; `overrides` are numbers by override name or id. Raises InputError for
    arguments that do not fit the shader or past `step_limit` instructions, DeviceError after `timeout` seconds,
    ShaderError for features that the interpreter lacks and for barriers in control flow that is not uniform; an
    `observer`, if there is one, receives the latter instead.
    """
    steps = Steps(step_limit, Deadline(timeout))
    function = compute_entry_point(module.functions, entry)
    check_runnable(function)
    if any(count < 0 for count in workgroups):
        raise InputError(f"the workgroup counts {tuple(workgroups)} must not be negative")
    root = RootValues(module, overrides)
    compiler = Compiler(root, bound_pointers(function, bindings, root), steps, observer)
    Dispatch(function, compiler, workgroups).run()


def bound_pointers(
    function: nodes.Function, bindings: Mapping[BindingPoint, bytearray | memoryview], root: RootValues
) -> dict[nodes.Var, PointerValue]:
    """The pointers to the bound variables of an entry point. Raises InputError for buffers that do not fit."""
    found: dict[nodes.Var, PointerValue] = {}
    for variable in function.resources:
        if isinstance(variable, nodes.Var) and variable.binding is not None:
            found[variable] = (_buffer(variable, bindings.get(variable.binding), root), 0)
    return found


def _buffer(variable: nodes.Var, buffer: bytearray | memoryview | None, root: RootValues) -> memoryview:
    type, point = variable.type, variable.binding
    assert isinstance(type, Pointer)
    assert point is not None
    if isinstance(type.store, Texture) and not is_loadable(type.store):
        raise ShaderError([not_supported(f"{with_article(str(type.store))} in the interpreter", variable.span)])
    place = f"the buffer of '{variable.name}' at group {point.group}, binding {point.binding}"
    if buffer is None:
        raise InputError(f"{place} is missing")
    view = memoryview(buffer).cast("B")
    store = _in_memory(type.store)
    least = _fixed_size(layout.resolve_counts(store, root.counts))
    if len(view) < least:
        raise InputError(f"{place} has {len(view)} bytes, and needs {least}")
    if view.readonly and _is_written(type):
        raise InputError(f"{place} must be writable")
    is_fixed = isinstance(store, Buffer) and store.size is not None
    return view[:least] if is_fixed else view


def _is_written(type: Pointer) -> bool:
    """Whether the shader may write the variable."""
    return textures.is_written(type.store) if isinstance(type.store, Texture) else type.access is Access.READ_WRITE


def _in_memory(type: Type) -> Type:
    """The type of a variable's memory."""
    if isinstance(type, Texture):
        return textures.storage_type(type)
    return samplers.storage_type() if isinstance(type, Sampler) else type


def _fixed_size(type: Type) -> int:
    """The size of a type without the elements of a runtime-sized array: the array may be empty here."""
    if isinstance(type, Buffer) and type.size is None:
        return 0
    tail = layout.runtime_array(type)
    return layout.size_of(type) if tail is None else tail[0]


@dataclass(slots=True, kw_only=True)
class _Lane(Lane):
    """A running invocation, as a generator."""

    steps: Waiting

    def go_on(self) -> bool:
        """Run to the next pause; False at the end."""
        try:
            self.request = next(self.steps) if self.answer is None else self.steps.send(self.answer)
        except StopIteration:
            return False
        self.answer = None
        return True


class Dispatch:
    """A dispatch of an entry point whose code is compiled: its workgroups and their invocations."""

    def __init__(self, function: nodes.Function, compiler: Compiler, workgroups: Triple) -> None:
        self.function = function
        self.compiler = compiler
        self.root = compiler.root
        self.size = self.root.workgroup_size(function)
        self.subgroup_size = subgroup_size_of(function)
        self.workgroups = workgroups
        self.code: CompiledFunction = compiler.function(function)

    def run(self) -> None:
        """Run all workgroups."""
        for place in points(self.workgroups):
            self.run_workgroup(place)

    def run_workgroup(self, place: Triple) -> None:
        """Run one workgroup to its end."""
        observer = self.compiler.observer
        shared = self.workgroup_memory()
        if observer is not None:
            bound = {variable: memory for variable, (memory, _) in self.compiler.buffers.items()}
            observer.start_workgroup({**bound, **shared})
        invocations = list(self.invocations(place, shared))
        frames = [self.code.frame(it, self.arguments(it)) for it in invocations]
        if not self.code.pauses:
            for frame in frames:
                self.code.run(frame)
            return
        pairs = zip(invocations, frames, strict=True)
        lanes = [
            _Lane(index=index, invocation=it, steps=self.code.run_pausing(frame))
            for index, (it, frame) in enumerate(pairs)
        ]
        problem = _run_together(lanes, self.subgroup_size, observer)
        if problem is None:
            return
        if observer is None:
            raise ShaderError([problem])
        observer.abandon_workgroup(problem)

    def workgroup_memory(self) -> dict[nodes.Var, Memory]:
        """New memory for the workgroup variables."""
        return {variable: self.memory(variable) for variable in self.compiler.variables if _is_shared(variable)}

    def invocations(self, workgroup: Triple, shared: Mapping[nodes.Var, Memory]) -> Iterator[Invocation]:
        """The invocations of a workgroup, with private memory of their own."""
        for index, local in enumerate(points(self.size)):
            variables = [
                (shared[variable] if variable in shared else self.memory(variable), 0)
                for variable in self.compiler.variables
            ]
            yield Invocation(self.builtins(workgroup, local, index), variables)

    def memory(self, variable: nodes.Var) -> Memory:
        """New memory for a private or workgroup variable, with its initial value."""
        assert isinstance(variable.type, Pointer)
        type = layout.resolve_counts(variable.type.store, self.root.counts)
        memory = bytearray(layout.size_of(type))
        if variable.initializer is not None:
            layout.write(type, memory, 0, self.root.value(variable.initializer))
        return memory

    def builtins(self, workgroup: Triple, local: Triple, index: int) -> dict[str, RawValue]:
        """WGSL, "Built-in Inputs": the builtin inputs of one invocation."""
        total = self.size[0] * self.size[1] * self.size[2]
        counts = self.workgroups
        workgroup_index = (workgroup[2] * counts[1] + workgroup[1]) * counts[0] + workgroup[0]
        return {
            "local_invocation_id": local,
            "local_invocation_index": index,
            "workgroup_id": workgroup,
            "num_workgroups": counts,
            "global_invocation_id": tuple(w * s + i for w, s, i in zip(workgroup, self.size, local, strict=True)),
            "workgroup_index": workgroup_index,
            "global_invocation_index": workgroup_index * total + index,
            "subgroup_size": self.subgroup_size,
            "subgroup_invocation_id": index % self.subgroup_size,
            "subgroup_id": index // self.subgroup_size,
            "num_subgroups": -(-total // self.subgroup_size),
        }

    def arguments(self, invocation: Invocation) -> list[RawValue]:
        """The values of the entry point's parameters."""
        return [self._argument(invocation, parameter) for parameter in self.function.parameters]

    def _argument(self, invocation: Invocation, parameter: nodes.FunctionParameter) -> RawValue:
        if isinstance(parameter.type, Struct):
            return tuple(_input(invocation, member.io) for member in parameter.type.members)
        return _input(invocation, parameter.io)


def _input(invocation: Invocation, io: IoAttributes) -> RawValue:
    found = invocation.builtins.get(io.builtin or "")
    if found is None:
        raise ShaderError([not_supported(f"the builtin input '{io.builtin}' in the interpreter", None)])
    return found


def _is_shared(variable: nodes.Var) -> bool:
    return isinstance(variable.type, Pointer) and variable.type.space is AddressSpace.WORKGROUP


def points(extent: Triple) -> Iterator[Triple]:
    """All points of a grid; x changes fastest."""
    return ((x, y, z) for z, y, x in product(*map(range, reversed(extent))))


def _run_together(lanes: list[_Lane], subgroup_size: int, observer: Observer | None) -> Diagnostic | None:
    """Run the invocations of a workgroup from pause to pause. Returns the error that stops them, if any."""
    ended: list[_Lane] = []
    ready = lanes
    while lanes:
        finished = {lane.index: lane for lane in ready if not lane.go_on()}
        ended += finished.values()
        lanes = [lane for lane in lanes if lane.index not in finished]
        ready = answered(lanes, subgroup_size)
        if not ready and lanes:
            problem = not_uniform(lanes, ended)
            if problem is not None:
                return problem
            ready = lanes
            if observer is not None:
                observer.pass_barrier(lanes[0].barrier)
    return None
