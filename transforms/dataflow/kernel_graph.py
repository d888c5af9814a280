"""A flat graph with the accesses of its kernels: lengths and numbers that they use, in terms of the graph's inputs."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable

from ...ir import types as w
from ...ir.dataflow.expressions import Polynomial, expressions_of, normal_form, references, variable_form
from ...ir.dataflow.nodes import (
    Binary,
    Element,
    Endpoint,
    Expression,
    FloatLiteral,
    Graph,
    Leaf,
    Length,
    Member,
    Reference,
)
from ...ir.dataflow.scope import inputs_of
from ...ir.hercules.entry import Binding
from .accesses import KernelAccesses
from .flat import FlatGraph, Value, flatten, map_expressions
from .forms import Counter, GlobalId, LengthOf, NumWorkgroups, Scalar, StrideId
from .inner_numbers import InnerNumbers
from .one_to_one import Use
from .refusal import Refused


class KernelGraph:
    """A flat graph. `kernels` has the accesses of a leaf, or raises Refused with the reason why it cannot be fused."""

    def __init__(self, flat: FlatGraph, kernels: Callable[[Leaf], KernelAccesses]) -> None:
        self.flat = flat
        self._kernels = kernels
        self._inner: dict[str, KernelGraph] = {}
        map_expressions(flat, self.resolved)

    def accesses(self, name: str) -> KernelAccesses:
        """The accesses of a node's kernel. Raises Refused."""
        try:
            return self._kernels(self.leaf(name))
        except Refused as refused:
            raise Refused(refused.reason, refused.span, name) from None

    def leaf(self, name: str) -> Leaf:
        """The leaf that a node executes. Raises Refused for a graph."""
        function = self.flat.functions[self.flat.nodes[name].function]
        if not isinstance(function, Leaf):
            raise Refused(
                "it is no kernel, but a graph with instances or a repeat, or a Python function [grids]", None, name
            )
        return function

    def shader_of(self, node: str) -> str | None:
        """The name of the shader of a node that executes a leaf."""
        function = self.flat.functions[self.flat.nodes[node].function] if node in self.flat.nodes else None
        return function.shader if isinstance(function, Leaf) else None

    def is_needed(self, value: Endpoint, chosen: Iterable[str]) -> bool:
        """Whether something outside of the chosen nodes needs an output."""
        inside = set(chosen)
        if any(source == value for source, _ in self.flat.outputs.values()):
            return True
        if any(given.value == value and end.node not in inside for end, given in self.flat.inputs.items()):
            return True
        expressions = [it for node in self.flat.nodes.values() for it in expressions_of(node)]
        expressions += [it for malloc in self.flat.transients.values() for it in malloc.extents]
        expressions += [it.value for it in self.flat.inputs.values() if not isinstance(it.value, Endpoint)]
        found = (it for expression in expressions for it in references(expression))
        return any(it.name == value.node and it.selectors[:1] == (Member(value.port),) for it in found)

    def length(self, value: Value) -> Expression | None:
        """The number of elements of a value that is an array, in terms of the graph's inputs."""
        while isinstance(value, Endpoint):
            function = self.flat.functions[self.flat.nodes[value.node].function]
            if isinstance(function, Graph):
                return self._length_after(value, function)
            if not isinstance(function, Leaf):
                return None
            value = self.flat.inputs[value].value  # a leaf's output is a version of its input of that name
        if isinstance(value, Reference) and value.name in self.flat.transients:
            extents = tuple(map(self.resolved, self.flat.transients[value.name].extents))
            known = not any(it.name in self.flat.nodes for extent in extents for it in references(extent))
            return extents[0] if extents and known else None
        is_input = isinstance(value, Reference) and value.name not in self.flat.nodes
        return Length(value) if isinstance(value, Reference) and is_input else None

    def _length_after(self, output: Endpoint, function: Graph) -> Expression | None:
        """The number of elements of what a node that executes a graph gives."""
        if function.name not in self._inner:
            self._inner[function.name] = KernelGraph(flatten(function, self.flat.functions), self._kernels)
        inner = self._inner[function.name]
        found = inner.length(inner.flat.outputs[output.port][0])
        return None if found is None else InnerNumbers(inner, self, output.node).outside(found)

    def resolved(self, expression: Expression) -> Expression:
        """The expression, where the length of a leaf's output is that of what the leaf was given."""
        match expression:
            case Length(Reference(name, [Member(port)])) if name in self.flat.nodes:
                found = self.length(Endpoint(name, port))
                return expression if found is None else found
            case Binary(op, lhs, rhs):
                return Binary(op, self.resolved(lhs), self.resolved(rhs))
            case _:
                return expression

    def number(self, name: str, symbol: Hashable) -> Expression | None:
        """A number of a node's kernel in terms of the graph's inputs."""
        if isinstance(symbol, LengthOf):
            return self.length(self.flat.inputs[Endpoint(name, symbol.binding)].value)
        if not isinstance(symbol, Scalar):
            return None
        binding = self.accesses(name).binding(symbol.binding)
        port, path = port_of(binding, symbol.path, inputs_of(self.leaf(name)))
        value = self.flat.inputs[Endpoint(name, port)].value
        if isinstance(value, (Endpoint, FloatLiteral)) or any(it.name in self.flat.nodes for it in references(value)):
            return None
        if not path:
            return value
        is_input = isinstance(value, Reference) and value.name not in self.flat.transients
        return Reference(value.name, (*value.selectors, *path)) if isinstance(value, Reference) and is_input else None

    def in_graph(self, name: str, symbol: Hashable) -> Polynomial | None:
        """A symbol of a node's kernel as a polynomial in the graph's terms."""
        if isinstance(symbol, GlobalId):
            return variable_form(symbol)
        if isinstance(symbol, Counter):
            return variable_form(StrideId(symbol.depth - 1))
        if isinstance(symbol, NumWorkgroups):
            extent = self.flat.nodes[name].extents
            size = self.accesses(name).entry.workgroup_size
            return variable_form((symbol, size[symbol.axis], extent))
        found = self.number(name, symbol)
        return None if found is None else normal_form(found)

    def use(self, end: Endpoint) -> Use:
        """How a node's kernel uses a binding that is a port, as the first of some kernels. Raises Refused."""
        return Use(0, end.node, self.accesses(end.node), end.port, lambda symbol: self.in_graph(end.node, symbol))


def port_of(binding: Binding, path: tuple[int, ...], ports: Iterable[str]) -> tuple[str, tuple[Member | Element, ...]]:
    """The port that a number in a binding comes from, and the selectors from there to the number."""
    selectors: list[Member | Element] = []
    type: w.Type = binding.type
    for number in path:
        match type:
            case w.Struct(members=members):
                selectors.append(Member(members[number].name))
                type = members[number].type
            case w.Array(element=element, count=1) if isinstance(element, (w.Scalar, w.Atomic)):
                type = element  # a number by itself is an array of one element in Hercules IR
            case w.Array(element=element) | w.Vector(element=element):
                selectors.append(Element(number))
                type = element
            case _:
                selectors.append(Element(number))
    known = set(ports)
    if binding.name not in known and selectors and isinstance(selectors[0], Member):
        return f"{binding.name}.{selectors[0].name}", tuple(selectors[1:])
    return binding.name, tuple(selectors)
