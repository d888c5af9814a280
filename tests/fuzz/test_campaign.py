"""The campaign of changed shaders: what it does with shaders that are valid, invalid, and such that a command fails."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from tinct.frontend import check
from tinct.ir.source import Source

from . import __main__ as campaign
from . import command_lines, worker
from .minimised import minimised
from .mutations import SHADERS
from .variants import variant
from .worker import Worker

SMALL = b"""
@group(0) @binding(0) var<uniform> n: u32;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3u) { out[id.x] = id.x + n; }
"""


def _raise(command: Sequence[str]) -> tuple[str | None, int]:
    raise ZeroDivisionError("division by zero")


def _crash(command: Sequence[str]) -> tuple[str | None, int]:
    os.abort()


def _hang(command: Sequence[str]) -> tuple[str | None, int]:
    time.sleep(60)
    return None, 0


@pytest.fixture
def one_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shaders go through `check` only."""

    def only_check(file: Path) -> Iterator[Sequence[str]]:
        yield ["check", str(file)]

    def nothing(file: Path, devices: Sequence[str]) -> Iterator[Sequence[str]]:
        return iter(())

    monkeypatch.setattr(command_lines, "of_texts", only_check)
    monkeypatch.setattr(command_lines, "of_entries", nothing)


def test_a_valid_shader_goes_through_all_commands() -> None:
    made = Worker(("interp", "cpu"), seconds=60)
    outcome = made.examine(SMALL)
    made.close()
    assert outcome.failure is None, outcome.failure
    assert outcome.is_valid and outcome.commands == 28


def test_an_invalid_shader_is_only_checked() -> None:
    made = Worker(("interp",), seconds=60)
    outcome = made.examine(b"fn f() { return 1; }")
    made.close()
    assert (outcome.commands, outcome.is_valid, outcome.failure) == (1, False, None)


@pytest.mark.parametrize(
    ("ending", "problem"),
    [
        (_raise, "ZeroDivisionError: division by zero"),
        (_crash, "ended by SIGABRT"),
        (_hang, "no end after 0 s of processor time"),
    ],
    ids=["traceback", "crash", "hang"],
)
@pytest.mark.usefixtures("one_command")
def test_what_fails_is_found_and_others_go_on(
    ending: Callable[[Sequence[str]], tuple[str | None, int]], problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Worker((), seconds=0.2)
    with monkeypatch.context() as patch:
        patch.setattr(worker, "_executed", ending)
        patch.setattr(worker, "_MOST_WAITED", 5)
        failure = made.examine(SMALL).failure
    assert failure is not None and failure.problem.splitlines()[-1] == problem
    assert failure.command[0] == "check" and problem in failure.kind
    made.close()
    again = Worker((), seconds=60)
    assert again.examine(SMALL).failure is None
    again.close()


def test_a_failing_text_is_minimised() -> None:
    found = minimised(SMALL, lambda text: b"id.x]" in text and b"struct" not in text, seconds=20)
    assert found == b"id.x]"


def test_many_variants_are_valid_and_the_same_with_one_seed() -> None:
    texts = [variant(SHADERS[0].read_bytes(), random.Random(seed)) for seed in range(40)]
    assert texts == [variant(SHADERS[0].read_bytes(), random.Random(seed)) for seed in range(40)]
    valid = [it for it in texts if not any(found.is_error for found in check(Source("variant", it)))]
    assert len(valid) >= 5 and len(set(valid)) > 3


def test_the_command_counts_and_ends(tmp_path: Path, one_command: None) -> None:
    result = CliRunner().invoke(campaign.main, ["--minutes", "0.02", "--keep", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert result.output.endswith("0 findings\n")
