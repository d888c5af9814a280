"""The severity of a diagnostic at a place (WGSL, "Diagnostic Filtering"): the nearest enclosing filter decides."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager

from ....ir.diagnostics import Severity
from ....ir.wgsl import ast
from ....ir.wgsl.program import DiagnosticFilter

_SEVERITIES = {severity.value: severity for severity in Severity}


class Filters:
    """The filters around the place at hand, outermost first."""

    __slots__ = ("_stack",)

    def __init__(self, *outer: Iterable[DiagnosticFilter]) -> None:
        self._stack = [{filter.rule: filter.severity for filter in filters} for filters in outer]

    def severity(self, rule: str) -> Severity | None:
        """The severity of a rule's diagnostics here; None: off."""
        for filters in reversed(self._stack):
            if rule in filters:
                return _SEVERITIES.get(filters[rule])
        return Severity.ERROR

    @contextmanager
    def within(self, attributes: Sequence[ast.Attribute]) -> Generator[None]:
        """Work inside the range of a statement's attributes."""
        if not attributes:
            yield
            return
        self._stack.append(dict(_filter(attribute) for attribute in attributes if attribute.name == "diagnostic"))
        yield
        self._stack.pop()


def _filter(attribute: ast.Attribute) -> tuple[str, str]:
    severity, rule = attribute.arguments
    assert isinstance(severity, ast.Identifier)
    assert isinstance(rule, ast.Identifier)
    return rule.name, severity.name
