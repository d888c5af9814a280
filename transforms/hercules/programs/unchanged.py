"""Removes Reduces and Phis that only pass one value on, so that no kernel seems to write what it leaves as it is."""

from __future__ import annotations

from ....ir.hercules.graph import replace_all
from ....ir.hercules.nodes import Function, Node, Phi, Reduce


def remove_unchanged(function: Function) -> None:
    """Change the function in place."""
    while replaced := {it: value for it in function.nodes if (value := _only_value(it)) is not None}:
        node, value = next(iter(replaced.items()))
        replace_all(function, {node: value})
        function.nodes.remove(node)


def _only_value(node: Node) -> Node | None:
    """The one value that a Phi or Reduce may have."""
    match node:
        case Reduce(init=init, update=update):
            values = {init, update} - {node}
        case Phi(values=values_of):
            values = {*values_of} - {node}
        case _:
            return None
    return values.pop() if len(values) == 1 else None
