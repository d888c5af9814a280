"""What all tools share: a dispatch that is ready to run on the machine, one workgroup of it at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..base.errors import InputError
from ..ir import layout
from ..ir.core import nodes
from ..ir.core.cooperation import cooperates
from ..ir.core.interp import Dispatch, Triple, bound_pointers, points
from ..ir.core.interp_frame import Memory, Steps
from ..ir.core.interp_observer import Observer
from ..ir.core.root_values import RootValues
from ..ir.core.structure import blocks_of
from ..ir.entry_points import compute_entry_point
from ..ir.textures import is_written
from ..ir.types import Access, AddressSpace, BindingPoint, Pointer, Texture, Type
from ..ir.wgsl.program import Program
from ..transforms.core.bind_immediates import BindImmediates
from ..transforms.from_wgsl.marks import MarkedModule, build_marked
from .machine import Group, MachineCompiler, start_group


@dataclass(frozen=True, slots=True)
class Launch:
    """A dispatch: an entry point with values for its overrides, the bytes of each binding, and its size."""

    program: Program
    entry: str
    constants: Mapping[str, float]
    buffers: Mapping[BindingPoint, bytearray]
    workgroups: Triple


class Prepared:
    """A launch whose code is compiled. Running changes the buffers, and `reset` puts them back."""

    def __init__(self, launch: Launch, steps: Steps) -> None:
        self.launch = launch
        self.steps = steps
        self.marked: MarkedModule = build_marked(launch.program)
        BindImmediates().run(self.marked.module)
        self.root = RootValues(self.marked.module, launch.constants)
        self.function = compute_entry_point(self.marked.module.functions, launch.entry)
        buffers = bound_pointers(self.function, launch.buffers, self.root)
        self.compiler = MachineCompiler(self.marked, self.root, buffers, steps)
        self.dispatch = Dispatch(self.function, self.compiler, launch.workgroups)
        self.written = [memory for node, (memory, _) in buffers.items() if _is_writable(node.type)]
        self._before = [bytes(memory) for memory in self.written]

    @property
    def size(self) -> Triple:
        """Invocations of a workgroup along x, y and z."""
        return self.dispatch.size

    def reset(self) -> None:
        """Put the buffers back to what they held before the dispatch."""
        for memory, content in zip(self.written, self._before, strict=True):
            memory[:] = content

    def place_of(self, invocation: Triple) -> tuple[Triple, int]:
        """The workgroup of an invocation, by its global id, and its index there. Raises InputError."""
        extent = tuple(a * b for a, b in zip(self.size, self.launch.workgroups, strict=True))
        if not all(0 <= it < end for it, end in zip(invocation, extent, strict=True)):
            shown = " x ".join(map(str, extent))
            raise InputError(f"there is no invocation {invocation}: the dispatch has {shown} invocations")
        width, height, depth = self.size
        x, y, z = invocation
        index = (z % depth * height + y % height) * width + x % width
        return (x // width, y // height, z // depth), index

    def group(self, place: Triple, index: int = -1, observer: Observer | None = None, *, alone: bool = False) -> Group:
        """A workgroup about to begin, in which the observer wraps the operations of the invocation `index`.

        The workgroups before it run first, unless they cannot change what it reads, or it is to run `alone`. Nor do the
        other invocations run if they cannot change what the one that is observed reads.
        """
        reads_others = reads_what_it_writes(self.function)
        if not alone and reads_others:
            self._run_before(place)
        plain = self.compiler.code(self.function)
        watched = self.compiler.code(self.function, observer)

        source = self.launch.program.source
        group = start_group(self.dispatch, place, lambda it: watched if it == index else plain, source, self.written)
        if observer is not None and not reads_others and not cooperates(self.function):
            group.run_only(index)
        return group

    def _run_before(self, place: Triple) -> None:
        for other in points(self.launch.workgroups):
            if other == place:
                return
            self.dispatch.run_workgroup(other)

    def store_type(self, node: nodes.Var) -> Type:
        """The type of what a variable holds, with the counts of its arrays."""
        assert isinstance(node.type, Pointer)
        return layout.resolve_counts(node.type.store, self.root.counts)


def variables(memories: Mapping[nodes.Var, Memory]) -> dict[str, nodes.Var]:
    """The variables by name."""
    return {node.name: node for node in memories if node.name is not None}


def _is_writable(type: Type) -> bool:
    assert isinstance(type, Pointer)
    if isinstance(type.store, Texture):
        return is_written(type.store)
    return type.space is AddressSpace.STORAGE and type.access is not Access.READ


def reads_what_it_writes(entry: nodes.Function) -> bool:
    """Whether the entry point, or what it calls, may read memory that other workgroups may have written."""
    return any(_reads_shared(node) for function in _reached(entry) for node in _instructions(function))


def _instructions(function: nodes.Function) -> Iterator[nodes.Instruction]:
    return (node for block in blocks_of(function) for node in block.instructions)


def _reached(entry: nodes.Function) -> list[nodes.Function]:
    found = [entry]
    for function in found:
        calls = (node for node in _instructions(function) if isinstance(node, nodes.Call))
        found += {node.callee: None for node in calls if node.callee not in found}
    return found


def _reads_shared(node: nodes.Instruction) -> bool:
    if isinstance(node, nodes.Load):
        return _is_writable(node.pointer.type) and not isinstance(node.type, Texture)
    if not isinstance(node, nodes.BuiltinCall) or not node.arguments:
        return False
    type = node.arguments[0].type
    if node.function.startswith("atomic"):
        return isinstance(type, Pointer) and type.space is AddressSpace.STORAGE
    return node.function == "textureLoad" and isinstance(type, Texture) and is_written(type)
