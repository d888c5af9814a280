"""Checks what one-to-one edges declare: of what the source wrote, an instance of the sink reads only what the instance
of the source with the same index wrote.

Fusing asks for more (`one_to_one`): here atomic operations, elements that the source leaves as they are, and what the
sink writes do not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from ...ir.dataflow.expressions import Polynomial, constant_form, difference, expressions_of, sum_of
from ...ir.dataflow.nodes import CreateNode, Endpoint, Function, Graph, IntegerLiteral, Leaf, Module, Replication
from ...ir.source import Span
from .accesses import Access, KernelAccesses
from .flat import Given, flatten
from .forms import Counter, GlobalId, counters_in, variables
from .kernel_graph import KernelGraph
from .one_to_one import Use, in_graph, is_never_zero
from .refusal import Refused

_WORDS: Final = 1 << 32


class Verdict(Enum):
    """What is known of an edge: whether it is one-to-one."""

    PROVED = "proved"
    """Positions are equal for all numbers of a launch. That no two invocations have one position is left to these."""
    AT_LAUNCH = "at launch"
    """It is for some numbers of a launch."""
    UNKNOWN = "unknown"
    DISPROVED = "disproved"
    """Each invocation reads an element that it did not write, unless the position is past the end and clamped."""


@dataclass(frozen=True, slots=True)
class EdgeCheck:
    """What is known of an edge, whose place in the graph's text is `span`. For one that is unknown or disproved,
    `message` says why, about the place `at` in the shader `shader` if there is one.
    """

    edge: str
    replication: Replication
    verdict: Verdict
    span: Span | None
    message: str = ""
    shader: str | None = None
    at: Span | None = None


class _Disproved(Refused):
    """The edge is not one-to-one."""


def check_edges(
    module: Module, kernels: Callable[[Leaf], KernelAccesses], replication: Replication
) -> tuple[EdgeCheck, ...]:
    """Check the edges of a verified module that are of a kind. `kernels` has the accesses of a leaf, or raises Refused.

    The edges of graphs without instances are checked where these are used, so that kernels on both sides of their
    bounds are seen.
    """
    functions = {it.name: it for it in module.functions}
    found: list[EdgeCheck] = []
    for graph in _graphs(module, functions):
        kernel_graph = KernelGraph(flatten(graph, functions), kernels)
        for end, given in kernel_graph.flat.inputs.items():
            if isinstance(given.value, Endpoint) and given.replication is replication:
                found.append(_checked(kernel_graph, given.value, end, given))
    return tuple(found)


def _graphs(module: Module, functions: Mapping[str, Function]) -> Iterator[Graph]:
    """The root graph, and the graphs that nodes execute in several instances or several times."""
    nodes = [it for graph in module.functions if isinstance(graph, Graph) for it in graph.body]
    several = {it.function for it in nodes if isinstance(it, CreateNode) and expressions_of(it)}
    for name in dict.fromkeys((module.root.function, *sorted(several))):
        function = functions[name]
        if isinstance(function, Graph):
            yield function


def _checked(graph: KernelGraph, source: Endpoint, sink: Endpoint, given: Given) -> EdgeCheck:
    edge = f"{source.node}.{source.port} -> {sink.node}.{sink.port}"
    try:
        if given.replication is Replication.ALL_TO_ALL:  # else it is verified, or tested when the graph runs
            _check_extents(graph.flat.nodes[source.node], graph.flat.nodes[sink.node])
        uses = graph.use(source), graph.use(sink)
        is_proved = _check(*uses, graph.flat.nodes[sink.node])
    except Refused as refused:
        verdict = Verdict.DISPROVED if isinstance(refused, _Disproved) else Verdict.UNKNOWN
        message = f"{refused.kernel}: {refused.reason}" if refused.kernel else refused.reason
        shader = graph.shader_of(refused.kernel)
        return EdgeCheck(edge, given.replication, verdict, given.span, message, shader, refused.span)
    return EdgeCheck(edge, given.replication, Verdict.PROVED if is_proved else Verdict.AT_LAUNCH, given.span)


def _check_extents(source: CreateNode, sink: CreateNode) -> None:
    """Raise Refused for nodes whose extents may differ."""
    if len(source.extents) != len(sink.extents):
        raise Refused("the extents of the kernels differ [grids]", None, sink.name)
    if any(difference(left, right) != 0 for left, right in zip(source.extents, sink.extents, strict=True)):
        raise Refused("the extents of the kernels may differ [grids]", None, sink.name)


def _check(source: Use, sink: Use, node: CreateNode) -> bool:
    """Whether the positions are equal whatever the numbers of a launch are. Raises Refused."""
    for use in (source, sink):
        if use.binding not in use.accesses.accesses:
            raise Refused(f"{use.binding!r} is no binding of its own [element]", None, use.name)
        if use.binding in use.accesses.whole:
            raise Refused(f"{use.binding!r}: {use.accesses.whole[use.binding]} [element]", None, use.name)
    writes = [it for it in source.all if it.kind != "read"]
    reads = [it for it in sink.all if it.kind != "write" and any(_may_meet(write, it) for write in writes)]
    own = [_is_own(source, writes, sink, it) for it in reads]  # all of them may be refused
    for read in reads:
        _check_own_element(sink, read, node)
    return all(own)


def _check_own_element(sink: Use, read: Access, node: CreateNode) -> None:
    """Raise Refused for a position that does not depend on the number of an invocation along some axis."""
    assert read.index is not None
    used = {it.axis for it in variables(read.index) if isinstance(it, GlobalId)}
    used |= {axis for it in counters_in(read.index) for axis in it.axes}
    for axis, size in enumerate(sink.accesses.entry.workgroup_size):
        is_one = size == 1 and (axis >= len(node.extents) or node.extents[axis] == IntegerLiteral(1))
        if axis not in used and not is_one:
            message = f"{sink.binding!r} is read at one position by all invocations along {'xyz'[axis]} [own-element]"
            raise Refused(message, read.span, sink.name)


def _is_own(source: Use, writes: Sequence[Access], sink: Use, read: Access) -> bool:
    """Whether a read is where the same invocation writes, whatever the numbers are. Raises Refused."""
    differences = [_difference(source, it, sink, read) for it in writes if _may_meet(it, read)]
    if all(it and not variables(it) for it in differences):
        message = f"{sink.binding!r} is read at another position than {source.name!r} writes [same-position]"
        raise _Disproved(message, read.span, sink.name)
    if any(map(is_never_zero, differences)):
        message = f"{sink.binding!r} is not read only where the same invocation of {source.name!r} writes"
        raise Refused(f"{message} [same-position]", read.span, sink.name)
    return not any(differences)


def _may_meet(write: Access, read: Access) -> bool:
    """Whether two accesses may be to one part of an element."""
    if write.part is None or read.part is None:
        return True
    return all(left == right for left, right in zip(write.part, read.part, strict=False))


def _difference(source: Use, write: Access, sink: Use, read: Access) -> Polynomial:
    """What the position of a read has more than that of a write, modulo 2^32. Raises Refused."""
    written, found = _position(source, write), _position(sink, read)
    if len(_loops(write)) != len(_loops(read)):
        message = f"{sink.binding!r} is accessed in another grid-stride loop, or in none [same-position]"
        raise Refused(message, read.span, sink.name)
    rest = _rest(written, found, sink, read)
    return rest or _apart(source, write, sink, read)


def _apart(source: Use, write: Access, sink: Use, read: Access) -> Polynomial:
    """What the starts and the steps of the loops of a read have more than those of a write at the same position: the
    first difference. Raises Refused.
    """
    pairs = zip(_loops(write), _loops(read), strict=True)
    forms = [pair for one, other in pairs for pair in ((one.start, other.start), (one.step, other.step))]
    rests = [_rest(in_graph(left, source), in_graph(right, sink), sink, read) for left, right in forms]
    if any(map(is_never_zero, rests)):
        message = f"{sink.binding!r} is accessed in another grid-stride loop, or in none [same-position]"
        raise Refused(message, read.span, sink.name)
    return next((it for it in rests if it), constant_form(0))


def _rest(left: Polynomial | None, right: Polynomial | None, sink: Use, read: Access) -> Polynomial:
    """What the second form has more than the first, modulo 2^32. Raises Refused."""
    if left is None or right is None:
        message = f"{sink.binding!r}: its loop depends on a number that another node gives [position]"
        raise Refused(message, read.span, sink.name)
    return frozenset((monomial, number) for monomial, it in sum_of(right, left, -1) if (number := it % _WORDS))


def _loops(access: Access) -> list[Counter]:
    return sorted(counters_in(access.index or frozenset()), key=lambda it: it.depth)


def _position(use: Use, access: Access) -> Polynomial:
    """The position of an access in the graph's terms. Raises Refused."""
    if access.index is None:
        rule = "element" if "no array" in access.why else "position"
        raise Refused(f"{use.binding!r}: {access.why} [{rule}]", access.span, use.name)
    found = in_graph(access.index, use)
    if found is None:
        message = f"{use.binding!r}: its position depends on a number that another node gives [position]"
        raise Refused(message, access.span, use.name)
    return found
