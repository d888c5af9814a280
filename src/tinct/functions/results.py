"""The parts of a function's result, and their names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..dispatch import Timing
from ..ir.hercules import nodes as h
from ..ir.hercules.versions import first_parameter


@dataclass(frozen=True, slots=True)
class Parts:
    """The names and types of the parts of a result. `is_product`: they are the fields of a product."""

    names: tuple[str, ...]
    types: tuple[h.Type, ...]
    is_product: bool


@dataclass(frozen=True, slots=True)
class DeviceResult:
    """The bytes that a device gives for a result: a buffer for each field if it `is_split`, else one for all of it."""

    buffers: Sequence[memoryview]
    is_split: bool
    timing: Timing


def parts_of(function: h.Function) -> Parts:
    """The parts: the fields of a product, else the result as a whole.

    A part is named by the parameter whose storage it has, else by the label of its node; `result`, with the number of
    the field in a product, where returns differ, the node has no label, or an earlier part has the name.
    """
    returned = [it.value for it in function.nodes if isinstance(it, h.Return)]
    type = function.return_type
    if not isinstance(type, h.Product):
        return Parts((_name(function, returned) or "result",), (type,), is_product=False)
    names: list[str] = []
    for number in range(len(type.fields)):
        fields = [it.fields[number] if isinstance(it, h.ProductNode) else None for it in returned]
        name = _name(function, fields)
        names.append(f"result{number}" if name is None or name in names else name)
    return Parts(tuple(names), type.fields, is_product=True)


def _name(function: h.Function, nodes: Sequence[h.Node | None]) -> str | None:
    """The name that all nodes have, the same part of what each Return gives; None if there is none."""
    names = {None if it is None else _name_of(function, it) for it in nodes}
    return names.pop() if len(names) == 1 else None


def _name_of(function: h.Function, node: h.Node) -> str | None:
    parameter = first_parameter(node)
    return (function.parameter_names[parameter.index] if parameter is not None else node.label) or None
