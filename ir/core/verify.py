"""The verifier of core IR: what holds between passes.

Each rule is one line of a table below: a function that returns a sentence where the rule is broken. `structure` finds what stands
where, and what each place may see and branch to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from ..builtins import builtin
from ..types import (
    BOOL,
    I32,
    U32,
    VOID,
    AddressSpace,
    Pointer,
    Scalar,
    Stage,
    Type,
    Vector,
    scalar_of,
    walk,
)
from . import nodes
from .rules import RuleError, counts_in, result_type
from .structure import Region, Structure, function_structure, root_structure
from .text import print_with_places
from .values import User, Value

Finding: TypeAlias = tuple[object, str]
"""A node of the module and what is wrong with it."""


class VerifyError(Exception):
    """A module that breaks rules. `findings` are the sentences; the message is the module's text with each under its line."""

    def __init__(self, module: nodes.Module, findings: list[Finding]) -> None:
        self.findings = tuple(message for _, message in findings)
        super().__init__(_report(module, findings))


def verify(module: nodes.Module) -> None:
    """Raise VerifyError if the module breaks a rule."""
    found = findings(module)
    if found:
        raise VerifyError(module, found)


def findings(module: nodes.Module) -> list[Finding]:
    """Everything that is wrong with a module, in the order of its text where places are known."""
    return list(_Check(module).findings())


def _report(module: nodes.Module, found: Iterable[Finding]) -> str:
    printed = print_with_places(module)
    notes: dict[int, list[str]] = {}
    for node, message in found:
        line = printed.places.get(id(node), len(printed.lines) - 1)
        notes.setdefault(line, []).append(message)
    lines = ["core IR breaks a rule:"]
    for number, line in enumerate(printed.lines):
        lines.append(f"    {line}")
        lines += [f"!!! {' ' * (len(line) - len(line.lstrip()))}^ {message}" for message in notes.get(number, [])]
    return "\n".join([*lines, *(f"!!! {message}" for message in notes.get(-1, []))])


class _Check:
    """One run: the module and what is known about it."""

    def __init__(self, module: nodes.Module) -> None:
        self.module = module
        self.root = root_structure(module)
        self.functions = [function_structure(function, self.root) for function in module.functions]
        self.order = {id(function): index for index, function in enumerate(module.functions)}

    def findings(self) -> Iterator[Finding]:
        for rule in _MODULE_RULES:
            yield from rule(self)
        for function in self.module.functions:
            yield from _apply(_FUNCTION_RULES, self, function)
        for structure in (self.root, *self.functions):
            yield from structure.findings
            for region in structure.regions:
                yield from self.region_findings(region)
            yield from _uses(structure)

    def region_findings(self, region: Region) -> Iterator[Finding]:
        for block in region.blocks:
            for instruction in block.instructions:
                yield from ((instruction, message) for rule in _INSTRUCTION_RULES if (message := rule(region, instruction)))
            if block.branch is not None:
                yield from ((block.branch, message) for rule in _BRANCH_RULES if (message := rule(region, block.branch)))
