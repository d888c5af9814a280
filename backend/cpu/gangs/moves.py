"""Moving vectors between registers and memory: consecutive scalars at once, others by gathers and scatters."""

from __future__ import annotations

from dataclasses import dataclass

from ....ir.hercules import nodes as h
from ..data import llvm_type
from ..layout import ScalarLayout
from ..llvm import Ops
from .vectors import LaneVectors


@dataclass(frozen=True, slots=True)
class Lanes:
    """Scalars at `pointer` + index of each lane, in units of `unit` bytes; the index is a vector of i32 or i64."""

    pointer: str
    index: str
    index_type: str
    unit: int


class Moves:
    """Loads and stores of a leaf's scalars as they lie in memory, where a bool is a byte.

    Lanes that are not in the mask do not access memory; what is loaded for them is zero.
    """

    def __init__(self, vectors: LaneVectors) -> None:
        self._vec = vectors.vec
        self._out = vectors.out

    def load(self, pointer: str, leaf: ScalarLayout, mask: str | None, part: Ops | None = None) -> str:
        """Consecutive scalars, as many as a gang has lanes or as `part` says."""
        scalar, vec = memory_type(leaf), self._vec if part is None else part
        type = vec.type(scalar)
        if mask is None:
            return self._out.value(f"load {type}, ptr {pointer}, align {leaf.align}")
        name = f"llvm.masked.load.{vec.suffix(scalar)}.p0"
        masks = vec.type("i1")
        self._out.module.declare(f"{type} @{name}(ptr, {masks}, {type})")
        return self._out.value(
            f"call {type} @{name}(ptr align {leaf.align} {pointer}, {masks} {mask}, {type} zeroinitializer)"
        )

    def store(self, data: str, pointer: str, leaf: ScalarLayout, mask: str | None, part: Ops | None = None) -> None:
        """Consecutive scalars, as many as a gang has lanes or as `part` says."""
        scalar, vec = memory_type(leaf), self._vec if part is None else part
        type = vec.type(scalar)
        if mask is None:
            self._out.do(f"store {type} {data}, ptr {pointer}, align {leaf.align}")
            return
        name = f"llvm.masked.store.{vec.suffix(scalar)}.p0"
        masks = vec.type("i1")
        self._out.module.declare(f"void @{name}({type}, ptr, {masks})")
        self._out.do(f"call void @{name}({type} {data}, ptr align {leaf.align} {pointer}, {masks} {mask})")

    def gather(self, lanes: Lanes, leaf: ScalarLayout, mask: str | None) -> str:
        """A scalar for each lane."""
        scalar = memory_type(leaf)
        type, masks, pointers = (self._vec.type(it) for it in (scalar, "i1", "ptr"))
        name = f"llvm.masked.gather.{self._vec.suffix(scalar)}.v{self._vec.lanes}p0"
        self._out.module.declare(f"{type} @{name}({pointers}, {masks}, {type})")
        return self._out.value(
            f"call {type} @{name}({pointers} align {leaf.align} {self._pointers(lanes)}, {masks} {mask or _ALL}, "
            f"{type} zeroinitializer)"
        )

    def scatter(self, data: str, lanes: Lanes, leaf: ScalarLayout, mask: str | None) -> None:
        """A scalar from each lane; of lanes with one address the last one wins."""
        scalar = memory_type(leaf)
        type, masks, pointers = (self._vec.type(it) for it in (scalar, "i1", "ptr"))
        name = f"llvm.masked.scatter.{self._vec.suffix(scalar)}.v{self._vec.lanes}p0"
        self._out.module.declare(f"void @{name}({type}, {pointers}, {masks})")
        self._out.do(
            f"call void @{name}({type} {data}, {pointers} align {leaf.align} {self._pointers(lanes)}, "
            f"{masks} {mask or _ALL})"
        )

    def _pointers(self, lanes: Lanes) -> str:
        return self._out.value(
            f"getelementptr [{lanes.unit} x i8], ptr {lanes.pointer}, {self._vec.type(lanes.index_type)} {lanes.index}"
        )

    def from_memory(self, leaf: ScalarLayout, data: str) -> str:
        """A vector of registers' type."""
        if isinstance(leaf.type, h.Bool):
            return self._vec.binary("icmp ne", "i8", data, self._vec.constant("i8", 0))
        return data

    def to_memory(self, leaf: ScalarLayout, value: str) -> str:
        """A vector of memory's type."""
        return self._vec.convert("zext", "i1", value, "i8") if isinstance(leaf.type, h.Bool) else value


_ALL = "splat (i1 true)"


def memory_type(leaf: ScalarLayout) -> str:
    """The LLVM type of a scalar in memory."""
    return "i8" if isinstance(leaf.type, h.Bool) else llvm_type(leaf.type)
