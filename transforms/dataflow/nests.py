"""The nest of forks of an entry point, and whether its body can run on the grid of another one."""

from __future__ import annotations

from dataclasses import dataclass

from ...ir.dataflow.expressions import variable_form
from ...ir.hercules import nodes as h
from ...ir.hercules.entry import WORKGROUP_CONSTANTS, EntryPoint
from ...ir.hercules.graph import predecessors
from ...ir.hercules.placement import place_nodes
from ...ir.hercules.types import U32
from .forms import Forms, GlobalId
from .refusal import Refused


@dataclass(eq=False, slots=True)
class Nest:
    """The control of an entry point: one nest of forks, the body, and the joins. Outermost first."""

    forks: list[h.Fork]
    joins: list[h.Join]
    end: h.Return
    ids: list[h.ThreadID | None]

    @property
    def inside(self) -> h.Fork:
        """The innermost fork."""
        return self.forks[-1]


def check_body(entry: EntryPoint, first: EntryPoint) -> None:
    """Raise Refused for an entry point that cannot run on the grid of the first one."""
    nest = nest_of(entry.function)
    carried = _carriers(entry)
    if any(isinstance(it, h.Reduce) and it not in carried for it in entry.function.nodes):
        raise Refused("it has workgroup memory [workgroups]", None)
    if len(nest.forks) != len(WORKGROUP_CONSTANTS) + sum(it > 1 for it in entry.workgroup_size):
        raise Refused("it has barriers, workgroup memory or operations on subgroups [workgroups]", None)
    if entry.workgroup_size != first.workgroup_size:
        global_ids(entry)


def _carriers(entry: EntryPoint) -> set[h.Node]:
    """The Reduces that carry bindings to the body."""
    found: set[h.Node] = {it for it in entry.function.nodes if isinstance(it, h.Parameter)}
    size = 0
    while len(found) != size:
        size = len(found)
        found |= {it for it in entry.function.nodes if isinstance(it, h.Reduce) and it.init in found}
    return found


def global_ids(entry: EntryPoint) -> dict[h.Node, int]:
    """The nodes that are components of `global_invocation_id`, each with its axis. Raises Refused for an entry point
    that uses the numbers of workgroups in another way.
    """
    forms = Forms(entry, place_nodes(entry.function))
    axes = {variable_form(GlobalId(axis)): axis for axis in range(3)}
    numbers = (it for it in entry.function.nodes if forms.placed.types.get(it) == U32)
    found = {it: axes[form] for it in numbers if (form := forms.of(it)) in axes}
    pending: list[h.Node] = [it for it in entry.function.nodes if isinstance(it, (h.If, h.Match, h.Reduce))]
    seen: set[h.Node] = set()
    while pending:
        node = pending.pop()
        if node in seen or node in found:
            continue
        seen.add(node)
        if isinstance(node, h.ThreadID) or (isinstance(node, h.DynamicConstantNode) and _is_count(node)):
            message = "its workgroups have another size, and it uses numbers of workgroups or of their invocations"
            raise Refused(f"{message} [workgroups]", None)
        pending += [it for it in predecessors(node) if not isinstance(it, (h.Fork, h.Join))]
    return found


def nest_of(function: h.Function) -> Nest:
    """The nest of an entry point. Raises Refused if it has other forks: barriers, or workgroup memory."""
    chain: list[h.Fork] = []
    forks = {it.control: it for it in function.nodes if isinstance(it, h.Fork)}
    control: h.Node = function.nodes[0]
    while control in forks:
        control = forks[control]
        assert isinstance(control, h.Fork)
        chain.append(control)
    (end,) = (it for it in function.nodes if isinstance(it, h.Return))
    joins: list[h.Join] = []
    at = end.control
    while isinstance(at, h.Join):
        joins.append(at)
        at = at.control
    others = any(isinstance(it, h.Collect) for it in function.nodes)
    if len(chain) != len(forks) or len(joins) != len(chain) or others:
        raise Refused("it has barriers, workgroup memory or operations on subgroups [workgroups]", None)
    numbers = {it.fork: it for it in function.nodes if isinstance(it, h.ThreadID)}
    return Nest(chain, joins, end, [numbers.get(it) for it in chain])


def _is_count(node: h.DynamicConstantNode) -> bool:
    return isinstance(node.value, h.DynamicParameter) and 0 <= node.value.index < len(WORKGROUP_CONSTANTS)
