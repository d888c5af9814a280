"""A translated WGSL entry point as a module of core IR.

Its forks over workgroups are the grid, the forks over invocations inside of them the runs between barriers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ...ir import types as w
from ...ir.core import nodes as c
from ...ir.core.builder import u32
from ...ir.core.values import Value
from ...ir.hercules import nodes as h
from ...ir.hercules.entry import WORKGROUP_CONSTANTS, Binding, EntryPoint
from .levels import Levels, placed
from .module import KernelModule
from .places import Place
from .vectors import Path


def entry_module(entry: EntryPoint) -> c.Module:
    """Core IR of an entry point that was translated from WGSL, with the same bindings and workgroup size. A texture
    becomes a storage buffer (see `ir.textures.storage_type`).

    Raises ShaderError for what has no place in WGSL.
    """
    frame = _EntryFrame(entry)
    return KernelModule(frame, entry.name, Levels(placed(entry.function), 3, len(frame.local_axes))).build()


@dataclass(slots=True)
class _EntryFrame:
    """The frame of an entry point. `local_axes` are those of the local forks, outermost first."""

    entry: EntryPoint
    local_axes: Sequence[int] = field(init=False)
    _variables: dict[int, c.Var] = field(default_factory=dict[int, c.Var])

    def __post_init__(self) -> None:
        self.local_axes = [axis for axis in (2, 1, 0) if self.entry.workgroup_size[axis] > 1]

    @property
    def workgroup_size(self) -> Sequence[int]:
        """See `Frame`."""
        return self.entry.workgroup_size

    def place(self, module: KernelModule, index: int, atomics: set[Path]) -> Place:
        """See `Frame`: the types of bindings have their atomics already."""
        binding = self._binding(index)
        type = _binding_type(module, binding)
        space = w.AddressSpace.STORAGE if binding.space is w.AddressSpace.HANDLE else binding.space
        variable = module.bind(binding.name, w.pointer(space, type, binding.access), binding.point)
        self._variables[index] = variable
        is_bare = isinstance(type, (w.Scalar, w.Atomic))
        return Place(binding.name, type, space, skipped=int(is_bare), is_written=binding.is_written, variable=variable)

    def begin(self, module: KernelModule) -> None:
        """See `Frame`."""
        for binding in self.entry.bindings:
            if binding.parameter not in self._variables:  # only its length is used, or nothing
                module.place_of(binding.parameter)

    def thread(self, module: KernelModule, fork: h.Fork) -> Value:
        """See `Frame`."""
        axis = module.levels.axis(fork)
        if module.levels.is_grid(fork):
            return module.component("workgroup_id", 2 - axis)
        return module.component("local_invocation_id", self.local_axes[axis])

    def dynamic_parameter(self, module: KernelModule, index: int) -> Value:
        """See `Frame`: a number of workgroups, or the length of a runtime-sized array."""
        if index < len(WORKGROUP_CONSTANTS):
            return module.component("num_workgroups", index)
        binding = next(it for it in self.entry.bindings if it.length == index)
        pointer: Value = self._variables[binding.parameter]
        if isinstance(binding.type, w.Struct):
            pointer = module.builder.access(pointer, [u32(len(binding.type.members) - 1)])
        return module.builder.builtin_call("arrayLength", [pointer])

    def _binding(self, index: int) -> Binding:
        return next(it for it in self.entry.bindings if it.parameter == index)


def _binding_type(module: KernelModule, binding: Binding) -> w.Type:
    """The type of a binding, as WGSL has it: a single scalar is no array of one."""
    match binding.type:
        case w.Array(element=(w.Scalar() | w.Atomic()) as element, count=1):
            return element
        case w.Struct(name=name, members=members) if binding.space is w.AddressSpace.HANDLE:
            return w.Struct(module.names.unique(name, "Texture"), members)
        case _:
            return binding.type
