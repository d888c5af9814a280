"""A kernel of a program (`ir.hercules.program`) as a module of core IR.

An invocation runs one thread of the grid, or a workgroup does if the kernel says so. Invocations are numbered with the
fastest axis x, and threads with the innermost fork's index fastest, so that neighbours in a workgroup are neighbours in
memory. As there may be more workgroups than fit the limit along x, `grid_size` folds them into rows; the invocations
past the last thread do nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

from ...base.errors import InputError
from ...ir import types as w
from ...ir.core import nodes as c
from ...ir.core.builder import u32
from ...ir.core.values import Value
from ...ir.hercules import dynamic
from ...ir.hercules import nodes as h
from ...ir.hercules.layout import WORD
from ...ir.hercules.program import GridKernel
from ...ir.hercules.types import is_scalar
from ...ir.layout_sizes import stride_of
from ...ir.limits import MOST_WORKGROUPS
from ...ir.ops import BinaryOp
from .levels import Levels, placed
from .module import KernelModule
from .places import Place, store_type
from .vectors import Path

MOST_THREADS = 2**32 - 1
SIZES = "sizes"
"""The name of the uniform that holds the dynamic constants."""


def grid_module(kernel: GridKernel, workgroup_size: int) -> c.Module:
    """Core IR with one entry point, named like the function as far as WGSL allows.

    Parameter i is the storage buffer at `@group(0) @binding(i)`. If the kernel uses dynamic constants, a uniform
    structure of all of them, each a u32, follows at the next binding. See `threads_of_workgroup` for the workgroups.
    Raises ShaderError for what has no place in WGSL.
    """
    function = kernel.function
    frame = _GridFrame(kernel, threads_of_workgroup(kernel, workgroup_size))
    return KernelModule(frame, function.name, Levels(placed(function), kernel.depth, min(kernel.workgroup, 1))).build()


def threads_of_workgroup(kernel: GridKernel, workgroup_size: int) -> int:
    """The invocations of a workgroup: those that the kernel says, or else that are asked for, or one if the kernel has
    no grid.
    """
    return kernel.workgroup or (workgroup_size if kernel.depth else 1)


def workgroups_of(kernel: GridKernel, constants: Sequence[int], workgroup_size: int) -> tuple[int, int, int]:
    """The number of workgroups along x, y and z of a kernel, with these values of the dynamic constants.

    Raises InputError for more threads than WebGPU can number.
    """
    factors = [dynamic.evaluate(it, constants) for it in kernel.factors]
    return grid_size(factors, 1 if kernel.workgroup else workgroup_size)


def grid_size(factors: Sequence[int], workgroup_size: int) -> tuple[int, int, int]:
    """The number of workgroups along x, y and z for a grid of these factors, of which a workgroup runs so many threads;
    without factors, one.

    Raises InputError for more threads than WebGPU can number.
    """
    threads = prod(factors)
    if not factors or threads == 0:
        return (1, 1, 1) if not factors else (0, 0, 0)
    groups = -(-threads // workgroup_size)
    rows = -(-groups // MOST_WORKGROUPS)
    if threads > MOST_THREADS or rows > MOST_WORKGROUPS:
        raise InputError(f"a grid of {' x '.join(map(str, factors))} threads is over the limit of {MOST_THREADS:,}")
    return (min(groups, MOST_WORKGROUPS), rows, 1)


@dataclass(slots=True)
class _GridFrame:
    """The frame of a grid kernel, with workgroups of `size` invocations."""

    kernel: GridKernel
    size: int
    _sizes: c.Var | None = None
    _thread: Value | None = None
    _strides: list[Value] = field(default_factory=list[Value])

    @property
    def workgroup_size(self) -> Sequence[int]:
        """See `Frame`."""
        return (self.size, 1, 1)

    def place(self, module: KernelModule, index: int, atomics: set[Path]) -> Place:
        """See `Frame`."""
        function = self.kernel.function
        name, type = function.parameter_names[index], function.parameter_types[index]
        is_written = index in self.kernel.changed
        access = w.Access.READ_WRITE if is_written else w.Access.READ
        store = _outer_type(module, type, atomics)
        pointer = w.pointer(w.AddressSpace.STORAGE, store, access)
        variable = module.bind(name, pointer, w.BindingPoint(0, index))
        skipped = int(isinstance(store, (w.Scalar, w.Atomic)))
        return Place(name, store, w.AddressSpace.STORAGE, skipped, is_written, variable, _padded_extent(type, store))

    def begin(self, module: KernelModule) -> None:
        """See `Frame`: leave out the invocations past the last thread."""
        for index in range(len(self.kernel.function.parameter_types)):
            module.place_of(index)
        if not self.kernel.depth:
            return
        builder = module.builder
        row = builder.binary(
            BinaryOp.MULTIPLY, module.component("workgroup_id", 1), module.component("num_workgroups", 0)
        )
        name = module.names.unique("thread")
        first = module.component("workgroup_id", 0)
        if self.kernel.workgroup:
            self._thread = builder.binary(BinaryOp.ADD, row, first, name=name)
        else:
            group = builder.binary(BinaryOp.ADD, row, first)
            before = builder.binary(BinaryOp.MULTIPLY, group, u32(self.size))
            self._thread = builder.binary(BinaryOp.ADD, before, module.input("local_invocation_index"), name=name)
        factors = self.kernel.factors
        strides: list[Value] = [u32(1)]
        for factor in reversed(factors):
            strides.append(builder.binary(BinaryOp.MULTIPLY, strides[-1], module.dynamics.value(factor)))
        self._strides = strides
        outside = builder.enter_if(builder.binary(BinaryOp.GREATER_EQUAL, self._thread, strides[-1]))
        with builder.at(outside.true_target):
            builder.return_(module.function)
        assert outside.merge_target is not None
        with builder.at(outside.false_target):
            builder.branch(outside.merge_target)
        builder.block = outside.merge_target

    def thread(self, module: KernelModule, fork: h.Fork) -> Value:
        """See `Frame`: the digit of the thread's number for a fork of the grid, or the number of the invocation."""
        if not module.levels.is_grid(fork):
            return module.input("local_invocation_index")
        assert self._thread is not None
        axis, builder = module.levels.axis(fork), module.builder
        value: Value = self._thread
        inner = self.kernel.depth - 1 - axis
        if inner:
            value = builder.binary(BinaryOp.DIVIDE, value, self._strides[inner])
        if axis:
            value = builder.binary(BinaryOp.REMAINDER, value, module.dynamics.value(fork.factor))
        return value

    def dynamic_parameter(self, module: KernelModule, index: int) -> Value:
        """See `Frame`: a member of the uniform."""
        variable = self._sizes or self._declare_sizes(module)
        return module.builder.load(module.builder.access(variable, [u32(index)]))

    def _declare_sizes(self, module: KernelModule) -> c.Var:
        function = self.kernel.function
        members = tuple(w.StructMember(name, w.U32) for name in function.dynamic_constants)
        type = w.Struct(module.names.unique("Sizes"), members)
        point = w.BindingPoint(0, len(function.parameter_types))
        pointer = w.pointer(w.AddressSpace.UNIFORM, type, w.Access.READ)
        with module.builder.at(module.core.root):
            self._sizes = module.bind(SIZES, pointer, point)
        return self._sizes


def _padded_extent(type: h.Type, store: w.Type) -> h.DynamicConstant | None:
    """The extent of an array whose buffer, a multiple of four bytes, may have room for another element."""
    if isinstance(type, h.Array) and isinstance(store, w.Array) and store.count is None and stride_of(store) % WORD:
        return type.extent
    return None


def _outer_type(module: KernelModule, type: h.Type, atomics: set[Path]) -> w.Type:
    """The type of a buffer: of any number of elements if the extent is dynamic; a single scalar is no array of one."""
    match type:
        case h.Array(element=element, extent=h.DynamicLiteral(value=1)) if is_scalar(element):
            return store_type(module.structs, element, atomics, (None,))
        case h.Array(element=element, extent=(h.DynamicParameter() | h.DynamicBinary())):
            return w.array(store_type(module.structs, element, atomics, (None,)), None)
        case _:
            return store_type(module.structs, type, atomics, ())
