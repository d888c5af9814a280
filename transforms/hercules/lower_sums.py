"""Sums as products: a tag, then a field for each variant. What the machine code's generator takes has no sums.

A variant that the sum does not hold reads zero and keeps what is written into a part of it to itself, which nobody
sees: only a write of a whole variant changes the tag, and then all of it has been written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ...ir.diagnostics import ShaderError, not_supported
from ...ir.hercules import nodes as h
from ...ir.hercules.graph import replace_all
from ...ir.hercules.types import infer_types, is_scalar

TAG = h.Integer(32, False)


def lower_sums(function: h.Function) -> None:
    """Change the function in place. Raises ShaderError for a read of a whole variant that is no scalar."""
    _Lowering(function).run()


def lowered_type(type: h.Type) -> h.Type:
    """The type with products in place of sums."""
    match type:
        case h.Product(fields=fields):
            return h.Product(tuple(map(lowered_type, fields)))
        case h.Summation(variants=variants):
            return h.Product((TAG, *map(lowered_type, variants)))
        case h.Array(element=element, extent=extent):
            return h.Array(lowered_type(element), extent)
        case _:
            return type


def _lowered_constant(constant: h.Constant) -> h.Constant:
    match constant:
        case h.SummationConstant(type=h.Summation(variants=variants) as type, variant=variant, value=value):
            fields: list[h.Constant] = [h.IntegerConstant(TAG, variant)]
            for number, it in enumerate(variants):
                fields.append(_lowered_constant(value) if number == variant else h.ZeroConstant(lowered_type(it)))
            return h.ProductConstant(lowered_type(type), tuple(fields))
        case h.ProductConstant(type=type, fields=parts):
            return h.ProductConstant(lowered_type(type), tuple(map(_lowered_constant, parts)))
        case h.ArrayConstant(type=type, elements=parts):
            return h.ArrayConstant(lowered_type(type), tuple(map(_lowered_constant, parts)))
        case h.ZeroConstant(type=type):
            return h.ZeroConstant(lowered_type(type))
        case _:
            return constant


@dataclass(slots=True)
class _Lowering:
    function: h.Function
    types: dict[h.Node, h.Type] = field(init=False)
    made: list[h.Node] = field(init=False)
    replaced: dict[h.Node, h.Node] = field(default_factory=dict["h.Node", "h.Node"])

    def __post_init__(self) -> None:
        self.types = infer_types(self.function)
        self.made = []

    def run(self) -> None:
        function = self.function
        matches = [node for node in function.nodes if isinstance(node, h.Match)]
        for node in function.nodes:
            match node:
                case h.ConstantNode(value=value):
                    node.value = _lowered_constant(value)
                case h.Read(collection=collection) if not isinstance(collection, (h.If, h.Match)):
                    self._read(node)
                case h.Write():
                    self._write(node)
                case _:
                    pass
        for node in matches:
            self._match(node)
        function.parameter_types = [lowered_type(type) for type in function.parameter_types]
        function.return_type = lowered_type(function.return_type)
        end = function.nodes[-1]
        function.nodes = [*function.nodes[:-1], *self.made, end]
        replace_all(function, self.replaced)
        function.nodes = [node for node in function.nodes if node not in self.replaced]

    def _add(self, node: h.Node) -> h.Node:
        self.made.append(node)
        return node

    def _constant(self, value: int) -> h.Node:
        return self._add(h.ConstantNode(h.IntegerConstant(TAG, value)))

    def _read(self, node: h.Read) -> None:
        """The value where all variants on the way are those that the sums hold, else zero."""
        holds: h.Node | None = None
        indices: list[h.Index] = []
        for index in node.indices:
            if isinstance(index, h.VariantIndex):
                tag = self._add(h.Read(node.collection, [*indices, h.FieldIndex(0)]))
                test = self._add(h.Binary(h.BinaryOp.EQUAL, tag, self._constant(index.variant)))
                holds = test if holds is None else self._add(h.Binary(h.BinaryOp.AND, holds, test))
            indices.append(_lowered_index(index))
        if holds is None:
            return
        type = self.types[node]
        if not is_scalar(type):
            raise ShaderError([not_supported("a read of a whole variant that is no scalar, on the CPU", node.span)])
        value = self._add(h.Read(node.collection, indices, label=node.label))
        self.replaced[node] = self._add(h.Select(holds, value, self._zero(type)))

    def _zero(self, type: h.Type) -> h.Node:
        match type:
            case h.Bool():
                return self._add(h.ConstantNode(h.BoolConstant(False)))
            case h.Float():
                return self._add(h.ConstantNode(h.FloatConstant(type, 0.0)))
            case _:
                return self._add(h.ConstantNode(h.IntegerConstant(type, 0)))

    def _write(self, node: h.Write) -> None:
        """A write of a whole variant sets the tag first."""
        last = node.indices[-1] if node.indices else None
        node.indices = [_lowered_index(index) for index in node.indices]
        if isinstance(last, h.VariantIndex):
            tag: Sequence[h.Index] = [*node.indices[:-1], h.FieldIndex(0)]
            node.collection = self._add(h.Write(node.collection, self._constant(last.variant), list(tag)))

    def _match(self, node: h.Match) -> None:
        """A chain of branches on the tag; the last variant is what is left."""
        outputs = {
            it.indices[0].output: it
            for it in self.function.nodes
            if isinstance(it, h.Read) and it.collection is node and isinstance(it.indices[0], h.ControlIndex)
        }
        control: h.Node = node.control
        tag = self._add(h.Read(node.sum, [h.FieldIndex(0)]))
        for number in sorted(outputs)[:-1]:
            test = self._add(h.Binary(h.BinaryOp.EQUAL, tag, self._constant(number)))
            branch = self._add(h.If(control, test))
            self.replaced[outputs[number]] = self._add(h.Read(branch, [h.ControlIndex(1)]))
            control = self._add(h.Read(branch, [h.ControlIndex(0)]))
        self.replaced[outputs[max(outputs)]] = control
        self.replaced[node] = control


def _lowered_index(index: h.Index) -> h.Index:
    return h.FieldIndex(index.variant + 1) if isinstance(index, h.VariantIndex) else index
