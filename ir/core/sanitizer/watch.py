"""The observer of a run: keeps the shadow memory, and reports findings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from ... import layout
from ...constants import RawValue
from ...diagnostics import Diagnostic, Note, Severity
from ...overrides import Number
from ...types import Access, AddressSpace, Pointer, Type, Vector, element_type
from .. import nodes
from ..interp_frame import INVOCATION, Frame, Invocation, Memory, Operation
from ..root_values import RootValues
from .bounds import Outside, bounds_check
from .findings import Findings, data_race, race_severity, unready_read
from .paths import path_to, scalar_offsets
from .shadow import Shadow, Site, Touch, Variable
from .texels import TexelAccess

_ORDERED_BY = {
    "workgroupBarrier": AddressSpace.WORKGROUP,
    "workgroupUniformLoad": AddressSpace.WORKGROUP,
    "storageBarrier": AddressSpace.STORAGE,
    "textureBarrier": AddressSpace.HANDLE,
}
"""The address space whose accesses a barrier orders (WGSL, "Synchronization Built-in Functions")."""


class Sanitizer:
    """The observer of one dispatch."""

    def __init__(self, module: nodes.Module, overrides: Mapping[str, Number]) -> None:
        self._counts = RootValues(module, overrides).counts
        self._findings = Findings()
        self._buffers: dict[int, Shadow] = {}
        self._shadows: dict[int, Shadow] = {}
        self._group = 0
        self._epochs: dict[AddressSpace, int] = dict.fromkeys(_ORDERED_BY.values(), 0)

    def findings(self) -> tuple[Diagnostic, ...]:
        """All findings of the run. To be called when the run has ended."""
        self._judge_unready_reads()
        return self._findings.diagnostics()

    # The methods of `Observer`

    def start_workgroup(self, memories: Mapping[nodes.Var, Memory]) -> None:
        """Create new shadows for workgroup memory; those of buffers keep their history."""
        self._judge_unready_reads()
        self._group += 1
        shadows = {id(memory): Shadow(_variable(node, self._counts)) for node, memory in memories.items()}
        if not self._buffers:
            is_shared = AddressSpace.WORKGROUP
            self._buffers = {key: it for key, it in shadows.items() if it.variable.space is not is_shared}
        self._shadows = {**shadows, **self._buffers}

    def pass_barrier(self, node: nodes.BuiltinCall) -> None:
        """End the epoch of the address space whose accesses the barrier orders."""
        space = _ORDERED_BY.get(node.function)
        if space is not None:
            self._epochs[space] += 1

    def abandon_workgroup(self, problem: Diagnostic) -> None:
        """Report a barrier that some invocations do not reach."""
        key = (problem.code, problem.span)
        if self._findings.is_new(key):
            self._findings.add(key, problem)

    def watched(self, node: nodes.Instruction, arguments: tuple[int, ...], target: int, run: Operation) -> Operation:
        """Wraps loads and stores of shared memory, and accesses whose indices may be out of bounds."""
        match node:
            case nodes.Load(pointer=pointer) if _is_shared(pointer.type):
                return self._watch_load(self._site(node, pointer.type), arguments[0], target, run)
            case nodes.BuiltinCall(function="workgroupUniformLoad"):
                return self._watch_load(self._site(node, node.arguments[0].type), arguments[0], target, run)
            case nodes.Store(pointer=pointer) if _is_shared(pointer.type):
                return self._watch_store(self._site(node, pointer.type), arguments, run)
            case nodes.Access():
                return self._watch_access(node, arguments, run)
            case nodes.BuiltinCall():
                access = TexelAccess.of(node, arguments)
                return run if access is None else self._watch_texel(access, arguments, target, run)
            case nodes.PureInstruction() | nodes.Load() | nodes.Store() | nodes.Call():
                return run
            case nodes.Var() | nodes.Override() | nodes.Discard():
                return run
            case _:
                assert_never(node)

    def _site(self, node: nodes.Instruction, type: Type) -> Site:
        assert isinstance(type, Pointer)
        offsets = scalar_offsets(layout.resolve_counts(type.store, self._counts))
        return Site(node, type.space, isinstance(node, nodes.Store), offsets, _written_vector(node))

    # Reads and writes

    def _watch_load(self, site: Site, pointer: int, target: int, run: Operation) -> Operation:
        def load(frame: Frame) -> None:
            run(frame)
            memory, offset = frame[pointer]
            self._touch(site, frame[INVOCATION], memory, offset, frame[target])

        return load

    def _watch_store(self, site: Site, arguments: tuple[int, ...], run: Operation) -> Operation:
        pointer, value = arguments

        def store(frame: Frame) -> None:
            memory, offset = frame[pointer]
            self._touch(site, frame[INVOCATION], memory, offset, frame[value])
            run(frame)

        return store

    def _watch_texel(self, access: TexelAccess, arguments: tuple[int, ...], target: int, run: Operation) -> Operation:
        site = Site(access.node, AddressSpace.HANDLE, access.is_store, (0,))
        value = arguments[-1] if access.is_store else target

        def reach(frame: Frame) -> None:
            texel = access.texel(frame)
            run(frame)
            key = ("out-of-bounds-access", access.node)
            if texel.offset is None:
                if self._findings.is_new(key):
                    self._findings.add(key, access.outside(frame, texel))
            elif access.is_shared:
                self._touch(site, frame[INVOCATION], texel.memory, texel.offset, frame[value], str(texel))

        return reach

    def _touch(
        self, site: Site, invocation: Invocation, memory: Memory, offset: int, value: RawValue, texel: str = ""
    ) -> None:
        shadow = self._shadows.get(id(memory))
        if shadow is None:  # an empty array has none
            return
        touch = Touch(site, invocation, self._group, self._epochs[site.space], offset, value, texel)
        for relative in site.offsets:
            self._compare(shadow, offset + relative, touch)
            cell = shadow.cell(offset + relative)
            if site.is_write:
                cell.fill(touch)
            elif site.space is AddressSpace.WORKGROUP:
                cell.read_unready(touch)
        if site.vector is not None:
            self._touch_neighbours(shadow, site.vector, touch)

    def _touch_neighbours(self, shadow: Shadow, vector: Type, touch: Touch) -> None:
        start = touch.offset - touch.offset % layout.align_of(vector)
        for relative in scalar_offsets(vector):
            if start + relative != touch.offset:
                self._compare(shadow, start + relative, touch)

    def _compare(self, shadow: Shadow, offset: int, touch: Touch) -> None:
        cell = shadow.cell(offset)
        for other in cell.rivals(touch):
            severity = race_severity(offset, touch, other)
            key = ("data-race", frozenset((touch.site, other.site)), touch.group == other.group, severity)
            if self._findings.is_new(key):
                self._findings.add(key, data_race(shadow.variable, offset, touch, other))
        cell.remember(touch)

    def _judge_unready_reads(self) -> None:
        """At the end of a workgroup, report the reads before any write, except those that race with the write."""
        for shadow in self._shadows.values():
            if shadow.variable.space is not AddressSpace.WORKGROUP:
                continue
            for offset, cell in shadow.cells.items():
                for touch in cell.unready:
                    key = ("uninitialized-workgroup-read", touch.site)
                    if self._findings.is_new(key):
                        self._findings.add(key, unready_read(shadow.variable, offset, touch, cell.first_write))
        self._shadows = {}

    # Indices

    def _watch_access(self, node: nodes.Access, arguments: tuple[int, ...], run: Operation) -> Operation:
        check = bounds_check(node, arguments, self._counts, self._report_outside)
        if check is None:
            return run

        def access(frame: Frame) -> None:
            check(frame)
            run(frame)

        return access

    def _report_outside(self, node: nodes.Access, frame: Frame, outside: Outside) -> None:
        key = ("out-of-bounds-access", node)
        if not self._findings.is_new(key):
            return
        name = self._name(node, outside)
        size = f"which has {outside.count} elements" if outside.count else "which is empty"
        message = f"{frame[INVOCATION]} takes element {outside.index} of {name}, {size}"
        used = f"the last element, {outside.count - 1}, is taken here" if outside.count else "it reads as zero here"
        notes = (Note(f"{used}; other devices may do otherwise"),)
        self._findings.add(key, Diagnostic(Severity.ERROR, "out-of-bounds-access", message, node.span, notes))

    def _name(self, node: nodes.Access, outside: Outside) -> str:
        if outside.pointer is not None:
            memory, offset = outside.pointer
            shadow = self._shadows.get(id(memory))
            if shadow is not None:
                return f"'{path_to(shadow.variable.name, shadow.variable.type, offset, outside.whole)}'"
        if node.object.name is not None and outside.level == 0:
            return f"'{node.object.name}'"
        return f"a value of type {outside.whole}"


def _variable(node: nodes.Var, counts: layout.Counts) -> Variable:
    assert isinstance(node.type, Pointer)
    return Variable(node.name or "a variable", layout.resolve_counts(node.type.store, counts), node.type.space)


def _is_shared(type: Type) -> bool:
    """Whether a pointer of this type designates memory that several invocations access and some may write."""
    if not isinstance(type, Pointer):
        return False
    return type.space is AddressSpace.WORKGROUP or (
        type.space is AddressSpace.STORAGE and type.access is not Access.READ
    )


def _written_vector(node: nodes.Instruction) -> Vector | None:
    """The type of the vector of which an instruction stores one component; None for other instructions."""
    if not isinstance(node, nodes.Store) or not isinstance(node.pointer, nodes.Access):
        return None
    access = node.pointer
    part = access.object.type
    assert isinstance(part, Pointer)
    whole: Type | None = part.store
    for index in access.indices[:-1]:
        position = index.value.value if isinstance(index, nodes.Constant) else 0
        assert isinstance(position, int)
        assert whole is not None
        whole = element_type(whole, position)
    return whole if isinstance(whole, Vector) else None
