"""Emitted plans, read back: followed on all devices from their files alone, and refused where these are broken."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.lib.recfunctions import structured_to_unstructured

import tinct
from tinct.cli import tinct as command
from tinct.graphs import emit

from .support import DEVICES
from .test_capacity import said
from .test_emit import EXAMPLES, FED
from .test_examples import check, module
from .test_repeated_nodes import STATE, step, stepped


@pytest.mark.parametrize("name", ["conjugate_gradient", "radix_sort"])
def test_a_plan_gives_what_the_graph_gives(name: str, tmp_path: Path) -> None:
    """In the shapes of the inputs; structures as well."""
    example = module(EXAMPLES[name])
    given = example.inputs(np.random.default_rng(3))
    emit(example.GRAPH, tmp_path, given)
    plan = tinct.load_plan(tmp_path)
    expected = example.GRAPH.run(given)
    found = plan.run(given)
    assert (plan.name, found.keys()) == (example.GRAPH.name, plan.outputs.keys())
    assert {key: (it.shape, it.dtype) for key, it in found.items()} == {
        key: (it.shape, it.dtype) for key, it in expected.items()
    }
    plain = {key: structured_to_unstructured(it) if it.dtype.names else it for key, it in expected.items()}
    check(example, found, plain)


@pytest.mark.parametrize("device", DEVICES)
def test_devices(device: str, tmp_path: Path) -> None:
    """A plan for repetitions, with grids from buffers in another; inputs that are not given are in files."""
    given = {"state": STATE.reshape(10, 15), "turns": 3}
    emit(step, tmp_path / "step", given, feed={"state": "state"})
    plan = tinct.load_plan(tmp_path / "step" / "plan.json")
    expected = stepped(stepped(STATE, 3), 3)
    np.testing.assert_array_equal(plan.run(device=device, repeat=2)["state"], expected)
    np.testing.assert_array_equal(plan.run({"state": given["state"]}, device=device)["state"].shape, (10, 15))
    emit(said(14), tmp_path / "said", {"x": 4, "y": 3})
    plan = tinct.load_plan(tmp_path / "said")
    assert plan.run(device=device)["seen"].tolist() == [1, 2, 4]
    with pytest.raises(tinct.InputError) as caught:
        plan.run({"x": 5}, device=device)
    assert (
        str(caught.value) == "node 'mark': 5 x 3 x 1 are more than 14 invocations, or 65,535 workgroups in a dimension"
    )


@pytest.mark.parametrize("name", FED)
def test_repetitions(name: str, tmp_path: Path) -> None:
    example = module(EXAMPLES[name])
    given = example.inputs(np.random.default_rng(3))
    emit(example.GRAPH, tmp_path, given, feed=FED[name])
    expected = example.GRAPH.run(given, repeat=3, feed=FED[name])
    check(example, tinct.load_plan(tmp_path).run(given, repeat=3), expected)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("plan")
    emit(step, target, {"state": STATE, "turns": 2}, feed={"state": "state"})
    return target


def changed(folder: Path, change: Callable[[dict[str, Any]], None], tmp_path: Path) -> Path:
    """A copy of a plan with a change."""
    for it in folder.glob("*.wgsl"):
        (tmp_path / it.name).write_text(it.read_text())
    plan = json.loads((folder / "plan.json").read_text())
    change(plan)
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    return tmp_path / "plan.json"


BROKEN: list[tuple[Callable[[dict[str, Any]], Any], str]] = [
    (lambda it: it.update(format="plan"), "format: expected 'tinct plan', not 'plan'"),
    (lambda it: it.update(version=7), "version: this is version 7 of the format; version 6 is known"),
    (lambda it: it.pop("version"), "version: there is no such field"),
    (lambda it: it.update(steps=7), "steps: expected a list, not 7"),
    (lambda it: it["steps"].append(7), "steps[3]: expected an object, not 7"),
    (
        lambda it: it["steps"][0].update(do="draw"),
        "steps[0].do: a step is a dispatch, clear, copy or copy-texture, not 'draw'",
    ),
    (lambda it: it["steps"][1].update(kernel=5), "steps[1].kernel: there is no kernel 5, but 2 kernels"),
    (
        lambda it: it["steps"][1].update(workgroups=[1, 70000, 1]),
        "steps[1].workgroups: expected three numbers of at most 65,535, not [1, 70000, 1]",
    ),
    (
        lambda it: it["steps"][0]["bindings"][1].update(buffer=9),
        "steps[0].bindings[1].buffer: there is no buffer 9, but 3 buffers",
    ),
    (
        lambda it: it["steps"][0]["bindings"][1].update(size=10**6),
        "steps[0].bindings[1].offset: 1000000 bytes from 0 on do not fit into the 600 bytes of buffer 0",
    ),
    (
        lambda it: it["steps"][0]["bindings"][1].update(offset=4, size=4),
        "steps[0].bindings[1].offset: 4 is no multiple of 256",
    ),
    (
        lambda it: it["steps"][0]["bindings"].pop(),
        "steps[0].bindings: 'spread' takes (0, 0), (0, 1), (0, 2) as (group, binding)",
    ),
    (
        lambda it: it["steps"][0]["bindings"][0].update(size=0),
        "steps[0].bindings[0].size: old: array<i32> needs at least 4 bytes",
    ),
    (
        lambda it: it["buffers"][0].update(size=8),
        "inputs[0].writes[0].offset: 600 bytes from 0 on do not fit into the 8",
    ),
    (
        lambda it: it["buffers"][0].update(size=-1),
        "buffers[0].size: expected a number from 0 to 9007199254740992, not -1",
    ),
    (lambda it: it["buffers"][0].update(size="8"), "buffers[0].size: expected a whole number, not '8'"),
    (lambda it: it["kernels"][0].update(file="no.wgsl"), "kernels[0].file: cannot read 'no.wgsl': No such file"),
    (lambda it: it["kernels"][0].update(entry="sprad"), "kernels[0].entry: "),
    (lambda it: it["facts"][0].update(input="turn"), "facts[0].input: there is no input 'turn'"),
    (lambda it: it["facts"][0].update(start=8), "facts[0].start: the input 'turns' has 4 bytes"),
    (lambda it: it["facts"][0].update(type="f32"), "facts[0].type: expected 'u32' or 'i32', not 'f32'"),
    (lambda it: it["feeds"][0].update(output="o"), "feeds[0]: there is no output 'o'"),
    (lambda it: it.update(rotations=[[0, 7]]), "rotations[0]: there is no buffer 7, but 3 buffers"),
    (lambda it: it.update(rotations=[[0, "a"]]), "rotations[0][1]: expected a whole number, not 'a'"),
    (lambda it: it.update(rotations=[[0, 1], [1, 2]]), "rotations[0]: buffers that change places have one size"),
    (lambda it: it["inputs"].append(it["inputs"][0]), "inputs: 'state' is there twice"),
]


@pytest.mark.parametrize(("change", "message"), BROKEN)
def test_broken_plans(change: Callable[[dict[str, Any]], Any], message: str, folder: Path, tmp_path: Path) -> None:
    file = changed(folder, change, tmp_path)
    with pytest.raises(tinct.InputError) as caught:
        tinct.load_plan(file)
    assert str(caught.value).startswith(f"{file}: {message}")


def test_wrong_uses(folder: Path, tmp_path: Path) -> None:
    plan = tinct.load_plan(folder)
    for run, message in (
        (lambda: plan.run({"stat": STATE}), "plan 'step' has no input named 'stat'; did you mean 'state'?"),
        (lambda: plan.run({"state": STATE[:9]}), "state: the plan is for 600 bytes, not 36"),
        (lambda: plan.run({"turns": 3}), "turns: the plan is for the number 2 at byte 0, not 3"),
        (lambda: plan.run(repeat=0), "repeat is a number of executions of at least 1, not 0"),
        (lambda: plan.run(device="gpus"), "gpus"),
        (
            lambda: tinct.load_plan(changed(folder, lambda it: None, tmp_path)).run(),
            "nothing is given for the input 'state'",
        ),
    ):
        with pytest.raises(tinct.InputError, match=message.replace("?", r"\?")):
            run()
    with pytest.raises(tinct.DeviceError, match="graph 'step' did not end within"):
        plan.run(timeout=1e-6)
    (tmp_path / "plan.json").write_text("{")
    with pytest.raises(tinct.InputError, match="this is no JSON"):
        tinct.load_plan(tmp_path)
    with pytest.raises(OSError, match=r"plan\.json"):
        tinct.load_plan(tmp_path / "nothing" / "plan.json")


def test_the_command_line_follows_plans(folder: Path, tmp_path: Path) -> None:
    def call(*arguments: str) -> Any:
        return CliRunner().invoke(command, ["graph", str(folder / "plan.json"), *arguments])

    shown = call()
    assert shown.exit_code == 0, shown.output
    assert "plan step" in shown.stdout
    ran = call("--run", "--device", "interp", "--repeat", "2", "-o", str(tmp_path / "out.npz"))
    assert ran.exit_code == 0, ran.output
    with np.load(tmp_path / "out.npz") as outputs:
        np.testing.assert_array_equal(outputs["state"], stepped(stepped(STATE, 2), 2))
    assert "--fuse is for graphs" in call("--fuse").stderr
    file = changed(folder, lambda it: it.update(version=1), tmp_path)
    broken = CliRunner().invoke(command, ["graph", str(file)])
    assert broken.exit_code == 2
    assert "version: this is version 1 of the format" in broken.stderr
