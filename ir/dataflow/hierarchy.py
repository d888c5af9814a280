"""The hierarchy of a module's graphs: who contains whom, how deep, and which inputs come back as outputs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .nodes import (
    Access,
    BindInput,
    CreateNode,
    Endpoint,
    Expression,
    Function,
    Graph,
    Host,
    Leaf,
    Module,
    Reference,
    Split,
)
from .scope import SPLIT_INPUT, Scope, in_order, scope_of


@dataclass(frozen=True, slots=True)
class Place:
    """A node in the hierarchy. `path` has the names from the root's child down to it."""

    path: tuple[str, ...]
    node: CreateNode
    function: Function


def walk_hierarchy(module: Module) -> Iterator[Place]:
    """Each node below the root, parents before children, and the children of a graph in the order of execution.

    A graph that occurs at several places is walked at each of them. The module must be verified.
    """
    functions = {it.name: it for it in module.functions}
    orders: dict[str, list[CreateNode]] = {}
    pending = [Place((), module.root, functions[module.root.function])]
    while pending:
        place = pending.pop()
        if place.path:
            yield place
        if isinstance(place.function, Graph):
            name = place.function.name
            if name not in orders:
                orders[name] = list(_nodes_in_order(place.function, functions))
            pending += [Place((*place.path, it.name), it, functions[it.function]) for it in reversed(orders[name])]


def _nodes_in_order(graph: Graph, functions: dict[str, Function]) -> Iterator[CreateNode]:
    scope = scope_of(graph, functions)
    for name in in_order(scope):
        child = scope.children[name]
        if isinstance(child, CreateNode):
            yield child


def creators(module: Module) -> dict[str, list[tuple[str | None, CreateNode]]]:
    """For each function, the nodes that execute it, each with the graph that it is a child of: None for the root."""
    found: dict[str, list[tuple[str | None, CreateNode]]] = {module.root.function: [(None, module.root)]}
    for graph in (it for it in module.functions if isinstance(it, Graph)):
        for node in (it for it in graph.body if isinstance(it, CreateNode)):
            found.setdefault(node.function, []).append((graph.name, node))
    return found


def graph_depths(module: Module) -> dict[str, int]:
    """How many levels of graphs each graph has, itself included. Graphs that contain themselves are left out, and so
    are those that contain such.
    """
    graphs = {it.name: it for it in module.functions if isinstance(it, Graph)}
    inner = {
        name: {node.function for node in graph.body if isinstance(node, CreateNode) and node.function in graphs}
        for name, graph in graphs.items()
    }
    users: dict[str, list[str]] = {name: [] for name in graphs}
    for name, contained in inner.items():
        for it in contained:
            users[it].append(name)
    depths: dict[str, int] = {}
    ready = [name for name, contained in inner.items() if not contained]
    for name in ready:  # grows while it is walked
        depths[name] = 1 + max((depths[it] for it in inner[name]), default=0)
        for user in users[name]:
            if all(it in depths for it in inner[user]):
                ready.append(user)
    return depths


def innermost_first(module: Module) -> list[Graph]:
    """The graphs, each after those that it contains."""
    depths = graph_depths(module)
    graphs = [it for it in module.functions if isinstance(it, Graph) and it.name in depths]
    return sorted(graphs, key=lambda it: depths[it.name])


def origins(module: Module) -> dict[str, dict[str, str | None]]:
    """For each function and each of its outputs: the input that the output is a version of, or None if there is none.

    An output of a leaf, on the host or not, is a version of its input of the same name. That of a graph is traced back
    along edges, splits and children to an input of the graph.
    """
    functions = {it.name: it for it in module.functions}
    found: dict[str, dict[str, str | None]] = {
        it.name: {port.name: _own_input(port.access, port.name) for port in it.ports if port.access is not Access.IN}
        for it in module.functions
        if isinstance(it, (Leaf, Host))
    }
    for graph in innermost_first(module):
        scope = scope_of(graph, functions)
        found[graph.name] = {name: _origin(bind.source, scope, found) for name, bind in scope.output_sources.items()}
    return found


def _own_input(access: Access, name: str) -> str | None:
    return name if access is Access.INOUT else None


def _origin(end: Endpoint, scope: Scope, found: dict[str, dict[str, str | None]]) -> str | None:
    while True:
        child = scope.children[end.node]
        port = SPLIT_INPUT if isinstance(child, Split) else found[child.function][end.port]
        if port is None or _is_renamed(child, port, end.port):
            return None
        given = Endpoint(end.node, port)
        if given not in scope.edges_to:
            return _bound_input(scope.input_binds.get(given), scope)
        end = scope.edges_to[given].source


def _is_renamed(child: CreateNode | Split, origin: str, output: str) -> bool:
    """Whether the number of executions decides which input an output is a version of."""
    return isinstance(child, CreateNode) and child.repeat is not None and origin != output


def _bound_input(bind: BindInput | None, scope: Scope) -> str | None:
    value: Expression | None = None if bind is None else bind.source
    is_input = isinstance(value, Reference) and not value.selectors and value.name in scope.inputs
    return value.name if is_input and isinstance(value, Reference) else None
