"""Products that nodes make, as storage: what the machine code's generator takes are collections that change in place.

A ProductNode becomes writes of its fields into a zero; only the one that a function returns may stay. Of an Atomic
nothing is used but its two fields, each by a Read of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.hercules import nodes as h
from ...ir.hercules.graph import def_use, replace_all, replace_predecessor
from ...ir.hercules.inference import infer_types


def lower_products(function: h.Function) -> None:
    """Change the function in place."""
    _take_atomics_apart(function)
    types, users = infer_types(function), def_use(function)
    replaced: dict[h.Node, h.Node] = {}
    made: list[h.Node] = []
    for node in function.nodes:
        if isinstance(node, h.ProductNode) and not _is_result(users[node]):
            version: h.Node = h.ConstantNode(h.ZeroConstant(types[node]), label=node.label, span=node.span)
            made.append(version)
            for number, value in enumerate(node.fields):
                version = h.Write(version, value, [h.FieldIndex(number)], span=node.span)
                made.append(version)
            replaced[node] = version
    function.nodes = [*(node for node in function.nodes if node not in replaced), *made]
    replace_all(function, replaced)


def _is_result(users: Sequence[h.Node]) -> bool:
    return len(users) == 1 and isinstance(users[0], h.Return)


def _take_atomics_apart(function: h.Function) -> None:
    for atomic, users in def_use(function).items():
        others = [user for user in users if not _takes_field(user)]
        if not isinstance(atomic, h.Atomic) or not others:
            continue
        fields = [h.Read(atomic, [h.FieldIndex(number)], span=atomic.span) for number in range(2)]
        function.nodes += fields
        whole: h.Node | None = None
        for user in others:
            if isinstance(user, h.Read) and user.indices:
                user.collection, user.indices = fields[0], user.indices[1:]
            else:
                whole = whole or h.ProductNode(list(fields), label=atomic.label, span=atomic.span)
                replace_predecessor(user, atomic, whole)
        function.nodes += [] if whole is None else [whole]


def _takes_field(user: h.Node) -> bool:
    """Of the users of an Atomic."""
    return isinstance(user, h.Read) and len(user.indices) == 1
