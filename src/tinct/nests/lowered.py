"""A nest with decisions: a kernel, the WGSL of it, and how it is dispatched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..base.cached import cached_property
from ..base.errors import InputError
from ..buffers import buffer_elements, buffer_length
from ..graph_calls import call_on_ports
from ..ir.core.interp import run
from ..ir.core.nodes import Module, Override, Var
from ..ir.dataflow.nodes import Constant, IntegerLiteral, NestShader
from ..ir.schedule.extents import extents_of, value_of
from ..ir.schedule.interp import DTYPES
from ..ir.schedule.nodes import Affine, Array, Decisions, Direction, ElementType, Execution
from ..ir.schedule.text import affine_text, print_decisions, print_nest
from ..kernel import Kernel
from ..passes import wgsl_of
from ..shader import Shader, load
from ..sized_kernel import SizedKernel
from ..transforms.schedule.decided import Decided
from ..transforms.schedule.lower import lower
from ..transforms.schedule.outputs import initial, is_bits
from ..transforms.schedule.vectors import vector_arrays

if TYPE_CHECKING:
    from .loop_nest import Arrays, LoopNest, Sizes


class LoweredNest:
    """One point of the space of schedules. It was checked: all its decisions are legal."""

    def __init__(self, nest: LoopNest, decided: Decided) -> None:
        self.nest = nest
        self._decided = decided

    def __repr__(self) -> str:
        return f"<LoweredNest {self.nest.name}: {self._text.strip().replace(chr(10), '; ') or 'loops'}>"

    @property
    def name(self) -> str:
        """The name of the nest."""
        return self.nest.name

    @property
    def decisions(self) -> Decisions:
        """The decisions."""
        return self._decided.decisions

    @property
    def sizes(self) -> Mapping[str, int]:
        """The sizes for which alone the kernel is right; others are overrides."""
        return self._decided.sizes

    @property
    def stages(self) -> Sequence[LoweredNest]:
        """The dispatches, in order: one, unless there are partial levels. Each has an `entry`, its `kernel`, and
        `workgroups(sizes)`.
        """
        return (self,)

    @property
    def entry(self) -> str:
        """The name of the entry point."""
        return self._decided.nest.name

    @property
    def _text(self) -> str:
        return print_decisions(self._decided.decisions)

    @cached_property
    def core(self) -> Module:
        """The kernel as core IR."""
        return lower(self._decided)

    @cached_property
    def wgsl(self) -> str:
        """The kernel as WGSL, for any implementation; a comment has the nest and the decisions."""
        return self._comment() + "\n" + wgsl_of(self.core)

    def adopt_wgsl(self, text: str) -> None:
        """Use WGSL that another process has made with the same decisions, rather than make it again."""
        vars(self)["wgsl"] = text

    def _comment(self) -> str:
        lines = print_nest(self._decided.nest).splitlines()
        if self._text:
            lines += ["", "decisions:", *(f"  {it}" for it in self._text.splitlines())]
        if self._decided.sizes:
            sizes = ", ".join(f"{name} = {size}" for name, size in self._decided.sizes.items())
            lines += ["", f"only for {sizes}"]
        lines += [f"{name} is {first} before the dispatch" for name, first in self.firsts().items()]
        lines += [f"{name} holds the bits of f32" for name in sorted(self.bits())]
        return "".join(f"// {it}".rstrip() + "\n" for it in lines)

    def firsts(self) -> dict[str, float]:
        """What the elements of outputs are before the dispatch, where that is not 0."""
        found = {it.name: initial(it.name, self._decided) for it in self._decided.nest.arrays}
        return {name: first for name, first in found.items() if first != 0}

    def bits(self) -> frozenset[str]:
        """The outputs of f32 that atomic operations join values to: they are bound as u32, the bits of the floats."""
        return frozenset(it.name for it in self._decided.nest.arrays if is_bits(it.name, self._decided))

    @cached_property
    def shader(self) -> Shader:
        """The kernel, or those of all stages."""
        return load(self.wgsl)

    @cached_property
    def kernel(self) -> Kernel:
        """The kernel."""
        return self.shader[self.entry]

    def workgroups(self, sizes: Sizes) -> tuple[int, int, int]:
        """The numbers of workgroups of a dispatch along x, y and z."""
        counts = [1, 1, 1]
        for axis, affine, inner in self._grid():
            counts[axis] = -(-value_of(affine, sizes) // inner)
        return counts[0], counts[1], counts[2]

    def dispatches(self, sizes: Sizes) -> tuple[tuple[Kernel, tuple[int, int, int]], ...]:
        """The kernel and the numbers of workgroups of each dispatch, in order."""
        return tuple((it.kernel, it.workgroups(sizes)) for it in self.stages)

    def buffers(self, sizes: Sizes) -> dict[str, npt.NDArray[Any]]:
        """What all arrays but the inputs have before the dispatches, by name: the outputs, as they are bound, and the
        parts that one dispatch stores for the next one. `sizes` are all of the nest's.
        """
        return {name: self._bound(name, it) for name, it in self._results(sizes).items()}

    def _grid(self) -> Iterator[tuple[int, Affine, int]]:
        """Axes of the grid, each with the size that it covers, and how much of that a workgroup covers."""
        for name, axis in self._decided.axes(Execution.WORKGROUP).items():
            if name.level:
                yield axis, Affine((), self._decided.count(name) or 1), 1
            else:
                size = self._decided.scope.dimensions[name.dimension].size
                yield axis, size, self._decided.inner(name.dimension)

    def __call__(self, arrays: Mapping[str, object], *, sizes: Sizes) -> dict[str, Any]:
        """Add a node that executes the kernel to a graph; see `Graph.node`. The result has the outputs by name."""
        return call_on_ports(self, arrays, sizes=sizes)

    def at_sizes(self, sizes: Sizes) -> tuple[SizedKernel, ...]:
        """The kernels for these sizes alone, as nodes of a graph. Raises InputError for sizes that do not fit."""
        known = self.all_sizes(sizes)
        for name, first in self.firsts().items():
            raise InputError(f"not supported: {name!r} begins with {first}, and in a graph outputs begin with 0")
        for name in sorted(self.bits()):
            raise InputError(
                f"not supported: atomic operations join f32 in {name!r}, which has no such port in a graph"
            )
        exact = self.nest.lower(self.decisions, sizes=known, reassociate=self._decided.reassociate).of_scalars()
        return tuple(it.sized(exact.source, known) for it in exact.stages)

    def sized(self, source: NestShader, sizes: Sizes) -> SizedKernel:
        """A dispatch for the sizes that it was lowered for."""
        outputs = {name: buffer_length(it) for name, it in self.buffers(sizes).items()}
        return SizedKernel(self.kernel, source, self._threads(sizes), outputs)

    def of_scalars(self) -> LoweredNest:
        """The same with arrays of scalars only, as other nodes of graphs have them."""
        if not self._widths:
            return self
        return LoweredNest(self.nest, replace(self._decided, scalars=frozenset(self._decided.scope.arrays)))

    @cached_property
    def source(self) -> NestShader:
        """What its shader is made from, as texts."""
        sizes = (Constant(name, IntegerLiteral(size)) for name, size in self._decided.sizes.items())
        return NestShader(print_nest(self._decided.nest), self._text, tuple(sizes), self._decided.reassociate)

    def _threads(self, sizes: Sizes) -> tuple[int, ...]:
        """The invocations that a dispatch needs along each axis: whole workgroups, but where each invocation executes
        one iteration only as many as there are iterations.
        """
        workgroup = self.kernel.workgroup_size(self._constants(sizes))
        counts = [count * size for count, size in zip(self.workgroups(sizes), workgroup, strict=True)]
        for axis, affine, inner in self._grid():
            if inner == workgroup[axis]:
                counts[axis] = value_of(affine, sizes)
        while len(counts) > 1 and counts[-1] == 1:
            del counts[-1]
        return tuple(counts)

    def _constants(self, sizes: Sizes) -> dict[str, int]:
        return {it: sizes[it] for it in self.kernel.shader.overrides}

    def toml(self, sizes: Sizes, *, seed: int = 0) -> str:
        """A case file for the WGSL, to be saved beside it: the numbers of workgroups, and random inputs of these sizes.

        Raises InputError for sizes that do not fit.
        """
        nest = self._decided.nest
        known = self.all_sizes(sizes)
        counts = ['"1"', '"1"', '"1"']
        for axis, affine, inner in self._grid():
            counts[axis] = f'"ceil_div({affine_text(affine)}, {inner})"'
        lines = [f"workgroups = [{', '.join(counts)}]", f"seed = {seed}", "", "[buffers]"]
        for array in nest.arrays:
            shape = self._shape(array)
            lines.append(f"{array.name} = {{ shape = [{', '.join(shape)}], {self.recipe(array)} }}")
        values = ", ".join(f"{name} = {size}" for name, size in known.items())
        lines += ["", "[[case]]", 'name = "tuned"', f"sizes = {{ {values} }}"]
        constants = self._constants(known)
        if constants:
            lines.append(f"constants = {{ {', '.join(f'{it} = {value}' for it, value in constants.items())} }}")
        return "\n".join(lines) + "\n"

    def recipe(self, array: Array) -> str:
        """What an array has at first, for a case file."""
        if array.direction is Direction.IN:
            return _RECIPES[array.type]
        first = self.firsts().get(array.name)
        if first is not None and array.name in self.bits():
            first = int(np.float32(first).view(np.uint32))
        return "output = {}" if first is None else f"output = {{}}, value = {first}"

    def _shape(self, array: Array) -> list[str]:
        """The extents in a case file; vectors are rows of their components."""
        shape = [f'"max(1, {affine_text(it)})"' for it in array.extents] or ["1"]
        width = self._widths.get(array.name, 1)
        return shape if width == 1 else [*shape[:-1], f'"({affine_text(array.extents[-1])}) / {width}"', str(width)]

    def all_sizes(self, sizes: Sizes) -> dict[str, int]:
        """All sizes, with those that the kernel is for. Raises InputError for sizes that do not fit."""
        return self.nest.all_sizes({**self._decided.sizes, **self.nest.known_sizes(sizes)})

    def run(
        self,
        arrays: Arrays,
        *,
        sizes: Sizes | None = None,
        device: str = "cpu",
        timeout: float | None = None,
        contract: bool = False,
    ) -> dict[str, npt.NDArray[Any]]:
        """The outputs by name, of a dispatch on a device. Raises InputError, ShaderError and DeviceError."""
        inputs, known = self.nest.prepared(arrays, {**self._decided.sizes, **({} if sizes is None else sizes)})
        for name, size in self._decided.sizes.items():
            if known[name] != size:
                raise InputError(f"size {name!r} is {known[name]}, and the kernel is for {size}")
        return self.dispatched(inputs, known, device=device, timeout=timeout, contract=contract)

    def dispatched(
        self,
        inputs: Mapping[str, npt.NDArray[Any]],
        known: Sizes,
        *,
        device: str,
        timeout: float | None,
        contract: bool,
    ) -> dict[str, npt.NDArray[Any]]:
        """The outputs by name. The inputs have the types and the shapes of the nest at these sizes, which are all."""
        results = self._results(known)
        workgroups = self.workgroups(known)
        if 0 in workgroups:
            return results
        values = {name: self._flat(name, it) for name, it in {**inputs, **results}.items()}
        constants = self._constants(known)
        outputs = self.kernel.run(
            values, workgroups=workgroups, constants=constants, device=device, timeout=timeout, contract=contract
        )
        return {name: shaped(outputs[name], it.shape, self._types[name]) for name, it in results.items()}

    def _flat(self, name: str, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The elements as a buffer has them: whole words, and some for an empty array."""
        width = self._widths.get(name, 1)
        flat = self._bound(name, buffer_elements(array))
        return flat if width == 1 else flat.reshape(-1, width)

    def _bound(self, name: str, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The elements of an array with the type that they are bound with."""
        return array.view(np.uint32) if name in self.bits() else array

    @cached_property
    def _types(self) -> dict[str, ElementType]:
        return {it.name: it.type for it in self._decided.nest.arrays}

    @cached_property
    def _widths(self) -> dict[str, int]:
        return vector_arrays(self._decided)

    def interpreted(
        self, inputs: Mapping[str, npt.NDArray[Any]], sizes: Sizes, *, timeout: float | None = None
    ) -> dict[str, npt.NDArray[Any]]:
        """The outputs by name, of core IR in its interpreter, without WGSL in between: cheap for a few elements.

        `inputs` have the types and shapes of the nest at these sizes, which are all of its sizes. Raises DeviceError.
        """
        results = self._results(sizes)
        workgroups = self.workgroups(sizes)
        if 0 in workgroups:
            return results
        given = {**inputs, **results}
        globally = self.core.root.instructions
        bound = {it.name: it.binding for it in globally if isinstance(it, Var) and it.binding is not None}
        points = {it.name: bound[it.name] for it in self._decided.nest.arrays}
        buffers = {point: bytearray(self._flat(name, given[name]).tobytes()) for name, point in points.items()}
        names = [it.name for it in globally if isinstance(it, Override)]
        overrides = {name: sizes[name] for name in names if name is not None}
        run(self.core, self.entry, buffers, workgroups, overrides, timeout=timeout)
        return {
            name: np.frombuffer(buffers[points[name]], it.dtype)[: it.size].reshape(it.shape)
            for name, it in results.items()
        }

    def _results(self, sizes: Mapping[str, int]) -> dict[str, npt.NDArray[Any]]:
        return {
            it.name: np.full(extents_of(it, sizes), initial(it.name, self._decided), DTYPES[it.type])
            for it in self._decided.nest.arrays
            if it.direction is Direction.OUT
        }


def shaped(found: npt.NDArray[Any], shape: tuple[int, ...], type: ElementType) -> npt.NDArray[Any]:
    """The elements of a buffer as an array; bits of floats as these."""
    return found.reshape(-1)[: prod(shape)].view(DTYPES[type]).reshape(shape)


_RECIPES = {
    ElementType.F32: "uniform = [-1, 1]",
    ElementType.F16: "uniform = [-1, 1]",
    ElementType.I32: "integers = [-100, 100]",
    ElementType.U32: "integers = [0, 100]",
}
