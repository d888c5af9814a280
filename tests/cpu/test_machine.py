"""The costs of the machine: measured, kept, or from the table; and `tinct cpu`."""

from __future__ import annotations

import json
import struct
import threading
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from tinct.backend.cpu import _pool, jit
from tinct.backend.cpu.aligned import address_of, aligned_zeros
from tinct.backend.cpu.machine import Cache, Copying, MachineCosts, costs_so_far, kept, machine_costs, measure_again
from tinct.backend.cpu.machine.known import known_costs
from tinct.backend.cpu.machine.measure import copied_sizes, delay, shortest_rounds
from tinct.backend.cpu.machine.probes import COPIES, LEAST_COPIED, PIECES, module, numbers
from tinct.backend.cpu.target import LEVELS, OTHERS, compiling_for, current_target
from tinct.base.deadline import compiling_within
from tinct.base.errors import DeviceError, InputError
from tinct.cli import tinct


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Costs may be measured, and are kept in an empty directory."""
    monkeypatch.setenv("TINCT_CPU_COSTS", "measured")
    monkeypatch.setenv("TINCT_CACHE", "on")
    monkeypatch.setenv("TINCT_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(kept, "_found", {})
    return tmp_path


def test_the_machine_is_measured_once_and_kept(measured: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert costs_so_far().source != "measured"
    found = machine_costs()
    assert found.source == "measured"
    costs = [it for it in asdict(found.access).values() if it is not None]
    assert len(costs) >= 9 and all(0 < it < 1000 for it in costs)
    assert [it.level for it in found.caches] == sorted({it.level for it in found.caches})
    assert all(it.size > 0 and it.bandwidth > 0 for it in found.caches) and found.bandwidth > 0
    assert 0 <= found.wake_up < 0.1
    sizes = copied_sizes(max(it.size for it in found.caches))
    assert [it.size for it in found.copies] == [it.size for it in found.copies_apart] == sizes
    assert all(it.ordinary > 0 and it.past > 0 for it in (*found.copies, *found.copies_apart))
    assert (found.access.conflicts is not None) == current_target().has_avx512
    monkeypatch.setattr(kept, "_found", {})
    monkeypatch.setattr("tinct.backend.cpu.machine.measure.measure", lambda: pytest.fail("measured twice"))
    assert machine_costs() == costs_so_far() == found
    assert (
        len(list(measured.iterdir())) == 3
    )  # the costs, the machine code of the probes, and what LLVM says of the machine


def test_a_round_is_not_measured_by_one_that_was_disturbed() -> None:
    """Another process may take the processor for longer than all rounds of a try take."""
    tries = list[int]()

    def seconds(rounds: int) -> float:
        tries.append(rounds)
        return 1e-8 * rounds + (3e-3 if len(tries) % 3 == 1 else 0.0)

    assert shortest_rounds([seconds]) == [pytest.approx(1e-8)]


def test_a_disturbance_does_not_spoil_all_tries_of_one_probe() -> None:
    """For 2 ms, everything takes five times as long."""
    clock = [0.0]

    def probe(cost: float, rounds: int) -> float:
        slowness = 5.0 if 8e-3 < clock[0] < 1e-2 else 1.0
        clock[0] += slowness * cost * rounds
        return slowness * cost * rounds

    costs = [1e-8, 2e-8, 5e-8]
    assert shortest_rounds([partial(probe, it) for it in costs]) == pytest.approx(costs)
    assert clock[0] > 1e-2


def test_one_work_that_was_disturbed_does_not_hide_when_a_worker_begins() -> None:
    assert delay([3e-4, 9e-4, 8e-4], [3.6e-4, 3.7e-4, 9e-4, 9e-4]) == pytest.approx(6e-5, rel=0.1)
    assert delay([9e-4, 9e-4], [3.6e-4] * 4) == 0.0
    assert delay([1e-4, 1e-4], [5e-4] * 4) == 1e-4


@pytest.mark.parametrize("times", [(0.0, 8e-5), (8e-5, 0.0), (2e-4, 8e-5), (8e-5, 2e-4), (8e-5, 7.9e-5)])
def test_no_time_until_a_worker_begins_is_kept_where_one_was_measured(
    times: tuple[float, float], measured: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, now = known_costs(current_target()), [1e9]
    monkeypatch.setattr("time.time", lambda: now[0])
    for wake_up in times:
        costs = replace(table, wake_up=wake_up)
        monkeypatch.setattr("tinct.backend.cpu.machine.measure.measure", lambda costs=costs: costs)
        now[0] += kept.APART
        kept.measure_if_due()
    assert kept.measurements() == 2
    assert costs_so_far().wake_up == 8e-5
    assert list(measured.iterdir())


def test_a_measurement_that_has_just_ended_is_not_repeated(measured: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another thread ends it after this one has looked."""
    costs, taken = known_costs(current_target()), list[None]()

    def measure() -> MachineCosts:
        taken.append(None)
        return costs

    monkeypatch.setattr("tinct.backend.cpu.machine.measure.measure", measure)
    for _ in range(2):
        kept._measure_once_more()  # pyright: ignore[reportPrivateUsage]
    assert len(taken) == kept.measurements() == 1
    assert list(measured.iterdir())


def test_a_process_that_keeps_no_files_remembers_what_it_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TINCT_CPU_COSTS", "measured")
    monkeypatch.setenv("TINCT_CACHE", "off")
    monkeypatch.setattr(kept, "_found", {})
    now, table = [1e9], known_costs(current_target())
    monkeypatch.setattr("time.time", lambda: now[0])
    for bandwidth in (20.0, 3.0, 3.0):
        costs = replace(table, bandwidth=bandwidth)
        monkeypatch.setattr("tinct.backend.cpu.machine.measure.measure", lambda costs=costs: costs)
        kept.measure_if_due()
        now[0] += kept.APART
    assert costs_so_far().bandwidth == 20.0
    assert kept.measurements() == 3


def test_a_limit_does_not_wait_for_the_measurement(measured: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    may_end, measurements = threading.Event(), list[MachineCosts]()

    def measure() -> MachineCosts:
        may_end.wait(60)
        measurements.append(known_costs(current_target()))
        return measurements[-1]

    monkeypatch.setattr("tinct.backend.cpu.machine.measure.measure", measure)
    for _ in range(2):
        with (
            compiling_within(0.05),
            pytest.raises(DeviceError, match=r"within 0\.05 s: the measurement of the machine goes on"),
        ):
            kept.measure_if_due()
    may_end.set()
    with compiling_within(60):
        kept.measure_if_due()
    assert [costs_so_far()] == measurements


def test_later_measurements_improve_what_is_kept(measured: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = known_costs(current_target())
    access = replace(table.access, gather=8.0, shuffle=1.0, conflicts=None)
    disturbed = replace(
        table,
        access=access,
        caches=(Cache(1, 32768, 50.0), Cache(2, 99, 20.0)),
        bandwidth=3.0,
        wake_up=9e-5,
        copies=(Copying(1 << 20, 9.0, 3.0), Copying(2 << 20, 4.0, 4.0)),
    )
    better = replace(
        disturbed,
        access=replace(access, gather=4.0, shuffle=0.95, conflicts=2.0),
        caches=(Cache(1, 32768, 51.0), Cache(2, 1 << 20, 40.0)),
        bandwidth=16.0,
        wake_up=2e-4,
        copies=(Copying(1 << 20, 5.0, 4.0), Copying(2 << 20, 3.9, 6.0), Copying(4 << 20, 3.0, 5.0)),
        copies_apart=(Copying(1 << 20, 2.0, 3.0),),
    )
    now, taken = [1e9], list[float]()
    monkeypatch.setattr("tinct.backend.cpu.machine.measure.measure", lambda: better if taken else disturbed)
    monkeypatch.setattr("time.time", lambda: now[0])

    def start_process() -> MachineCosts:
        kept._found.clear()  # pyright: ignore[reportPrivateUsage]
        before = kept.measurements()
        kept.measure_if_due()
        taken.extend([now[0]] * (kept.measurements() - before))
        return costs_so_far()

    assert start_process() == start_process() == disturbed
    assert len(taken) == 1
    now[0] += kept.APART
    found = start_process()
    assert (found.access.gather, found.access.shuffle, found.access.conflicts) == (4.0, 1.0, 2.0)
    assert found.caches == (Cache(1, 32768, 50.0), Cache(2, 1 << 20, 40.0))
    assert (found.bandwidth, found.wake_up) == (16.0, 9e-5)
    assert found.copies == (Copying(1 << 20, 9.0, 4.0), Copying(2 << 20, 4.0, 6.0), Copying(4 << 20, 3.0, 5.0))
    assert found.copies_apart == (Copying(1 << 20, 2.0, 3.0),)
    for _ in range(9):
        now[0] += kept.APART
        assert start_process() == found
    assert len(taken) == kept.MOST_MEASUREMENTS
    monkeypatch.setattr("tinct.backend.cpu.machine.measure.measure", lambda: disturbed)
    assert measure_again() == costs_so_far() == disturbed
    assert kept.measurements() == 1
    assert list(measured.iterdir())


@pytest.mark.parametrize("name", [*LEVELS, *OTHERS])
def test_each_target_has_probes_and_costs_of_its_own(name: str) -> None:
    with compiling_for(name):
        try:
            target = current_target()
        except InputError as error:
            pytest.skip(str(error))
        jit.object_file(module(target), "baseline")
    assert known_costs(target).source == "assumed"


def test_another_machine_is_not_measured(measured: Path) -> None:
    with compiling_for("aarch64"):
        assert machine_costs().source == "assumed"
        with pytest.raises(InputError, match="aarch64-linux-gnu does not run on this machine"):
            measure_again()
    assert list(measured.iterdir()) == []


def test_the_table_where_it_is_asked_for(measured: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TINCT_CPU_COSTS", "table")
    assert machine_costs().source in ("table", "assumed")
    monkeypatch.setenv("TINCT_CPU_COSTS", "guessed")
    with pytest.raises(InputError, match="TINCT_CPU_COSTS must be 'measured' or 'table', not 'guessed'"):
        machine_costs()


def test_a_process_measures_for_itself_if_it_is_asked_to(measured: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TINCT_CACHE", "off")
    assert machine_costs().source == costs_so_far().source == "measured"
    monkeypatch.delenv("TINCT_CPU_COSTS")
    assert machine_costs().source in ("table", "assumed")
    assert list(measured.iterdir()) == []


@pytest.mark.parametrize(
    ("bandwidths", "expected"),
    [((200.0, 100.0, 60.0), 3000), ((200.0, 100.0, 31.0), 200), ((30.0, 30.0, 30.0), 1 << 20)],
    ids=["all help", "the last is filled by others", "none helps"],
)
def test_caches_that_are_no_faster_than_memory_do_not_count(
    bandwidths: tuple[float, float, float], expected: int
) -> None:
    sizes = (10, 200, 3000)
    caches = tuple(Cache(level, sizes[level - 1], bandwidths[level - 1]) for level in (1, 2, 3))
    costs = known_costs(current_target())
    found = MachineCosts("a", "b", "measured", costs.access, caches, bandwidth=28.0, wake_up=0.0)
    assert found.cached_bytes == expected


@pytest.mark.parametrize(
    ("past", "expected"),
    [
        ((20.0, 30.0, 60.0), 2 << 20),
        ((20.0, 40.0, 30.0), 4 << 20),
        ((20.0, 60.0, 34.0), 1 << 20),
        ((50.0, 50.0, 50.0), 1 << 20),
    ],
    ids=["beyond the caches", "faster once by chance", "slower once by chance", "always"],
)
def test_data_are_cached_where_stores_past_the_caches_gain_nothing(
    past: tuple[float, float, float], expected: int
) -> None:
    copies = tuple(Copying(1 << (20 + it), 30.0, past[it]) for it in range(3))
    known = known_costs(current_target())
    assert replace(known, copies=copies).cached_bytes == expected
    assert replace(known, copies_apart=copies).cached_bytes_apart == expected


@pytest.mark.parametrize("cache", [1, 2 << 20, 3 << 20, 1 << 40])
def test_sizes_that_are_copied(cache: int) -> None:
    sizes = copied_sizes(cache)
    assert all(it % LEAST_COPIED == 0 for it in sizes)
    assert sizes == sorted(set(sizes))
    assert sizes[-1] <= max(2 * cache, LEAST_COPIED) < 2 * sizes[-1] or sizes[-1] == 128 << 20


def test_copies_of_pieces() -> None:
    """Each line is copied once, in order or apart, with both kinds of stores."""
    target = current_target()
    code, pool = jit.compile_module(module(target), "baseline"), _pool.Pool(2)
    for name in COPIES:
        area = aligned_zeros(3 * LEAST_COPIED)
        half = area.size // 2
        area[:half] = np.random.default_rng(5).integers(0, 256, half, np.uint8)
        given = area[:half].copy()
        packed = struct.pack("=3q", numbers(target)[name], 1, area.nbytes)
        pool.run(code.address, struct.pack("=q", address_of(area)), packed, PIECES, 0, (), None, 1e-6)
        assert (area[:half] == given).all()
        lines, found = given.reshape(-1, 64), area[half:].reshape(-1, 64)
        order = np.arange(len(lines)) * (67 if "apart" in name else 1) % len(lines)
        assert (found[order] == lines).all()


def test_the_command_prints_them() -> None:
    text = CliRunner().invoke(tinct, ["cpu"]).output
    assert "gather" in text
    assert ("a sleeping worker begins after" in text) == (machine_costs().wake_up > 0)
    found = json.loads(CliRunner().invoke(tinct, ["cpu", "--json"]).output)
    assert found == json.loads(json.dumps(asdict(machine_costs())))
