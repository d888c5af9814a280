"""Loads and stores of vectors: consecutive scalars at once, others by gathers and scatters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .....ir.hercules import nodes as h
from ...data import llvm_type
from ...layout import ScalarLayout
from ...llvm import FunctionText, Ops
from ...machine import AccessCosts
from ..values.vectors import LaneVectors, mask_text, vector_text

_FEW = 4
"""Stores of scalars that take as long as a test of a mask and a store of a vector."""


@dataclass(frozen=True, slots=True)
class LaneIndices:
    """The addresses of the lanes' scalars: `pointer`, plus `index` in units of `unit` bytes. The index is a vector of
    i32 or i64.
    """

    pointer: str
    index: str
    index_type: str
    unit: int


class VectorMemory:
    """Loads and stores of vectors of memory's type, in which a bool is a byte.

    Lanes that are not in the mask do not access memory; they load zero.
    """

    def __init__(self, vectors: LaneVectors) -> None:
        self._vec = vectors.vec
        self._out = vectors.out
        self._target = vectors.out.module.target

    def load(
        self,
        pointer: str,
        leaf: ScalarLayout,
        mask: str | None,
        part: Ops | None = None,
        otherwise: str = "zeroinitializer",
    ) -> str:
        """Consecutive scalars: as many as a part has lanes, or as many as `part` says. Lanes that are not in the mask
        have those of another vector.
        """
        scalar, vec = memory_type(leaf), self._vec if part is None else part
        type = vec.type(scalar)
        if mask is None:
            return self._out.value(f"load {type}, ptr {pointer}, align {leaf.align}")
        name = f"llvm.masked.load.{vec.suffix(scalar)}.p0"
        masks = vec.type("i1")
        self._out.module.declare(f"{type} @{name}(ptr, {masks}, {type})")
        return self._out.value(
            f"call {type} @{name}(ptr align {leaf.align} {pointer}, {masks} {mask}, {type} {otherwise})"
        )

    def load_apart_from_store(self, pointer: str, leaf: ScalarLayout) -> str:
        """Consecutive scalars at a place that is stored to next, with other data in some lanes. LLVM makes one masked
        store of a load, a select and a store, which takes ten times as long where only AVX2 has it (4.2 ns on Zen 3,
        `tinct cpu`); but it leaves a volatile load alone.
        """
        return self._out.value(f"load volatile {self._vec.type(memory_type(leaf))}, ptr {pointer}, align {leaf.align}")

    def store(self, data: str, pointer: str, leaf: ScalarLayout, mask: str | None, part: Ops | None = None) -> None:
        """Consecutive scalars: as many as a part has lanes, or as many as `part` says."""
        scalar, vec = memory_type(leaf), self._vec if part is None else part
        type = vec.type(scalar)
        if mask is None:
            self._out.do(f"store {type} {data}, ptr {pointer}, align {leaf.align}")
            return
        name = f"llvm.masked.store.{vec.suffix(scalar)}.p0"
        masks = vec.type("i1")
        self._out.module.declare(f"void @{name}({type}, ptr, {masks})")
        self._out.do(f"call void @{name}({type} {data}, ptr align {leaf.align} {pointer}, {masks} {mask})")

    def store_some(self, data: str, pointer: str, leaf: ScalarLayout, wanted: Sequence[bool]) -> None:
        """Some of consecutive scalars, one by one where that takes less time than a masked store."""
        costs = self._out.module.costs
        if sum(wanted) * costs.stores >= len(wanted) * costs.masked_store:
            self.store(data, pointer, leaf, mask_text(wanted))
            return
        lanes = (number for number, it in enumerate(wanted) if it)
        places = {it: self._out.pure(f"getelementptr i8, ptr {pointer}, i64 {it * leaf.size}") for it in lanes}
        self.store_each(data, places, leaf)

    def load_each(self, pointers: Sequence[str], leaf: ScalarLayout) -> str:
        """A scalar for each lane, one by one."""
        scalar, found = memory_type(leaf), "poison"
        for lane, pointer in enumerate(pointers):
            one = self._out.value(f"load {scalar}, ptr {pointer}, align {leaf.align}")
            found = self._out.pure(f"insertelement {self._vec.type(scalar)} {found}, {scalar} {one}, i64 {lane}")
        return found

    def store_each(self, data: str, pointers: Mapping[int, str], leaf: ScalarLayout) -> None:
        """The scalars of some lanes, by their numbers, one by one."""
        scalar = memory_type(leaf)
        for lane, pointer in pointers.items():
            one = self._out.pure(f"extractelement {self._vec.type(scalar)} {data}, i64 {lane}")
            self._out.do(f"store {scalar} {one}, ptr {pointer}, align {leaf.align}")

    def gather(self, lanes: LaneIndices, leaf: ScalarLayout, mask: str | None) -> str:
        """Load a scalar for each lane; one of fewer bytes than processors gather out of the word that it is in."""
        pointers = self._pointers(lanes)
        if leaf.size >= _LEAST_GATHERED or not self._target.has_avx2:
            return self._gather(memory_type(leaf), pointers, leaf.align, mask)
        return self._gather_in_words(pointers, leaf, mask)

    def _gather(self, scalar: str, pointers: str, align: int, mask: str | None) -> str:
        type, masks, pointer = (self._vec.type(it) for it in (scalar, "i1", "ptr"))
        name = f"llvm.masked.gather.{self._vec.suffix(scalar)}.v{self._vec.lanes}p0"
        self._out.module.declare(f"{type} @{name}({pointer}, {masks}, {type})")
        return self._out.value(
            f"call {type} @{name}({pointer} align {align} {pointers}, {masks} {mask or _ALL}, {type} zeroinitializer)"
        )

    def _gather_in_words(self, pointers: str, leaf: ScalarLayout, mask: str | None) -> str:
        """Gather the aligned words that scalars of one or two bytes are in. Such a word is in one page, so that it can
        be read if one of its bytes can.
        """
        vec, scalar = self._vec, memory_type(leaf)
        address = vec.convert("ptrtoint", "ptr", pointers, "i64")
        offset = vec.binary("and", "i64", address, vec.constant("i64", _LEAST_GATHERED - 1))
        back = vec.binary("sub", "i64", vec.constant("i64", 0), offset)
        words = self._out.pure(f"getelementptr i8, {vec.type('ptr')} {pointers}, {vec.type('i64')} {back}")
        bits = vec.binary("shl", "i32", vec.convert("trunc", "i64", offset, "i32"), vec.constant("i32", 3))
        word = vec.binary("lshr", "i32", self._gather("i32", words, _LEAST_GATHERED, mask), bits)
        integer = f"i{8 * leaf.size}"
        return vec.convert("bitcast", integer, vec.convert("trunc", "i32", word, integer), scalar)

    def gather_pairs(
        self, lanes: LaneIndices, leaves: tuple[ScalarLayout, ScalarLayout], mask: str | None
    ) -> tuple[str, str]:
        """Load two adjacent 32-bit words for each lane: gathers of 64 bits are as fast as gathers of 32 bits."""
        count = self._vec.lanes
        pairs = self._gather("i64", self._pointers(lanes), leaves[0].align, mask)
        words = self._out.value(f"bitcast {self._vec.type('i64')} {pairs} to <{2 * count} x i32>")
        found: list[str] = []
        for number, leaf in enumerate(leaves):
            chosen = vector_text("i32", range(number, 2 * count, 2))
            word = self._out.value(
                f"shufflevector <{2 * count} x i32> {words}, <{2 * count} x i32> poison, <{count} x i32> {chosen}"
            )
            found.append(self._vec.convert("bitcast", "i32", word, memory_type(leaf)))
        return found[0], found[1]

    def scatter(self, data: str, lanes: LaneIndices, leaf: ScalarLayout, mask: str | None) -> None:
        """Store a scalar from each lane; of lanes with one address, the last one wins."""
        scalar = memory_type(leaf)
        type, masks, pointers = (self._vec.type(it) for it in (scalar, "i1", "ptr"))
        name = f"llvm.masked.scatter.{self._vec.suffix(scalar)}.v{self._vec.lanes}p0"
        self._out.module.declare(f"void @{name}({type}, {pointers}, {masks})")
        self._out.do(
            f"call void @{name}({type} {data}, {pointers} align {leaf.align} {self._pointers(lanes)}, "
            f"{masks} {mask or _ALL})"
        )

    def rare_gather(self, lanes: LaneIndices, leaf: ScalarLayout, mask: str | None) -> str:
        """A gather in rare code: a function call if the processor has no instruction, whose replacement is long."""
        if leaf.size >= _LEAST_GATHERED or self._target.has_avx2:
            return self.gather(lanes, leaf, mask)
        type = self._vec.type(memory_type(leaf))
        return self._out.value(f"call {type} {self._rare(lanes, leaf, mask, None)}")

    def rare_scatter(self, data: str, lanes: LaneIndices, leaf: ScalarLayout, mask: str | None) -> None:
        """A scatter in rare code, likewise."""
        if leaf.size >= _LEAST_GATHERED:
            self.scatter(data, lanes, leaf, mask)
            return
        self._out.do(f"call void {self._rare(lanes, leaf, mask, data)}")

    def _rare(self, lanes: LaneIndices, leaf: ScalarLayout, mask: str | None, data: str | None) -> str:
        """The call of the helper function that gathers, or scatters the data."""
        vec, scalar, is_load = self._vec, memory_type(leaf), data is None
        name = f"{'gather' if is_load else 'scatter'}.{vec.suffix(scalar)}.{lanes.index_type}.{lanes.unit}.{leaf.align}"
        given = [("ptr", lanes.pointer), (vec.type(lanes.index_type), lanes.index), (vec.type("i1"), mask or _ALL)]
        if data is not None:
            given.append((vec.type(scalar), data))
        parameters = ", ".join(f"{type} %p{number}" for number, (type, _) in enumerate(given))
        result = vec.type(scalar) if is_load else "void"
        head = f"define internal {result} @{name}({parameters}) noinline cold nounwind"
        own = LaneIndices("%p0", "%p1", lanes.index_type, lanes.unit)
        self._out.module.helper(name, lambda: f"{head} {{\n{self._rare_body(own, leaf, is_load=is_load)}\n}}\n")
        return f"@{name}({', '.join(f'{type} {value}' for type, value in given)})"

    def _rare_body(self, lanes: LaneIndices, leaf: ScalarLayout, *, is_load: bool) -> str:
        """The body of the helper function with parameters pointer, index, mask and data."""
        out = FunctionText(self._out.module)
        out.open("entry")
        vector_memory = VectorMemory(LaneVectors(Ops(out, self._vec.lanes)))
        if is_load:
            out.do(f"ret {self._vec.type(memory_type(leaf))} {vector_memory.gather(lanes, leaf, '%p2')}")
        else:
            vector_memory.scatter("%p3", lanes, leaf, "%p2")
            out.do("ret void")
        return out.text()

    def _pointers(self, lanes: LaneIndices) -> str:
        return self._out.pure(
            f"getelementptr [{lanes.unit} x i8], ptr {lanes.pointer}, {self._vec.type(lanes.index_type)} {lanes.index}"
        )

    def from_memory(self, leaf: ScalarLayout, data: str) -> str:
        """Converts a vector of memory's type to the type in registers."""
        if isinstance(leaf.type, h.Bool):
            return self._vec.binary("icmp ne", "i8", data, self._vec.constant("i8", 0))
        return data

    def to_memory(self, leaf: ScalarLayout, value: str) -> str:
        """Converts a vector to memory's type."""
        return self._vec.convert("zext", "i1", value, "i8") if isinstance(leaf.type, h.Bool) else value


_ALL = "splat (i1 true)"
_LEAST_GATHERED = 4
"""The bytes of the smallest scalars for which processors have gather and scatter instructions."""


def memory_type(leaf: ScalarLayout) -> str:
    """The LLVM type of a scalar in memory."""
    return "i8" if isinstance(leaf.type, h.Bool) else llvm_type(leaf.type)


def masked_stores_are_slow(costs: AccessCosts, lanes: int) -> bool:
    """Whether a masked store takes longer than a few stores of scalars, as on processors without AVX-512."""
    return costs.masked_store > _FEW * costs.stores / lanes
