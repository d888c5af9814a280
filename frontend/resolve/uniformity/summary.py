"""The summary of an analysed function for its callers (WGSL, "Analyzing the Uniformity Requirements of a
Function": the call site tag, the function tag and the tags of the parameters).
"""

from __future__ import annotations

from ....base.records import dataclass, field, replace
from ....ir.diagnostics import Note, Severity
from ....ir.source import Span
from ....ir.wgsl.program import Variable
from .graph import Node, Scope

_KEPT = 4
"""Number of notes that are kept at each end of a trail."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """A call of a builtin function asks for uniformity. `trail` leads from that call out to where it is asked for."""

    severity: Severity
    code: str
    scope: Scope
    message: str
    span: Span
    trail: tuple[Note, ...] = ()

    def with_trail(self, notes: tuple[Note, ...]) -> Requirement:
        """The requirement with a longer trail. A long trail is cut in the middle."""
        trail = (*self.trail, *notes)
        return replace(self, trail=trail if len(trail) <= 2 * _KEPT else trail[:_KEPT] + trail[-_KEPT:])

    @property
    def kind(self) -> tuple[Severity, str]:
        """A function passes on one requirement of each kind."""
        return self.severity, self.code


@dataclass(frozen=True, slots=True)
class Origins:
    """What a value at a function's end depends on, besides control flow at the call: values of parameters, and what is
    stored where pointer parameters point, by position; and whether it differs between invocations anyhow: `sink`,
    explained by `cause`.
    """

    sink: Node | None = None
    values: tuple[int, ...] = ()
    contents: tuple[int, ...] = ()
    cause: tuple[Note, ...] = ()


@dataclass(slots=True)
class Summary:
    """What to do at each call.

    `at_call`: what asks for uniform control flow there. `of_values`, `of_contents`: what asks for uniform arguments and
    for uniform memory behind pointer arguments, by position. `result`: where the returned value comes from. `at_exit`:
    where the memory behind each pointer into the function address space gets its value.
    """

    at_call: tuple[Requirement, ...] = ()
    of_values: dict[int, tuple[Requirement, ...]] = field(default_factory=dict[int, "tuple[Requirement, ...]"])
    of_contents: dict[int, tuple[Requirement, ...]] = field(default_factory=dict[int, "tuple[Requirement, ...]"])
    result: Origins = Origins()
    at_exit: dict[int, Origins] = field(default_factory=dict[int, Origins])


@dataclass(frozen=True, slots=True)
class Jump:
    """A loop or switch that a `break` may leave: the number of branches that were open outside."""

    depth: int
    paths: list[dict[Variable, Node]] = field(default_factory=list["dict[Variable, Node]"])
