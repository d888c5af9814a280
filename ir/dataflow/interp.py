"""The interpreter of dataflow graphs: what a graph means.

Nodes run one after another, each when all its inputs are there. A connection hands over a value: what a node writes is
a new value, and whoever else has the old one keeps it. A transient buffer is zero for each node that it is bound to.

A node with a repeat stands for that many nodes in a row, each of which gets the outputs of the one before as the inputs
of the same names. All other inputs are the same for all; with a repeat of 0, outputs are the inputs of their names.

The instances of an internal node run one after another. An output of such a node is a version of one of its inputs,
which the next instance finds changed; instances that race for an element do so as in WGSL.

Values and leaves are the business of a `Machine`. Each value that the interpreter holds is held once: `share` makes a
second hold of it, `drop` gives one up at the last use, and `run` takes over those that it is given. So a machine knows
when nobody else has a value, and may write it in place.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeAlias, TypeVar

from ...base.errors import InputError
from ..source import Span
from .expressions import evaluate, expressions_of, leaves
from .hierarchy import origins
from .nodes import (
    Access,
    BindInput,
    CreateEdge,
    CreateNode,
    Dimension,
    Endpoint,
    Expression,
    FloatLiteral,
    Function,
    Graph,
    Host,
    Leaf,
    Length,
    Malloc,
    Module,
    Query,
    Question,
    Reference,
    Replication,
    Selector,
    Split,
    Statement,
)
from .scope import SPLIT_INPUT, Scope, in_order, inputs_of, scope_of, split_outputs
from .text import expression_text

V = TypeVar("V")


class Machine(Protocol[V]):
    """Keeps the values of ports and runs leaves. A value never changes while it is held."""

    def share(self, value: V, /) -> V:
        """The same value once more, to be held beside the one that is given."""
        ...

    def drop(self, value: V, /) -> None:
        """The value is not used again."""
        ...

    def zeros(self, graph: str, malloc: Malloc, extents: tuple[int, ...], /) -> V:
        """The value of a transient buffer of a graph. Raises InputError for extents that do not fit."""
        ...

    def number(self, value: float, /) -> V:
        """A number as a value."""
        ...

    def length(self, value: V, /) -> int:
        """The number of elements of an array. Raises InputError."""
        ...

    def element(self, value: V, selectors: tuple[Selector, ...], /) -> int:
        """The whole number that selectors lead to. Raises InputError."""
        ...

    def run(
        self,
        leaf: Leaf | Host,
        extents: tuple[int, ...],
        inputs: Mapping[str, V],
        path: tuple[str, ...],
        /,
        *,
        capacity: int | None,
    ) -> dict[str, V]:
        """The outputs of a leaf with that many invocations, or of one on the host. `path` has the names of the node and
        its ancestors. There are at most `capacity` invocations, which was checked if the extents are known.

        The inputs are not used again: `run` may write them where nobody else holds them.

        Raises InputError, ShaderError or DeviceError.
        """
        ...

    def check_time(self) -> None:
        """Raise DeviceError when the time is over."""
        ...


class NodeError(InputError):
    """What does not fit at a statement of a graph: the message names the node, and `span` is its place in the text."""

    def __init__(self, message: str, span: Span | None) -> None:
        super().__init__(message)
        self.span = span


@dataclass(frozen=True, slots=True)
class _Place:
    """Where something may not fit, in words and in the text."""

    words: str
    statement: Statement

    def error(self, message: str) -> NodeError:
        return NodeError(f"{self.words}: {message}", self.statement.span)


@dataclass(frozen=True, slots=True)
class _Level:
    """A node of the hierarchy at the time when one of its instances runs."""

    extents: tuple[int, ...]
    instance: tuple[int, ...]


def run(module: Module, inputs: Mapping[str, V], machine: Machine[V]) -> dict[str, V]:
    """The outputs of a verified module for the inputs of its root graph, which it takes over.

    Raises NodeError for extents, numbers and buffers that do not fit, and what the machine raises.
    """
    return _Interpreter(module, machine).run(inputs)


_Key: TypeAlias = "Endpoint | str"
"""What has a value in a graph: the output of a child, or an input of the graph, by its name."""


@dataclass(frozen=True, slots=True)
class _Plan:
    """What all executions of a graph share: the order of the children, and for each of them the values that are not
    used after it.
    """

    scope: Scope
    order: list[str]
    last_uses: dict[str, list[_Key]]
    measured: frozenset[_Key]
    """Those whose length an expression needs."""


def _plan(graph: Graph, functions: Mapping[str, Function]) -> _Plan:
    scope = scope_of(graph, functions)
    order = in_order(scope)
    last: dict[_Key, str] = {}
    for name in order:
        last.update(dict.fromkeys(_used_by(name, scope), name))
    for bind in scope.output_sources.values():
        last.pop(bind.source, None)
    last_uses: dict[str, list[_Key]] = {name: [] for name in order}
    for key, name in last.items():
        last_uses[name].append(key)
    expressions = (it for statement in graph.body for it in expressions_of(statement))
    lengths = (part for it in expressions for part in leaves(it) if isinstance(part, Length))
    keys = (_key(it.value, scope) for it in lengths)
    return _Plan(scope, order, last_uses, frozenset(it for it in keys if it is not None))


def _used_by(name: str, scope: Scope) -> Iterator[_Key]:
    """What a child reads: by its extents, repeat, edges and binds, and by the extents of transient buffers among these.

    An expression of a length does not count: that is kept when the value is given up.
    """
    child = scope.children[name]
    expressions = list(expressions_of(child))
    for port in scope.inputs_of(name):
        end = Endpoint(name, port)
        if end in scope.edges_to:
            yield scope.edges_to[end].source
        else:
            expressions.append(scope.input_binds[end].source)
    seen: set[str] = set()
    for expression in expressions:  # grows while it is walked
        for part in leaves(expression):
            reference = part.value if isinstance(part, Length) else part
            if not isinstance(reference, Reference):
                continue
            key = _key(reference, scope)
            if key is None and reference.name not in seen:
                seen.add(reference.name)
                expressions += scope.transients[reference.name].extents
            elif key is not None and part is reference:
                yield key


def _key(reference: Reference, scope: Scope) -> _Key | None:
    """What a reference begins with; None for a transient buffer."""
    end = scope.endpoint_of(reference)
    return reference.name if end is None and reference.name in scope.inputs else end


class _Interpreter(Generic[V]):
    def __init__(self, module: Module, machine: Machine[V]) -> None:
        self.machine = machine
        self.functions: dict[str, Function] = {it.name: it for it in module.functions}
        self.root = module.root
        self.origins = origins(module)
        self._plans: dict[str, _Plan] = {}

    def run(self, inputs: Mapping[str, V]) -> dict[str, V]:
        graph = self.functions[self.root.function]
        assert isinstance(graph, Graph)
        return self.run_graph(graph, inputs, (_Level((), ()),), ())

    def run_graph(
        self, graph: Graph, inputs: Mapping[str, V], levels: tuple[_Level, ...], path: tuple[str, ...]
    ) -> dict[str, V]:
        """One instance of a graph, which takes over its inputs; the last of `levels` is its node."""
        if graph.name not in self._plans:
            self._plans[graph.name] = _plan(graph, self.functions)
        plan = self._plans[graph.name]
        execution = _Execution(self, graph.name, plan, dict(inputs), levels, path)
        for name in plan.order:
            execution.run_child(name)
        outputs = {name: execution.values.pop(bind.source) for name, bind in plan.scope.output_sources.items()}
        execution.drop_all()
        return outputs


@dataclass(slots=True)
class _Execution(Generic[V]):
    """One execution of a child graph, and the `Facts` of its expressions."""

    interpreter: _Interpreter[V]
    graph: str
    plan: _Plan
    inputs: dict[str, V]
    levels: tuple[_Level, ...]
    path: tuple[str, ...]
    values: dict[Endpoint, V] = field(default_factory=dict[Endpoint, V])
    grids: dict[str, tuple[int, ...]] = field(default_factory=dict[str, "tuple[int, ...]"])
    _zeros: dict[str, V] = field(default_factory=dict[str, V])

    _lengths: dict[_Key, int] = field(default_factory=dict[_Key, int])
    """Those of values that were given up."""

    @property
    def scope(self) -> Scope:
        """The names of the graph."""
        return self.plan.scope

    def drop_all(self) -> None:
        """Give up all values that are left."""
        for value in (*self.inputs.values(), *self.values.values(), *self._zeros.values()):
            self.interpreter.machine.drop(value)

    def _drop_last_used(self, name: str) -> None:
        """Give up what is not used after the child that has got its inputs."""
        for key in self.plan.last_uses[name]:
            value = self.inputs.pop(key) if isinstance(key, str) else self.values.pop(key)
            if key in self.plan.measured:
                self._lengths[key] = self.interpreter.machine.length(value)
            self.interpreter.machine.drop(value)

    def run_child(self, name: str) -> None:
        child = self.scope.children[name]
        if isinstance(child, Split):
            value = self._given(Endpoint(name, SPLIT_INPUT), ())
            self._drop_last_used(name)
            first, *others = split_outputs(child)
            self.values.update({Endpoint(name, it): self.interpreter.machine.share(value) for it in others})
            self.values[Endpoint(name, first)] = value
            return
        extents = tuple(self._extent(it, _Place(f"node {self._named(name)}", child)) for it in child.extents)
        self.grids[name] = extents
        self._check_grids(name)
        function = self.interpreter.functions[child.function]
        given = {port: self._given(Endpoint(name, port), extents) for port in inputs_of(function)}
        count = self._count(child)
        self._drop_last_used(name)
        if count is None:
            outputs = self._run(child, function, extents, given)
        else:
            outputs = self._run_repeated(child, function, extents, given, count)
        self.values.update({Endpoint(name, port): value for port, value in outputs.items()})

    def _count(self, node: CreateNode) -> int | None:
        """How often a node is executed that has a repeat."""
        if node.repeat is None:
            return None
        place = _Place(f"node {self._named(node.name)}, its repeat", node)
        count = _Asking(self, None).value(node.repeat, place)
        if _is_known(count) and count < 0:
            raise place.error(f"{expression_text(node.repeat)} is {count}")
        return count

    def _run_repeated(
        self, node: CreateNode, function: Function, extents: tuple[int, ...], given: dict[str, V], count: int
    ) -> dict[str, V]:
        """The outputs of the last of so many executions. Those with the name of an input become that of the next."""
        machine = self.interpreter.machine
        outputs = {it.name: given.pop(it.name) for it in function.ports if it.access is Access.INOUT}
        fed = list(outputs)
        for number in range(count):
            machine.check_time()
            for name in [it for it in outputs if it not in fed]:
                machine.drop(outputs.pop(name))
            is_last = number == count - 1
            others = {name: it if is_last else machine.share(it) for name, it in given.items()}
            outputs = self._run(node, function, extents, {**others, **outputs})
        if count:
            return outputs
        missing = [it.name for it in function.ports if it.access is Access.OUT]
        if missing:
            what = f"is repeated 0 times, so that nothing gives its output {missing[0]!r}"
            raise NodeError(f"node {self._named(node.name)} {what}", node.span)
        for value in given.values():
            machine.drop(value)
        return outputs

    def _run(self, node: CreateNode, function: Function, extents: tuple[int, ...], given: dict[str, V]) -> dict[str, V]:
        interpreter, path = self.interpreter, (*self.path, node.name)
        if isinstance(function, (Leaf, Host)):
            try:
                _check_capacity(node, extents)
                return interpreter.machine.run(function, extents, given, path, capacity=node.capacity)
            except InputError as error:
                raise NodeError(f"node {self._named(node.name)}: {error}", node.span) from error
        if not extents:
            return interpreter.run_graph(function, given, (*self.levels, _Level((), ())), path)
        versions = {output: it for output, it in interpreter.origins[function.name].items() if it is not None}
        for instance in _instances(extents):
            interpreter.machine.check_time()
            inputs = {origin: given.pop(origin) for origin in versions.values()}
            inputs.update({port: interpreter.machine.share(value) for port, value in given.items()})
            outputs = interpreter.run_graph(function, inputs, (*self.levels, _Level(extents, instance)), path)
            given.update({versions[output]: value for output, value in outputs.items()})
        results = {output: given.pop(origin) for output, origin in versions.items()}
        for value in given.values():
            interpreter.machine.drop(value)
        return results

    def _check_grids(self, name: str) -> None:
        """Compare the extents of the two ends of one-to-one edges: equal expressions need not have been given."""
        for port in self.scope.inputs_of(name):
            edge = self.scope.edges_to.get(Endpoint(name, port))
            if edge is None or edge.replication is Replication.ALL_TO_ALL:
                continue
            source = self.scope.grid_source(edge.source)
            if source is not None and self.grids[source.name] != self.grids[name]:
                raise NodeError(self._unequal_grids(edge, source.name), edge.span)

    def _unequal_grids(self, edge: CreateEdge, source: str) -> str:
        sink = edge.destination.node
        return (
            f"one-to-one from {source}.{edge.source.port} to {sink}.{edge.destination.port}: node "
            f"{self._named(source)} has the extents {_shown(self.grids[source])}, but {self._named(sink)} "
            f"{_shown(self.grids[sink])}"
        )

    def _named(self, name: str) -> str:
        return repr("/".join((*self.path, name)))

    def _given(self, end: Endpoint, extents: tuple[int, ...]) -> V:
        """The value of an input of a child that has these extents, to be held by the child."""
        if end in self.scope.edges_to:
            return self.interpreter.machine.share(self.values[self.scope.edges_to[end].source])
        return self._bound(self.scope.input_binds[end], extents)

    def _bound(self, bind: BindInput, extents: tuple[int, ...]) -> V:
        value = bind.source
        if isinstance(value, Reference) and not value.selectors:
            whole = self.inputs[value.name] if value.name in self.inputs else self._transient(value.name)
            return self.interpreter.machine.share(whole)
        if isinstance(value, FloatLiteral):
            return self.interpreter.machine.number(value.value)
        end = bind.destination
        facts = _Asking(self, _Level(extents, ()))
        place = _Place(f"node {self._named(end.node)}, input {end.port!r}", bind)
        return self.interpreter.machine.number(facts.value(value, place))

    def _transient(self, name: str) -> V:
        if name not in self._zeros:
            malloc: Malloc = self.scope.transients[name]
            place = _Place(f"transient buffer {self._named(name)}", malloc)
            extents = tuple(self._extent(it, place) for it in malloc.extents)
            try:
                self._zeros[name] = self.interpreter.machine.zeros(self.graph, malloc, extents)
            except InputError as error:
                raise place.error(str(error)) from error
        return self._zeros[name]

    def _extent(self, expression: Expression, place: _Place) -> int:
        value = _Asking(self, None).value(expression, place)
        if _is_known(value) and value < 0:
            raise place.error(f"the extent {expression_text(expression)} is {value}")
        return value

    def known_length(self, reference: Reference) -> int | None:
        """The length of a value that was given up."""
        key = _key(reference, self.scope)
        return None if key is None else self._lengths.get(key)

    def value_of(self, reference: Reference) -> tuple[V, tuple[Selector, ...]]:
        """The value that a reference begins with, and the selectors that are left."""
        end = self.scope.endpoint_of(reference)
        if end is not None:
            return self.values[end], reference.selectors[1:]
        if reference.name in self.inputs:
            return self.inputs[reference.name], reference.selectors
        return self._transient(reference.name), reference.selectors


@dataclass(frozen=True, slots=True)
class _Asking(Generic[V]):
    """The facts for an expression; `own` is the node that it is for, if a query may be about that."""

    execution: _Execution[V]
    own: _Level | None

    def value(self, expression: Expression, place: _Place) -> int:
        """The value of an expression. Raises NodeError."""
        try:
            return evaluate(expression, self)
        except InputError as error:
            raise place.error(f"{expression_text(expression)}: {error}") from error
        except ZeroDivisionError:
            raise place.error(f"{expression_text(expression)} divides by zero") from None

    def number(self, reference: Reference) -> int:
        return self.execution.interpreter.machine.element(*self.execution.value_of(reference))

    def length(self, reference: Reference) -> int:
        known = self.execution.known_length(reference)
        if known is not None:
            return known
        value, selectors = self.execution.value_of(reference)
        if selectors:
            raise InputError(f"{expression_text(reference)} is a part of a value, which has no length of its own")
        return self.execution.interpreter.machine.length(value)

    def answer(self, query: Query) -> int:
        level = self.own if query.level == 0 else self.execution.levels[-query.level]
        assert level is not None
        if query.question is Question.NUM_DIMS or query.dimension is None:
            return len(level.extents)
        number = list(Dimension).index(query.dimension)
        return (level.instance if query.question is Question.NODE_INSTANCE_ID else level.extents)[number]


def _is_known(value: object) -> bool:
    """Whether it is a number: a machine may have ones that it knows later."""
    return isinstance(value, int)


def _check_capacity(node: CreateNode, extents: tuple[int, ...]) -> None:
    """Raise InputError for more invocations than the node has room for."""
    if node.capacity is None or not all(map(_is_known, extents)):
        return
    if math.prod(extents) > node.capacity:
        raise InputError(f"{_shown(extents)} invocations are more than its capacity, {node.capacity}")


def _instances(extents: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """The indices of all instances, the first dimension running fastest."""
    for reversed_instance in itertools.product(*map(range, reversed(extents))):
        yield reversed_instance[::-1]


def _shown(extents: tuple[int, ...]) -> str:
    return " x ".join(map(str, extents)) or "1"
