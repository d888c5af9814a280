"""Accesses at positions that rise evenly from lane to lane, or do if a test holds."""

from __future__ import annotations

from dataclasses import dataclass

from ...memory import Memory
from ..analysis.shapes import Kind
from ..values.vectors import LaneVectors
from .addresses import LaneAddress, LaneAddresses, ValueQueries, VaryingIndex

_RISING = (Kind.UNIFORM, Kind.AFFINE, Kind.WIDENED, Kind.SPECULATED)


@dataclass(frozen=True, slots=True)
class Run:
    """Each lane's scalars are `step` bytes after those of the lane before, as long as a test holds."""

    varying: tuple[VaryingIndex, ...]
    step: int
    is_dense: bool
    """Whether the lanes' elements fill the memory between the first's beginning and the last's end."""


class Runs:
    """Finds runs, their tests and their pointers."""

    def __init__(self, vectors: LaneVectors, addresses: LaneAddresses, memory: Memory, values: ValueQueries) -> None:
        self._vectors = vectors
        self._one = vectors.one
        self._addresses = addresses
        self._memory = memory
        self._values = values

    def of(self, address: LaneAddress) -> Run | None:
        """The run that a address is, None if it is none."""
        shapes = [self._values.shape(index.position) for index in address.varying]
        if address.is_private or not shapes or any(it.kind not in _RISING or it.stride < 0 for it in shapes):
            return None
        step = sum(index.stride * shape.stride for index, shape in zip(address.varying, shapes, strict=True))
        return Run(address.varying, step, is_dense=len(shapes) == 1 and shapes[0].stride == 1)

    def test(self, run: Run) -> str | None:
        """Whether the positions of all lanes are what they are likely to be, and in range; None if that is sure."""
        tests: list[str] = []
        for index in run.varying:
            shape = self._values.shape(index.position)
            if shape.kind is Kind.SPECULATED:
                tests += [it for it in (self._values.holds(index.position),) if it != "true"]
            if not self._addresses.is_in_range(index.position, index.extent):
                tests += self._range_tests(index, shape.stride)
        if not tests:
            return None
        result, *others = tests
        for other in others:
            result = self._one.binary("and", "i1", result, other)
        return result

    def _range_tests(self, index: VaryingIndex, stride: int) -> list[str]:
        first = self._values.scalar(index.position)
        last = self._one.binary("add", "i64", first, str(stride * (self._vectors.lanes - 1)))
        extent = self._memory.dynamic(index.extent)
        return [
            self._one.binary("icmp ult", "i64", last, extent),
            self._one.binary("icmp ult", "i64", first, str(1 << 32)),
        ]

    def is_range_tested(self, run: Run) -> bool:
        """Whether a test says of all lanes, of those too that are not in the mask, that they are in range."""
        return all(
            self._values.is_proved(index.position, index.extent)
            or not self._addresses.is_in_range(index.position, index.extent)
            for index in run.varying
        )

    def pointer(self, pointer: str, run: Run) -> str:
        """Where the first lane's scalar is, from the pointer of its address; the test has held."""
        for index in run.varying:
            first = self._values.scalar(index.position)
            if first != "0":
                text = f"getelementptr inbounds [{index.stride} x i8], ptr {pointer}, i64 {first}"
                pointer = self._vectors.out.pure(text)
        return pointer
