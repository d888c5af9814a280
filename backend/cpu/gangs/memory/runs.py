"""Accesses at positions that rise evenly from lane to lane, or do if a test holds."""

from __future__ import annotations

from dataclasses import dataclass

from ...memory import Memory
from ..analysis.shapes import Kind
from ..values.vectors import LaneVectors
from .places import Part, Place, Places, Values

_RISING = (Kind.UNIFORM, Kind.AFFINE, Kind.WIDENED, Kind.LIKELY)


@dataclass(frozen=True, slots=True)
class Run:
    """Each lane's scalars are `step` bytes after those of the lane before, as long as a test holds."""

    parts: tuple[Part, ...]
    step: int
    is_whole: bool
    """Whether the lanes' elements fill the memory between the first's beginning and the last's end."""


class Runs:
    """Finds runs, their tests and their pointers."""

    def __init__(self, vectors: LaneVectors, places: Places, memory: Memory, values: Values) -> None:
        self._vectors = vectors
        self._one = vectors.one
        self._places = places
        self._memory = memory
        self._values = values

    def of(self, place: Place) -> Run | None:
        """The run that a place is, None if it is none."""
        shapes = [self._values.shape(part.position) for part in place.parts]
        if place.is_private or not shapes or any(it.kind not in _RISING or it.stride < 0 for it in shapes):
            return None
        step = sum(part.stride * shape.stride for part, shape in zip(place.parts, shapes, strict=True))
        return Run(place.parts, step, is_whole=len(shapes) == 1 and shapes[0].stride == 1)

    def test(self, run: Run) -> str | None:
        """Whether the positions of all lanes are what they are likely to be, and in range; None if that is sure."""
        tests: list[str] = []
        for part in run.parts:
            shape = self._values.shape(part.position)
            if shape.kind is Kind.LIKELY:
                tests += [it for it in (self._values.holds(part.position),) if it != "true"]
            if not self._places.is_in_range(part.position, part.extent):
                tests += self._range_tests(part, shape.stride)
        if not tests:
            return None
        result, *others = tests
        for other in others:
            result = self._one.binary("and", "i1", result, other)
        return result

    def _range_tests(self, part: Part, stride: int) -> list[str]:
        first = self._values.scalar(part.position)
        last = self._one.binary("add", "i64", first, str(stride * (self._vectors.lanes - 1)))
        extent = self._memory.dynamic(part.extent)
        return [
            self._one.binary("icmp ult", "i64", last, extent),
            self._one.binary("icmp ult", "i64", first, str(1 << 32)),
        ]

    def is_range_tested(self, run: Run) -> bool:
        """Whether a test says of all lanes, of those too that are not in the mask, that they are in range."""
        return all(
            self._values.is_proved(part.position, part.extent)
            or not self._places.is_in_range(part.position, part.extent)
            for part in run.parts
        )

    def pointer(self, pointer: str, run: Run) -> str:
        """Where the first lane's scalar is, from the pointer of its place; the test has held."""
        for part in run.parts:
            first = self._values.scalar(part.position)
            if first != "0":
                text = f"getelementptr inbounds [{part.stride} x i8], ptr {pointer}, i64 {first}"
                pointer = self._vectors.out.pure(text)
        return pointer
