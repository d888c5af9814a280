"""The calls in one function: the memory that arguments and results are passed in, and the calls themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...base.records import dataclass
from ...ir.hercules import nodes as h
from ...ir.hercules.types import is_collection
from .called import CalledFunctions, Passing
from .layout import ArrayLayout, ProductLayout, ScalarLayout
from .memory import STORAGE_ALIGN, Address, Memory
from .storage import StoragePlan


@dataclass(frozen=True, slots=True)
class CallSite:
    """A call. `varying` and `uniform` are the addresses of the arguments of the callee's parameters: the first lane's
    argument, with those of the other lanes behind it, or the one argument of all lanes. `mask` has a bool for each
    lane: whether it makes the call. `passed` are the pointers to these.
    """

    way: Passing
    name: str
    varying: Mapping[int, Address]
    uniform: Mapping[int, Address]
    mask: Address
    passed: tuple[str, str, str]


class CallSites:
    """Writes the calls of one function. Calls of one kind pass their arguments in the same memory."""

    def __init__(
        self, memory: Memory, plan: StoragePlan, types: Mapping[h.Node, h.Type], called: CalledFunctions
    ) -> None:
        self._memory = memory
        self._plan = plan
        self._types = types
        self._called = called
        self._known: dict[Passing, CallSite] = {}
        self._rooms: dict[h.Node, str] = {}

    def find(self, call: h.Call, lanes: int, uniform: frozenset[int] = frozenset()) -> CallSite:
        """A call by this many lanes, with the same arguments for the parameters in `uniform`."""
        layouts = [it.layout for it in self._collections(call)]
        way, name = self._called.find(call, lanes, uniform, layouts)
        if way not in self._known:
            self._known[way] = self._make(way, name)
        return self._known[way]

    def _make(self, way: Passing, name: str) -> CallSite:
        arguments, constants, mask = (self._room(it) for it in (way.arguments.size, way.constants.size, way.lanes))
        varying = dict(zip(way.varying, self._parts(arguments, way.arguments), strict=True))
        uniform = dict(zip(way.uniform, self._parts(constants, way.constants), strict=True))
        place = Address(mask, ScalarLayout(h.Bool()))
        return CallSite(way, name, varying, uniform, place, (arguments, constants, mask))

    def _room(self, size: int) -> str:
        """Memory on the stack."""
        with self._memory.ops.out.at_entry():
            return self._memory.ops.out.value(f"alloca [{max(size, 1)} x i8], align {STORAGE_ALIGN}")

    def _parts(self, pointer: str, layout: ProductLayout) -> list[Address]:
        """The addresses of the scalars of a product, of the first lane if there are several."""
        whole, fields = Address(pointer, layout), range(len(layout.fields))
        with self._memory.ops.out.at_entry():
            found = [self._memory.element(whole, [h.FieldIndex(it)]) for it in fields]
        return [Address(it.pointer, it.layout.element) if isinstance(it.layout, ArrayLayout) else it for it in found]

    def _collections(self, call: h.Call) -> Sequence[Address]:
        """The collections that are passed."""
        nodes = [it for it in call.arguments if is_collection(self._types[it])]
        return [
            self._memory.constant(it.value)
            if isinstance(it, h.ConstantNode)
            else self._memory.address(self._plan.of(it))
            for it in nodes
        ]

    def call(self, call: h.Call, site: CallSite, results: str) -> None:
        """Make the call with the arguments that were stored; `results` is a pointer to where the results go."""
        pointers = [*site.passed, results, *(it.pointer for it in self._collections(call)), "%dynamic", "%scratch"]
        self._memory.ops.out.do(f"call void @{site.name}({', '.join(f'ptr {it}' for it in pointers)})")

    def common_results(self, call: h.Call, way: Passing) -> tuple[str, list[Address]]:
        """The memory of the results of a call whose lanes all get the same, and the address of each scalar."""
        if call not in self._rooms:
            self._rooms[call] = self._room(way.results.size)
        return self._rooms[call], self._parts(self._rooms[call], way.results)
