"""Rules on modules: what functions, shaders and the root are, and what holds along the hierarchy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from ...hints import unknown_name
from .. import types
from ..expressions import expressions_of, leaves
from ..hierarchy import creators, graph_depths, origins
from ..nodes import (
    Access,
    BindInput,
    CreateNode,
    Dimension,
    Function,
    Graph,
    Host,
    Leaf,
    Module,
    Query,
    Question,
)
from ..scope import scope_of
from ..text import expression_text
from .declarations import IDENTIFIER, MOST_NESTED
from .table import ModuleRule, Part

Found = Iterator[tuple[Function | None, Part, str]]
_MOST_DIMENSIONS: Final = 3


def _shader_names(module: Module) -> Found:
    seen: set[str] = set()
    for shader in module.shaders:
        if shader.name in seen:
            yield None, shader, f"there is a shader {shader.name!r} already"
        seen.add(shader.name)


def _function_names(module: Module) -> Found:
    seen: set[str] = set()
    for function in module.functions:
        if function.name in seen:
            yield function, function, f"there is a leaf or a graph {function.name!r} already"
        seen.add(function.name)


def _identifiers(module: Module) -> Found:
    for named in (*module.shaders, *module.functions, module.root):
        if not IDENTIFIER.match(named.name):
            yield None, named, f"{named.name!r} is no identifier"


def _port_names(module: Module) -> Found:
    for function in module.functions:
        seen: set[str] = set()
        for port in function.ports:
            if port.name in seen:
                yield function, port, f"{function.name!r} has a port {port.name!r} already"
            if not _is_port_name(port.name, function):
                yield function, port, f"{port.name!r} is no name of a port"
            seen.add(port.name)


def _is_port_name(name: str, function: Function) -> bool:
    """Whether a port may have that name. Those of a leaf are compared with its shader; WGSL has more identifiers."""
    if isinstance(function, Leaf):
        return name.count(".") < 2 and all(name.split("."))
    return IDENTIFIER.match(name) is not None


def _port_types(module: Module) -> Found:
    for function in module.functions:
        for port in function.ports:
            if types.depth(port.type) > MOST_NESTED:
                yield function, port, f"the type of {port.name!r} is nested more than {MOST_NESTED} levels deep"


def _member_ports(module: Module) -> Found:
    for function in module.functions:
        names = {it.name for it in function.ports}
        for port in function.ports:
            whole = port.name.partition(".")[0]
            if whole == port.name:
                continue
            if port.access is not Access.IN:
                yield function, port, f"{port.name!r} is a member of a uniform: it is an input only"
            if whole in names:
                yield function, port, f"{port.name!r} is a part of {whole!r}, which is a port, too"


def _leaf_shader(module: Module) -> Found:
    known = [it.name for it in module.shaders]
    for function in module.functions:
        if isinstance(function, Leaf) and function.shader not in known:
            message = f"leaf {function.name!r}: no shader is named {function.shader!r}"
            yield function, function, unknown_name(message, function.shader, known)


def _leaf_constants(module: Module) -> Found:
    for function in module.functions:
        names = [it.name for it in function.constants] if isinstance(function, Leaf) else []
        for name in {it for it in names if names.count(it) > 1}:
            yield function, function, f"leaf {function.name!r}: the constant {name!r} is given twice"


def _workgroup_size(module: Module) -> Found:
    for function in module.functions:
        size = function.workgroup_size if isinstance(function, Leaf) else ()
        if len(size) > _MOST_DIMENSIONS or any(it < 1 for it in size):
            yield function, function, f"leaf {function.name!r}: a workgroup has one to three sizes, all above 0"


def _root_function(module: Module) -> Found:
    known = {it.name: it for it in module.functions}
    name = module.root.function
    if name not in known:
        graphs = [it.name for it in module.functions if isinstance(it, Graph)]
        yield None, module.root, unknown_name(f"the root: no graph is named {name!r}", name, graphs)
    elif isinstance(known[name], (Leaf, Host)):
        yield None, module.root, f"the root executes a graph, and {name!r} is a leaf"


def _root_instances(module: Module) -> Found:
    if module.root.extents:
        yield None, module.root, "the root has one instance: createNode makes it, without extents"
    if module.root.repeat is not None:
        yield None, module.root, "the root is executed once: whoever runs the graph repeats it"


def _no_recursion(module: Module) -> Found:
    depths = graph_depths(module)
    for function in module.functions:
        if isinstance(function, Graph) and function.name not in depths:
            yield function, function, f"graph {function.name!r} contains itself, or a graph that does"


def _nesting(module: Module) -> Found:
    depths = graph_depths(module)
    for function in module.functions:
        if depths.get(function.name, 0) > MOST_NESTED:
            yield function, function, f"graph {function.name!r} has more than {MOST_NESTED} levels"


def _instance_outputs(module: Module) -> Found:
    known = {it.name: it for it in module.functions}
    found = origins(module)
    for graph in (it for it in module.functions if isinstance(it, Graph)):
        for node in (it for it in graph.body if isinstance(it, CreateNode)):
            if node.extents and isinstance(known[node.function], Graph):
                for message in _without_origin(found[node.function]):
                    yield graph, node, f"node {node.name!r} has several instances: {message}"


def _without_origin(outputs: dict[str, str | None]) -> Iterator[str]:
    """Why several instances cannot write these outputs: each must be a version of an input of its own."""
    users: dict[str, str] = {}
    for output, origin in outputs.items():
        if origin is None:
            yield f"its output {output!r} is no version of one of its inputs, in which all instances could write"
        elif origin in users:
            yield f"its outputs {users[origin]!r} and {output!r} are two versions of its input {origin!r}"
        else:
            users[origin] = output


def _nested_streams(module: Module) -> Found:
    known = {it.name: it for it in module.functions}
    streams = {it.name: _streams(it, module.functions) for it in module.functions if isinstance(it, Graph)}
    for graph in (it for it in module.functions if isinstance(it, Graph)):
        for node in (it for it in graph.body if isinstance(it, CreateNode)):
            inner, outer = streams.get(node.function), streams[graph.name]
            if isinstance(known[node.function], Graph) and None not in (inner, outer) and inner != outer:
                words = ("do not stream", "stream")
                yield (
                    graph,
                    node,
                    f"the data of graph {graph.name!r} {words[bool(outer)]}, and those of node {node.name!r} "
                    f"{words[bool(inner)]}",
                )


def _streams(graph: Graph, functions: Iterable[Function]) -> bool | None:
    """Whether the graph's data stream; None if it has no edges and binds of data."""
    scope = scope_of(graph, {it.name: it for it in functions})
    return None if scope.first_data is None else scope.first_data.streaming


def _queries(module: Module) -> Found:
    """Each query is looked at for every way in which its graph is part of the hierarchy."""
    made_by = creators(module)
    for graph in (it for it in module.functions if isinstance(it, Graph)):
        for statement in graph.body:
            for expression in expressions_of(statement):
                for query in (it for it in leaves(expression) if isinstance(it, Query)):
                    for message in _wrong_query(query, statement, graph, made_by):
                        yield graph, statement, message


def _wrong_query(
    query: Query, statement: object, graph: Graph, made_by: dict[str, list[tuple[str | None, CreateNode]]]
) -> Iterator[str]:
    text = expression_text(query)
    asked = _nodes_at(query.level, statement, graph, made_by)
    if None in asked:
        yield f"{text}: there is no such ancestor, since the root has no parent"
    if query.dimension is None or query.question is Question.NUM_DIMS:
        return
    number = list(Dimension).index(query.dimension)
    for node in sorted((it for it in asked if it is not None), key=lambda it: it.name):
        if len(node.extents) <= number:
            yield f"{text}: node {node.name!r} is replicated in {len(node.extents)} dimensions only"
            return


def _nodes_at(
    level: int, statement: object, graph: Graph, made_by: dict[str, list[tuple[str | None, CreateNode]]]
) -> set[CreateNode | None]:
    """The nodes that a query of this level may be about; None stands for the parent of the root."""
    if level == 0:
        assert isinstance(statement, BindInput)
        return {it for it in graph.body if isinstance(it, CreateNode) and it.name == statement.destination.node}
    functions: set[str | None] = {graph.name}
    nodes: set[CreateNode | None] = set()
    for _ in range(level):
        made = [(parent, node) for it in functions if it is not None for parent, node in made_by.get(it, [])]
        nodes = {node for _, node in made}
        if None in functions:
            nodes.add(None)
        functions = {parent for parent, _ in made} | (functions & {None})
    return nodes


PORT_DEPTH: Final = ModuleRule("port-depth", "the types of ports are nested at most 50 levels deep", _port_types)
"""Before all else."""

NAMES: Final = (
    ModuleRule("shader-names", "shaders have different names", _shader_names),
    ModuleRule("function-names", "leaves and graphs have different names", _function_names),
    ModuleRule("identifiers", "shaders, leaves and graphs are named by identifiers", _identifiers),
    ModuleRule("port-names", "the ports of a function have different names", _port_names),
    ModuleRule("member-ports", "members of uniforms are inputs, and no parts of other ports", _member_ports),
    ModuleRule("leaf-shader", "a leaf is of a shader of the program", _leaf_shader),
    ModuleRule("leaf-constants", "a leaf gives an override one value", _leaf_constants),
    ModuleRule("workgroup-size", "a workgroup has one to three sizes", _workgroup_size),
)
"""For shaders, leaves and the heads of graphs."""

ROOT: Final = (
    ModuleRule("root-function", "the root executes a graph", _root_function),
    ModuleRule("root-instances", "the root has one instance, and no repeat", _root_instances),
)
"""For the root of a program."""

STRUCTURE: Final = (
    ModuleRule("no-recursion", "no graph contains itself", _no_recursion),
    ModuleRule("nesting", "graphs are nested at most 50 levels deep", _nesting),
)
"""For the hierarchy, when all graphs keep their rules."""

HIERARCHY: Final = (
    ModuleRule("instance-outputs", "instances of a graph write versions of its inputs", _instance_outputs),
    ModuleRule("nested-streams", "a graph streams if the graph that it is in does", _nested_streams),
)
"""For a finite hierarchy."""

ANCESTORS: Final = (ModuleRule("query-ancestor", "a query is about a dimension that an ancestor has", _queries),)
"""For a whole program, from the root down: graphs that are to be parts of others may ask for more ancestors."""
