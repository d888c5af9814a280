"""`tinct.Graph`: builds a graph of kernels, node by node."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from ..arguments import count_of, extent_of, flag_of, mapping_of, name_of
from ..base.errors import InputError
from ..graph_calls import call_on_ports
from ..ir.dataflow.nodes import (
    BindInput,
    BindOutput,
    CreateEdge,
    CreateNode,
    Endpoint,
    Expression,
    FloatLiteral,
    IntegerLiteral,
    Malloc,
    NestShader,
    Reference,
    Replication,
    Split,
    Type,
)
from ..ir.dataflow.rules.declarations import IDENTIFIER
from ..ir.dataflow.scope import SPLIT_INPUT, split_outputs
from ..ir.dataflow.text import parse_type, type_text
from ..ir.dataflow.types import without_atomics
from ..ir.dataflow.verify import verify, verify_parts
from ..ir.hints import unknown_name
from ..ir.layout_numbers import is_flag, is_number, shown
from ..ir.tokens import TextError
from ..kernel import Kernel
from ..reflection import BindingInfo
from ..sessions.calls import Constants
from ..sized_kernel import KernelOfSizes, SizedKernel
from .edge_checks import EdgeWarning
from .executable import Executable
from .host_functions import HostFunction, host
from .linking import Links, link_graphs, link_leaves
from .operands import Input, Number, Operand, Part, Port, Zeros, expression_of, numbers_of
from .program import GraphProgram
from .state import GraphState, KernelUse, kernel_name
from .wgsl_types import has_member_ports

if TYPE_CHECKING:
    pass

Source: TypeAlias = "str | float | Operand | Zeros"
"""What an input of a node may be bound to: the name of an input of the graph, an expression, a number, a transient."""

Extents: TypeAlias = "Number | tuple[Number, ...] | list[Number]"
"""The extents of a node, in none to three dimensions."""

_REPLICATIONS = {"one-to-one": Replication.ONE_TO_ONE, "all-to-all": Replication.ALL_TO_ALL}
WORDS = {kind: word for word, kind in _REPLICATIONS.items()}
"""What `Graph.edge` and `Graph.split` call the kinds of edges."""


@dataclass(frozen=True, slots=True)
class Node:
    """A node of a graph; `node["name"]` is a port of it."""

    graph: Graph
    name: str

    def __repr__(self) -> str:
        return f"<Node {self.name} of {self.graph.name}>"

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of its inputs."""
        return tuple(self.graph.state.scope.inputs_of(self.name))

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of its outputs."""
        return tuple(self.graph.state.scope.outputs_of(self.name))

    def __getitem__(self, port: str) -> Port:
        """The port of that name; of a uniform structure the whole, or a member as in `node["params.width"]`.

        Raises InputError for a name that no port has.
        """
        name = name_of(port, "a port", "src")
        if name not in self.inputs and name not in self.outputs and name not in self.graph.structures_of(self.name):
            known = dict.fromkeys((*self.inputs, *self.outputs))
            raise InputError(unknown_name(f"node {self.name!r} has no port {name!r}", name, known))
        return Port(self.name, name, self.graph.state)


class Graph(Executable):
    """A graph of kernels that is being built; see docs/graphs.md. It pickles, whole or not.

    Errors are raised at the call that makes them, with the names of node and port. What can only be said of a whole
    graph, such as a missing input, is raised where the graph is used first. A graph may be changed after that.
    """

    def __init__(self, name: str = "graph") -> None:
        if not IDENTIFIER.match(name_of(name, "the name of a graph", "edges")):
            raise InputError(f"the name of a graph is an identifier, not {shown(name)}")
        self.name = name
        self.state = GraphState(name)
        self._kernels: dict[str, Kernel] = {}
        self._finished: tuple[tuple[int, int], GraphProgram] | None = None

    def __getstate__(self) -> dict[str, object]:
        with suppress(InputError):  # if it is whole, all copies in a process share the program, which pickles as text
            _ = self.program
        return dict(self.__dict__)

    def __dask_tokenize__(self) -> tuple[object, ...]:
        return self.program.__dask_tokenize__()

    def __repr__(self) -> str:
        return f"<Graph {self.name}: {', '.join(self.state.scope.children) or 'no node'}>"

    def __str__(self) -> str:
        """Its text, as in a `.hpvm` file. Raises InputError while it is not whole."""
        return str(self.program)

    def __call__(
        self, buffers: Mapping[str, object], *, instances: Extents = (), repeat: Number | None = None
    ) -> dict[str, Any]:
        """Add a node that executes this graph to the graph whose inputs and ports are among `buffers`; see `node`.

        For functions under `tinct.graph`; `run` takes arrays. Returns the outputs by name. Raises InputError.
        """
        return call_on_ports(self, buffers, instances=instances, repeat=repeat)

    # Building

    def input(self, name: str, type: str | None = None) -> Input:
        """The input of the graph with that name.

        Its type, such as "array<f32>", is that of the port that it is bound to; one that is only part of expressions
        is a whole number, unless `type` says otherwise. Raises InputError.
        """
        wanted = None if type is None else _type(name_of(type, "a type", "array<f32>"))
        self.state.add_input(name_of(name, "an input", "picture"))
        if wanted is not None:
            self.state.set_type(name, wanted)
            known = self.state.scope.inputs[name].type
            if known != without_atomics(wanted):
                raise InputError(f"input {name!r} is of type {type_text(known)}")
        return Input(Reference(name, ()), self.state)

    def node(
        self,
        function: Kernel | KernelOfSizes | Graph | GraphProgram | HostFunction | Callable[..., Any],
        *,
        threads: Extents | None = None,
        workgroups: Extents | None = None,
        instances: Extents = (),
        constants: Constants | None = None,
        capacity: int | None = None,
        repeat: Number | None = None,
        inputs: Mapping[str, str] | None = None,
        outputs: Mapping[str, str] | None = None,
        sizes: Mapping[str, int] | None = None,
        name: str | None = None,
    ) -> Node:
        """Add a node that executes a kernel, another graph, or a Python function on the host.

        For a kernel, `threads` has its invocations, or `workgroups` its workgroups, in none to three dimensions, and
        `constants` values of overrides. For a graph, `instances` says how many instances of it there are: without, one.
        An extent is a whole number, an expression such as "len(picture) / 2", an input or a part of an output.
        `capacity` is the most invocations of a kernel if a node writes their number: more are an error, and a run on
        the CPU or a GPU does not wait for the number. With `repeat`, a graph is executed that often: after each
        execution, outputs become the inputs of the same names; with 0, these are the outputs. A function is one of
        `tinct.host`, or any other, with the types of its `inputs` and `outputs` as there. A nest with decisions is the
        kernel that it is for these `sizes`, which give its extents; its outputs begin as zeros.

        Raises InputError.
        """
        if isinstance(function, KernelOfSizes):
            if any(it is not None for it in (threads, workgroups, constants, capacity, repeat, inputs, outputs)):
                raise InputError("a nest has sizes, which give its extents and overrides, and nothing else")
            return self._nest_node(function, {} if sizes is None else sizes, name)
        if sizes is not None:
            raise InputError("sizes are for nests")
        if not isinstance(function, (Kernel, Graph, GraphProgram, HostFunction)):
            function = _as_host(function, inputs, outputs)
        elif inputs is not None or outputs is not None:
            raise InputError("inputs and outputs are types of the ports of a Python function")
        if isinstance(function, Kernel):
            executed = self._kernel_use(function, constants)
            extents = self._threads(function, constants, threads, workgroups)
            if numbers_of(instances):
                raise InputError("a kernel has threads or workgroups; instances are for graphs")
        elif threads is not None or workgroups is not None or constants is not None:
            what = "a function on the host runs once" if isinstance(function, HostFunction) else "a graph has instances"
            raise InputError(f"{what}; threads, workgroups and constants are for kernels")
        elif isinstance(function, HostFunction):
            executed, extents = self.state.use_host(function.leaf, function), self._expressions(instances)
        else:
            executed, extents = self._graph_use(function), self._expressions(instances)
        stem = kernel_name(function) if isinstance(function, Kernel) else function.name
        own = self.state.fresh(stem) if name is None else name_of(name, "the name of a node", "blur")
        with self.state.whole_or_not():
            most = None if capacity is None else count_of(capacity, "a capacity")
            times = None if repeat is None else self._expression(repeat)
            self.state.declare(CreateNode(own, executed, extents, capacity=most, repeat=times))
        if isinstance(function, Kernel):
            self._kernels[own] = function
        return Node(self, own)

    def split(
        self, source: Port, count: int = 2, *, replication: str = "all-to-all", streaming: bool = False
    ) -> tuple[Port, ...]:
        """Several outputs with one value, for several edges. Raises InputError."""
        end = self._end(source, "the value of a split")
        type = self.state.scope.outputs_of(end.node).get(end.port)
        if type is None:
            raise InputError(f"{end.node}.{end.port} is no output: a split is of an output of a node")
        split = Split(self.state.fresh(f"{end.node}_{end.port}"), type, count_of(count, "the number of copies"))
        into = Endpoint(split.name, SPLIT_INPUT)
        edge = CreateEdge(end, into, _replication(replication), streaming=flag_of(streaming, "streaming"))
        with self.state.whole_or_not():
            self.state.declare(split)
            self.state.connect(edge)
        return tuple(Port(split.name, name, self.state) for name in split_outputs(split))

    def edge(
        self, source: Port, destination: Port, replication: str = "all-to-all", *, streaming: bool = False
    ) -> None:
        """Hand the value of an output of a node to an input of another.

        "all-to-all": all instances of the source end before one of the destination begins. "one-to-one": each instance
        of the destination reads only what the instance of the source with the same index wrote, and the grids are
        equal.

        Raises InputError.
        """
        way, streams = _replication(replication), flag_of(streaming, "streaming")
        with self.state.whole_or_not():
            ends = self._end(source, "the source of an edge"), self._destination(destination)
            self.state.connect(CreateEdge(*ends, way, streaming=streams))

    def bind_input(self, source: Source, destination: Port, *, streaming: bool = False) -> None:
        """Bind an input of a node to an input of the graph, by name, to a number, an expression, or a transient buffer.

        Raises InputError.
        """
        streams = flag_of(streaming, "streaming")
        with self.state.whole_or_not():
            end = self._destination(destination)
            self.state.connect(BindInput(self._bound(source, end), end, streaming=streams))

    def bind_output(self, source: Port, output: str, *, streaming: bool = False) -> None:
        """Make an output of a node an output of the graph. Raises InputError."""
        end = self._end(source, "the source of an output")
        type = self.state.scope.outputs_of(end.node).get(end.port)
        name, streams = name_of(output, "an output", "edges"), flag_of(streaming, "streaming")
        with self.state.whole_or_not():
            if type is not None:
                self.state.add_output(name, type)
            self.state.connect(BindOutput(end, name, streaming=streams))

    # Parts of building

    def _nest_node(self, nest: KernelOfSizes, sizes: Mapping[str, int], name: str | None) -> Node:
        first, *others = nest.at_sizes(sizes)
        if not others:
            return self._sized_node(first, name)
        inner = Graph(nest.name)
        nodes = [inner._sized_node(it, None) for it in (first, *others)]
        inner._connect_by_name(list(zip(nodes, (first, *others), strict=True)))
        return self.node(inner, name=name)

    def _connect_by_name(self, nodes: Sequence[tuple[Node, SizedKernel]]) -> None:
        """Give each node what earlier ones store under the names of its inputs, and what is left to inputs and outputs
        of the graph.
        """
        made = {name: node[name] for node, sized in nodes for name in sized.outputs}
        taken = [(node, name) for node, sized in nodes for name in node.inputs if name not in sized.outputs]
        for name, port in made.items():
            users = [node for node, it in taken if it == name]
            copies = self.split(port, len(users)) if len(users) > 1 else (port,)
            for node, copy in zip(users, copies, strict=False):
                self.edge(copy, node[name])
            if not users:
                self.bind_output(port, name)
        for node, name in taken:
            if name not in made:
                self.bind_input(name, node[name])

    def _sized_node(self, sized: SizedKernel, name: str | None) -> Node:
        leaf = self._kernel_use(sized.kernel, None, sized.source)
        own = self.state.fresh(sized.kernel.info.name) if name is None else name_of(name, "the name of a node", "blur")
        self.state.declare(CreateNode(own, leaf, self._expressions(sized.threads)))
        self._kernels[own] = sized.kernel
        node = Node(self, own)
        for output, count in sized.outputs.items():
            self.bind_input(Zeros((count,), None), node[output])
        return node

    def structures_of(self, node: str) -> tuple[str, ...]:
        """The uniform structures of a node whose members are ports."""
        kernel = self._kernels.get(node)
        return () if kernel is None else tuple(it.name for it in kernel.bindings if has_member_ports(it))

    def _kernel_use(self, kernel: Kernel, constants: Constants | None, nest: NestShader | None = None) -> str:
        given = mapping_of({} if constants is None else constants, "constants", ("n",))
        kernel.workgroup_size(given)  # checks the names and values
        values = tuple(sorted((name, _plain_number(value)) for name, value in given.items()))
        return self.state.use_kernel(KernelUse(kernel.shader, kernel.info.name, values, nest=nest))

    def _graph_use(self, graph: Graph | GraphProgram) -> str:
        if graph is self:
            raise InputError(f"graph {self.name!r} cannot contain itself")
        if isinstance(graph, GraphProgram):
            return self.state.use_module(graph.module, graph.shaders, graph.functions)
        module = graph.state.module()
        mistakes = verify_parts(module)
        if mistakes:
            raise InputError(f"graph {graph.name!r} is not whole: {mistakes[0].message}")
        return self.state.use_module(module, graph.state.shaders, graph.state.hosts)

    def _threads(
        self, kernel: Kernel, constants: Constants | None, threads: object, workgroups: object
    ) -> tuple[Expression, ...]:
        if (threads is None) == (workgroups is None):
            raise InputError("give the extents of a kernel's node either as threads or as workgroups")
        if workgroups is None:
            return self._expressions(threads)
        sizes = kernel.workgroup_size(constants)
        groups = [Operand(it) for it in self._expressions(workgroups)]
        if not groups:
            raise InputError("workgroups are one to three numbers")
        return tuple(_product(it, size) for it, size in zip(groups, sizes, strict=False))

    def _expressions(self, given: object) -> tuple[Expression, ...]:
        numbers = numbers_of(given)
        if all(is_number(it) and not is_flag(it) for it in numbers) and numbers:
            extent_of(tuple(numbers), "an extent")
        return tuple(self._expression(it) for it in numbers)

    def _expression(self, number: object) -> Expression:
        expression, builder = expression_of(number)
        if builder is not None and builder is not self.state:
            raise InputError(f"{number!r} is of another graph")
        return expression

    def _end(self, port: object, what: str) -> Endpoint:
        if not isinstance(port, Port) or isinstance(port, Part):
            raise InputError(f"{what} is a port of a node, as in node['dst'], not {shown(port)}")
        if port.state is not self.state:
            raise InputError(f"{port!r} is of another graph")
        return Endpoint(port.node, port.name)

    def _destination(self, port: object) -> Endpoint:
        end = self._end(port, "the destination")
        if end.port in self.structures_of(end.node) and end.port not in self.state.scope.inputs_of(end.node):
            self.state.use_whole(end.node, end.port)
        return end

    def _bound(self, source: object, end: Endpoint) -> Expression:
        """The expression of what an input is bound to. An input of the graph gets the type of what it is bound to."""
        if isinstance(source, Zeros):
            return Reference(self._transient(source, end), ())
        if is_number(source) and isinstance(_plain_number(source), float):
            return FloatLiteral(_plain_number(source))
        expression = self._expression(source)
        if isinstance(expression, Reference) and not expression.selectors:
            type = self.state.scope.inputs_of(end.node).get(end.port)
            is_input = expression.name not in self.state.scope.transients
            if type is not None and is_input and expression.name not in self.state.scope.children:
                self.state.add_input(expression.name)
                self.state.set_type(expression.name, type)
        return expression

    def _transient(self, made: Zeros, end: Endpoint) -> str:
        """The transient buffer for zeros; one with a name may be bound several times."""
        scope = self.state.scope
        type = scope.inputs_of(end.node).get(end.port)
        if type is None:
            raise InputError(f"node {end.node!r} has no input {end.port!r}")
        extents = tuple(self._expression(it) for it in made.extents)
        given = None if made.name is None else name_of(made.name, "the name of a transient buffer", "room")
        name = given or self.state.fresh(f"{end.node}_{end.port}")
        known = scope.transients.get(name)
        if known is not None and known.extents == extents:
            return name
        self.state.declare(Malloc(name, type, extents))
        return name

    # The whole

    @property
    def program(self) -> GraphProgram:
        """The graph as it is now, verified and linked. Raises InputError if it is not whole."""
        size = len(self.state.body), len(self.state.scope.inputs)
        if self._finished is None or self._finished[0] != size:
            self._finished = size, self._finish()
        return self._finished[1]

    def _finish(self) -> GraphProgram:
        module = self.state.module()
        mistakes = verify(module)
        if mistakes:
            raise InputError("; ".join(it.message for it in mistakes))
        shaders = {it.name: self.state.shaders[it.name] for it in module.shaders}
        hosts = self.state.hosts
        links = Links(hosts={it.name: hosts[it.name] for it in module.functions if it.name in hosts})
        wrong = link_leaves(module, shaders, links) or link_graphs(module, links)
        if wrong:
            raise InputError("; ".join(it.message for it in wrong))
        return GraphProgram(module, shaders, links)

    @property
    def inputs(self) -> dict[str, BindingInfo]:
        """What `run` takes, by name; see `GraphProgram.inputs`."""
        return self.program.inputs

    @property
    def outputs(self) -> dict[str, str]:
        """The types of what `run` returns, by name."""
        return self.program.outputs

    @property
    def warnings(self) -> tuple[EdgeWarning, ...]:
        """The edges that are declared one-to-one and are not proved to be; see `GraphProgram.warnings`."""
        return self.program.warnings

    def save(self, file: str | PathLike[str], *, shaders: Literal["embedded", "files"] = "embedded") -> None:
        """Write the text to a file (`.hpvm`); see `GraphProgram.save`."""
        self.program.save(file, shaders=shaders)


def _as_host(function: object, inputs: Mapping[str, str] | None, outputs: Mapping[str, str] | None) -> HostFunction:
    if not callable(function):
        raise InputError(f"a node executes a kernel, a graph or a function, not {shown(function)}")
    return host(function, inputs=inputs, outputs=outputs)


def _product(groups: Operand, size: int) -> Expression:
    if isinstance(groups.expression, IntegerLiteral):
        return IntegerLiteral(groups.expression.value * size)
    return (groups * size).expression if size > 1 else groups.expression


def _type(text: str) -> Type:
    try:
        return parse_type(text)
    except TextError as error:
        raise InputError(f"{shown(text)} is no type: {error}") from None


def _replication(word: object) -> Replication:
    if not isinstance(word, str) or word not in _REPLICATIONS:
        raise InputError(unknown_name(f"an edge is one-to-one or all-to-all, not {shown(word)}", word, _REPLICATIONS))
    return _REPLICATIONS[word]


def _plain_number(value: object) -> float:
    """A number of numpy as one of Python, so that it prints in a text."""
    number: object = np.asarray(value).item()
    assert isinstance(number, (bool, int, float))
    return number
