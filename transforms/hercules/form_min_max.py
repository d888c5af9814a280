"""Minimum and maximum: a select between two integers that it compares becomes `min` or `max`.

For grids: `forkify` and `reduce_to_tree` fold by these. `predication` makes such selects of branches.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...ir.hercules.graph import replace_all
from ...ir.hercules.inference import infer_types
from ...ir.hercules.nodes import Binary, BinaryOp, Intrinsic, Module, Node, Select, Type
from ...ir.hercules.types import I32, U32

_LESS = (BinaryOp.LESS, BinaryOp.LESS_EQUAL)
_GREATER = (BinaryOp.GREATER, BinaryOp.GREATER_EQUAL)


@dataclass(frozen=True)
class FormMinMax:
    """Makes an intrinsic of each select `a < b ? a : b` of 32-bit integers, by any ordering comparison, either way
    round.

    Floats stay: a select of a NaN, or of zeros of two signs, tells which operand came first. So do integers of other
    widths than 32 bits, for which there are no such intrinsics.
    """

    name = "form_min_max"

    def run(self, module: Module) -> bool:
        """Change the module; whether anything changed."""
        changed = False
        for function in module.functions:
            types = infer_types(function)
            made: dict[Node, Node] = {}
            for node in function.nodes:
                new = _formed(node, types) if isinstance(node, Select) else None
                if new is not None:
                    made[node] = new
            function.nodes = [made.get(it, it) for it in function.nodes]
            replace_all(function, made)
            changed |= bool(made)
        return changed


def _formed(node: Select, types: Mapping[Node, Type]) -> Node | None:
    type, test = types.get(node), node.condition
    if type not in (I32, U32) or not isinstance(test, Binary) or test.op not in _LESS + _GREATER:
        return None
    is_lower_first = test.op in _LESS
    if (test.lhs, test.rhs) == (node.if_false, node.if_true):
        is_lower_first = not is_lower_first
    elif (test.lhs, test.rhs) != (node.if_true, node.if_false):
        return None
    function = "min" if is_lower_first else "max"
    assert type is not None
    return Intrinsic(function, type, [node.if_true, node.if_false], label=node.label, span=node.span)
