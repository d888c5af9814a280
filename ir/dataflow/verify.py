"""The verifier of dataflow graphs: checks the tables of `rules`.

Rules come in groups, and a group is checked only if all groups before it hold: a rule may rely on what earlier groups
guarantee.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from .nodes import CreateNode, Function, Graph, Malloc, Module, Split, Statement
from .rules.connections import CONNECTIONS, EDGES, GRAPHS
from .rules.declarations import DECLARATIONS, DEPTHS, EXPRESSIONS
from .rules.modules import ANCESTORS, HIERARCHY, NAMES, PORT_DEPTH, ROOT, STRUCTURE
from .rules.table import Mistake, ModuleRule, StatementRule
from .scope import Scope
from .text import print_module

_DEPTH_RULES = (PORT_DEPTH.name, *(it.name for it in DEPTHS))


class VerifyError(Exception):
    """A module that breaks rules. The message shows it with each mistake under its line, if it can be printed."""

    def __init__(self, module: Module, mistakes: Iterable[Mistake]) -> None:
        self.mistakes = tuple(mistakes)
        if any(it.rule in _DEPTH_RULES for it in self.mistakes):
            super().__init__("\n".join(f"{it.message} [{it.rule}]" for it in self.mistakes))
            return
        notes: dict[int, list[str]] = {}
        for it in self.mistakes:
            notes.setdefault(id(it.part), []).append(f"{it.message} [{it.rule}]")
        super().__init__(print_module(module, notes))


def check(module: Module) -> None:
    """Raise VerifyError if the module breaks a rule."""
    mistakes = verify(module)
    if mistakes:
        raise VerifyError(module, mistakes)


def verify(module: Module) -> list[Mistake]:
    """Everything that is wrong with a module, as far as the first group of rules that it breaks."""
    return verify_heads(module) or _by_module(module, ROOT) or verify_parts(module) or _by_module(module, ANCESTORS)


def verify_heads(module: Module) -> list[Mistake]:
    """What is wrong with shaders, leaves and the heads of graphs."""
    return _too_deep(module) or _by_module(module, NAMES)


def verify_parts(module: Module) -> list[Mistake]:
    """What is wrong with the module but for its root: also for graphs that are to be parts of others."""
    functions = {it.name: it for it in module.functions}
    return (
        verify_heads(module)
        or [it for graph in module.functions if isinstance(graph, Graph) for it in verify_graph(graph, functions)]
        or _by_module(module, STRUCTURE)
        or _by_module(module, HIERARCHY)
    )


def _too_deep(module: Module) -> list[Mistake]:
    graphs = [it for it in module.functions if isinstance(it, Graph)]
    return _by_module(module, (PORT_DEPTH,)) + [
        Mistake(rule, graph, statement, message)
        for graph in graphs
        for statement in graph.body
        for rule, message in broken(DEPTHS, statement, Scope({}))
    ]


def _by_module(module: Module, rules: Iterable[ModuleRule]) -> list[Mistake]:
    return [Mistake(rule.name, *found) for rule in rules for found in rule.check(module)]


def verify_graph(graph: Graph, functions: Mapping[str, Function]) -> list[Mistake]:
    """The mistakes in the body of a graph, whose functions have these names."""
    scope = Scope(functions)
    scope.add_ports(graph.ports)
    mistakes = [Mistake(rule, graph, part, message) for rule, part, message in _mistakes_in_body(graph, scope)]
    if mistakes:
        return mistakes
    return [Mistake(rule.name, graph, *found) for rule in GRAPHS for found in rule.check(graph, scope)]


def _mistakes_in_body(graph: Graph, scope: Scope) -> Iterator[tuple[str, Statement, str]]:
    """The mistakes of single statements; fills the scope."""
    for statement in graph.body:
        if isinstance(statement, (CreateNode, Split, Malloc)):
            yield from ((rule, statement, message) for rule, message in broken(DECLARATIONS, statement, scope))
            scope.declare(statement)
    for statement in graph.body:
        yield from ((rule, statement, message) for rule, message in broken(EXPRESSIONS, statement, scope))
        if not isinstance(statement, (CreateNode, Split, Malloc)):
            yield from ((rule, statement, message) for rule, message in broken(CONNECTIONS, statement, scope))
            scope.connect(statement)
    for statement in graph.body:
        yield from ((rule, statement, message) for rule, message in broken(EDGES, statement, scope))


def broken(rules: Iterable[StatementRule], statement: Statement, scope: Scope) -> Iterator[tuple[str, str]]:
    """The names of the rules that a statement breaks, each with a message."""
    for rule in rules:
        for message in rule.check(statement, scope):
            yield rule.name, message


__all__ = ["Mistake", "VerifyError", "broken", "check", "verify", "verify_graph", "verify_heads", "verify_parts"]
