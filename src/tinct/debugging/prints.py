"""What a statement prints in an invocation whose values are at hand."""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.constants import RawValue
from ..ir.core import nodes
from ..ir.core.values import Value
from ..ir.print_formats import Format, parse_format
from ..ir.types import Type
from ..ir.wgsl import ast
from ..transforms.from_wgsl.marks import Mark
from .expressions import as_value
from .launch import Prepared
from .machine import Activation


class PrintReader:
    """Reads the lines of a prepared dispatch; formats are parsed once."""

    def __init__(self, prepared: Prepared) -> None:
        self._prepared = prepared
        self._known: dict[Mark, tuple[Format, Sequence[Value], Sequence[Type]]] = {}

    def text(self, mark: Mark, activation: Activation) -> str:
        """What the statement of a mark prints, when its arguments have been evaluated; without a final line break."""
        if mark not in self._known:
            self._known[mark] = self._parsed(mark)
        form, arguments, types = self._known[mark]
        return form.apply(types, [self._value(it, activation) for it in arguments]).removesuffix("\n")

    def _parsed(self, mark: Mark) -> tuple[Format, Sequence[Value], Sequence[Type]]:
        assert isinstance(mark.node, ast.Print)
        arguments = [self._prepared.marked.expressions[it] for it in mark.node.arguments]
        return parse_format(mark.node.format), arguments, [it.type for it in arguments]

    def _value(self, value: Value, activation: Activation) -> RawValue:
        if isinstance(value, nodes.Constant):
            return value.value.value
        if value in activation.code.slots:
            found = activation.frame[activation.code.slots[value]]
            assert found is not None
            return as_value(found)
        return self._prepared.root.value(value)
