"""Prefetch instructions. They change no result and may have any address."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from .....ir.hercules import nodes as h
from ...llvm import FunctionText, Ops
from ...memory import CACHE_LINE
from ..analysis.forms import Form, form_of
from ..context import GangContext
from .runs import Run

_MOST_LINES = 16
"""The most cache lines that are prefetched at once."""
DISTANCE = 2048
"""The distance in bytes between the data that a gang accesses and the data that it prefetches, where gangs go through
an array one after another. Hardware prefetchers stop at the end of a page, and at loops of few iterations. Measured: 2
KiB is as good as 4 KiB and better than 1 KiB.
"""

FIRST, SECOND = 3, 2
"""The caches that are prefetched to, as LLVM numbers them."""


def prefetch(out: FunctionText, pointer: str, size: int, cache: int = FIRST) -> None:
    """Prefetch `size` bytes from a pointer on."""
    out.module.declare("void @llvm.prefetch.p0(ptr, i32 immarg, i32 immarg, i32 immarg)")
    for line in range(min(-(-size // CACHE_LINE), _MOST_LINES)):
        address = out.value(f"getelementptr i8, ptr {pointer}, i64 {line * CACHE_LINE}")
        out.do(f"call void @llvm.prefetch.p0(ptr {address}, i32 0, i32 {cache}, i32 1)")


def byte_distance(
    one: Ops,
    scalar: Callable[[h.Node], str],
    types: Mapping[h.Node, h.Type],
    constant: int,
    terms: Iterable[tuple[h.Node, int]],
) -> str:
    """A number of bytes plus the scalars of some integers, each times a number of bytes, as an i64."""
    total = str(constant)
    for node, factor in terms:
        value = scalar(node)
        if not isinstance(node, h.DynamicConstantNode) and types[node] != h.Integer(64, signed=False):
            value = one.convert("zext", "i32", value, "i64")
        total = one.binary("add", "i64", total, one.binary("mul", "i64", value, str(factor)))
    return total


@dataclass(frozen=True, slots=True)
class _Place:
    """Where loads are compared with each other: in one version of a block and one row of the gang's threads, from one
    pointer, with elements of indices these `strides` apart.
    """

    leader: h.Node
    row: int
    version: int
    pointer: str
    strides: tuple[int, ...]


class Prefetches:
    """Which loads of a block are prefetched: of those that are less than a cache line apart, the first."""

    def __init__(self, context: GangContext) -> None:
        self._site, self._gang = context.site, context.gang
        self._made: dict[_Place, list[tuple[list[Form], int]]] = {}

    def is_new(self, pointer: str, run: Run) -> bool:
        """Whether no load near to this one is prefetched yet in the parts of the block that are written."""
        site, forms = self._site, [form_of(it.position) for it in run.varying]
        strides = tuple(it.stride for it in run.varying)
        row, first = divmod(site.part * self._gang.lanes, self._gang.factors[-1])
        made = self._made.setdefault(_Place(site.here, row, site.version, pointer, strides), [])
        offset = first * run.step
        if any(_is_near(forms, others, strides, offset - other) for others, other in made):
            return False
        made.append((forms, offset))
        return True


def _is_near(forms: Sequence[Form], others: Sequence[Form], strides: Sequence[int], apart: int) -> bool:
    """Whether two positions of threads whose elements are so many bytes `apart` are less than a cache line apart."""
    distances = [one.distance(other) for one, other in zip(forms, others, strict=True)]
    total = apart + sum(it * stride for it, stride in zip(distances, strides, strict=True) if it is not None)
    return None not in distances and abs(total) < CACHE_LINE
