"""Kernels that threads share, and kernels that are pickled."""

from __future__ import annotations

import copy
import pickle
import re
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import tinct
from tinct.backend.cpu.tiered import TRIAL_SECONDS

SHADER = """
struct Params { a: f32, n: u32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@compute @workgroup_size(64)
fn saxpy(@builtin(global_invocation_id) id: vec3u) {
    if id.x < params.n { y[id.x] = params.a * x[id.x] + y[id.x]; }
}
@compute @workgroup_size(1) fn other() { y[0] = 1.0; }
"""
THREADS = 8


@pytest.mark.parametrize("device", ["cpu", "interp", "hercules"])
def test_threads_share_a_kernel(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TINCT_CACHE", "off")
    kernel = tinct.load(SHADER)["saxpy"]
    together = threading.Barrier(THREADS)

    def run(number: int) -> bool:
        together.wait()
        count = 100 + number if device != "cpu" else 50_000 + number
        x = np.arange(count, dtype=np.float32)
        right = True
        for _ in range(4 if device == "cpu" else 1):
            result = kernel.run({"params": (2.0, count), "x": x, "y": x + number}, threads=count, device=device)
            right = right and np.array_equal(result["y"], 3 * x + number)
        return right

    with ThreadPoolExecutor(THREADS) as pool:
        assert all(pool.map(run, range(THREADS)))


def test_first_runs_of_threads_share_their_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads that begin together may use up the time of first runs before another of them starts its own."""
    monkeypatch.setenv("TINCT_CACHE", "off")
    kernel = tinct.load(SHADER)["saxpy"]
    x = np.ones(4, np.float32)
    machine_code = kernel.shader.compilation("saxpy", {}).machine_code
    decide = machine_code._first_code

    def late(dispatch: object) -> object:
        found = decide(dispatch)  # type: ignore[arg-type]
        machine_code.trial_seconds = -TRIAL_SECONDS
        return found

    monkeypatch.setattr(type(machine_code), "_first_code", lambda _, dispatch: late(dispatch))
    result = kernel.run({"params": (1.0, 4), "x": x, "y": x}, threads=4)
    assert result["y"].tolist() == [2, 2, 2, 2]


def test_pickled_kernel_runs() -> None:
    kernel = tinct.load(SHADER)["saxpy"]
    x = np.arange(5, dtype=np.float32)
    buffers = {"params": (2.0, 5), "x": x, "y": x}
    expected = kernel.run(buffers, threads=5)["y"]
    copied = pickle.loads(pickle.dumps(kernel))
    assert copied.info.name == "saxpy"
    assert np.array_equal(copied.run(buffers, threads=5)["y"], expected)


def test_copies_of_a_shader_in_one_process_are_compiled_once() -> None:
    shader = tinct.load(SHADER)
    first, second = (pickle.loads(pickle.dumps(shader)) for _ in range(2))
    assert first is second
    assert pickle.loads(pickle.dumps(shader["other"])).shader is first


def test_tokens_follow_from_the_content() -> None:
    shader, same, different = tinct.load(SHADER), tinct.load(SHADER), tinct.load(SHADER + "\n// changed\n")
    assert shader.__dask_tokenize__() == same.__dask_tokenize__() != different.__dask_tokenize__()
    tokens = [it.__dask_tokenize__() for it in (shader["saxpy"], same["saxpy"], shader["other"], different["saxpy"])]
    assert tokens[0] == tokens[1]
    assert len({*map(repr, tokens)}) == 3


@pytest.mark.parametrize("copied", [copy.deepcopy, copy.copy, lambda it: pickle.loads(pickle.dumps(it))])
def test_copies_of_a_kernel_that_a_session_has_run(copied: Callable[[Any], Any]) -> None:
    shader = tinct.load(SHADER)
    kernel, x = shader["saxpy"], np.arange(5, dtype=np.float32)
    with tinct.Session() as session:
        y = session.buffer(x)
        for again in (kernel, copied(kernel), copied(shader)["saxpy"], copied({"both": [shader, kernel]})["both"][1]):
            session.run(again, {"params": (1.0, 5), "x": x, "y": y}, threads=5)
        assert y.numpy().tolist() == [0, 5, 10, 15, 20]
        for held in (session, y):
            with pytest.raises(tinct.InputError, match="cannot be copied or pickled"):
                copied(held)


def test_representations_are_short() -> None:
    shader = tinct.load(SHADER)
    kernel, x = shader["saxpy"], np.ones((40, 40), np.float32)
    buffers = {"params": (1.0, 0), "x": x, "y": x}
    run = kernel.run_timed(buffers, threads=1)
    assert re.fullmatch(r"<Run y \(40, 40\) float32; compiled in [\d.]+ ms, ran in [\d.]+ ms>", repr(run))
    assert re.fullmatch(r"\{'y': array\(\[(\[.*\],?|\s|\.\.\.,)+\].*dtype=float32\)\}", repr(run.outputs))
    assert repr(run.outputs).count("1.") == 36
    sanitized = kernel.sanitize(buffers, threads=1)
    assert repr(sanitized) == "<Sanitized y (40, 40) float32; findings: 0>"
    assert repr(shader) == "<Shader <text>: saxpy, other>"
    assert repr(kernel) == "<Kernel saxpy of <text>>"
    with tinct.Session() as session:
        assert (repr(session), repr(session.buffer(x))) == (
            "<Session on cpu>",
            "<Buffer buffer 1: shape (40, 40) of float32>",
        )
    assert repr(session) == "<Session on cpu, ended>"
