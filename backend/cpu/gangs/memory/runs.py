"""Runs: accesses at positions that rise evenly from lane to lane, some of them only if a test holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd

from .....ir.hercules import nodes as h
from .....ir.hercules.analyses import Loop
from .....ir.hercules.placement import Placement
from ...memory import Memory
from ..analysis.forms import movement
from ..analysis.shapes import Kind
from ..analysis.spans import all_of
from ..values.vectors import LaneVectors
from .addresses import LaneAddress, LaneAddresses, ValueQueries, VaryingIndex

_RISING = (Kind.UNIFORM, Kind.AFFINE, Kind.WIDENED, Kind.SPECULATED)


@dataclass(frozen=True, slots=True)
class Run:
    """The addresses of adjacent lanes are `step` bytes apart if the test of the run holds."""

    varying: tuple[VaryingIndex, ...]
    step: int
    is_dense: bool
    """Whether the lanes' elements are contiguous."""
    is_speculated: bool
    """Whether the test says more than that positions are in range."""


def moved_on(
    varying: Sequence[VaryingIndex], loop: Loop, placed: Placement
) -> tuple[int, list[tuple[h.Node, int]]] | None:
    """By what an address moves on in each iteration of a loop: a number of bytes, and scalars, each times a number of
    bytes. None if that is not the same in all of them.
    """
    constant, terms = 0, list[tuple[h.Node, int]]()
    for index in varying:
        step = movement(index.position, loop, placed)
        if step is None:
            return None
        constant += step.constant * index.stride
        terms += [(node, factor * index.stride) for node, factor in step.terms.items()]
    return constant, terms


class Runs:
    """Finds runs, their tests and their pointers."""

    def __init__(self, vectors: LaneVectors, addresses: LaneAddresses, memory: Memory, values: ValueQueries) -> None:
        self._vectors = vectors
        self._one = vectors.one
        self._addresses = addresses
        self._memory = memory
        self._values = values

    def of(self, address: LaneAddress) -> Run | None:
        """The run of an address, None if it is no run."""
        shapes = [self._values.shape(index.position) for index in address.varying]
        if address.is_private or not shapes or any(it.kind not in _RISING or it.stride < 0 for it in shapes):
            return None
        step = sum(index.stride * shape.stride for index, shape in zip(address.varying, shapes, strict=True))
        is_speculated = any(it.kind is Kind.SPECULATED for it in shapes)
        is_dense = len(shapes) == 1 and shapes[0].stride == 1
        return Run(address.varying, step, is_dense=is_dense, is_speculated=is_speculated)

    def test(self, run: Run) -> str | None:
        """An i1: whether all lanes' positions are as speculated and in range. None if that is certain."""
        tests: list[str] = []
        for index in run.varying:
            shape = self._values.shape(index.position)
            if shape.kind is Kind.SPECULATED:
                tests += [it for it in (self._values.holds(index.position),) if it != "true"]
            if not self._addresses.is_in_range(index.position, index.extent):
                tests += self._range_tests(index, shape.stride)
        return all_of(self._one, tests) if tests else None

    def strip_test(self, run: Run, reach: int) -> str:
        """An i1: whether all lanes' positions, and those that are up to `reach` elements behind them, are in range."""
        (index,) = run.varying
        return all_of(self._one, self._range_tests(index, self._values.shape(index.position).stride, reach))

    def _range_tests(self, index: VaryingIndex, stride: int, reach: int = 0) -> list[str]:
        first = self._values.scalar(index.position)
        last = self._one.binary("add", "i64", first, str(stride * (self._vectors.lanes - 1) + reach))
        extent = self._memory.dynamic(index.extent)
        return [
            self._one.binary("icmp ult", "i64", last, extent),
            self._one.binary("icmp ult", "i64", first, str(1 << 32)),
        ]

    def is_range_tested(self, run: Run) -> bool:
        """Whether the positions of all lanes are in range if the test holds, including lanes that are not
        in the mask.
        """
        return all(
            self._values.is_proved(index.position, index.extent)
            or not self._addresses.is_in_range(index.position, index.extent)
            for index in run.varying
        )

    def pointer(self, pointer: str, run: Run) -> str:
        """The pointer to the first lane's scalar, if the test holds, from the pointer of the address."""
        for index in run.varying:
            first = self._values.scalar(index.position)
            if first != "0":
                text = f"getelementptr inbounds [{index.stride} x i8], ptr {pointer}, i64 {first}"
                pointer = self._vectors.out.pure(text)
        return pointer

    def rest(self, pointer: str, run: Run, modulus: int) -> str:
        """The same modulo a power of two, an i64. Of positions only the bits that count are taken: LLVM then sees that
        all runs that are whole multiples apart have the same one.
        """
        place = self._vectors.out.value(f"ptrtoint ptr {pointer} to i64")
        for index in run.varying:
            first = self._values.scalar(index.position)
            counted = self._one.binary("and", "i64", first, str(modulus // gcd(index.stride, modulus) - 1))
            moved = self._one.binary("mul", "i64", counted, str(index.stride))
            place = self._one.binary("add", "i64", place, moved)
        return self._one.binary("and", "i64", place, str(modulus - 1))
