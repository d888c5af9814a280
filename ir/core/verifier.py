"""The verifier of core IR, whose rules hold between passes.

`verify_rules` has a table of rules for each kind of node; `structure` checks that each block has one place, that
operands are visible and that branches are allowed; `rules` has the types of operations. `RULES` names all rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from . import nodes
from .structure import Finding, Rule, Structure
from .text import print_with_places
from .values import User, Value
from .verify_rules import (
    BRANCH_RULES,
    FUNCTION_RULES,
    INSTRUCTION_RULES,
    MODULE_RULES,
    VALUE_RULES,
    RuleScope,
    Surroundings,
)

N = TypeVar("N")

_USE_IS_KNOWN = "use_is_known"
_USER_IS_HERE = "user_is_here"


def _name(rule: Callable[..., object]) -> str:
    return rule.__name__.removeprefix("_")


RULES: frozenset[str] = frozenset(
    [
        *map(_name, MODULE_RULES),
        *(_name(rule) for table in (FUNCTION_RULES, INSTRUCTION_RULES, BRANCH_RULES, VALUE_RULES) for rule in table),
        *(rule.name.lower() for rule in Rule),
        _USE_IS_KNOWN,
        _USER_IS_HERE,
    ]
)
"""The name of each rule. `type_follows` covers the typing rules of all kinds of instructions."""


class VerifyError(Exception):
    """A module that breaks rules: the message is its text with a sentence under each line at fault.

    `findings` are these sentences, `rules` the names of the rules.
    """

    def __init__(self, module: nodes.Module, found: list[Finding]) -> None:
        self.findings = tuple(it.message for it in found)
        self.rules = tuple(it.rule for it in found)
        super().__init__(_report(module, found))


def verify(module: nodes.Module) -> None:
    """Raise VerifyError if the module breaks a rule."""
    found = list(findings(module))
    if found:
        raise VerifyError(module, found)


def findings(module: nodes.Module) -> Iterator[Finding]:
    """Everything that is wrong with a module."""
    for rule in MODULE_RULES:
        yield from (Finding(node, message, _name(rule)) for node, message in rule(module))
    surroundings = Surroundings.of(module)
    structures = [Structure(module, function, surroundings.root) for function in (None, *module.functions)]
    for structure in structures:
        yield from structure.findings
        yield from _structure_findings(structure, surroundings)
    yield from _use_findings(module, structures)


def _report(module: nodes.Module, found: Iterable[Finding]) -> str:
    printed = print_with_places(module)
    notes: dict[int, list[str]] = {}
    for node, message, _ in found:
        notes.setdefault(printed.places.get(id(node), -1), []).append(message)
    lines = ["core IR breaks a rule", *(f"!!! {message}" for message in notes.get(-1, []))]
    for number, line in enumerate(printed.lines):
        indent = " " * (len(line) - len(line.lstrip()))
        lines += [f"    {line}", *(f"!!! {indent}^ {message}" for message in notes.get(number, []))]
    return "\n".join(lines)


def _structure_findings(structure: Structure, surroundings: Surroundings) -> Iterator[Finding]:
    scope = RuleScope.of(structure, surroundings)
    if structure.function is not None:
        yield from _broken(FUNCTION_RULES, scope, structure.function)
    for block in structure.blocks:
        for instruction in block.instructions:
            yield from _broken(INSTRUCTION_RULES, scope, instruction)
        if block.branch is not None:
            yield from _broken(BRANCH_RULES, scope, block.branch)
    for value in structure.values:
        yield from _broken(VALUE_RULES, scope, value)


def _broken(rules: Iterable[Callable[[RuleScope, N], str | None]], scope: RuleScope, node: N) -> Iterator[Finding]:
    for rule in rules:
        message = rule(scope, node)
        if message is not None:
            yield Finding(node, message, _name(rule))


def _use_findings(module: nodes.Module, structures: Iterable[Structure]) -> Iterator[Finding]:
    """Findings where operands and uses do not correspond, or where a node outside the module uses one of its values."""
    users: list[User] = [user for structure in structures for user in structure.users]
    users += module.counts
    standing = {id(user) for user in users}
    known: dict[int, set[tuple[int, int]]] = {}
    for user in users:
        for index, operand in enumerate(user.operands):
            if id(operand) not in known:
                known[id(operand)] = {(id(use.user), use.index) for use in operand.uses}
            if (id(user), index) not in known[id(operand)]:
                yield Finding(user, "an operand does not know this use", _USE_IS_KNOWN)
    for structure in structures:
        lost = (value for value in structure.values if _has_lost(value, standing))
        yield from (Finding(value, "a use is left of what is gone", _USER_IS_HERE) for value in lost)


def _has_lost(value: Value, standing: set[int]) -> bool:
    return any(id(use.user) not in standing or use.user.operands[use.index] is not value for use in value.uses)
