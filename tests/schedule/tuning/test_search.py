"""The search, with a measuring function and a clock of its own."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

import pytest

from tinct.tuning.rejected import Rejected
from tinct.tuning.search import Cost, Found, Progress, Search

Point = tuple[int, int]
SIDE = 64


@dataclass
class Grid:
    """A square of points, whose costs know nothing, or the least time."""

    is_small: bool
    least: dict[Point, float] = field(default_factory=dict[Point, float])

    def whole(self, most: int) -> Sequence[Point] | None:
        return [(x, y) for x in range(8) for y in range(8)] if self.is_small else None

    def starts(self) -> Sequence[Point]:
        return [(0, 0)]

    def structured(self) -> Sequence[Point]:
        return []

    def refined(self, point: Point) -> Sequence[Point]:
        return []

    def kind(self, point: Point) -> Hashable:
        return point

    def shape(self, point: Point) -> Hashable:
        return point

    def sample(self, random: Random) -> Point | None:
        return random.randrange(SIDE), random.randrange(SIDE)

    def neighbour(self, point: Point, random: Random) -> Point | None:
        x, y = (min(max(it + random.randint(-4, 4), 0), SIDE - 1) for it in point)
        return x, y

    def child(self, first: Point, second: Point, random: Random) -> Point | None:
        return first[0], second[1]

    def cost(self, point: Point) -> Cost:
        return Cost(self.least.get(point, 0.0), 0.0)


@dataclass
class Bench:
    """A point takes longer the farther it is from the best; each measuring takes one second of the clock."""

    best: Point
    now: float = 0.0
    seen: list[Point] = field(default_factory=list[Point])

    def clock(self) -> float:
        return self.now

    def time(self, point: Point) -> float:
        return 1.0 + abs(point[0] - self.best[0]) + abs(point[1] - self.best[1])

    def measure(self, point: Point, best: float) -> float:
        assert best == min(map(self.time, self.seen), default=float("inf"))
        self.now += 1
        self.seen.append(point)
        return self.time(point)

    def compare(self, points: Sequence[Point]) -> Sequence[float]:
        return [self.time(it) for it in points]

    def search(self, grid: Grid, seconds: float, seed: int = 0) -> Search[Point]:
        return Search(grid, self.measure, self.compare, seconds=seconds, seed=seed, clock=self.clock)


def test_a_small_space_is_tried_whole() -> None:
    found = Bench((5, 3)).search(Grid(is_small=True), 1000).run()
    assert found.best == (5, 3)
    assert found.seconds == 1.0
    assert found.is_whole
    assert found.counts == {"measured": 64}


def test_a_point_that_was_measured_while_the_machine_was_fast() -> None:
    """It seems far faster than all others, which are compared with it nevertheless."""
    bench = Bench((5, 3))

    def measure(point: Point, best: float) -> float:
        return 0.6 if point == (0, 0) else bench.time(point)

    found = Search(Grid(is_small=True), measure, bench.compare, seconds=1000, clock=bench.clock).run()
    assert found.best == (5, 3)
    assert found.seconds == 1.0


def test_a_large_space_is_searched() -> None:
    near = 0
    for seed in range(20):
        bench = Bench((41, 23))
        found = bench.search(Grid(is_small=False), 400, seed).run()
        assert found.best is not None
        assert not found.is_whole
        assert len(set(bench.seen)) == len(bench.seen) <= 401
        near += bench.time(found.best) <= 1.05
    assert near >= 19


@pytest.mark.parametrize("is_small", [True, False])
def test_points_are_prepared_before_they_are_measured(is_small: bool) -> None:
    """Each once, some at a time; what is tried, and in which order, does not depend on that."""
    alone, together = Bench((41, 23)), Bench((41, 23))
    alone.search(Grid(is_small), 200).run()
    prepared: list[Point] = []

    def prepare(points: Sequence[Point]) -> Mapping[Point, float]:
        assert 0 < len(points) <= 4
        assert not set(points) & set(prepared)
        prepared.extend(points)
        return {it: float(it[0]) for it in points if it[0]}

    def measure(point: Point, best: float) -> float:
        assert point in prepared
        return together.measure(point, best)

    found = Search(
        Grid(is_small), measure, together.compare, seconds=200, clock=together.clock, prepare=prepare, together=4
    ).run()
    assert together.seen == alone.seen
    assert all(it.compiling == (it.point[0] or None) for it in found.attempts if it.status != "pruned")
    assert len(prepared) < 1.3 * len(together.seen)


def test_what_is_pruned_is_not_prepared() -> None:
    grid = Grid(is_small=True, least={(7, y): 1000.0 for y in range(8)})
    bench, prepared = Bench((5, 3)), list[Point]()
    search = bench.search(grid, 1000)

    def prepare(points: Sequence[Point]) -> Mapping[Point, float]:
        prepared.extend(points)
        return {}

    search.prepare, search.together = prepare, 4
    search.run()
    assert prepared == bench.seen
    assert len(prepared) == 56


@dataclass
class Modelled(Grid):
    """Costs are the times, but for points of every other column, which seem to take a tenth of theirs."""

    best: Point = (0, 0)

    def structured(self) -> Sequence[Point]:
        return [(0, 0), (SIDE - 1, SIDE - 1)]

    def kind(self, point: Point) -> Hashable:
        return point[0] % 2

    def cost(self, point: Point) -> Cost:
        expected = Bench(self.best).time(point)
        return Cost(0.0, expected if point[0] % 2 else 0.1 * expected)


def test_what_is_expected_leads_to_the_best() -> None:
    """Points that the model is wrong about are measured, but no more than few of them."""
    for seed in range(20):
        bench = Bench((41, 23))
        found = bench.search(Modelled(is_small=False, best=bench.best), 30, seed).run()
        assert found.seconds <= 2.0, seed
        assert sum(it[0] % 2 == 0 for it in bench.seen[:10]) <= 8


def test_details_of_the_fastest_point_are_tried() -> None:
    """Also of what becomes the fastest by them, though they seem to take far longer; none of a small space are."""
    far = SIDE - 1
    for is_small in (False, True):
        bench = Bench((far, far))
        grid = Modelled(is_small=is_small, best=(4, 4))
        grid.refined = lambda point: [(far, far)] if max(point) == far else [(far, point[1])]  # type: ignore[method-assign]
        found = bench.search(grid, 60, 0).run()
        assert (found.best == (far, far)) is not is_small
        assert found.best in bench.seen


def test_starts_that_are_expected_to_take_far_longer_are_not_measured() -> None:
    bench = Bench((5, 3))
    grid = Modelled(is_small=True, best=bench.best)
    grid.starts = lambda: [(41, 41), (5, 5)]  # type: ignore[method-assign]
    bench.search(grid, 1000).run()
    assert bench.seen[0] == (5, 5)
    assert (41, 41) not in bench.seen


def test_other_starts_are_measured_if_none_works() -> None:
    """However late it is: such as those that are soon compiled, on a machine where the others take too long."""
    bench = Bench((5, 3))
    grid = Modelled(is_small=False, best=bench.best)
    grid.starts = lambda: [(5, 5), (41, 41), (60, 60)]  # type: ignore[method-assign]

    def measure(point: Point, best: float) -> float:
        if point == (5, 5):
            bench.now += 100
            raise Rejected("failed", "it takes too long to compile")
        return bench.measure(point, best)

    found = Search(grid, measure, bench.compare, seconds=10, clock=bench.clock).run()
    assert found.best == (41, 41)
    assert found.counts == {"failed": 1, "measured": 1}


def test_starts_that_took_too_long_to_compile_get_more_time() -> None:
    """If no other one works; before those that are expected to be far slower."""
    bench, patient = Bench((5, 3)), list[Point]()
    grid = Modelled(is_small=False, best=bench.best)
    grid.starts = lambda: [(5, 5), (6, 6), (60, 60)]  # type: ignore[method-assign]

    def measure(point: Point, best: float) -> float:
        if not bench.seen and point in ((5, 5), (6, 6)):
            raise Rejected("failed", "it was not compiled", is_late=point == (6, 6))
        return bench.measure(point, best)

    def measure_patiently(point: Point, best: float) -> float:
        patient.append(point)
        return bench.measure(point, best)

    found = Search(
        grid, measure, bench.compare, seconds=10, clock=bench.clock, measure_patiently=measure_patiently
    ).run()
    assert patient == [(6, 6)]
    assert bench.seen[0] == (6, 6)
    assert (60, 60) not in bench.seen
    assert [it.status for it in found.attempts if it.point == (6, 6)] == ["failed", "measured"]


def test_a_space_with_hardly_any_legal_points_is_not_sampled_for_long() -> None:
    bench, tried = Bench((5, 3)), list[bool]()
    grid = Grid(is_small=False)

    def sample(random: Random) -> None:
        tried.append(True)

    grid.sample = sample  # type: ignore[method-assign]
    assert bench.search(grid, 20).run().best is not None
    assert len(tried) < 10


def test_points_are_not_bred_for_long_before_any_is_measured() -> None:
    """Each sample takes two seconds to judge."""
    bench, samples = Bench((5, 3)), list[Point]()
    grid = Grid(is_small=False)

    def sample(random: Random) -> Point:
        if len(bench.seen) == 1:
            samples.append((0, 0))
        bench.now += 2
        return random.randrange(SIDE), random.randrange(SIDE)

    grid.sample = sample  # type: ignore[method-assign]
    bench.search(grid, 100).run()
    assert len(samples) == 5


def test_points_of_one_shape_are_not_measured_together() -> None:
    bench = Bench((41, 23))
    grid = Modelled(is_small=False, best=bench.best)
    grid.shape = lambda point: (point[0] // 16, point[1] // 16)  # type: ignore[method-assign]
    bench.search(grid, 13, 0).run()
    shapes = [grid.shape(it) for it in bench.seen[1:9]]
    assert len(set(shapes)) == len(shapes)


def test_the_seed_fixes_the_order() -> None:
    orders: list[list[Point]] = []
    for seed in (1, 1, 2):
        bench = Bench((41, 23))
        bench.search(Grid(is_small=False), 100, seed).run()
        orders.append(bench.seen)
    assert orders[0] == orders[1] != orders[2]


@dataclass
class Detailed(Grid):
    """Columns are kinds. `asked` are the points whose details a search wants."""

    asked: list[Point] = field(default_factory=list[Point])

    def kind(self, point: Point) -> Hashable:
        return point[0]

    def refined(self, point: Point) -> Sequence[Point]:
        self.asked.append(point)
        return []


def test_details_are_those_of_several_kinds() -> None:
    bench, grid = Bench((41, 23)), Detailed(is_small=False)
    bench.search(grid, 300).run()
    assert len({grid.kind(it) for it in grid.asked[:5]}) == 5
    fastest = min(bench.seen, key=bench.time)
    assert fastest in grid.asked


class FastBench(Bench):
    """Points take milliseconds, so that comparing the fastest takes little of a search."""

    def time(self, point: Point) -> float:
        return super().time(point) / 1000


def test_time_that_comparing_does_not_need_is_used() -> None:
    slow, fast = Bench((41, 23)), FastBench((41, 23))
    for bench in (slow, fast):
        bench.search(Grid(is_small=False), 300).run()
    assert 264 <= slow.now <= 265
    assert 298 <= fast.now <= 299


def test_the_time_limit_holds() -> None:
    bench = Bench((41, 23))
    bench.search(Grid(is_small=True), 10).run()
    assert bench.now == 9


def test_points_above_the_best_are_not_measured() -> None:
    bench = Bench((0, 0))
    grid = Grid(is_small=True, least={(x, y): 1.5 for x in range(8) for y in range(1, 8)})
    found = bench.search(grid, 1000).run()
    assert found.best == (0, 0)
    assert found.counts == {"measured": 8, "pruned": 56}
    assert all(y == 0 for _, y in bench.seen)


def test_bounds_that_are_too_high_are_corrected() -> None:
    bench = Bench((5, 5))
    grid = Grid(is_small=True, least={(x, y): 12.0 for x in range(8) for y in range(8)})
    found = bench.search(grid, 1000).run()
    assert found.best == (5, 5)
    assert found.counts["measured"] > 20


def test_rejected_points_are_never_best() -> None:
    bench = Bench((0, 0))

    def measure(point: Point, best: float) -> float:
        if point[0] < 3:
            raise Rejected("wrong" if point[0] else "failed", f"x is {point[0]}")
        return bench.time(point)

    found = Search(Grid(is_small=True), measure, bench.compare, seconds=1000, clock=bench.clock).run()
    assert found.best == (3, 0)
    assert found.counts == {"measured": 40, "wrong": 16, "failed": 8}
    assert {it.why for it in found.attempts if it.status == "failed"} == {"x is 0"}


def test_no_point_works() -> None:
    def measure(point: Point, best: float) -> float:
        raise Rejected("failed", "nothing works")

    bench = Bench((0, 0))
    found = Search(Grid(is_small=True), measure, bench.compare, seconds=1000, clock=bench.clock).run()
    assert found.best is None


def interrupted(after: int) -> Found[Point]:
    bench = Bench((1, 1))

    def measure(point: Point, best: float) -> float:
        if len(bench.seen) == after:
            raise KeyboardInterrupt
        return bench.measure(point, best)

    return Search(Grid(is_small=True), measure, bench.compare, seconds=1000, clock=bench.clock).run()


def test_an_interrupted_search_keeps_what_it_found() -> None:
    found = interrupted(20)
    assert found.is_interrupted
    assert found.best == (1, 1)
    assert found.counts == {"measured": 20}


def test_an_interrupt_before_anything_is_found_is_raised() -> None:
    with pytest.raises(KeyboardInterrupt):
        interrupted(0)


@pytest.mark.parametrize(("second", "best"), [(0.99, (0, 0)), (0.9, (0, 1))])
def test_an_earlier_point_stays_best_within_the_margin(second: float, best: Point) -> None:
    times = {(0, 0): 1.0, (0, 1): second}

    def measure(point: Point, _: float) -> float:
        return times.get(point, 5.0)

    def compare(points: Sequence[Point]) -> Sequence[float]:
        return [measure(it, 0.0) for it in points]

    found = Search(Grid(is_small=True), measure, compare, seconds=1000, clock=lambda: 0.0).run()
    assert found.best == best


def test_the_base_is_compared_with_the_best() -> None:
    bench = Bench((7, 7))
    grid = Grid(is_small=True)
    found = Search(grid, bench.measure, bench.compare, seconds=1000, clock=bench.clock, base=(0, 0)).run()
    assert found.compared[0, 0] == 15.0
    assert found.best == (7, 7)


def test_progress_is_told() -> None:
    told: list[Progress] = []
    bench = Bench((0, 3))
    Search(Grid(is_small=True), bench.measure, bench.compare, seconds=100, clock=bench.clock, watch=told.append).run()
    assert told[0] == Progress(0.01, 1, 4.0)
    assert told[-1] == Progress(0.64, 64, 1.0)
