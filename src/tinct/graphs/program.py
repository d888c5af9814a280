"""Graphs that are finished: verified, linked to their shaders, and ready to run."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike, path
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

import numpy.typing as npt

from ..arguments import mapping_of, path_of, seconds_of
from ..base.errors import InputError
from ..graph_calls import call_on_ports
from ..ir.dataflow import interp
from ..ir.dataflow.codec import CODEC
from ..ir.dataflow.nodes import Graph, Module, ShaderFile
from ..ir.dataflow.nodes import Shader as ShaderDeclaration
from ..ir.dataflow.scope import inputs_of, outputs_of
from ..ir.dataflow.text import print_module, type_text
from ..ir.hints import unknown_name
from ..ir.layout_numbers import shown
from ..ir.source import Source, Span
from ..ir.types import Type
from ..reflection import BindingInfo
from ..shader import BufferValue, Kernel, Shader
from .choosing import Chooser, check_auto
from .devices import NodeDevices, node_devices
from .edge_checks import EdgeWarning, edge_warnings
from .host_functions import HostFunction
from .launch import Launch
from .linking import Links
from .machine import described
from .plan import Plan
from .repeating import ONCE, Asked, repetition
from .running import GraphRun, Runner, RunOptions
from .streaming import Streamable

Found = TypeVar("Found")
NodeChoice: TypeAlias = "Mapping[str, str] | Literal['auto'] | None"
"""Devices for some nodes, or "auto"."""

if TYPE_CHECKING:
    from .fusing import FusedProgram


@dataclass(frozen=True, slots=True)
class Where:
    """The devices and the time limit of a run, as they were given."""

    device: str
    devices: NodeChoice
    timeout: float | None


class GraphProgram(Streamable):
    """A graph of kernels that is whole. `load_graph` and `Graph.program` give one.

    `module` is its IR, `shaders` are the shaders of its leaves by their names in the IR, and `source` is the text that
    it was parsed from, if there is one. It pickles as text, with the text of its shaders and with its Python functions;
    all copies of one text in a process are one program.
    """

    def __init__(
        self, module: Module, shaders: Mapping[str, Shader], links: Links, source: Source | None = None
    ) -> None:
        self.module = module
        self.source = source
        self.shaders = dict(shaders)
        self.links = links
        """What the names of its module stand for in WGSL."""

    def __reduce__(self) -> tuple[Callable[..., GraphProgram], tuple[object, ...]]:
        from .files import unpickled

        source = self.source or Source.from_text(print_module(self.module))
        shaders = tuple((name, it.source) for name, it in self.shaders.items())
        text = Source(source.name, source.data)
        return unpickled, (text, tuple(shaders), tuple(self.functions.items()), self.source is not None)

    def __dask_tokenize__(self) -> tuple[object, ...]:
        texts = sorted((name, it.source.data) for name, it in self.shaders.items())
        functions = [self.functions[it] for it in sorted(self.functions)]
        plain = Module((), self.module.functions, self.module.root)
        return "tinct.GraphProgram", print_module(plain), texts, functions

    def __repr__(self) -> str:
        return f"<GraphProgram {self.name}: {', '.join(self.inputs)} -> {', '.join(self.outputs)}>"

    def __str__(self) -> str:
        """Its text, as in a `.hpvm` file."""
        return print_module(self.module)

    def __call__(self, buffers: Mapping[str, object], *, instances: object = ()) -> dict[str, Any]:
        """Add a node that executes this graph to another; see `Graph`."""
        return call_on_ports(self, buffers, instances=instances)

    @property
    def program(self) -> GraphProgram:
        """This graph."""
        return self

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
        return {name: described(name, self.links.types[self._root.name, name]) for name in inputs_of(self._root)}

    @cached_property
    def outputs(self) -> dict[str, str]:
        """The types of what `run` returns, by name."""
        return {name: type_text(it.type) for name, it in outputs_of(self._root).items()}

    @property
    def kernels(self) -> dict[str, Kernel]:
        """The kernels of the leaves, by the names of the leaves."""
        return dict(self.links.kernels)

    def output_type(self, name: str) -> Type:
        """The WGSL type of an output."""
        return self.links.types[self._root.name, name]

    @property
    def functions(self) -> dict[str, HostFunction]:
        """The Python functions of the leaves on the host, by the names of the leaves."""
        return dict(self.links.hosts)

    @cached_property
    def warnings(self) -> tuple[EdgeWarning, ...]:
        """The edges that are declared one-to-one and are not proved to be, each with its place and that of the access.

        What the numbers of a run decide is not among them; see docs/fusion.md. The kernels at these edges are
        translated when it is asked for first.
        """
        return edge_warnings(self)

    def run(
        self,
        inputs: Mapping[str, BufferValue],
        *,
        device: str = "cpu",
        devices: NodeChoice = None,
        timeout: float | None = None,
        repeat: int | None = None,
        until: str | None = None,
        every: int | None = None,
        feed: Mapping[str, str] | None = None,
    ) -> dict[str, npt.NDArray[Any]]:
        """Execute the graph and return its outputs by name: new arrays; those given stay as they are.

        `inputs` has a value for each of `inputs`, in the forms that `Kernel.run` takes. The nodes run one after
        another, each when its inputs are there, on `device` or on their own of `devices`: by the name of the node, or
        its path, as in `{"blur": "gpu", "sort.scan": "cpu"}`. The device of a node that executes a graph is that of
        all nodes in it that have none. With `devices="auto"` they are those of `choose_devices`. `timeout` is for the
        whole run, compiling included.

        `repeat` is a number of executions. After each, outputs become inputs of the next one: each output that has the
        name and type of an input, or as `feed` says, by names of outputs, as in `{"next": "state"}`. All other inputs
        stay. `until` names an output that is one whole number: the first execution after which it is not zero is the
        last one, and `repeat` the most executions. On a GPU it is looked at after `every` executions; the result is
        that of the exact execution all the same. With `repeat=0`, only the outputs that become inputs are returned, as
        they were given.

        Raises InputError for inputs, extents and names that do not fit, with the name of the node, and for a graph
        without an output that can become an input, ShaderError for what a device cannot compile, DeviceError when a
        device fails or the time is over.
        """
        asked = Asked(repeat, until, every, feed)
        return self._run(inputs, Where(device, devices, timeout), asked, is_timed=False).outputs

    def run_timed(
        self,
        inputs: Mapping[str, BufferValue],
        *,
        device: str = "cpu",
        devices: NodeChoice = None,
        timeout: float | None = None,
        repeat: int | None = None,
        until: str | None = None,
        every: int | None = None,
        feed: Mapping[str, str] | None = None,
    ) -> GraphRun:
        """`run` with the seconds that the nodes took, each of which is waited for, the copies, and the number of
        executions.
        """
        asked = Asked(repeat, until, every, feed)
        return self._run(inputs, Where(device, devices, timeout), asked, is_timed=True)

    def launch(
        self,
        inputs: Mapping[str, BufferValue],
        *,
        device: str = "cpu",
        devices: NodeChoice = None,
        timeout: float | None = None,
        repeat: int | None = None,
        until: str | None = None,
        every: int | None = None,
        feed: Mapping[str, str] | None = None,
    ) -> Launch:
        """Begin what `run` does, in the background; `wait` returns the outputs. Several launches share the machine.

        Options and names are checked now; other errors are raised by `wait`. The arrays that are given must not be
        changed before the run has ended.
        """
        where, asked = Where(device, devices, timeout), Asked(repeat, until, every, feed)
        options = self._options(inputs, where, asked, is_timed=False)
        given = dict(inputs)
        return Launch(
            self.name,
            lambda stop: self._located(lambda: self.runner.run(given, replace(options, should_stop=stop))),
        )

    def plan(
        self,
        inputs: Mapping[str, BufferValue],
        *,
        device: str = "cpu",
        devices: NodeChoice = None,
        feed: Mapping[str, str] | None = None,
    ) -> Plan:
        """The plan that `run` follows for inputs of these sizes: steps, and the memory that they need. With `feed`,
        that of a repetition.

        Raises InputError as `run` does, and for what no plan can hold.
        """
        self._check_names(inputs)
        asked = ONCE if feed is None else repetition(self, Asked(repeat=1, feed=feed))
        found = self._located(
            lambda: self.runner.plan_for(inputs, RunOptions(self._devices(Where(device, devices, None), inputs), asked))
        )
        if found is None:
            raise InputError(
                f"not supported: a plan of graph {self.name!r}, which has textures or Python functions, computes "
                "with numbers that its nodes write, or has very many steps"
            )
        return found

    def choose_devices(self, inputs: Mapping[str, BufferValue], *, timeout: float | None = None) -> dict[str, str]:
        """The fastest devices for the leaves, by their paths: of the CPU and the GPU, where one answers.

        The graph is run some times to find them, Python functions included. What was found is kept, on disk as well
        (see `tinct cache`), for inputs of the same magnitude on this machine, so that a later run has the same devices,
        and gives the same bits. Given as `devices=`, it pins them on any machine.

        Raises what `run` raises, if no device can run the graph.
        """
        self._check_names(inputs)
        return dict(self._located(lambda: self.chooser.choose(inputs, seconds_of(timeout))))

    @cached_property
    def chooser(self) -> Chooser:
        """What chooses devices for it."""
        return Chooser(self)

    def executed(self, inputs: Mapping[str, BufferValue], feed: Mapping[str, str] | None = None) -> GraphProgram:
        """The graph that a run with these inputs executes: this one; see `FusedProgram.executed`."""
        self._check_names(inputs)
        return self

    def close(self) -> None:
        """Free the memory that is kept for the next run. The graph can still be run."""
        self.runner.close()

    @cached_property
    def runner(self) -> Runner:
        """What runs it."""
        return Runner(self)

    def _run(self, inputs: Mapping[str, BufferValue], where: Where, asked: Asked, *, is_timed: bool) -> GraphRun:
        options = self._options(inputs, where, asked, is_timed=is_timed)
        return self._located(lambda: self.runner.run(inputs, options))

    def _options(self, inputs: Mapping[str, BufferValue], where: Where, asked: Asked, *, is_timed: bool) -> RunOptions:
        seconds, repeated = seconds_of(where.timeout), repetition(self, asked)
        deadline = None if seconds is None else time.monotonic() + seconds
        self._check_names(inputs)
        return RunOptions(self._devices(where, inputs), repeated, deadline, is_timed)

    def _devices(self, where: Where, inputs: Mapping[str, BufferValue]) -> NodeDevices:
        check_auto(where.devices)
        chosen = self.choose_devices(inputs, timeout=where.timeout) if where.devices == "auto" else where.devices
        return node_devices(self.module, where.device, chosen or {})

    def _located(self, act: Callable[[], Found]) -> Found:
        """The result of a function; errors of nodes say where in the text these are."""
        try:
            return act()
        except interp.NodeError as error:
            raise InputError(self._place(error.span) + str(error)) from error

    def _place(self, span: Span | None) -> str:
        """File, line and column of a statement, for the beginning of a message."""
        if self.source is None or span is None:
            return ""
        at = self.source.position(span.start)
        return f"{self.source.name}:{at.line}:{at.column}: "

    def _check_names(self, given: Mapping[str, BufferValue]) -> None:
        """Raise InputError unless there is a value for each input, and no other."""
        known = self.inputs
        for name in mapping_of(given, "inputs", known):
            if name not in known:
                raise InputError(unknown_name(f"graph {self.name!r} has no input named {shown(name)}", name, known))
        missing = [f"{name}: {info.type}" for name, info in known.items() if name not in given]
        if missing:
            raise InputError(f"nothing is given for the input {', '.join(missing)} of graph {self.name!r}")

    def fused(self) -> FusedProgram:
        """The graph with its leaves fused along one-to-one edges, where that is proved to change nothing.

        `remarks` say what was fused, and what not and why. A run whose sizes do not keep what the proof needs executes
        this graph instead. Nodes of inner graphs without instances have names as `outer_inner` then, and a fused node
        has the names of its parts. Raises ShaderError for a kernel that the CPU cannot compile.
        """
        from .fusing import FusedProgram

        return FusedProgram(self)

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
