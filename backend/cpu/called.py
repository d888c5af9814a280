"""Called functions as machine code, for several lanes at once.

A function that is called takes and gives scalars (see `transforms.to_hercules.calls`). Its machine code is that of a
kernel: a fork over the lanes, each of which reads its arguments from arrays and writes its results to arrays, if it is
among those that make the call. Arguments that are the same for all lanes are passed once, so that branches on them are
branches. The callee alone decides which kind of code its fork becomes, since it shares only memory with callers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from ...base.records import dataclass
from ...ir.hercules import dynamic
from ...ir.hercules import nodes as h
from ...ir.hercules.copying import copied
from ...ir.hercules.graph import map_predecessors
from ...ir.hercules.types import BOOL, U64, array, is_collection
from .layout import ArrayLayout, Layout, ProductLayout, ScalarLayout, natural_layout

_MOST_VARIANTS = 3
"""The maximum number of variants of a function, which differ in the parameters that are uniform."""


@dataclass(frozen=True, slots=True)
class Passing:
    """How a function is called by `lanes` lanes. Its code takes pointers to the arguments that differ between lanes, to
    those that do not, to a mask of bytes if there are several lanes, to the results, and to each collection.

    `varying`, `uniform` and `collections` are parameters of the callee; the fields of `arguments` and `constants` go
    with the first two. Results are where a collection that each lane has for itself lies (see `gangs.memory`).
    """

    callee: h.Function
    lanes: int
    varying: tuple[int, ...]
    uniform: tuple[int, ...]
    collections: tuple[int, ...]
    arguments: ProductLayout
    constants: ProductLayout
    results: ProductLayout


def passing(callee: h.Function, lanes: int, uniform: frozenset[int]) -> Passing:
    """The passing in which all lanes share the arguments for the parameters in `uniform`."""
    types = callee.parameter_types
    scalars = [index for index, type in enumerate(types) if not is_collection(type)]
    varying = tuple(it for it in scalars if it not in uniform)
    same = tuple(it for it in scalars if it in uniform)
    arguments = h.Product(tuple(array(types[it], lanes) for it in varying))
    constants = h.Product(tuple(types[it] for it in same))
    collections = tuple(index for index in range(len(types)) if index not in scalars)
    results = _of_lanes(_product(callee.return_type), lanes)
    return Passing(callee, lanes, varying, same, collections, _product(arguments), _product(constants), results)


def _product(type: h.Type) -> ProductLayout:
    layout = natural_layout(type)
    assert isinstance(layout, ProductLayout)
    return layout


def _of_lanes(layout: ProductLayout, lanes: int) -> ProductLayout:
    """The layout of scalars, each as an array over the lanes."""
    extent = dynamic.literal(lanes)
    fields = tuple(ArrayLayout(it, extent, it.size) for it in layout.fields if isinstance(it, ScalarLayout))
    return ProductLayout(fields, tuple(it * lanes for it in layout.offsets), layout.size * lanes, layout.align)


class CalledFunctions:
    """The called functions of a module: each variant is written at its first call."""

    def __init__(self, write: Callable[[h.Function, Mapping[int, Layout], Passing], str]) -> None:
        """`write` adds a kernel with these layouts to the module, and gives its name."""
        self._write = write
        self._names: dict[Passing, str] = {}
        self.scratch: h.DynamicConstant = dynamic.ZERO
        """Bytes of scratch memory that functions have for themselves: none is at work twice at a time."""

    def find(self, call: h.Call, lanes: int, uniform: frozenset[int], layouts: Sequence[Layout]) -> tuple[Passing, str]:
        """How to make a call, and the function's name in the module. Uniform arguments are passed once.

        `layouts` are those of the collections among the arguments.
        """
        wanted = passing(call.callee, lanes, uniform)
        if wanted not in self._names:
            others = [it for it in self._names if it.callee is call.callee and it.lanes == lanes]
            if len(others) >= _MOST_VARIANTS:
                fitting = [it for it in others if uniform.issuperset(it.uniform)]
                wanted = max(fitting, key=lambda it: len(it.uniform), default=passing(call.callee, lanes, frozenset()))
        if wanted not in self._names:
            fixed: list[Layout] = [wanted.arguments, wanted.constants, _mask_layout(lanes), wanted.results]
            self._names[wanted] = self._write(kernel_of(wanted), dict(enumerate([*fixed, *layouts])), wanted)
        return wanted, self._names[wanted]


_ARGUMENTS, _CONSTANTS, _MASK, _RESULTS, _COLLECTIONS = range(5)
"""The kernel's parameters; the last is the first of the collections."""
N = TypeVar("N", bound=h.Node)


def _mask_layout(lanes: int) -> Layout:
    return natural_layout(array(BOOL, lanes))


def kernel_of(way: Passing) -> h.Function:
    """The callee as a kernel: see the module."""
    callee = way.callee
    types, names, fields = callee.parameter_types, callee.parameter_names, _scalar_types(callee.return_type)
    results = h.Product(tuple(array(it, way.lanes) for it in fields))
    return h.Function(
        name=callee.name,
        dynamic_constants=list(callee.dynamic_constants),
        parameter_types=[
            h.Product(tuple(array(types[it], way.lanes) for it in way.varying)),
            h.Product(tuple(types[it] for it in way.uniform)),
            array(BOOL, way.lanes),
            results,
            *(types[it] for it in way.collections),
        ],
        parameter_names=["arguments", "constants", "mask", "results", *(names[it] for it in way.collections)],
        return_type=h.Product((results,)),
        nodes=_KernelNodes(way).make(),
    )


def _scalar_types(type: h.Type) -> tuple[h.Type, ...]:
    assert isinstance(type, h.Product)
    return type.fields


class _KernelNodes:
    """Makes the nodes of a kernel around those of its callee."""

    def __init__(self, way: Passing) -> None:
        callee = way.callee
        same: list[h.DynamicConstant] = [h.DynamicParameter(index) for index in range(len(callee.dynamic_constants))]
        self._way = way
        self._body = copied(callee.nodes, same)
        self._made: list[h.Node] = []
        self._parameters: dict[int, h.Node] = {}

    def make(self) -> list[h.Node]:
        """All of them, the Start first."""
        start, *body = self._body
        self._body = body
        control, results = self._for_one() if self._way.lanes == 1 else self._for_lanes(start)
        self._add(h.Return(control, self._add(h.ProductNode([results]))))
        return [start, *self._body, *self._made]

    def _for_one(self) -> tuple[h.Node, h.Node]:
        """The control and the results at the end of one lane."""
        lane = h.PositionIndex(self._add(h.ConstantNode(h.IntegerConstant(U64, 0))))
        end = self._take_body(lane, {})
        return end.control, self._stored(end.value, self._parameter(_RESULTS), lane)

    def _for_lanes(self, start: h.Node) -> tuple[h.Node, h.Node]:
        results = self._parameter(_RESULTS)
        fork = self._add(h.Fork(start, dynamic.literal(self._way.lanes)))
        lane = h.PositionIndex(self._add(h.ThreadID(fork)))
        branch = self._add(h.If(fork, self._add(h.Read(self._parameter(_MASK), [lane]))))
        idle, busy = (self._add(h.Read(branch, [h.ControlIndex(output)])) for output in (0, 1))
        end = self._take_body(lane, {start: busy})
        region = self._add(h.Region([end.control, idle]))
        join = self._add(h.Join(region))
        before = self._add(h.Reduce(join, results, results))
        before.update = self._add(h.Phi(region, [self._stored(end.value, before, lane), before]))
        return join, before

    def _take_body(self, lane: h.Index, control: Mapping[h.Node, h.Node]) -> h.Return:
        """Substitute the kernel's nodes for the callee's parameters and its start. Returns the callee's end."""
        taken = [it for it in self._body if isinstance(it, h.Parameter)]
        arguments: dict[h.Node, h.Node] = {it: self._argument(it, lane) for it in taken}
        replaced = {**control, **arguments}
        self._body = [it for it in self._body if it not in arguments]
        for node in self._body:
            map_predecessors(node, lambda used: replaced.get(used, used))
        end = next(it for it in self._body if isinstance(it, h.Return))
        self._body.remove(end)
        return end

    def _argument(self, parameter: h.Parameter, lane: h.Index) -> h.Node:
        way, index = self._way, parameter.index
        if index in way.collections:
            return self._parameter(_COLLECTIONS + way.collections.index(index))
        if index in way.uniform:
            path: list[h.Index] = [h.FieldIndex(way.uniform.index(index))]
            return self._add(h.Read(self._parameter(_CONSTANTS), path, label=parameter.label))
        path = [h.FieldIndex(way.varying.index(index)), lane]
        return self._add(h.Read(self._parameter(_ARGUMENTS), path, label=parameter.label))

    def _stored(self, values: h.Node, results: h.Node, lane: h.Index) -> h.Node:
        """The version of the results after a lane has stored its own."""
        assert isinstance(values, h.ProductNode)
        for number, value in enumerate(values.fields):
            results = self._add(h.Write(results, value, [h.FieldIndex(number), lane]))
        return results

    def _parameter(self, index: int) -> h.Node:
        if index not in self._parameters:
            self._parameters[index] = self._add(h.Parameter(index))
        return self._parameters[index]

    def _add(self, node: N) -> N:
        self._made.append(node)
        return node
