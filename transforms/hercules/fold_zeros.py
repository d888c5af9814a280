"""Folds accesses that always read zero: in a zero constant, or in an array without elements, where writes do nothing.

Machine code moves a position into its array, which takes an element to move to, and a constant takes bytes.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.hercules import dynamic
from ...ir.hercules import nodes as h
from ...ir.hercules.graph import is_projection, replace_all
from ...ir.hercules.inference import infer_types
from ...ir.hercules.types import element_type
from ...ir.hercules.versions import is_version_projection


def fold_zeros(function: h.Function) -> None:
    """Change the function in place. An array is empty if its extent is the literal 0. Of Atomics only fields may be
    used (see `lower_products`).
    """
    types = infer_types(function)
    replaced: dict[h.Node, h.Node] = {}
    for node in function.nodes:
        match node:
            case h.Read(collection=h.Atomic() as atomic):
                if _is_empty(types[atomic.collection], atomic.indices):
                    replaced[node] = atomic.collection if is_version_projection(node) else _zero(node, types)
            case h.Read(collection=collection, indices=indices) if not is_projection(node):
                if _is_zero(collection) or _is_empty(types[collection], indices):
                    replaced[node] = _zero(node, types)
            case h.Write(collection=collection, indices=indices) if _is_empty(types[collection], indices):
                replaced[node] = collection
            case _:
                pass
    zeros = [it for it in replaced.values() if isinstance(it, h.ConstantNode) and it not in types]
    function.nodes = [*(node for node in function.nodes if node not in replaced), *zeros]
    replace_all(function, replaced)


def _zero(node: h.Node, types: dict[h.Node, h.Type]) -> h.Node:
    return h.ConstantNode(h.ZeroConstant(types[node]), label=node.label, span=node.span)


def _is_zero(node: h.Node) -> bool:
    return isinstance(node, h.ConstantNode) and isinstance(node.value, h.ZeroConstant)


def _is_empty(type: h.Type | None, indices: Sequence[h.Index]) -> bool:
    """Whether an array on the path is empty."""
    for index in indices:
        if isinstance(type, h.Array) and type.extent == dynamic.ZERO:
            return True
        type = None if type is None else element_type(type, index)
    return False
