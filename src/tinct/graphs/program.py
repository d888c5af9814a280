"""Graphs that are finished: verified, linked to their shaders, and ready to run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from os import PathLike, path
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from ..arguments import mapping_of, path_of, seconds_of
from ..base.cached import cached_property
from ..base.deadline import compiling_within
from ..base.errors import InputError
from ..counting.recorders import recorders
from ..graph_calls import call_on_ports
from ..instrumented import runs_are_plain
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
from ..kernel import BufferValue, Kernel
from ..reflection import BindingInfo
from ..shader import Shader
from .choosing import Chooser, check_auto
from .devices import NodeDevices, Where, node_devices
from .edge_checks import EdgeWarning, edge_warnings
from .executable import Executable
from .host_functions import HostFunction
from .launch import Launch
from .linking import Links
from .machine import described
from .plan import Plan
from .plan_values import Unplannable
from .repeating import ONCE, Asked, repetition
from .running import GraphRun, Runner, RunOptions
from .time_limit import deadline_after, limit_named, seconds_left

Found = TypeVar("Found")

if TYPE_CHECKING:
    pass


class GraphProgram(Executable):
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

    def __call__(
        self, buffers: Mapping[str, object], *, instances: object = (), repeat: object = None
    ) -> dict[str, Any]:
        """Add a node that executes this graph to another; see `Graph`."""
        return call_on_ports(self, buffers, instances=instances, repeat=repeat)

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

    @cached_property
    def output_infos(self) -> dict[str, BindingInfo]:
        """What `run` returns, by name, described as `inputs` are."""
        return {name: described(name, self.output_type(name)) for name in self.outputs}

    @property
    def kernels(self) -> dict[str, Kernel]:
        """The kernels of the leaves, by the names of the leaves."""
        return dict(self.links.kernels)

    @property
    def why_one_by_one(self) -> str | None:
        """Why a run executes the nodes one by one, without a plan and not fused: a kernel prints, or coverage is
        measured, in words. None otherwise.
        """
        if runs_are_plain() or not (self._printing or recorders()):
            return None
        return f"{self._printing[0]!r} prints" if self._printing else "coverage is measured"

    @cached_property
    def _printing(self) -> tuple[str, ...]:
        """The names of the leaves whose kernels print."""
        return tuple(name for name, it in self.links.kernels.items() if it.prints)

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

    def execute(self, inputs: Mapping[str, BufferValue], where: Where, asked: Asked, *, is_timed: bool) -> GraphRun:
        """What `run` and `run_timed` do."""
        options = self._options(inputs, where, asked, is_timed=is_timed)
        return self._run(inputs, options)

    def begin(self, inputs: Mapping[str, BufferValue], where: Where, asked: Asked) -> Launch:
        """What `launch` does."""
        options = self._options(inputs, where, asked, is_timed=False)
        given = dict(inputs)
        return Launch(
            self.name,
            lambda stop: self._run(given, replace(options, should_stop=stop)),
        )

    def _run(self, inputs: Mapping[str, BufferValue], options: RunOptions) -> GraphRun:
        with (
            limit_named(self.name, options.seconds, options.deadline),
            compiling_within(seconds_left(options.deadline)),
        ):
            return self._located(lambda: self.runner.run(inputs, options))

    def planned(self, inputs: Mapping[str, BufferValue], where: Where, feed: Mapping[str, str] | None) -> Plan:
        """What `plan` does."""
        self._check_names(inputs)
        asked = ONCE if feed is None else repetition(self, Asked(repeat=1, feed=feed))
        options = RunOptions(self._devices(where, inputs, None, None), asked)
        try:
            return self._located(lambda: self.runner.plan_for(inputs, options))
        except Unplannable as error:
            raise InputError(f"not supported: a plan of graph {self.name!r}: {error}") from None

    def chosen(self, inputs: Mapping[str, BufferValue], timeout: float | None) -> dict[str, str]:
        """What `choose_devices` does."""
        self._check_names(inputs)
        seconds = seconds_of(timeout)
        return self._choice(inputs, seconds, deadline_after(seconds))

    def _choice(
        self, inputs: Mapping[str, BufferValue], seconds: float | None, deadline: float | None
    ) -> dict[str, str]:
        with limit_named(self.name, seconds, deadline), compiling_within(seconds_left(deadline)):
            return dict(self._located(lambda: self.chooser.choose(inputs, deadline)))

    @cached_property
    def chooser(self) -> Chooser:
        """What chooses devices for it."""
        return Chooser(self)

    def executed(self, inputs: Mapping[str, BufferValue], feed: Mapping[str, str] | None = None) -> GraphProgram:
        """The graph that a run with these inputs executes: this one; see `FusedProgram.executed`."""
        self._check_names(inputs)
        return self

    @cached_property
    def runner(self) -> Runner:
        """What runs it."""
        return Runner(self)

    def _options(self, inputs: Mapping[str, BufferValue], where: Where, asked: Asked, *, is_timed: bool) -> RunOptions:
        seconds, repeated = seconds_of(where.timeout), repetition(self, asked)
        deadline = deadline_after(seconds)
        self._check_names(inputs)
        return RunOptions(self._devices(where, inputs, seconds, deadline), repeated, seconds, deadline, is_timed)

    def _devices(
        self, where: Where, inputs: Mapping[str, BufferValue], seconds: float | None, deadline: float | None
    ) -> NodeDevices:
        check_auto(where.devices)
        chosen = self._choice(inputs, seconds, deadline) if where.devices == "auto" else where.devices
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
