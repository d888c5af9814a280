"""Sums as products: a tag, then a field for each variant. The code generator does not support sums.

An inactive variant reads zero, and a write to a part of it has no visible effect: only a write of a
whole variant changes the tag, and then all of it has been written. A scalar read is a select; a read of an aggregate
branches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import assert_never

from ...ir.hercules import nodes as h
from ...ir.hercules.graph import control_predecessors, replace_all, replace_predecessor
from ...ir.hercules.inference import infer_types
from ...ir.hercules.layout import TAG, sum_as_product
from ...ir.hercules.placement import place_nodes
from ...ir.hercules.types import indexed_type, is_scalar
from ...ir.hercules.versions import is_version_projection


def lower_sums(function: h.Function) -> None:
    """Change the function in place."""
    for read, holds in _Lowering(function).run():
        _guard(function, read, holds)


def _guard(function: h.Function, read: h.Read, holds: h.Node) -> None:
    """Put zero in place of what is read where `holds` is false: a branch right after the control where it is read."""
    placed = place_nodes(function)
    if (at := placed.place.get(read)) is None:  # nothing uses it
        return
    branch = h.If(at, holds, span=read.span)
    arms = [h.Read(branch, [h.ControlIndex(output)]) for output in (0, 1)]
    merge = h.Region(list(arms))
    for node in function.nodes:
        if at in control_predecessors(node):
            replace_predecessor(node, at, merge)
    zero = h.ConstantNode(h.ZeroConstant(placed.types[read]))
    value = h.Phi(merge, [zero, read], label=read.label, span=read.span)
    for user in function.nodes:
        replace_predecessor(user, read, value)
    function.nodes += [branch, *arms, merge, zero, value]


def lowered_type(type: h.Type) -> h.Type:
    """The type with products in place of sums."""
    match type:
        case h.Product(fields=fields):
            return h.Product(tuple(map(lowered_type, fields)))
        case h.Summation(variants=variants):
            return sum_as_product(h.Summation(tuple(map(lowered_type, variants))))
        case h.Array(element=element, extent=extent):
            return h.Array(lowered_type(element), extent)
        case h.Bool() | h.Integer() | h.Float() | h.Control():
            return type
        case _:
            assert_never(type)


def _lowered_constant(constant: h.Constant) -> h.Constant:
    match constant:
        case h.SummationConstant(type=type, variant=variant, value=value):
            assert isinstance(type, h.Summation)
            fields: list[h.Constant] = [h.IntegerConstant(TAG, variant)]
            for number, it in enumerate(type.variants):
                fields.append(_lowered_constant(value) if number == variant else h.ZeroConstant(lowered_type(it)))
            return h.ProductConstant(lowered_type(type), tuple(fields))
        case h.ProductConstant(type=type, fields=parts):
            return h.ProductConstant(lowered_type(type), tuple(map(_lowered_constant, parts)))
        case h.ArrayConstant(type=type, elements=parts):
            return h.ArrayConstant(lowered_type(type), tuple(map(_lowered_constant, parts)))
        case h.ZeroConstant(type=type):
            return h.ZeroConstant(lowered_type(type))
        case h.BoolConstant() | h.IntegerConstant() | h.FloatConstant():
            return constant
        case _:
            assert_never(constant)


@dataclass(slots=True)
class _Lowering:
    function: h.Function
    types: dict[h.Node, h.Type] = field(init=False)
    made: list[h.Node] = field(init=False)
    replaced: dict[h.Node, h.Node] = field(default_factory=dict["h.Node", "h.Node"])
    guarded: list[tuple[h.Read, h.Node]] = field(default_factory=list["tuple[h.Read, h.Node]"])

    def __post_init__(self) -> None:
        self.types = infer_types(self.function)
        self.made = []

    def run(self) -> list[tuple[h.Read, h.Node]]:
        """The reads that are left to guard, each by a condition."""
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
                case h.Atomic():
                    self._atomic(node)
                case h.FloatingNode() | h.PinnedNode() | h.ControlNode():
                    pass
                case _:
                    assert_never(node)
        for node in matches:
            self._match(node)
        function.parameter_types = [lowered_type(type) for type in function.parameter_types]
        function.return_type = lowered_type(function.return_type)
        function.nodes += self.made
        replace_all(function, self.replaced)
        function.nodes = [node for node in function.nodes if node not in self.replaced]
        return self.guarded

    def _add(self, node: h.Node) -> h.Node:
        self.made.append(node)
        return node

    def _constant(self, value: int) -> h.Node:
        return self._add(h.ConstantNode(h.IntegerConstant(TAG, value)))

    def _holds(self, collection: h.Node, indices: Sequence[h.Index]) -> h.Node | None:
        """Whether all variants on the way are those that the sums hold; None if there is none on the way."""
        holds: h.Node | None = None
        above: list[h.Index] = []
        for index in indices:
            if isinstance(index, h.VariantIndex):
                tag = self._add(h.Read(collection, [*above, h.FieldIndex(0)]))
                test = self._add(h.Binary(h.BinaryOp.EQUAL, tag, self._constant(index.variant)))
                holds = test if holds is None else self._add(h.Binary(h.BinaryOp.AND, holds, test))
            above.append(_lowered_index(index))
        return holds

    def _if_held(self, holds: h.Node, value: h.Node, type: h.Type) -> h.Node:
        return self._add(h.Select(holds, value, self._add(h.ConstantNode(h.ZeroConstant(type)))))

    def _read(self, node: h.Read) -> None:
        """The value where all variants on the way are held, else zero."""
        holds = self._holds(node.collection, node.indices)
        if holds is None:
            return
        indices = [*map(_lowered_index, node.indices)]
        if not is_scalar(self.types[node]):
            node.indices = indices
            self.guarded.append((node, holds))
            return
        value = self._add(h.Read(node.collection, indices, label=node.label, span=node.span))
        self.replaced[node] = self._if_held(holds, value, self.types[node])

    def _write(self, node: h.Write) -> None:
        """A write of a whole variant sets the tag first."""
        node.collection = self._tagged(node.collection, node.indices)
        node.indices = [*map(_lowered_index, node.indices)]

    def _tagged(self, collection: h.Node, indices: Sequence[h.Index]) -> h.Node:
        """The collection, with the sum that the indices lead to as holding that variant."""
        if not isinstance(last := indices[-1], h.VariantIndex):
            return collection
        above = [*map(_lowered_index, indices[:-1])]
        return self._add(h.Write(collection, self._constant(last.variant), [*above, h.FieldIndex(0)]))

    def _atomic(self, node: h.Atomic) -> None:
        """The old value is zero where it is not held. A whole variant that is changed is held from then on."""
        holds = self._holds(node.collection, node.indices)
        if holds is None:
            return
        type = indexed_type(self.types[node.collection], node.indices)
        assert type is not None
        indices = [*map(_lowered_index, node.indices)]
        if isinstance(node.indices[-1], h.VariantIndex) and node.op is not h.AtomicOp.LOAD:
            old = self._if_held(holds, self._add(h.Read(node.collection, indices)), type)
            tagged = self._tagged(node.collection, node.indices)
            node.collection = self._add(h.Write(tagged, old, list(indices)))
        else:
            for read in [it for it in self.function.nodes if isinstance(it, h.Read) and it.collection is node]:
                if not is_version_projection(read):
                    value = self._add(h.Read(node, [h.FieldIndex(1)], label=read.label, span=read.span))
                    self.replaced[read] = self._if_held(holds, value, type)
        node.indices = indices

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
