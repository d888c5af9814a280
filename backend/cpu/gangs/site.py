"""Where code is being written: in which block, for which lanes, and for which part of the gang."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from ....ir.hercules import nodes as h
from ....ir.hercules.arithmetic import ScalarValue
from .analysis.live import Knowledge, Truth
from .analysis.shapes import Key
from .analysis.spans import Stepless

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Proved:
    """What is known in one version of a block: `in_range` are positions that all lanes have inside arrays of an extent,
    `linear` speculated values that are affine, and `exact` sums and products of u32 that do not wrap round. The values
    that are the `same` as an operand of theirs are clamps in the interior; the remainders and quotients that are
    `stepless` need no division. If it is `streaming`, gangs pass the block
    once each, and access much for what they compute.
    """

    in_range: frozenset[tuple[h.Node, h.DynamicConstant]] = frozenset()
    linear: frozenset[h.Node] = frozenset()
    exact: frozenset[h.Node] = frozenset()
    same: Mapping[h.Node, h.Node] = field(default_factory=dict[h.Node, h.Node])
    stepless: Mapping[h.Node, Stepless] = field(default_factory=dict[h.Node, Stepless])
    streaming: bool = False


@dataclass(frozen=True, slots=True)
class Repeat:
    """A loop over gangs that have one code. `number` is an i64: how many gangs came before; the first thread of each
    is `distance` behind that of the one before.
    """

    number: str
    distance: int


@dataclass(slots=True)
class Site:
    """A place in the body of a gang of `count` parts, each a vector of `lanes` lanes: in the block `here`.

    `keys` are the lane sets of the blocks. `base` is the number of the gang's first lane. `active` says whether any
    lane passes the block that is written, where there is no jump around it. Code that is rarely run `is_rare`. What is
    `known` needs a base that is a constant. If `has_short_rows`, gangs in the interior and others take turns. If the
    code is run in `repeat`, for several gangs, base and known values are those of the first one.
    """

    lanes: int
    count: int
    keys: Mapping[h.Node, Key]
    here: h.Node
    base: str = "0"
    part: int = 0
    active: str = "true"
    proved: Proved = field(default_factory=Proved)
    version: int = 0
    is_rare: bool = False
    known: Knowledge | None = None
    has_short_rows: bool = False
    repeat: Repeat | None = None

    @property
    def key(self) -> Key:
        """That of the block."""
        return self.keys[self.here]

    @property
    def first(self) -> int:
        """How many lanes of the gang come before the part."""
        return self.part * self.lanes

    def known_lanes(self, node: h.Node) -> Sequence[ScalarValue] | None:
        """The values of the part's lanes, if they are known before the kernel runs."""
        found = None if self.known is None else self.known.values.of(node)
        return None if found is None else self._of_part(found)

    def growth(self, node: h.Node) -> int:
        """By how much a known integer grows from gang to gang where they have one code."""
        found = None if self.known is None or self.repeat is None else self.known.values.of(node)
        if found is None or self.repeat is None or isinstance(found[0], bool):
            return 0
        first = int(self.base)
        return int(found[first + self.repeat.distance] - found[first])

    def known_threads(self, node: h.Node) -> Sequence[ScalarValue] | None:
        """The values of the threads of all parts, if they are known before the kernel runs."""
        found = None if self.known is None else self.known.values.of(node)
        return None if found is None else found[int(self.base) : int(self.base) + self.lanes * self.count]

    def live_threads(self) -> Sequence[Truth] | None:
        """Whether each thread of all parts passes the block, as far as that is known before the kernel runs."""
        first = int(self.base) if self.known is not None else 0
        return None if self.known is None else self.known.live(self.here)[first : first + self.lanes * self.count]

    def live_lanes(self) -> Sequence[Truth] | None:
        """Whether each lane of the part passes the block, as far as that is known before the kernel runs."""
        return None if self.known is None else self._of_part(self.known.live(self.here))

    def _of_part(self, threads: Sequence[T]) -> Sequence[T]:
        first = int(self.base) + self.first
        return threads[first : first + self.lanes]

    def parts(self) -> Iterator[int]:
        """Iterates over the parts and sets `part`."""
        for part in range(self.count):
            self.part = part
            yield part
        self.part = 0

    @contextmanager
    def at(self, leader: h.Node) -> Generator[None]:
        """Write to another block."""
        before, self.here = self.here, leader
        yield
        self.here = before

    @contextmanager
    def in_part(self, part: int) -> Generator[None]:
        """Write for one part only."""
        before, self.part = self.part, part
        yield
        self.part = before

    @contextmanager
    def active_if(self, active: str) -> Generator[None]:
        """Write code without a jump around it, which a lane passes if `active` is true."""
        before, self.active = self.active, active
        yield
        self.active = before

    @contextmanager
    def proving(self, proved: Proved) -> Generator[None]:
        """Write a version of a block in which something is proved."""
        before, self.proved = self.proved, proved
        self.version += 1
        yield
        self.proved = before

    @contextmanager
    def knowing(self, known: Knowledge) -> Generator[None]:
        """Write one turn of a loop, in which more is known."""
        before, self.known = self.known, known
        yield
        self.known = before

    @contextmanager
    def rarely(self) -> Generator[None]:
        """Write code that is rarely run, and should be short."""
        before, self.is_rare = self.is_rare, True
        yield
        self.is_rare = before
