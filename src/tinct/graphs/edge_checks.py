"""What is known of the edges of a graph: warnings about those that are declared one-to-one and are not proved to be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..ir.dataflow.nodes import Leaf, Replication
from ..ir.diagnostics import Diagnostic, Severity, render_all
from ..ir.source import Span
from ..transforms.dataflow.accesses import KernelAccesses
from ..transforms.dataflow.edges import EdgeCheck, Verdict, check_edges
from .written import leaf_accesses

if TYPE_CHECKING:
    from .program import GraphProgram


@dataclass(frozen=True, slots=True)
class EdgeWarning:
    """An edge that is declared one-to-one, and is not proved to be. `edge` names its two ports.

    If it `is_disproved`, each invocation of the sink reads an element that the same invocation of the source did not
    write, unless a position is clamped. `text` is the message; with places in the graph's text and in the shader, it
    shows their lines.
    """

    edge: str
    message: str
    is_disproved: bool
    text: str

    def __str__(self) -> str:
        return self.text


def edge_warnings(program: GraphProgram) -> tuple[EdgeWarning, ...]:
    """The warnings about the one-to-one edges of a graph. Without such edges, no kernel is analysed."""
    found = check_edges(program.module, accesses_of(program), Replication.ONE_TO_ONE)
    return tuple(_warning(it, program) for it in found if it.verdict in (Verdict.UNKNOWN, Verdict.DISPROVED))


def _warning(check: EdgeCheck, program: GraphProgram) -> EdgeWarning:
    is_disproved = check.verdict is Verdict.DISPROVED
    known = "is not one-to-one" if is_disproved else "cannot be proved one-to-one"
    message = f"{known}: {check.message}"
    about = Diagnostic(Severity.WARNING, "one-to-one", f"{check.edge} {message}", check.span)
    return EdgeWarning(check.edge, message, is_disproved, with_access(about, program, check.shader, check.at))


def could_be_one_to_one(program: GraphProgram) -> tuple[str, ...]:
    """A message, with the line, for each all-to-all edge that is proved to be one-to-one."""
    found = check_edges(program.module, accesses_of(program), Replication.ALL_TO_ALL)
    return tuple(_possible(it, program) for it in found if it.verdict is Verdict.PROVED)


def _possible(check: EdgeCheck, program: GraphProgram) -> str:
    message = f"{check.edge}: not fused: the edge is all-to-all, and could be declared one-to-one"
    return render_all([Diagnostic(Severity.INFO, "fusion", message, check.span)], program.source)


def accesses_of(program: GraphProgram) -> Callable[[Leaf], KernelAccesses]:
    """What finds the accesses of a leaf's kernel; for a kernel that cannot be translated it raises Refused."""
    return lambda leaf: leaf_accesses(program.links, leaf.name)


def with_access(about: Diagnostic, program: GraphProgram, shader: str | None, at: Span | None) -> str:
    """A diagnostic about an edge, with the line of the graph's text, and that of an access in a shader if there is
    one.
    """
    text = render_all([about], program.source)
    if shader is None or at is None:
        return text
    source = program.shaders[shader].source
    return text + "\n" + render_all([Diagnostic(Severity.INFO, about.code, "the place in the WGSL", at)], source)
