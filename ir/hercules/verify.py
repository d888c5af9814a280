"""The verifier of Hercules IR: checks the tables of `rules`.

Rules come in groups, and a group is checked only if all groups before it hold: a rule may rely on what earlier groups
guarantee. The last group, "schedule", places the nodes: it finds values that do not dominate their uses and
collections that are not used linearly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .nodes import (
    Call,
    Function,
    Module,
    Node,
)
from .placement import place_nodes
from .rules.context import Context, Mistake
from .rules.control import CONTROL
from .rules.operands import TYPING
from .rules.structure import STRUCTURE
from .text import print_function


class VerifyError(Exception):
    """A module that breaks rules. The message shows its functions with each mistake under its line."""

    def __init__(self, mistakes: list[Mistake]) -> None:
        self.mistakes = tuple(mistakes)
        super().__init__(_report(mistakes))


def check(module: Module) -> None:
    """Raise VerifyError if the module breaks a rule."""
    mistakes = verify(module)
    if mistakes:
        raise VerifyError(mistakes)


def verify(module: Module) -> list[Mistake]:
    """Everything that is wrong with a module."""
    mistakes = list(_check_module(module))
    if not mistakes:
        for function in module.functions:
            mistakes += verify_function(function, module)
    return mistakes


def verify_function(function: Function, module: Module) -> list[Mistake]:
    """The mistakes of the first group of rules that the function breaks."""
    context = Context(function, module)
    for group in (STRUCTURE, TYPING, CONTROL):
        nodes = context.typed if group is TYPING else function.nodes
        mistakes = [it for rule in group for it in rule.mistakes(context, nodes)]
        if mistakes:
            return mistakes
    problems = place_nodes(function, context.types).problems
    found = {(it.node, it.message): Mistake("schedule", function, it.node, it.message) for it in problems}
    return list(found.values())


def _report(mistakes: Iterable[Mistake]) -> str:
    by_function: dict[Function, list[Mistake]] = {}
    for mistake in mistakes:
        by_function.setdefault(mistake.function, []).append(mistake)
    texts: list[str] = []
    for function, those in by_function.items():
        notes: dict[Node, list[str]] = {}
        for it in those:
            if it.node is not None:
                notes.setdefault(it.node, []).append(f"{it.message} [{it.rule}]")
        head = [f"{function.name}: {it.message} [{it.rule}]" for it in those if it.node is None]
        absent = [text for node, said in notes.items() if node not in function.nodes for text in said]
        texts.append("\n".join([*head, *absent, print_function(function, notes)]))
    return "\n".join(texts)


def _check_module(module: Module) -> Iterator[Mistake]:
    names: set[str] = set()
    for function in module.functions:
        if function.name in names:
            yield Mistake("function-names", function, None, "a function of this name exists already")
        names.add(function.name)
    for function in _recursive(module):
        yield Mistake("no-recursion", function, None, "calls itself, however indirectly")


def _recursive(module: Module) -> Iterator[Function]:
    callees = {it: {node.callee for node in it.nodes if isinstance(node, Call)} for it in module.functions}
    for function in module.functions:
        seen: set[Function] = set()
        pending = list(callees[function])
        while pending:
            callee = pending.pop()
            if callee not in seen:
                seen.add(callee)
                pending.extend(callees.get(callee, ()))
        if function in seen:
            yield function


__all__ = ["CONTROL", "STRUCTURE", "TYPING", "Mistake", "VerifyError", "check", "verify", "verify_function"]
