"""The benchmarks at sizes of a few elements: every peer that is here gives the right answer. Nothing is timed."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.generated_wgsl import module  # noqa: E402
from benchmarks.graphs import __main__ as graphs_command  # noqa: E402
from benchmarks.graphs import fusion  # noqa: E402
from benchmarks.peers import OURS, Peer, all_peers  # noqa: E402
from benchmarks.problem import Problem, WrongAnswer, load_problems  # noqa: E402
from benchmarks.report import Result, geometric_means  # noqa: E402
from benchmarks.runner import Effort, Measurement, measure  # noqa: E402
from benchmarks.schedules import __main__ as schedules_command  # noqa: E402
from benchmarks.schedules.bars import bars_of, bars_of_all  # noqa: E402
from benchmarks.schedules.decisions import FOLDER, read  # noqa: E402
from benchmarks.schedules.measuring import Row, usual_times  # noqa: E402
from benchmarks.schedules.problems import problems as nests  # noqa: E402
from benchmarks.tuning import __main__ as tuning_command  # noqa: E402
from benchmarks.tuning.replay import Replay  # noqa: E402

from benchmarks import __main__ as kernels_command  # noqa: E402
from benchmarks import compile as compile_command  # noqa: E402
from benchmarks import first_use, frontend, grid_passes, large_arrays, machine  # noqa: E402
from tinct.cases import load_cases  # noqa: E402
from tinct.frontend import check  # noqa: E402
from tinct.ir.source import Source  # noqa: E402
from tinct.tuning.nest_task import Task  # noqa: E402
from tinct.tuning.nest_tuning import NestProblem  # noqa: E402
from tinct.tuning.trial_data import TrialData  # noqa: E402

ONCE = Effort(rounds=1, seconds=1)
EXPECTED_SKIPS = ("not written for this peer", "no natural form in NumPy", "the adapter has no f16")
SLOW_TO_COMPILE = ("PoCL", "Intel OpenCL", "Numba")
OTHER_WAYS = ("tinct, contracted", "tinct, x86-64-v3")
TINY = load_problems((), "tiny")


@pytest.mark.parametrize("number", range(len(TINY)), ids=[case.kernel for case in TINY])
def test_every_peer_agrees_with_the_reference(number: int) -> None:
    """Our other ways to compile are asked for every fourth kernel only: that takes as long as all other peers."""
    left_out = SLOW_TO_COMPILE if number % 4 == 0 else (*SLOW_TO_COMPILE, *OTHER_WAYS)
    peers = [peer for peer in all_peers() if peer.name not in left_out and peer.available() is None]
    case = TINY[number]
    for measurement in measure(Problem(case), peers, ONCE):
        if measurement.skipped is None:
            assert len(measurement.samples) == 1
            assert measurement.samples[0] >= 0
        else:
            assert measurement.skipped in EXPECTED_SKIPS, measurement.peer


@pytest.mark.parametrize("name", SLOW_TO_COMPILE)
def test_peers_that_compile_slowly_agree_on_a_kernel(name: str) -> None:
    (peer,) = (peer for peer in all_peers() if peer.name == name)
    reason = peer.available()
    if reason is not None:
        pytest.skip(reason)
    (case,) = load_problems(("reduce",), "tiny")
    (measurement,) = measure(Problem(case), [peer], ONCE)
    assert measurement.skipped is None


def test_there_is_a_case_of_each_size_for_every_shader() -> None:
    """Of those on buffers, which all peers can work on without copies."""
    shaders = {kernel.name for kernel in load_cases(ROOT / "shaders") if "texture_" not in kernel.path.read_text()}
    for size in ("tiny", "quick", "full"):
        assert {case.kernel for case in load_problems((), size)} == shaders


def test_a_wrong_answer_is_found_and_undone() -> None:
    problem = Problem(TINY[[case.kernel for case in TINY].index("saxpy")])
    with pytest.raises(WrongAnswer, match="y: "):
        problem.check()
    problem.arrays()["y"][:] = problem.expected["y"]
    problem.check()
    problem.restore()
    assert (problem.arrays()["y"] == problem.inputs["y"]).all()


class Failing:
    """A peer that breaks in one way or another."""

    name = "failing"

    def available(self) -> str | None:
        return None

    def version(self) -> str:
        return "1"

    def prepare(self, problem: Problem):
        raise ZeroDivisionError("as it must")


def test_a_peer_that_fails_is_skipped_with_the_reason() -> None:
    peers: list[Peer] = [Failing()]
    (measurement,) = measure(Problem(TINY[0]), peers, ONCE)
    assert measurement.samples == []
    assert measurement.skipped == "failed: ZeroDivisionError: as it must"


def test_ratios_are_relative_to_ours() -> None:
    results = [
        Result("k", "k", {}, 0, [Measurement(OURS, [2.0]), Measurement("other", [4.0, 1.0, 16.0])]),
        Result("l", "l", {}, 0, [Measurement(OURS, [2.0]), Measurement("other", [16.0]), Measurement("third")]),
    ]
    means = geometric_means(results)
    assert means[OURS] == (1.0, 2)
    assert means["other"] == (pytest.approx(4.0), 2)
    assert "third" not in means


def test_spread_is_half_the_distance_of_the_quartiles() -> None:
    assert machine.spread([1.0, 2.0]) == 0.0
    assert machine.spread([9.0, 10.0, 11.0, 8.0, 12.0]) == pytest.approx(0.1)


def test_command_writes_json_a_table_and_a_chart(tmp_path: Path) -> None:
    arguments = ["saxpy", "--tiny", "--peer", "NumPy", "--json", str(tmp_path / "out.json")]
    arguments += ["--markdown", str(tmp_path / "out.md")]
    charts = importlib.util.find_spec("matplotlib") is not None
    if charts:
        arguments += ["--chart", str(tmp_path)]
    result = CliRunner().invoke(kernels_command.main, arguments)
    assert result.exit_code == 0, result.output
    document = json.loads((tmp_path / "out.json").read_text())
    (kernel,) = document["kernels"]
    assert kernel["peers"][OURS]["ratio"] == 1.0
    assert set(document["peers"]) == {OURS, "NumPy"}
    header, _, row, *_ = (tmp_path / "out.md").read_text().splitlines()
    assert header == f"| kernel | {OURS} ms | NumPy |"
    assert row.endswith(f" | {kernel['peers']['NumPy']['ratio']:.2f} |")
    assert not charts or {path.name for path in tmp_path.glob("kernels.*")} == {"kernels.png", "kernels.svg"}


@pytest.mark.parametrize("arguments", [["nothing"], ["--peer", "nobody"]])
def test_command_rejects_unknown_names(arguments: list[str]) -> None:
    result = CliRunner().invoke(kernels_command.main, ["--tiny", *arguments])
    assert result.exit_code == 2
    assert "there is no" in result.output


def test_generated_modules_are_valid_and_as_large_as_asked() -> None:
    for kilobytes in (1, 5):
        text = module(kilobytes)
        assert 1000 * kilobytes <= len(text) < 1000 * kilobytes + 2500
        assert check(Source.from_text(text)) == ()


def test_frontend_is_measured_by_stage_and_beside_peers() -> None:
    row = frontend.measure(
        frontend.Input("generated", (module(1),)), {"yes": lambda text: None, "no": lambda text: "bad\nat 1"}
    )
    assert set(row.samples) == {*frontend.STAGES, "yes"}
    assert row.failed == {"no": "bad"}
    assert row.per_kilobyte("whole") > 0
    assert row.per_kilobyte("no") is None


@pytest.mark.parametrize("shape", compile_command.SHAPES)
def test_generated_kernels_go_through_every_stage(shape: str) -> None:
    row = compile_command.Row("generated", 50)
    row.round(compile_command.kernel(50, shape), "main", compile_command.STAGES)
    assert tuple(row.milliseconds) == compile_command.STAGES
    assert compile_command.growth(row, row, "parse") == pytest.approx(1)


def test_shaders_that_sample_go_through_every_stage() -> None:
    """Their samplers are lowered before the translation."""
    (turn,) = (it for it in compile_command.shader_entries() if it[0] == "turn")
    assert "textureSampleLevel" in turn[1]
    row = compile_command.Row("turn", 24)
    row.round(*turn[1:], compile_command.STAGES[:-1])
    assert tuple(row.milliseconds) == compile_command.STAGES[:-1]


def test_compile_times_are_written(tmp_path: Path) -> None:
    target = tmp_path / "compile.json"
    options = ["--sizes", "20,40", "--rounds", "1", "--no-llvm", "--no-shaders", "--json", str(target)]
    result = CliRunner().invoke(compile_command.main, options)
    assert result.exit_code == 0, result.output
    assert "growth a line" in result.output
    assert [row["name"] for row in json.loads(target.read_text())] == ["generated, function"] * 2


def test_every_entry_point_of_the_shaders_is_timed() -> None:
    names = [name for name, _, _ in compile_command.shader_entries()]
    assert len(names) == len(set(names)) >= len(list((ROOT / "shaders").rglob("*.wgsl")))


def test_first_uses_have_all_stages() -> None:
    case = next(it for it in TINY if it.kernel == "saxpy")
    times = first_use.ours(case)
    assert tuple(times) == first_use.STAGES
    *parts, whole, gangs = times.values()
    assert whole == pytest.approx(sum(parts))
    assert gangs > times["text to graph"]


@pytest.mark.usefixtures("needs_device")
@pytest.mark.parametrize("device", ["gpu"])
@pytest.mark.parametrize("workload", grid_passes.WORKLOADS, ids=lambda it: it.name)
def test_results_are_the_same_without_any_pass_for_grids(workload, device) -> None:
    small = dataclasses.replace(workload, shapes={name: _small(it) for name, it in workload.shapes.items()})
    variants = grid_passes.variants_of(small)
    grid_passes.measure(variants, rounds=1)
    assert {name: it.problem for name, it in variants.items() if it.problem} == {}
    assert all(len(it.seconds) == 1 for it in variants.values())


def _small(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(min(it, 100) if it > 16 else it for it in shape)


def test_a_fused_chain_may_round_in_another_way_on_a_gpu() -> None:
    wanted = np.array([1, 7.5], np.float32)
    rounded_once = np.nextafter(wanted, np.float32(8))
    fusion.check(rounded_once, wanted, "gpu")
    fusion.check(wanted, wanted, "cpu")
    for found, device in ((rounded_once, "cpu"), (wanted + np.float32(1e-4), "gpu")):
        with pytest.raises(AssertionError, match="2 of 2 differ"):
            fusion.check(found, wanted, device)


def test_programs_of_kernels_are_timed_beside_their_peers(tmp_path: Path) -> None:
    """All parts at sizes of a few elements. Each part compares the results of its ways itself."""
    file = tmp_path / "graphs.json"
    result = CliRunner().invoke(graphs_command.main, ["--tiny", "--rounds", "1", "--json", str(file)])
    assert result.exit_code == 0, result.output
    found = json.loads(file.read_text())["parts"]
    assert found.keys() == set(graphs_command.NAMES)
    (dispatch,) = found["dispatch"]
    assert {"Session.run", "BoundKernel.run", "ctypes"} < dispatch["seconds"].keys()
    for comparison in (it for part in found.values() if isinstance(part, list) for it in part):
        assert all(seconds > 0 for seconds in comparison["seconds"].values()), comparison["title"]
        assert 1 in comparison["ratios"].values()
    counts = [it for comparison in found["copies"] for it in comparison["bars"]]
    assert [it["figure"] for it in counts] == [it["at most"] for it in counts]


@pytest.mark.parametrize("problem", nests(), ids=lambda it: it.name)
def test_nests_are_what_numpy_computes(problem) -> None:
    sizes = {name: min(it, 5) for name, it in problem.quick.items()}
    data = TrialData(problem.nest.ir, sizes)
    (output,) = data.outputs
    expected = problem.numpy(*data.inputs.values())
    found = problem.nest.run(data.inputs, sizes=sizes)[output]
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_a_nest_is_tuned_beside_numpy(tmp_path: Path) -> None:
    file = tmp_path / "schedules.json"
    arguments = ["row sums", "--quick", "--seconds", "0.5", "--rounds", "1", "--json", str(file)]
    result = CliRunner().invoke(schedules_command.main, arguments)
    assert result.exit_code == 0, result.output
    (row,) = json.loads(file.read_text())["nests"]
    assert row["name"] == "row sums"
    assert {"tuned", "by hand", "NumPy"} <= row["seconds"].keys() == row["shortest"].keys()
    assert all(it > 0 for it in row["seconds"].values())


@pytest.mark.parametrize("name", ["sum", "dot", "histogram", "transpose", "softmax", "3×3 stencil", "product 512"])
def test_nests_are_compared_with_kernels_by_hand(name: str, tmp_path: Path) -> None:
    file = tmp_path / "schedules.json"
    arguments = [name, "--quick", "--seconds", "0", "--rounds", "1", "--json", str(file)]
    result = CliRunner().invoke(schedules_command.main, arguments)
    assert result.exit_code == 0, result.output
    for row in json.loads(file.read_text())["nests"]:
        assert any(it.startswith("shaders/") for it in row["seconds"])
        assert row["notes"] == []


@pytest.mark.parametrize("file", ["cpu.toml", "cpu_256.toml", "software_gpu.toml", "gpu.toml"])
def test_decisions_by_hand_are_legal(file: str) -> None:
    known = {it.name: it for it in nests()}
    for name, texts in read(FOLDER / file, "cpu").items():
        for text in texts.values():
            for sizes in map(known[name].sizes_for, ("quick", "full", "large")):
                assert known[name].nest.lower(text, sizes=sizes, reassociate=True).stages


@pytest.mark.parametrize(("device", "is_software"), [("cpu", True), ("gpu", True), ("gpu", False)])
def test_there_are_decisions_by_hand_for_each_kind_of_device(device: str, is_software: bool) -> None:
    assert {"sum", "product 1024", "softmax"} <= read(None, device, is_software=is_software).keys()


def test_bars_are_ratios_of_one_row() -> None:
    row = Row(
        "sum", "cpu", "full", False, {}, 100, 0, {}, {"tuned": 2.0, "by hand": 1.0, "NumPy": 3.0, "shaders/a": 2.5}
    )
    row.limits = {"copy": 40.0}
    of_copy, of_numpy, of_shaders = bars_of(row)
    assert (of_copy.figure, of_copy.holds) == (1.25, True)
    assert (of_numpy.figure, of_shaders.figure) == (1.5, 1.25)
    (mean,) = bars_of_all([row])
    assert (mean.figure, mean.holds) == (pytest.approx(1.25), False)
    row.compiling, row.attempts = [0.1, 0.2, 4.0], {"failed": 2}
    _, usual, longest = bars_of_all([row])
    assert (usual.figure, usual.holds, longest.figure, longest.holds) == (0.2, True, 4.0, False)
    assert "of 3, beside 2 that failed" in usual.what


def test_the_pace_of_a_round_is_no_ones_time() -> None:
    """In the second of three rounds the machine takes twice as long, and in the third one `b` alone does."""
    found = usual_times({"a": [1.0, 2.0, 1.0], "b": [3.0, 6.0, 6.0], "c": [5.0, 10.0, 5.0], "once": [8.0]})
    assert found == pytest.approx({"a": 1.0, "b": 3.0, "c": 5.0, "once": 8.0})
    assert usual_times({}) == {}


def test_bars_of_a_gpu_in_hardware() -> None:
    """Reductions are measured by its copies; how much faster they are than `shaders/` has no bar."""
    row = Row("sum", "gpu", "large", False, {}, 100, 0, {}, {"tuned": 2.0, "NumPy": 3.0, "shaders/a": 2.5})
    row.limits = {"copy": 40.0}
    (of_copy,) = bars_of(row)
    assert (of_copy.figure, of_copy.wanted, of_copy.holds) == (1.25, 0.9, True)
    assert not list(bars_of_all([row]))


def test_seeds_of_the_tuner_are_compared_with_the_best_of_all(tmp_path: Path) -> None:
    """All points of a small space are measured once, and no search finds a faster one; of a large space some are."""
    file = tmp_path / "tuning.json"
    arguments = ["sum in order", "sum", "--tiny", "--seeds", "2", "--seconds", "1", "--json", str(file)]
    result = CliRunner().invoke(tuning_command.main, arguments)
    assert result.exit_code == 0, result.output
    small, large = json.loads(file.read_text())["spaces"]
    assert small["points"] > 20
    assert large["points"] is None
    assert all(it["seeds"] == 2 and it["best"] > 0 and it["measured"] > 0 for it in (small, large))
    assert small["by_hand"] is small["like_by_hand"] is small["like_by_hand_after"] is None
    assert large["by_hand"] > 0
    assert 0 <= large["like_by_hand"] <= 2


def test_all_seeds_are_told_the_same_times() -> None:
    """A search with a seed tries the same points again, since no point is measured twice."""
    nest = next(it.nest for it in tuning_command.spaces() if it.name == "scan")
    task = Task(nest.ir, {"rows": 1, "columns": 16}, lambda _, point, sizes: nest.lower(point, sizes=sizes))
    problem = NestProblem(task)
    with problem.bench, problem.processes(0) as processes:
        replay = Replay(problem, processes)
        first, *others = (replay.search(0, seconds=2.0) for _ in range(3))
    shortest = min(len(it.tried) for it in (first, *others))
    assert shortest > 0
    for it in others:
        assert [point for point, _ in it.tried][:shortest] == [point for point, _ in first.tried][:shortest]


def test_large_arrays_that_are_small(tmp_path: Path) -> None:
    path = tmp_path / "times.json"
    options = ["--elements", "1", "--elements", "1000", "--rounds", "1", "--json", str(path)]
    result = CliRunner().invoke(large_arrays.main, options, catch_exceptions=False)
    assert result.exit_code == 0
    found = json.loads(path.read_text())["milliseconds"]
    for sizes in found.values():
        assert sizes.keys() == {"1", "1000"}
        for times in sizes.values():
            assert times.keys() >= {"tinct"}
            assert all(it >= 0 for it in times.values())
    assert {"tinct", "NumPy", "dispatch alone"} <= found["cpu"]["1000"].keys()
