"""Links a module to its shaders: a kernel for each leaf, and the WGSL type of each port and transient buffer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ..base.errors import InputError
from ..compilation import Compilation
from ..ir import types as wgsl
from ..ir.dataflow.hierarchy import innermost_first
from ..ir.dataflow.nodes import (
    Access,
    BindInput,
    CreateEdge,
    CreateNode,
    Endpoint,
    Function,
    Graph,
    Host,
    Leaf,
    Module,
    Port,
    Reference,
    Split,
    Statement,
    Type,
)
from ..ir.dataflow.rules.table import Mistake, Part
from ..ir.dataflow.scope import SPLIT_INPUT, Scope, scope_of, split_outputs
from ..ir.dataflow.text import type_text
from ..ir.hints import unknown_name
from ..kernel import Kernel
from ..shader import Shader
from ..texel_kernels import is_texel_kernel
from ..transforms.dataflow.accesses import KernelAccesses
from .arithmetic import ARITHMETIC_LEAF, arithmetic_kernel
from .host_functions import HostFunction
from .texel_leaves import texel_kernel
from .wgsl_types import builtin_type, fits, has_member_ports, kernel_ports, port_type


@dataclass(slots=True)
class Links:
    """What a module's names stand for in WGSL. Types are by function and port, or by graph and transient buffer."""

    kernels: dict[str, Kernel] = field(default_factory=dict[str, Kernel])
    constants: dict[str, dict[str, float]] = field(default_factory=dict[str, "dict[str, float]"])
    types: dict[tuple[str, str], wgsl.Type] = field(default_factory=dict[tuple[str, str], wgsl.Type])
    hosts: dict[str, HostFunction] = field(default_factory=dict[str, HostFunction])
    """The Python functions of leaves on the host, as far as they are given."""
    accesses: dict[str, KernelAccesses | str] = field(default_factory=dict[str, "KernelAccesses | str"])
    """The accesses of kernels, by leaf, as far as they were asked for, or why they cannot be told."""

    def kernel(self, leaf: str) -> Kernel:
        """The kernel of a leaf of a plan, which may be ours."""
        if is_texel_kernel(leaf):
            return texel_kernel(leaf)
        return arithmetic_kernel() if leaf == ARITHMETIC_LEAF else self.kernels[leaf]

    def compilation(self, leaf: str) -> Compilation:
        """That kernel with the leaf's constants."""
        return self.kernel(leaf).compilation(self.constants.get(leaf))


def link_leaves(module: Module, shaders: Mapping[str, Shader], links: Links) -> list[Mistake]:
    """Add the leaves of a module, whose heads are verified, to the links; returns what does not fit their shaders."""
    leaves = [it for it in module.functions if isinstance(it, Leaf)]
    hosts = [it for it in module.functions if isinstance(it, Host)]
    return [
        *(mistake for leaf in leaves for mistake in _link_leaf(leaf, shaders[leaf.shader], links)),
        *(mistake for leaf in hosts for mistake in _link_host(leaf, links)),
    ]


def link_graphs(module: Module, links: Links) -> list[Mistake]:
    """Add the graphs of a verified module to the links, which have its leaves; returns where types do not fit."""
    functions = {it.name: it for it in module.functions}
    graphs = innermost_first(module)
    return [mistake for graph in graphs for mistake in _GraphLinker(graph, functions, links).mistakes()]


# Leaves


def _link_leaf(leaf: Leaf, shader: Shader, links: Links) -> Iterator[Mistake]:
    try:
        kernel = shader.kernel(leaf.entry)
        constants = {it.name: it.value.value for it in leaf.constants}
        size = kernel.workgroup_size(constants)
        known = kernel_ports(kernel, _whole_ports(leaf, kernel))
    except InputError as error:
        yield Mistake("leaf-entry", leaf, leaf, f"leaf {leaf.name!r}: {error}")
        return
    wrong_ports = list(_wrong_ports(leaf, known))
    yield from wrong_ports
    wanted = (*leaf.workgroup_size, 1, 1)[:3]
    if leaf.workgroup_size and wanted != size:
        texts = [" x ".join(map(str, it)) for it in (wanted, size)]
        message = f"leaf {leaf.name!r} has workgroups of {texts[0]}, but the shader says {texts[1]}"
        yield Mistake("leaf-workgroup", leaf, leaf, message)
    links.kernels[leaf.name] = kernel
    links.constants[leaf.name] = constants
    if not wrong_ports:
        links.types.update({(leaf.name, it.name): port_type(kernel, it.name) for it in leaf.ports})


def _link_host(leaf: Host, links: Links) -> Iterator[Mistake]:
    for port in leaf.ports:
        type = builtin_type(port.type)
        if type is None:
            message = f"not supported: {port.name!r} of {leaf.name!r}, a leaf on the host, is of {type_text(port.type)}"
            yield Mistake("known-types", leaf, port, message)
        else:
            links.types[leaf.name, port.name] = type


def _whole_ports(leaf: Leaf, kernel: Kernel) -> list[str]:
    """The uniform structures that the leaf has as one port."""
    names = {it.name for it in leaf.ports}
    return [it.name for it in kernel.bindings if has_member_ports(it) and it.name in names]


def _wrong_ports(leaf: Leaf, known: Sequence[Port]) -> Iterator[Mistake]:
    expected = {it.name: it for it in known}
    for port in leaf.ports:
        if port.name not in expected:
            message = f"leaf {leaf.name!r}: {leaf.entry!r} has no port {port.name!r}"
            yield Mistake("leaf-ports", leaf, port, unknown_name(message, port.name, expected))
            continue
        wanted = expected[port.name]
        if port.type != wanted.type:
            message = f"is of type {type_text(port.type)}, but of {type_text(wanted.type)} in the shader"
            yield Mistake("leaf-ports", leaf, port, f"leaf {leaf.name!r}: {port.name!r} {message}")
        if port.access is not wanted.access:
            yield Mistake("leaf-ports", leaf, port, f"leaf {leaf.name!r}: {_wrong_access(port, wanted)}")
    missing = [name for name in expected if name not in {it.name for it in leaf.ports}]
    if missing:
        message = f"leaf {leaf.name!r} lacks ports of {leaf.entry!r}: {', '.join(missing)}"
        yield Mistake("leaf-ports", leaf, leaf, message)


def _wrong_access(port: Port, wanted: Port) -> str:
    if wanted.access is Access.INOUT:
        return (
            f"{port.name!r} is `{port.access.value}`, but the kernel may write it: it must be `inout`, since what the "
            "kernel does not write keeps its value"
        )
    return f"{port.name!r} is `{port.access.value}`, but the kernel only reads it: it must be `in`"


# Graphs


def _says_more(type: wgsl.Type, known: wgsl.Type) -> bool:
    """Whether a type that fits another one is the narrower: an array with a count, or a texture with a format."""
    if isinstance(type, wgsl.Texture) and isinstance(known, wgsl.Texture):
        return type.format is not None and known.format is None
    return fits(known, type) and not fits(type, known)


class _GraphLinker:
    """Finds the types of a graph's ports and transient buffers, when those of its children are known."""

    def __init__(self, graph: Graph, functions: Mapping[str, Function], links: Links) -> None:
        self._graph = graph
        self._scope: Scope = scope_of(graph, functions)
        self._links = links

    def mistakes(self) -> Iterator[Mistake]:
        """Where two ends of a connection have different layouts; fills the links."""
        for statement in self._graph.body:
            if isinstance(statement, (CreateEdge, BindInput)):
                yield from self._check_destination(statement)
        for name, bind in self._scope.output_sources.items():
            type = self._source_type(bind.source)
            if type is not None:
                yield from self._learn(name, type, bind)
        yield from self._unknown()

    def _check_destination(self, statement: CreateEdge | BindInput) -> Iterator[Mistake]:
        for wanted in self._wanted(statement.destination):
            if isinstance(statement, CreateEdge):
                given = self._source_type(statement.source)
                if given is not None and not fits(wanted, given):
                    yield self._mistake(statement, statement.source.port, given, wanted)
            elif isinstance(statement.source, Reference) and not statement.source.selectors:
                yield from self._learn(statement.source.name, wanted, statement)

    def _learn(self, name: str, type: wgsl.Type, statement: Statement) -> Iterator[Mistake]:
        """Record the type of a port of the graph, or of a transient buffer, or compare it with what is known."""
        known = self._links.types.setdefault((self._graph.name, name), type)
        if not fits(type, known) and not fits(known, type):
            yield self._mistake(statement, name, known, type)
        elif _says_more(type, known):
            self._links.types[self._graph.name, name] = type

    def _mistake(self, statement: Statement, name: str, given: wgsl.Type, wanted: wgsl.Type) -> Mistake:
        message = f"{name!r}: the two structures in {given} and {wanted} have different layouts"
        return Mistake("same-layout", self._graph, statement, message)

    def _wanted(self, end: Endpoint) -> Iterator[wgsl.Type]:
        """The types of the children's ports that an input leads to: several behind a split."""
        child = self._scope.children[end.node]
        if isinstance(child, CreateNode):
            if (child.function, end.port) in self._links.types:
                yield self._links.types[child.function, end.port]
            return
        for copy in split_outputs(child):
            edge = self._scope.edges_from.get(Endpoint(end.node, copy))
            if edge is not None:
                yield from self._wanted(edge.destination)

    def _source_type(self, end: Endpoint) -> wgsl.Type | None:
        child = self._scope.children[end.node]
        if isinstance(child, Split):
            return self._given_type(Endpoint(end.node, SPLIT_INPUT))
        return self._links.types.get((child.function, end.port))

    def _given_type(self, end: Endpoint) -> wgsl.Type | None:
        """The type of what an input gets."""
        edge = self._scope.edges_to.get(end)
        if edge is not None:
            return self._source_type(edge.source)
        value = self._scope.input_binds[end].source
        name = value.name if isinstance(value, Reference) else ""
        return self._links.types.get((self._graph.name, name))

    def _unknown(self) -> Iterator[Mistake]:
        """Ports and transient buffers that no kernel uses: only types without structures are known."""
        declared: list[tuple[str, Type, Part]] = [(it.name, it.type, it) for it in self._graph.ports]
        declared += [(name, it.type, it) for name, it in self._scope.transients.items()]
        for name, type, part in declared:
            if (self._graph.name, name) in self._links.types:
                continue
            found = builtin_type(type)
            if found is None:
                message = f"{name!r} is of type {type_text(type)}, of which no kernel that it is connected to says more"
                yield Mistake("known-types", self._graph, part, message)
            else:
                self._links.types[self._graph.name, name] = found
