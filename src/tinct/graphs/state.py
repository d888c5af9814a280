"""The part of a graph that grows while it is built: statements, each checked when it is added, and node functions."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

from ..base.errors import InputError
from ..base.names import fresh_name
from ..ir.dataflow.expressions import expressions_of, leaves, references
from ..ir.dataflow.hierarchy import innermost_first
from ..ir.dataflow.nodes import (
    Access,
    BindInput,
    BoolLiteral,
    Constant,
    CreateEdge,
    CreateNode,
    EmbeddedShader,
    Endpoint,
    FloatLiteral,
    Function,
    Graph,
    Host,
    IntegerLiteral,
    Leaf,
    Length,
    Module,
    NestShader,
    Number,
    Port,
    Reference,
    Statement,
    Type,
)
from ..ir.dataflow.nodes import Shader as ShaderDeclaration
from ..ir.dataflow.rules.connections import CONNECTIONS, EDGES
from ..ir.dataflow.rules.declarations import DECLARATIONS, DEPTHS, EXPRESSIONS, IDENTIFIER
from ..ir.dataflow.rules.table import StatementRule
from ..ir.dataflow.scope import Connection, Declaration, Scope, reaches
from ..ir.dataflow.text import expression_text, type_text
from ..ir.dataflow.types import U32, takes, without_atomics
from ..ir.dataflow.verify import broken
from ..ir.layout_numbers import shown
from ..kernel import Kernel
from ..shader import Shader
from .host_functions import HostFunction
from .wgsl_types import kernel_ports

_UNTYPED = Type("?", ())
"""The type of an input that nothing says a type of yet."""


@dataclass(frozen=True, slots=True)
class KernelUse:
    """How a node uses a kernel: its constants, and which uniform structures are one port."""

    shader: Shader
    entry: str
    constants: tuple[tuple[str, float], ...]
    whole: frozenset[str] = frozenset()
    nest: NestShader | None = None
    """What the shader is made from, unless that is its text."""

    @property
    def kernel(self) -> Kernel:
        """The kernel."""
        return self.shader[self.entry]


class GraphState:
    """The state of a graph that is being built. Its methods raise InputError for what breaks a rule."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.shaders: dict[str, Shader] = {}
        self._nests: dict[str, NestShader] = {}
        """What shaders are made from whose text is not in the graph."""
        self.functions: dict[str, Function] = {}
        self.hosts: dict[str, HostFunction] = {}
        """The Python functions of leaves on the host, by the names of the leaves."""
        self.scope = Scope(self.functions)
        self.body: list[Statement] = []
        self._uses: dict[str, KernelUse] = {}
        self._needed: set[str] = set()
        """The nodes whose results some statement takes."""

    # Names

    def fresh(self, stem: str) -> str:
        """An identifier like `stem` that no node, transient buffer or input has."""
        taken = {*self.scope.inputs, *self.scope.children, *self.scope.transients}
        return fresh_name(re.sub(r"\W", "_", stem), taken)

    def add_input(self, name: str) -> None:
        """Make sure that the graph has an input of that name."""
        _check_identifier(name)
        if name in self.scope.children or name in self.scope.transients:
            raise InputError(f"{name!r} is the name of a node or a transient buffer already")
        if name not in self.scope.inputs:
            self.scope.inputs[name] = Port(Access.IN, name, _UNTYPED)

    def set_type(self, name: str, type: Type) -> None:
        """Give an input its type, if nothing did yet."""
        if self.scope.inputs[name].type == _UNTYPED:
            self.scope.inputs[name] = Port(Access.IN, name, without_atomics(type))

    def is_typed(self, name: str) -> bool:
        """Whether an input has a type yet."""
        return self.scope.inputs[name].type != _UNTYPED

    def add_output(self, name: str, type: Type) -> None:
        """Add an output of the graph."""
        _check_identifier(name)
        self.scope.outputs.setdefault(name, Port(Access.OUT, name, without_atomics(type)))

    # Statements

    @contextmanager
    def whole_or_not(self) -> Generator[None]:
        """What an error ends leaves nothing behind: no name, and no statement."""
        scope, body = self.scope, list(self.body)
        names = dict(scope.inputs), dict(scope.outputs), dict(scope.children), dict(scope.transients)
        try:
            yield
        except BaseException:
            scope.inputs, scope.outputs, scope.children, scope.transients = names
            self.body = body
            raise

    def declare(self, statement: Declaration) -> None:
        """Add a node, a split or a transient buffer."""
        self._check((*DEPTHS, *DECLARATIONS), statement)
        self._name_inputs(statement)
        self._check_expressions(statement)
        self.scope.declare(statement)
        self._add(statement)

    def connect(self, statement: Connection) -> None:
        """Add an edge or a bind."""
        self._check(DEPTHS, statement)
        self._name_inputs(statement)
        self._check_expressions(statement)
        self._check(CONNECTIONS, statement)
        if isinstance(statement, CreateEdge):
            self._check(EDGES, statement)
            self._check_acyclic(statement.destination.node, statement.source.node)
        elif isinstance(statement, BindInput):
            for reference in references(statement.source):
                if reference.name in self.scope.children:
                    self._check_acyclic(statement.destination.node, reference.name)
        self.scope.connect(statement)
        self._add(statement)

    def _add(self, statement: Statement) -> None:
        self.body.append(statement)
        if isinstance(statement, CreateEdge):
            self._needed.add(statement.source.node)
        for expression in expressions_of(statement):
            self._needed.update(it.name for it in references(expression))

    def check_edge(self, edge: CreateEdge) -> None:
        """Raise InputError for an edge that cannot be added."""
        self._check(CONNECTIONS, edge)

    def _check(self, rules: Iterable[StatementRule], statement: Statement) -> None:
        for _, message in broken(rules, statement, self.scope):
            raise InputError(message)

    def _check_expressions(self, statement: Statement) -> None:
        """What uses an input without a type is checked when the graph is finished."""
        named = [it.name for expression in expressions_of(statement) for it in references(expression)]
        if all(self.is_typed(name) for name in named if name in self.scope.inputs):
            self._check(EXPRESSIONS, statement)

    def _name_inputs(self, statement: Statement) -> None:
        """A name in an expression that stands for nothing else is an input."""
        for expression in expressions_of(statement):
            for reference in references(expression):
                if reference.name not in self.scope.children and reference.name not in self.scope.transients:
                    self.add_input(reference.name)

    def _check_acyclic(self, sink: str, source: str) -> None:
        if sink not in self._needed and sink != source:  # true for most, and saves a walk over the graph
            return
        if reaches(self.scope, source, sink):
            raise InputError(f"node {source!r} needs the results of node {sink!r}, so that one needs its own: a cycle")

    # Functions

    def use_kernel(self, use: KernelUse) -> str:
        """The name of the leaf for a use of a kernel."""
        for name, known in self._uses.items():
            if known == use:
                return name
        kernel = use.kernel
        name = fresh_name(kernel_name(kernel), {*self.functions, self.name})
        constants = dict(use.constants)
        self.functions[name] = Leaf(
            name,
            kernel_ports(kernel, use.whole),
            self._shader_name(kernel.shader, use.nest),
            kernel.info.name,
            tuple(Constant(it, _number(value)) for it, value in constants.items()),
            kernel.workgroup_size(constants),
        )
        self._uses[name] = use
        return name

    def use_host(self, leaf: Host, function: HostFunction | None) -> str:
        """The name of the leaf for a Python function, or for one that is not given."""
        for name, known in self.functions.items():
            if known == replace(leaf, name=name) and self.hosts.get(name) == function:
                return name
        name = fresh_name(leaf.name, {*self.functions, self.name})
        self.functions[name] = replace(leaf, name=name)
        if function is not None:
            self.hosts[name] = function
        return name

    def use_whole(self, node: str, binding: str) -> None:
        """Make a uniform structure one port of a node. Raises InputError if a member is connected already."""
        created = self.scope.children[node]
        assert isinstance(created, CreateNode)
        use = self._uses[created.function]
        ends = [it for it in (*self.scope.input_binds, *self.scope.edges_to) if it.node == node]
        taken = [it.port for it in ends if it.port.startswith(f"{binding}.")]
        if taken:
            raise InputError(f"node {node!r}: {taken[0]!r} is given already, which is a part of {binding!r}")
        function = self.use_kernel(replace(use, whole=use.whole | {binding}))
        changed = replace(created, function=function)
        self.scope.children[node] = changed
        self.body[self.body.index(created)] = changed

    def _shader_name(self, shader: Shader, nest: NestShader | None = None) -> str:
        for name, known in self.shaders.items():
            if known is shader or known.source == shader.source:
                return name
        name = fresh_name(_shader_stem(shader), self.shaders)
        self.shaders[name] = shader
        if nest is not None:
            self._nests[name] = nest
        return name

    def use_module(self, module: Module, shaders: Mapping[str, Shader], hosts: Mapping[str, HostFunction]) -> str:
        """Take over the functions of another graph, under other names where theirs are taken; returns its root's."""
        nests = {it.name: it.source for it in module.shaders if isinstance(it.source, NestShader)}
        shader_names = {name: self._shader_name(shader, nests.get(name)) for name, shader in shaders.items()}
        renamed: dict[str, str] = {}
        for host in (it for it in module.functions if isinstance(it, Host)):
            renamed[host.name] = self.use_host(host, hosts.get(host.name))
        leaves = [it for it in module.functions if isinstance(it, Leaf)]
        ordered: list[Leaf | Graph] = [*leaves, *innermost_first(module)]
        for function in ordered:
            changed = _renamed(function, renamed, shader_names)
            renamed[function.name] = self._take_over(changed)
        return renamed[module.root.function]

    def _take_over(self, function: Function) -> str:
        for name, known in self.functions.items():
            if known == replace(function, name=name):
                return name
        name = fresh_name(function.name, {*self.functions, self.name})
        self.functions[name] = replace(function, name=name)
        return name

    # The whole

    def module(self) -> Module:
        """The module so far. Inputs without a type are whole numbers."""
        self._check_untyped()
        names = list(dict.fromkeys((*self.scope.inputs, *self.scope.outputs)))
        graph = Graph(self.name, tuple(map(self._port, names)), tuple(self.body))
        used = _used(graph, self.functions)
        functions = (*(it for name, it in self.functions.items() if name in used), graph)
        shaders = {it.shader for it in functions if isinstance(it, Leaf)}
        declared = tuple(
            ShaderDeclaration(name, self._nests.get(name) or EmbeddedShader(shader.source.data.decode("utf-8")))
            for name, shader in self.shaders.items()
            if name in shaders
        )
        return Module(declared, functions, CreateNode("root", graph.name, ()))

    def _check_untyped(self) -> None:
        """An input without a type is a whole number: no expression may ask for its elements."""
        for statement in self.body:
            for part in (leaf for expression in expressions_of(statement) for leaf in leaves(expression)):
                name = part.value.name if isinstance(part, Length) else part.name if isinstance(part, Reference) else ""
                has_parts = isinstance(part, Length) or (isinstance(part, Reference) and part.selectors)
                if has_parts and name in self.scope.inputs and not self.is_typed(name):
                    asked = f"{_place_of(statement)}{expression_text(part)}"
                    message = f"{asked}: nothing says what type the input {name!r} of graph {self.name!r} has"
                    typed = ", ".join(it for it in self.scope.inputs if self.is_typed(it))
                    known = f"; inputs with a type are {typed}" if typed else ""
                    raise InputError(f"{message}; input({name!r}, TYPE) does{known}")

    def _port(self, name: str) -> Port:
        given, made = self.scope.inputs.get(name), self.scope.outputs.get(name)
        if given is None:
            assert made is not None
            return made
        type = U32 if given.type == _UNTYPED else given.type
        if made is None:
            return Port(Access.IN, name, type)
        if not takes(type, made.type):
            types = f"{type_text(type)} and {type_text(made.type)}"
            raise InputError(f"{name!r} is an input and an output of graph {self.name!r}, but of two types: {types}")
        return Port(Access.INOUT, name, made.type)


def _place_of(statement: Statement) -> str:
    """The node, or its port, that a statement is about, for the beginning of a message."""
    match statement:
        case CreateNode(name):
            return f"node {name!r}: "
        case BindInput(_, Endpoint(node, port)):
            return f"input {port!r} of node {node!r}: "
        case _:
            return ""


def kernel_name(kernel: Kernel) -> str:
    """A name for nodes that execute a kernel: that of the entry point, or of the shader's file for `main`."""
    name = _shader_stem(kernel.shader) if kernel.info.name == "main" else kernel.info.name
    return re.sub(r"\W", "_", name)


def _shader_stem(shader: Shader) -> str:
    """The name of a shader's file without its folder and ending, as an identifier; "shader" for a text."""
    if shader.source.name.startswith("<"):
        return "shader"
    file = shader.source.name.replace("\\", "/").rpartition("/")[2]
    stem = re.sub(r"\W", "_", file.partition(".")[0])
    return stem if IDENTIFIER.match(stem) else "shader"


def _check_identifier(name: str) -> None:
    if not IDENTIFIER.match(name):
        raise InputError(f"{shown(name)} is no name of an input or an output: it must be an identifier")


def _number(value: float) -> Number:
    if isinstance(value, bool):
        return BoolLiteral(value)
    return IntegerLiteral(value) if isinstance(value, int) else FloatLiteral(value)


def _renamed(function: Leaf | Graph, functions: Mapping[str, str], shaders: Mapping[str, str]) -> Function:
    if isinstance(function, Leaf):
        return replace(function, shader=shaders[function.shader])
    body = (replace(it, function=functions[it.function]) if isinstance(it, CreateNode) else it for it in function.body)
    return replace(function, body=tuple(body))


def _used(graph: Graph, functions: Mapping[str, Function]) -> set[str]:
    """The functions that a graph executes, at any level."""
    used: set[str] = set()
    pending: list[Function] = [graph]
    while pending:
        function = pending.pop()
        body = function.body if isinstance(function, Graph) else ()
        fresh = {it.function for it in body if isinstance(it, CreateNode)} - used
        used |= fresh
        pending += [functions[it] for it in fresh]
    return used
