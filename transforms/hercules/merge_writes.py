"""Merges writes of one element on several paths into one write after the paths meet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...base.records import dataclass
from ...ir.hercules.graph import def_use, replace_all
from ...ir.hercules.inference import infer_types
from ...ir.hercules.nodes import Function, Module, Node, Phi, Region, Type, Write
from ...ir.hercules.types import is_collection


@dataclass(frozen=True)
class MergeWrites:
    """Replaces a phi of writes, one on each path, of one element of one version of a collection, by one write of a phi.

    Lanes that take different paths then store together, without masks, and the element's place is computed once. A
    path on which nothing is written leaves the phi as it is: others may write the element meanwhile.
    """

    name = "merge_writes"

    def run(self, module: Module) -> bool:
        """Change the module; whether anything changed."""
        changed = False
        for function in module.functions:
            while _merge(function):
                changed = True
        return changed


def _merge(function: Function) -> bool:
    """One round; an inner phi becomes a write, which an outer one may have on one of its paths."""
    users, types = def_use(function), infer_types(function)
    made: dict[Node, Node] = {}
    nodes: list[Node] = []
    for node in function.nodes:
        writes = _writes(node, users, types) if isinstance(node, Phi) else None
        if writes is not None and not any(it in made for it in writes):
            assert isinstance(node, Phi)
            value = Phi(node.region, [it.value for it in writes])
            made[node] = Write(writes[0].collection, value, list(writes[0].indices), span=writes[0].span)
            nodes.append(value)
        nodes.append(made.get(node, node))
    function.nodes = nodes
    replace_all(function, made)
    return bool(made)


def _writes(phi: Phi, users: Mapping[Node, Sequence[Node]], types: Mapping[Node, Type]) -> list[Write] | None:
    """The writes that a phi chooses from, if they are of one element of one version and nobody else sees them."""
    writes = [it for it in phi.values if isinstance(it, Write)]
    if not isinstance(phi.region, Region) or len(writes) < 2 or len(set(writes)) < len(phi.values):
        return None
    first = writes[0]
    are_same = all(it.collection is first.collection and it.indices == first.indices for it in writes)
    are_own = all(users[it] == (phi,) for it in writes)
    is_plain = not any(is_collection(types[it.value]) for it in writes)
    return writes if are_same and are_own and is_plain else None
