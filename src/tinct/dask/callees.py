"""What runs on a block: a kernel, or a graph."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Final, Protocol, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from ..backend.cpu.reused_memory import ReusedMemory
from ..base.errors import InputError
from ..graphs import Graph, GraphProgram
from ..graphs.wgsl_types import builtin_type
from ..ir.dataflow.text import parse_type
from ..ir.layout import runtime_array
from ..ir.layout_numbers import shown
from ..ir.layout_packing import value_form
from ..kernel import Kernel
from ..sessions import Buffer, Session
from ..sessions.calls import Constants
from .grid import Block

Array: TypeAlias = npt.NDArray[Any]
Size: TypeAlias = "int | Sequence[int]"
SizeOfBlock: TypeAlias = "Size | Callable[[Block], Size]"

BLOCK_MEMORY: Final = ReusedMemory()
"""The memory of blocks. All tasks of a process share it, since Dask makes a new task for each block."""


@dataclass(frozen=True, slots=True)
class Options:
    """How each block runs: see `map_blocks`."""

    threads: SizeOfBlock | None
    workgroups: SizeOfBlock | None
    constants: Constants | None
    device: str
    via: str | None
    timeout: float | None


@dataclass(frozen=True, slots=True)
class BlockCall:
    """The values for a block, of which those in `fresh` may be written, and the outputs that are wanted."""

    block: Block
    given: Mapping[str, Any]
    fresh: Collection[str]
    outputs: Sequence[str]


class Callee(Protocol):
    """What runs on a block."""

    @property
    def title(self) -> str:
        """The beginning of "… no buffer named 'x'"."""
        ...

    @property
    def names(self) -> tuple[str, ...]:
        """What values are given for."""
        ...

    @property
    def outputs(self) -> tuple[str, ...]:
        """What it returns."""
        ...

    def form(self, name: str) -> tuple[np.dtype[Any], tuple[int, ...]]:
        """The dtype of an output that has an element for each of a block, and the shape of such an element.

        Raises InputError for what is not an array of numbers.
        """
        ...

    def is_array(self, name: str, given: object) -> bool:
        """Whether an output for which that is given, or nothing, which is 0, has elements for those of a block."""
        ...

    def whole_form(self, name: str, given: object) -> tuple[np.dtype[Any], tuple[int, ...]]:
        """The dtype and shape of an output without an element for each of a block."""
        ...

    def run(self, call: BlockCall, options: Options) -> dict[str, Array]:
        """The outputs for a block that is not empty."""
        ...


@dataclass(frozen=True, slots=True)
class KernelCallee:
    """A kernel: its outputs are the bindings that it writes, which get values as well."""

    kernel: Kernel

    @property
    def title(self) -> str:
        """The beginning of "… no buffer named 'x'"."""
        return "the entry point uses"

    @property
    def names(self) -> tuple[str, ...]:
        """The bindings."""
        return tuple(it.name for it in self.kernel.bindings)

    @property
    def outputs(self) -> tuple[str, ...]:
        """The bindings that it writes."""
        return tuple(it.name for it in self.kernel.bindings if it.is_written)

    def form(self, name: str) -> tuple[np.dtype[Any], tuple[int, ...]]:
        """The numpy type of the scalars of a binding that is an array."""
        info = self.kernel.shader.bindings[name]
        dtype = info.dtype
        while dtype is not None and dtype.subdtype is not None:
            dtype = dtype.base
        if dtype is None or dtype.names is not None:
            raise InputError(
                f"{name}: {info.type} is not an array of numbers, so its blocks have no dtype: give an array"
            )
        return dtype, ()

    def is_array(self, name: str, given: object) -> bool:
        """Whether the binding starts as zeros of the block's shape."""
        return given is None

    def whole_form(self, name: str, given: object) -> tuple[np.dtype[Any], tuple[int, ...]]:
        """Those of the array that is given."""
        array: Array = np.asarray(given)
        return array.dtype if array.dtype.names is not None else self.form(name)[0], array.shape

    def run(self, call: BlockCall, options: Options) -> dict[str, Array]:
        """Dispatch it in place, where an array has the layout of its binding."""
        block = call.block
        workgroups = None if options.workgroups is None else cast("Size", of_block(options.workgroups, block))
        threads = None
        if workgroups is None:
            threads = block.shape[::-1] if options.threads is None else cast("Size", of_block(options.threads, block))
        adopted = self._arrays(call)
        with Session(options.device) as session:
            buffers: dict[str, Buffer] = {}
            for name, value in call.given.items():
                info = self.kernel.shader.bindings[name]
                buffers[name] = session.adopt(adopted[name]) if name in adopted else session.buffer(value, info)
            session.run(
                self.kernel,
                buffers,
                workgroups=workgroups,
                threads=threads,
                constants=options.constants,
                via=options.via,
                timeout=options.timeout,
            )
            others = {name: buffers[name].numpy() for name in call.outputs if name not in adopted}
        return {name: adopted[name] if name in adopted else others[name] for name in call.outputs}

    def _arrays(self, call: BlockCall) -> dict[str, Array]:
        """Arrays in the layout of their bindings, which the kernel may work in; a written one belongs to this run."""
        found: dict[str, Array] = {}
        for name, value in call.given.items():
            info = self.kernel.shader.bindings[name]
            if name in call.fresh:
                found[name] = value
            elif isinstance(value, np.ndarray) and (array := cast("Array", value)).dtype == info.dtype:
                is_ready = array.flags.c_contiguous and not info.is_written
                found[name] = array if is_ready else BLOCK_MEMORY.copy(array)
        return found


@dataclass(frozen=True, slots=True)
class GraphCallee:
    """A graph: its outputs need no values."""

    graph: GraphProgram

    @property
    def title(self) -> str:
        """The beginning of "… no buffer named 'x'"."""
        return f"graph {self.graph.name!r} has"

    @property
    def names(self) -> tuple[str, ...]:
        """The inputs."""
        return tuple(self.graph.inputs)

    @property
    def outputs(self) -> tuple[str, ...]:
        """The outputs."""
        return tuple(self.graph.outputs)

    def form(self, name: str) -> tuple[np.dtype[Any], tuple[int, ...]]:
        """The dtype and shape of an element of an array, or of all else as a whole."""
        text = self.graph.outputs.get(name, "") if name in self.graph.outputs else str(self.graph.inputs[name].type)
        type = builtin_type(parse_type(text))
        if type is None:
            raise InputError(f"not supported: {name!r} of graph {self.graph.name!r}, which is of {text}, in blocks")
        dtype, shape = value_form(type, 1)
        return dtype, shape[1:] if runtime_array(type) is not None else shape

    def is_array(self, name: str, given: object) -> bool:
        """Whether the output is an array of any length."""
        type = builtin_type(parse_type(self.graph.outputs[name]))
        return type is not None and runtime_array(type) is not None

    def whole_form(self, name: str, given: object) -> tuple[np.dtype[Any], tuple[int, ...]]:
        """Those of its type."""
        return self.form(name)

    def run(self, call: BlockCall, options: Options) -> dict[str, Array]:
        """Execute it. Raises InputError for an array that has not as many elements as the block."""
        made = self.graph.run(call.given, device=options.device, timeout=options.timeout)
        found: dict[str, Array] = {}
        for name in call.outputs:
            array = made[name]
            if self.is_array(name, 0):
                shape = (*call.block.shape, *self.form(name)[1])
                if array.size != prod(shape):
                    raise InputError(f"{name} has {array.size} elements, but the block {prod(shape)}")
                array = array.reshape(shape)
            found[name] = array
        return found


def callee_of(function: object, options: Options) -> Callee:
    """A kernel or a graph as what runs. Raises InputError."""
    if isinstance(function, Kernel):
        return KernelCallee(function)
    if isinstance(function, (Graph, GraphProgram)):
        given = {name: getattr(options, name) for name in ("threads", "workgroups", "constants", "via")}
        for name, value in given.items():
            if value is not None:
                raise InputError(f"{name} is for kernels; the nodes of a graph have their own")
        return GraphCallee(function.program)
    raise InputError(f"blocks are run by a kernel or a graph, not {shown(function)}")


def of_block(value: object, block: Block) -> object:
    """A value, or what a function says for the block."""
    return cast("Callable[[Block], object]", value)(block) if callable(value) else value
