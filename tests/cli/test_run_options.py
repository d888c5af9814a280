"""`tinct run --sanitize` and `--timeout`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import SAXPY, Tinct

Write = Callable[[str | bytes], Path]

BUFFERS = ("-b", "x=arange:8", "-b", "y=zeros:8", "-b", 'params={"a": 2, "n": 8}', "--threads", "8")
RACE = """
@group(0) @binding(0) var<storage, read_write> sum: u32;
@compute @workgroup_size(4) fn main(@builtin(local_invocation_index) i: u32) { sum += i; }
"""
ENDLESS = """
@group(0) @binding(0) var<storage, read_write> word: u32;
@compute @workgroup_size(4) fn main() { while word == 0 { } }
"""


def test_nothing_found(run_tinct: Tinct) -> None:
    result = run_tinct("run", SAXPY, *BUFFERS, "--sanitize")
    assert (result.exit_code, result.stderr) == (0, "sanitize: nothing found\n")
    assert "12. 14." in result.stdout


def test_a_race_is_shown_with_its_place(run_tinct: Tinct, wgsl: Write) -> None:
    file = wgsl(RACE)
    result = run_tinct("run", file, "-b", "sum=zeros", "--workgroups", "1", "--sanitize")
    assert result.exit_code == 1
    assert result.stderr.startswith("error[data-race]: invocation (1, 0, 0) of workgroup (0, 0, 0) reads 0 from 'sum'")
    assert f"{file}:3:80" in result.stderr


def test_findings_as_json(run_tinct: Tinct, wgsl: Write) -> None:
    result = run_tinct("run", wgsl(RACE), "-b", "sum=zeros", "--workgroups", "1", "--sanitize", "--format", "json")
    found = json.loads(result.stdout)
    assert [(it["code"], it["severity"], it["range"]["start"]["line"]) for it in found[:1]] == [
        ("data-race", "error", 3)
    ]


def test_sanitize_takes_no_other_device(run_tinct: Tinct) -> None:
    result = run_tinct("run", SAXPY, *BUFFERS, "--sanitize", "--device", "gpu")
    assert (result.exit_code, result.stderr) == (2, "error: --sanitize runs on the interpreter, not on --device gpu\n")


@pytest.mark.parametrize("device", ["cpu", "interp", "hercules"])
def test_an_endless_kernel_is_stopped(run_tinct: Tinct, wgsl: Write, device: str) -> None:
    arguments = ("-b", "word=zeros", "--workgroups", "1", "--timeout", "1", "--device", device)
    result = run_tinct("run", wgsl(ENDLESS), *arguments)
    assert (result.exit_code, result.stderr) == (3, "error: the kernel did not end within 1 s, and was stopped\n")


def test_contraction_is_asked_for(run_tinct: Tinct) -> None:
    result = run_tinct("run", SAXPY, *BUFFERS, "--contract")
    assert result.exit_code == 0
    assert "12. 14." in result.stdout


def test_the_interpreters_do_not_contract(run_tinct: Tinct) -> None:
    sanitized = run_tinct("run", SAXPY, *BUFFERS, "--contract", "--sanitize")
    assert (sanitized.exit_code, "has no --contract" in sanitized.stderr) == (2, True)
    interpreted = run_tinct("run", SAXPY, *BUFFERS, "--contract", "--device", "interp")
    assert "contract is for the device 'cpu', not 'interp'" in interpreted.stderr


@pytest.mark.parametrize("size", [("--threads", "0"), ("--workgroups", "1x0")])
def test_a_zero_runs_nothing_and_is_said(run_tinct: Tinct, size: tuple[str, str]) -> None:
    result = run_tinct("run", SAXPY, *BUFFERS[:-2], *size)
    assert (result.exit_code, result.stdout) == (0, "y: float32 (8,)\n[0. 0. 0. 0. 0. 0. 0. 0.]\n")
    assert result.stderr.startswith(f"{' '.join(size)} runs nothing\n")
