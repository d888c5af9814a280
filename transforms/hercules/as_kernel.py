"""Turns any function into a kernel: parameters and results are collections changed in place, as in machine code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...ir.hercules.graph import replace_predecessor
from ...ir.hercules.inference import infer_types
from ...ir.hercules.nodes import (
    Array,
    ConstantNode,
    FieldIndex,
    Fork,
    Function,
    Index,
    IntegerConstant,
    Join,
    Node,
    Parameter,
    PositionIndex,
    Product,
    ProductNode,
    Read,
    Reduce,
    Return,
    ThreadID,
    Type,
    Write,
)
from ...ir.hercules.types import U64, array, is_scalar
from ...ir.hercules.versions import first_parameter


@dataclass(frozen=True, slots=True)
class Kernel:
    """A function of collections.

    `scalars`: parameters, those of the result too, that are arrays of one for a scalar. `results`: the parameter that
    holds each part of the result afterwards. `is_product`: the result was one product of these parts.
    """

    function: Function
    scalars: frozenset[int]
    results: tuple[int, ...]
    is_product: bool


def as_kernel(function: Function) -> Kernel:
    """Change the function into a kernel. A scalar is an array of one; parts of the result that are not the final
    versions of parameters are copied to new parameters.

    The function returns in one place, and has no sums (see `lower_sums`) and no products but its result (see
    `lower_products`).
    """
    (end,) = [it for it in function.nodes if isinstance(it, Return)]
    maker = _Maker(function, {}, end)
    scalars = maker.wrap_scalars()
    maker.types = infer_types(function)
    fields = end.value.fields if isinstance(end.value, ProductNode) else [end.value]
    is_product = isinstance(end.value, ProductNode)
    results = [maker.result(field) for field in fields]
    scalars |= {index for field, (_, index) in zip(fields, results, strict=True) if is_scalar(maker.types.get(field))}
    end.value = maker.add(ProductNode([version for version, _ in results]))
    function.return_type = Product(tuple(function.parameter_types[index] for _, index in results))
    function.nodes.remove(end)
    function.nodes.append(end)
    return Kernel(function, scalars, tuple(index for _, index in results), is_product)


@dataclass(slots=True)
class _Maker:
    function: Function
    types: Mapping[Node, Type]
    end: Return

    def add(self, node: Node) -> Node:
        self.function.nodes.append(node)
        return node

    def wrap_scalars(self) -> frozenset[int]:
        """Make arrays of one of scalar parameters."""
        function = self.function
        wrapped = [index for index, type in enumerate(function.parameter_types) if is_scalar(type)]
        for node in [it for it in function.nodes if isinstance(it, Parameter) and it.index in wrapped]:
            value = Read(node, [self._position(0)])
            for user in function.nodes:
                replace_predecessor(user, node, value)
            self.add(value)
        for index in wrapped:
            function.parameter_types[index] = array(function.parameter_types[index], 1)
        return frozenset(wrapped)

    def _position(self, number: int) -> PositionIndex:
        return PositionIndex(self.add(ConstantNode(IntegerConstant(U64, number))))

    def result(self, value: Node) -> tuple[Node, int]:
        """The final version of a part of the result, and the parameter that it is a version of."""
        type = self.types[value]
        if is_scalar(type):
            target = self._new_parameter(array(type, 1))
            return self.add(Write(target, value, [self._position(0)])), target.index
        root = first_parameter(value)
        if root is not None:
            return value, root.index
        target = self._new_parameter(type)
        return self._copied(target, value, type, []), target.index

    def _new_parameter(self, type: Type) -> Parameter:
        index = len(self.function.parameter_types)
        self.function.parameter_types.append(type)
        self.function.parameter_names.append(f"result{index}")
        node = Parameter(index)
        self.add(node)
        return node

    def _copied(self, target: Node, source: Node, type: Type, at: list[Index]) -> Node:
        """The target with all elements of the source from `at` on: a fork for each level of arrays."""
        if is_scalar(type):
            element = self.add(Read(source, list(at)))
            return self.add(Write(target, element, list(at)))
        if isinstance(type, Product):
            for number, field in enumerate(type.fields):
                target = self._copied(target, source, field, [*at, FieldIndex(number)])
            return target
        assert isinstance(type, Array), f"the result of {self.function.name} holds sums"
        fork = Fork(self.end.control, type.extent)
        join = Join(fork)
        thread = self.add(ThreadID(fork))
        reduce = Reduce(join, target, target)
        self.end.control = fork
        for node in (fork, reduce):
            self.add(node)
        reduce.update = self._copied(reduce, source, type.element, [*at, PositionIndex(thread)])
        join.control = self.end.control
        self.end.control = self.add(join)
        return reduce
