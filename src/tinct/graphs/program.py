"""Graphs that are finished: verified, linked to their shaders, and ready to run."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from os import PathLike, path
from pathlib import Path
from typing import Any, Literal

import numpy.typing as npt

from ..arguments import mapping_of, name_of, path_of, seconds_of
from ..base.errors import InputError
from ..buffers import pack_binding
from ..devices import device_named
from ..graph_calls import call_on_ports
from ..ir import types as wgsl
from ..ir.dataflow import interp
from ..ir.dataflow.codec import CODEC
from ..ir.dataflow.nodes import Graph, Module, ShaderFile
from ..ir.dataflow.nodes import Shader as ShaderDeclaration
from ..ir.dataflow.scope import inputs_of, outputs_of
from ..ir.dataflow.text import print_module, type_text
from ..ir.hints import unknown_name
from ..ir.layout_numbers import is_array, shown
from ..ir.source import Source, Span
from ..reflection import BindingInfo, Place, describe_binding
from ..shader import BufferValue, Kernel, Shader
from .linking import Links
from .machine import KernelMachine, NodeTiming, Value, canonical


@dataclass(frozen=True, slots=True)
class GraphRun:
    """The result of a run: the outputs by name, and the times of nodes by their paths in the hierarchy."""

    outputs: dict[str, npt.NDArray[Any]]
    timings: dict[tuple[str, ...], NodeTiming]


class GraphProgram:
    """A graph of kernels that is whole. `load_graph` and `Graph.program` give one.

    `module` is its IR, `shaders` are the shaders of its leaves by their names in the IR, and `source` is the text that
    it was parsed from, if there is one.
    """

    def __init__(
        self, module: Module, shaders: Mapping[str, Shader], links: Links, source: Source | None = None
    ) -> None:
        self.module = module
        self.source = source
        self.shaders = dict(shaders)
        self._links = links

    def __repr__(self) -> str:
        return f"<GraphProgram {self.name}: {', '.join(self.inputs)} -> {', '.join(self.outputs)}>"

    def __str__(self) -> str:
        """Its text, as in a `.hpvm` file."""
        return print_module(self.module)

    def __call__(self, buffers: Mapping[str, object], *, instances: object = ()) -> dict[str, Any]:
        """Add a node that executes this graph to another; see `Graph`."""
        return call_on_ports(self, buffers, instances=instances)

    @property
    def name(self) -> str:
        """The name of the root's graph."""
        return self._root.name

    @cached_property
    def _root(self) -> Graph:
        found = next(it for it in self.module.functions if it.name == self.module.root.function)
        assert isinstance(found, Graph)
        return found

    @cached_property
    def inputs(self) -> dict[str, BindingInfo]:
        """What `run` takes, by name. As a binding each is read only, and the numbers of group and binding are 0."""
        return {name: self._described(name) for name in inputs_of(self._root)}

    @cached_property
    def outputs(self) -> dict[str, str]:
        """The types of what `run` returns, by name."""
        return {name: type_text(it.type) for name, it in outputs_of(self._root).items()}

    @property
    def kernels(self) -> dict[str, Kernel]:
        """The kernels of the leaves, by the names of the leaves."""
        return dict(self._links.kernels)

    def _described(self, name: str) -> BindingInfo:
        type = self._links.types[self._root.name, name]
        is_handle = isinstance(type, (wgsl.Texture, wgsl.Sampler))
        space = wgsl.AddressSpace.HANDLE if is_handle else wgsl.AddressSpace.STORAGE
        return describe_binding(name, type, Place(wgsl.BindingPoint(0, 0), space, wgsl.Access.READ))

    def run(
        self, inputs: Mapping[str, BufferValue], *, device: str = "cpu", timeout: float | None = None
    ) -> dict[str, npt.NDArray[Any]]:
        """Execute the graph once and return its outputs by name: new arrays; those given stay as they are.

        `inputs` has a value for each of `inputs`, in the forms that `Kernel.run` takes. All nodes run on one device,
        one after another, each when its inputs are there. `timeout` is for the whole graph, compiling included.

        Raises InputError for inputs and extents that do not fit, with the name of the node, ShaderError for what the
        device cannot compile, DeviceError when the device fails or the time is over.
        """
        return self.run_timed(inputs, device=device, timeout=timeout).outputs

    def run_timed(
        self, inputs: Mapping[str, BufferValue], *, device: str = "cpu", timeout: float | None = None
    ) -> GraphRun:
        """`run` with the seconds that the nodes took."""
        device_named(name_of(device, "a device", "cpu"))
        seconds = seconds_of(timeout)
        machine = KernelMachine(self._links, device, None if seconds is None else time.monotonic() + seconds)
        values = self._values(inputs)
        try:
            outputs = interp.run(self.module, values, machine)
        except interp.NodeError as error:
            raise InputError(self._place(error.span) + str(error)) from error
        return GraphRun(_own_arrays(outputs, values), machine.timings)

    def _place(self, span: Span | None) -> str:
        """File, line and column of a statement, for the beginning of a message."""
        if self.source is None or span is None:
            return ""
        at = self.source.position(span.start)
        return f"{self.source.name}:{at.line}:{at.column}: "

    def _values(self, given: Mapping[str, BufferValue]) -> dict[str, Value]:
        """The inputs with their types, checked."""
        known = self.inputs
        for name in mapping_of(given, "inputs", known):
            if name not in known:
                raise InputError(unknown_name(f"graph {self.name!r} has no input named {shown(name)}", name, known))
        missing = [f"{name}: {info.type}" for name, info in known.items() if name not in given]
        if missing:
            raise InputError(f"nothing is given for the input {', '.join(missing)} of graph {self.name!r}")
        for name, info in known.items():
            pack_binding(info, given[name])
        return {name: Value(given[name], info.type) for name, info in known.items()}

    def to_json(self) -> str:
        """Its IR as JSON, on one line; `load_graph` reads it."""
        return CODEC.to_json(self.module)

    def save(self, file: str | PathLike[str], *, shaders: Literal["embedded", "files"] = "embedded") -> None:
        """Write the text to a file (`.hpvm`).

        The text holds its shaders, or, with `shaders="files"`, the paths of the files that they were loaded from,
        relative to the folder of `file`. Raises InputError for a shader without a file, and OSError.
        """
        target = path_of(file)
        module = self.module
        if shaders == "files":
            declared = tuple(self._by_file(it, target.parent) for it in module.shaders)
            module = Module(declared, module.functions, module.root)
        elif shaders != "embedded":
            raise InputError(f"shaders are 'embedded' or 'files', not {shown(shaders)}")
        target.write_text(print_module(module), encoding="utf-8")

    def _by_file(self, declared: ShaderDeclaration, folder: Path) -> ShaderDeclaration:
        source = self.shaders[declared.name].source
        origin = Path(source.name)
        if not origin.is_file() or origin.read_bytes() != source.data:
            raise InputError(f"shader {declared.name!r} has no file with its text; leave it embedded")
        return ShaderDeclaration(declared.name, ShaderFile(Path(path.relpath(origin, folder)).as_posix()))


def _own_arrays(outputs: Mapping[str, Value], inputs: Mapping[str, Value]) -> dict[str, npt.NDArray[Any]]:
    """The outputs as arrays that nobody else has: an instance-less node or a split gives a value as it is."""
    taken = {id(it.data) for it in inputs.values()}
    arrays: dict[str, npt.NDArray[Any]] = {}
    for name, value in outputs.items():
        data: object = value.data
        array = data if is_array(data) else canonical(value)
        arrays[name] = array.copy() if id(data) in taken else array
        taken.add(id(data))
    return arrays
