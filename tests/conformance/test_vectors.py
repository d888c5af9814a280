"""The suite's vectors: all of the small validation file, and a sample of the executions on each tier without a GPU."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable
from pathlib import Path

import pytest

from .pool import judge_all
from .records import Record, folder, read

KNOWN: dict[str, dict[str, str]] = tomllib.loads((Path(__file__).parent / "known.toml").read_text(encoding="utf-8"))
EVERY = 60
SECONDS = 120.0


def vectors(name: str) -> Path:
    where = folder()
    if where is None or not (where / name).exists():
        pytest.skip("the conformance vectors are not on this machine: set TINCT_CONFORMANCE to their folder")
    return where / name


def assert_as_known(question: str, device: str, records: Iterable[Record], known: dict[str, str]) -> None:
    asked = list(records)
    jobs = min(2, os.cpu_count() or 1)
    outcomes = list(judge_all(question, device, asked, jobs=jobs, seconds=SECONDS))
    assert len(outcomes) == len(asked) > 0
    wrong = {outcome.record["q"]: outcome.problem for outcome in outcomes if outcome.problem is not None}
    fresh = [f"{name}\n    {problem}" for name, problem in wrong.items() if name not in known]
    assert not fresh, f"{len(fresh)} records are wrong:\n" + "\n".join(fresh[:20])
    mended = known.keys() & {record["q"] for record in asked} - wrong.keys()
    assert not mended, f"right by now, so take them out of known.toml: {sorted(mended)}"


def test_every_verdict_of_the_small_validation_file() -> None:
    records = read(vectors("validation-smoke.jsonl.xz"))
    assert_as_known("validation", "", records, KNOWN["validation"])


@pytest.mark.parametrize("device", ["cpu", "interp", "hercules"])
def test_a_sample_of_the_executions(device: str) -> None:
    records = list(read(vectors("execution.jsonl.xz")))[::EVERY]
    assert_as_known("execution", device, records, KNOWN[device])


def test_every_known_failure_has_a_reason() -> None:
    assert KNOWN.keys() == {"validation", "cpu", "interp", "hercules"}
    assert all(reason.strip() for table in KNOWN.values() for reason in table.values())
