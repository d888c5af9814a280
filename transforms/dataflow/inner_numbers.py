"""Numbers of an inner graph in terms of the graph around it: what a launch knows of them before it runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from ...ir.dataflow.expressions import normal_form, references
from ...ir.dataflow.nodes import (
    Access,
    Binary,
    Dimension,
    Endpoint,
    Expression,
    FloatLiteral,
    IntegerLiteral,
    Length,
    Query,
    Question,
    Reference,
)
from .flat import Value

if TYPE_CHECKING:
    from .kernel_graph import KernelGraph


@dataclass(frozen=True, slots=True)
class InnerNumbers:
    """What the expressions of a graph are in terms of the graph around it, of which `node` executes it.

    What an execution of the inner graph changes for the next one is not known, nor what depends on its instance.
    """

    inner: KernelGraph
    outer: KernelGraph
    node: str

    def outside(self, expression: Expression) -> Expression | None:
        """The expression in the outer graph's terms; None where that is not known before the run."""
        match expression:
            case IntegerLiteral() | FloatLiteral():
                return expression
            case Binary(op, lhs, rhs):
                left, right = self.outside(lhs), self.outside(rhs)
                return None if left is None or right is None else Binary(op, left, right)
            case Length(Reference(name, [])):
                return self._length(name)
            case Length():
                return None
            case Reference():
                return self._number(expression)
            case Query():
                return self._answer(expression)
            case _:
                assert_never(expression)

    def _given(self, name: str) -> Value | None:
        found = self.outer.flat.inputs.get(Endpoint(self.node, name))
        return None if found is None else found.value

    def _is_fed(self, name: str) -> bool:
        """Whether executions of the inner graph hand an input on to the next one."""
        node = self.outer.flat.nodes[self.node]
        ports = self.inner.flat.graph.ports
        is_several = node.repeat is not None or bool(node.extents)
        return is_several and any(it.name == name and it.access is Access.INOUT for it in ports)

    def _length(self, name: str) -> Expression | None:
        given = self._given(name)
        if given is None or (self._is_fed(name) and not self._keeps_length(name)):
            return None
        return self.outer.length(given)

    def _keeps_length(self, name: str) -> bool:
        """Whether the output of that name is as long as the input."""
        after = self.inner.length(self.inner.flat.outputs[name][0])
        return after is not None and normal_form(after) == normal_form(Length(Reference(name, ())))

    def _number(self, reference: Reference) -> Expression | None:
        given = self._given(reference.name)
        if given is None or isinstance(given, Endpoint) or self._is_fed(reference.name):
            return None
        if not reference.selectors:
            return self._known(given)
        if not isinstance(given, Reference):
            return None
        return self._known(Reference(given.name, (*given.selectors, *reference.selectors)))

    def _known(self, expression: Expression) -> Expression | None:
        """The expression, unless nodes or transient buffers of the outer graph decide it."""
        flat = self.outer.flat
        names = {it.name for it in references(expression)}
        return None if names & (flat.nodes.keys() | flat.transients.keys()) else expression

    def _answer(self, query: Query) -> Expression | None:
        extents = self.outer.flat.nodes[self.node].extents
        if query.level > 1:
            return Query(query.question, query.level - 1, query.dimension)
        if query.level == 0 or query.question is Question.NODE_INSTANCE_ID:
            return None
        if query.question is Question.NUM_DIMS or query.dimension is None:
            return IntegerLiteral(len(extents))
        return self._known(extents[list(Dimension).index(query.dimension)])
