"""`@tinct.graph`: a graph from a function that calls kernels and graphs on ports."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

from ..arguments import mapping_of
from ..base.errors import InputError
from ..ir.dataflow.nodes import CreateEdge, Endpoint, Replication
from ..ir.hints import unknown_name
from ..ir.layout_numbers import shown
from ..kernel import Kernel
from ..sized_kernel import KernelOfSizes
from .builder import WORDS, Graph, Node, Source
from .host_functions import HostFunction
from .operands import Input, Part, Port
from .program import GraphProgram


def graph(function: Callable[..., object]) -> Graph:
    """The graph that a function describes, under the function's name.

    The function's parameters are the inputs of the graph. The function calls kernels with what `Kernel.run` takes, but
    with inputs and ports among the buffers: `blur({"source": picture, "blurred": zeros(n)}, threads=n)` gives the
    written bindings as ports, by name. It returns the outputs of the graph by name. An output that is used several
    times is split.

    Raises InputError.
    """
    if not callable(function):
        raise InputError(f"@tinct.graph is for a function, not {shown(function)}")
    built = Graph(getattr(function, "__name__", "graph"))
    trace = _Trace(built)
    made = function(**{name: trace.input(name) for name in _parameters(function)})
    trace.finish(made)
    return built


def _parameters(function: Callable[..., object]) -> list[str]:
    fixed = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError) as error:
        raise InputError(f"@tinct.graph is for a function with parameters that have names: {error}") from None
    for it in parameters:
        if it.kind not in fixed or it.default is not it.empty:
            raise InputError(f"parameter {it.name!r}: the inputs of a graph are parameters with a name and no default")
    return [it.name for it in parameters]


class TracedInput(Input):
    """An input of a graph that a function describes."""

    def __init__(self, of: Input, trace: _Trace) -> None:
        assert of.state is not None
        super().__init__(of.reference, of.state)
        self.trace = trace

    def call(self, callee: object, buffers: Mapping[str, object], **options: object) -> dict[str, TracedPort]:
        """Call a kernel or a graph on this input, and others."""
        return self.trace.call(callee, buffers, **options)


class TracedPort(Port):
    """An output of a node in a graph that a function describes. `replication` is that of the edges to the nodes
    that are called on it.
    """

    def __init__(self, node: Node, name: str, trace: _Trace, replication: Replication = Replication.ALL_TO_ALL) -> None:
        super().__init__(node.name, name, node.graph.state)
        self.trace = trace
        self.replication = replication

    def call(self, callee: object, buffers: Mapping[str, object], **options: object) -> dict[str, TracedPort]:
        """Call a kernel or a graph on this port, and others."""
        return self.trace.call(callee, buffers, **options)


def one_to_one(port: TracedPort) -> TracedPort:
    """The output of a node, for a call in a function under `tinct.graph`, by an edge that is declared one-to-one.

    `clip({"source": one_to_one(once["result"]), ...}, threads=n)`: of what the source wrote, each instance of the
    called kernel reads only what the instance of the source with the same index wrote. The grids must be equal.

    Raises InputError for what is no output of a node in such a function.
    """
    if not isinstance(cast("object", port), TracedPort):
        raise InputError(f"one_to_one is for an output of a node, in a function under @tinct.graph, not {shown(port)}")
    return port.trace.one_to_one(port)


class _Trace:
    """Collects where outputs go, so that each gets one edge or a split when all are known."""

    def __init__(self, built: Graph) -> None:
        self._graph = built
        self._uses: dict[tuple[str, str], list[tuple[Port, Replication] | str]] = {}
        """For each output, the ports that get it, with the kind of the edge, and the outputs of the graph."""

    def input(self, name: str) -> TracedInput:
        return TracedInput(self._graph.input(name), self)

    def one_to_one(self, port: TracedPort) -> TracedPort:
        return TracedPort(Node(self._graph, port.node), port.name, self, Replication.ONE_TO_ONE)

    def call(
        self,
        callee: object,
        buffers: Mapping[str, object],
        *,
        threads: Any = None,
        workgroups: Any = None,
        instances: Any = (),
        constants: Any = None,
        capacity: Any = None,
        repeat: Any = None,
        sizes: Any = None,
    ) -> dict[str, TracedPort]:
        node = self._graph.node(
            cast("Kernel | KernelOfSizes | Graph | GraphProgram | HostFunction", callee),
            threads=threads,
            workgroups=workgroups,
            instances=instances,
            constants=constants,
            capacity=capacity,
            repeat=repeat,
            sizes=sizes,
        )
        for name, value in _by_port(node, mapping_of(buffers, "buffers", node.inputs)):
            self._give(value, self._checked(node, name))
        return {name: TracedPort(node, name, self) for name in node.outputs}

    def _checked(self, node: Node, name: str) -> Port:
        if name not in node.inputs and name not in self._graph.structures_of(node.name):
            raise InputError(unknown_name(f"node {node.name!r} has no input {name!r}", name, node.inputs))
        return node[name]

    def _give(self, value: object, port: Port) -> None:
        if isinstance(value, Port) and not isinstance(value, Part):
            ends = Endpoint(value.node, value.name), Endpoint(port.node, port.name)
            way = value.replication if isinstance(value, TracedPort) else Replication.ALL_TO_ALL
            self._graph.state.check_edge(CreateEdge(*ends, way))
            self._uses.setdefault((value.node, value.name), []).append((port, way))
        else:
            self._graph.bind_input(cast("Source", value), port)

    def finish(self, made: object) -> None:
        """Bind the outputs that the function returned, and connect everything."""
        outputs = {made.name: made} if isinstance(made, Port) else made
        if not isinstance(outputs, Mapping) or not outputs:
            raise InputError(
                f"a graph's function returns its outputs by name, as in {{'sum': port}}, not {shown(made)}"
            )
        for name, port in cast("Mapping[str, object]", outputs).items():
            if not isinstance(port, Port) or isinstance(port, Part):
                raise InputError(f"the output {name!r} is {shown(port)}, and no output of a node")
            if isinstance(port, TracedPort) and port.replication is Replication.ONE_TO_ONE:
                raise InputError(f"the output {name!r} is handed to no node: one_to_one is for the buffers of a call")
            self._uses.setdefault((port.node, port.name), []).append(name)
        for (node, name), users in self._uses.items():
            self._connect(Node(self._graph, node)[name], users)

    def _connect(self, source: Port, users: list[tuple[Port, Replication] | str]) -> None:
        sources: tuple[Port, ...] = (source,)
        if len(users) > 1:
            ways = [it[1] for it in users if not isinstance(it, str)]
            into = Replication.ONE_TO_ONE if Replication.ONE_TO_ONE in ways else Replication.ALL_TO_ALL
            sources = self._graph.split(source, len(users), replication=WORDS[into])
        for it, user in zip(sources, users, strict=True):
            if isinstance(user, str):
                self._graph.bind_output(it, user)
            else:
                self._graph.edge(it, user[0], WORDS[user[1]])


def _by_port(node: Node, buffers: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """The values by port: a mapping for a uniform structure has those of its members."""
    for name, value in buffers.items():
        members = cast("Mapping[str, object]", value) if isinstance(value, Mapping) else None
        if members is not None and name in node.graph.structures_of(node.name):
            yield from ((f"{name}.{member}", it) for member, it in members.items())
        else:
            yield name, value
