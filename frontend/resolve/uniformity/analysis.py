"""The state of the analysis of one function: its graph, the values of its variables, its requirements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

from ....base.records import dataclass, field
from ....ir.source import Span
from ....ir.wgsl.program import Facts, FunctionInfo, Variable
from ..behavior import Behavior
from ..context import Context
from .filters import Filters
from .graph import NON_UNIFORM, START, Cause, Graph, Label, Node
from .sources import input_sink, is_read_only, is_tracked
from .summary import Jump, Requirement, Summary
from .values import Values

NEXT, BREAK, CONTINUE, RETURN = (
    behavior.value for behavior in (Behavior.NEXT, Behavior.BREAK, Behavior.CONTINUE, Behavior.RETURN)
)

End: TypeAlias = tuple[Node, int]
"""Control flow after a statement, and the ways in which the statement can end."""


class View(NamedTuple):
    """A memory view: the variable or pointer parameter it comes from, whether it is all of that variable (WGSL, "full
    reference"), and the node for whether invocations agree on which memory it is.
    """

    root: Variable
    is_full: bool
    node: Node


@dataclass(eq=False, slots=True)
class Analysis:
    """See the module's docstring.

    `names`: the nodes of lets and parameters. `pointers`: what pointer lets stand for. `exits`: for each pointer
    parameter into the function address space, what it points to when the function ends. `required`: the nodes that
    must be uniform.
    """

    context: Context
    function: FunctionInfo
    summaries: Mapping[FunctionInfo, Summary]
    filters: Filters
    graph: Graph
    values: Values
    returned: Node
    names: dict[Variable, Node] = field(default_factory=dict[Variable, Node])
    pointers: dict[Variable, View] = field(default_factory=dict[Variable, View])
    contents: dict[int, Node] = field(default_factory=dict[int, Node])
    exits: dict[Variable, Node] = field(default_factory=dict[Variable, Node])
    required: list[tuple[Node, Requirement]] = field(default_factory=list["tuple[Node, Requirement]"])
    breaks: list[Jump] = field(default_factory=list[Jump])
    continues: list[Jump] = field(default_factory=list[Jump])
    assigned: list[tuple[int, Variable]] | None = None

    @property
    def facts(self) -> Facts:
        """The facts of the resolver."""
        return self.context.facts

    def join(self, cf: Node, *nodes: Node) -> Node:
        """A value computed from values in control flow `cf`, on which all of them already depend."""
        distinct = {node: None for node in nodes if node != cf}
        match len(distinct):
            case 0:
                return cf
            case 1:
                return next(iter(distinct))
            case _:
                return self.graph.node(*distinct)

    def under(self, cf: Node, node: Node, label: Label | None = None) -> Node:
        """A value from other control flow, used in control flow `cf`."""
        return cf if node in (cf, START) else self.graph.node(cf, node, label=label)

    def branch(self, cf: Node, condition: Node, what: str, span: Span) -> Node:
        """Control flow in `cf` that depends on a condition."""
        return cf if condition == cf else self.graph.node(condition, label=Label(Cause.CONTROL, what, span))

    def source(self, sink: Node, sentence: str, span: Span) -> Node:
        """A value that is never uniform."""
        return self.graph.node(sink, label=Label(Cause.SOURCE, sentence, span))

    def load(self, cf: Node, view: View, span: Span) -> Node:
        """The value that is read through a memory view."""
        root = view.root
        if is_tracked(root):
            value = self.values[root]
            if value in (cf, START):
                return view.node
            label = Label(Cause.VARIABLE, root.name, span)
            return self.graph.node(cf, value, *(() if view.node == cf else (view.node,)), label=label)
        if is_read_only(root):
            return view.node
        what = f"what '{root.name}' points to" if root.kind == "parameter" else f"variable '{root.name}'"
        return self.source(NON_UNIFORM, f"invocations may read different values from {what}", span)

    def store(self, view: View, node: Node) -> None:
        """Update a variable when a value is assigned through a memory view."""
        if not is_tracked(view.root):
            return
        self.values[view.root] = node if view.is_full else self.join(START, view.node, node, self.values[view.root])


def begin(context: Context, function: FunctionInfo, summaries: Mapping[FunctionInfo, Summary]) -> Analysis:
    """The analysis before the first statement, with the nodes of the parameters."""
    graph = Graph()
    filters = Filters(context.filters, function.diagnostics)
    analysis = Analysis(context, function, summaries, filters, graph, Values(graph), graph.node())
    for index, parameter in enumerate(function.parameters):
        analysis.names[parameter] = _parameter(analysis, parameter)
        if is_tracked(parameter):
            analysis.contents[index] = analysis.values[parameter] = graph.node()
            analysis.exits[parameter] = graph.node()
    return analysis


def _parameter(analysis: Analysis, parameter: Variable) -> Node:
    stage = analysis.function.stage
    if stage is None:
        return analysis.graph.node()
    sink, sentence = input_sink(parameter, stage)
    return START if sink is None else analysis.source(sink, sentence, parameter.span)
