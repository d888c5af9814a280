"""The costs of the machine: measured, kept, or from the table; and `tinct cpu`."""

from __future__ import annotations

import json
import threading
from dataclasses import asdict
from pathlib import Path

import pytest
from click.testing import CliRunner

from tinct.backend.cpu import jit
from tinct.backend.cpu.machine import Cache, MachineCosts, costs_so_far, kept, machine_costs, measure_again
from tinct.backend.cpu.machine.known import known_costs
from tinct.backend.cpu.machine.measure import shortest_round
from tinct.backend.cpu.machine.probes import module
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
    numbers = [it for it in asdict(found.access).values() if it is not None]
    assert len(numbers) >= 9 and all(0 < it < 1000 for it in numbers)
    assert [it.level for it in found.caches] == sorted({it.level for it in found.caches})
    assert all(it.size > 0 and it.bandwidth > 0 for it in found.caches) and found.bandwidth > 0
    assert 0 <= found.wake_up < 0.1
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

    assert shortest_round(seconds) == pytest.approx(1e-8)


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
            kept.measure_if_new()
    may_end.set()
    with compiling_within(60):
        kept.measure_if_new()
    assert [costs_so_far()] == measurements


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


def test_the_command_prints_them() -> None:
    text = CliRunner().invoke(tinct, ["cpu"]).output
    assert "gather" in text and "a sleeping worker begins after" in text
    found = json.loads(CliRunner().invoke(tinct, ["cpu", "--json"]).output)
    assert found == json.loads(json.dumps(asdict(machine_costs())))
